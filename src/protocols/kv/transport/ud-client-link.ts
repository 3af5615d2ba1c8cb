import type { CmId } from '../../../api/rdmacm/index.js';
import type { Engine, Hold } from '../../core/index.js';
import { NO_QUEUE_PAIRS, type QueuePairNames, type Welcome } from '../wire/index.js';
import { type Addressee, Datagrams } from './datagrams.js';
import { type ClientLink, createSilentQp, depthFor, type LinkListener, type LinkSizes, type Path } from './link.js';
import { LinkState } from './link-state.js';

/** Requests and answers as datagrams: a client's end. */
export class UdClientLink implements ClientLink {
  readonly pairs: QueuePairNames;
  readonly #datagrams: Datagrams;
  readonly #hold: Hold;
  readonly #state = new LinkState();
  #server: Addressee | undefined;

  /** @throws VerbsError ENOMEM when there is no room, EIO when the device was lost */
  constructor(
    readonly engine: Engine,
    id: CmId,
    sizes: LinkSizes,
  ) {
    const depth = depthFor(sizes);
    createSilentQp(engine, id);
    const listener = {
      onDatagram: (bytes: Uint8Array) => this.#state.listener?.onMessage(bytes),
      onRoom: () => this.#state.listener?.onRoom(),
      onLost: (error: Error) => this.#state.lose(error),
    };
    this.#datagrams = new Datagrams(engine, { sends: depth, receives: depth, bytes: sizes.slotBytes }, listener);
    try {
      this.#datagrams.take();
    } catch (error) {
      this.#datagrams.end();
      throw error;
    }
    this.pairs = { ...NO_QUEUE_PAIRS, udQpn: this.#datagrams.qpn };
    this.#hold = engine.hold();
  }

  get room(): number {
    return this.#state.isOver ? 0 : this.#datagrams.room;
  }

  begin(path: Path, { pairs }: Welcome): void {
    this.#datagrams.begin(pairs.udQkey);
    this.#server = this.#datagrams.addressee(path, pairs.udQpn);
  }

  listen(listener: LinkListener): void {
    this.#state.listen(listener);
  }

  send(bytes: Uint8Array): void {
    if (!this.#state.isOver && this.#server !== undefined) this.#datagrams.send(bytes, this.#server);
  }

  destroyed(): void {
    if (!this.#state.end()) return;
    this.#datagrams.end();
    this.#server?.end();
    this.#hold.release();
  }
}
