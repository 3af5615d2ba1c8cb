import type { CmId } from '../../../api/rdmacm/index.js';
import type { Engine, Hold } from '../../core/index.js';
import type { Transfer } from '../protocol/index.js';
import type { Offer, SessionId, Welcome } from '../wire/index.js';
import type { Addressee } from './datagrams.js';
import type { LinkListener, LinkSizes, Path, ServerLink } from './link.js';
import { LinkState } from './link-state.js';
import type { Route, ServerDatagrams } from './server-datagrams.js';
import { ValueMover } from './value-mover.js';

/** Requests and answers as datagrams: a server's end, which takes what has its client's session and comes from its client's queue pair. */
export class UdServerLink implements ServerLink, Route {
  readonly place: Pick<Welcome, 'pairs' | 'addr' | 'rkey'>;
  readonly fromQpn: number;
  readonly #client: Addressee;
  readonly #hold: Hold;
  readonly #values: ValueMover;
  readonly #state = new LinkState();

  /** @throws VerbsError ENOMEM when there is no room, EIO when the device was lost */
  constructor(
    readonly engine: Engine,
    id: CmId,
    sizes: LinkSizes,
    path: Path,
    { pairs }: Offer,
    readonly session: SessionId,
    private readonly datagrams: ServerDatagrams,
  ) {
    this.#values = new ValueMover(engine, id, sizes.window, this.#state);
    this.fromQpn = pairs.udQpn;
    let client: Addressee | undefined;
    try {
      client = datagrams.addressee(path, pairs.udQpn);
      datagrams.open(this);
    } catch (error) {
      client?.end();
      this.#values.end();
      throw error;
    }
    this.#client = client;
    this.place = { pairs: datagrams.names, addr: 0n, rkey: 0 };
    this.#hold = engine.hold();
  }

  get room(): number {
    return this.#state.isOver ? 0 : this.datagrams.room;
  }

  listen(listener: LinkListener): void {
    this.#state.listen(listener);
  }

  send(bytes: Uint8Array): void {
    if (!this.#state.isOver) this.datagrams.send(bytes, this.#client);
  }

  move(transfer: Transfer): boolean {
    return !this.#state.isOver && this.#values.move(transfer);
  }

  destroyed(): void {
    if (!this.#state.end()) return;
    this.#values.end();
    this.datagrams.close(this);
    this.#client.end();
    this.#hold.release();
  }

  onMessage(bytes: Uint8Array): void {
    this.#state.listener?.onMessage(bytes);
  }
}
