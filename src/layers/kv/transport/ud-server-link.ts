import type { CmId } from '../../../api/rdmacm/index.js';
import type { Engine, Hold } from '../../engine/index.js';
import type { Offer, SessionId, Welcome } from '../wire/index.js';
import type { Addressee } from './datagrams.js';
import type { LinkListener, Path, ServerLink } from './link.js';
import { Losing } from './losing.js';
import type { Route, ServerDatagrams } from './server-datagrams.js';
import { createSilentQp } from './unreliable.js';

/** Requests and answers as datagrams: a server's end, which takes what has its client's session and comes from its client's queue pair. */
export class UdServerLink implements ServerLink, Route {
  readonly place: Pick<Welcome, 'pairs' | 'addr' | 'rkey'>;
  readonly fromQpn: number;
  readonly #client: Addressee;
  readonly #hold: Hold;
  readonly #fate = new Losing();

  /** @throws VerbsError ENOMEM when there is no room, EIO when the device was lost */
  constructor(
    readonly engine: Engine,
    id: CmId,
    path: Path,
    { pairs }: Offer,
    readonly session: SessionId,
    private readonly datagrams: ServerDatagrams,
  ) {
    createSilentQp(engine, id);
    this.fromQpn = pairs.udQpn;
    this.#client = datagrams.addressee(path, pairs.udQpn);
    try {
      datagrams.open(this);
    } catch (error) {
      this.#client.end();
      throw error;
    }
    this.place = { pairs: datagrams.names, addr: 0n, rkey: 0 };
    this.#hold = engine.hold();
  }

  get room(): number {
    return this.#fate.isOver ? 0 : this.datagrams.room;
  }

  listen(listener: LinkListener): void {
    this.#fate.listen(listener);
  }

  send(bytes: Uint8Array): void {
    if (!this.#fate.isOver) this.datagrams.send(bytes, this.#client);
  }

  end(): void {
    if (!this.#fate.end()) return;
    this.datagrams.close(this);
    this.#client.end();
    this.#hold.release();
  }

  onMessage(bytes: Uint8Array): void {
    this.#fate.listener?.onMessage(bytes);
  }
}
