import { QpType } from '../../../device/ibta/index.js';
import type { CmId } from '../../../api/rdmacm/index.js';
import type { Cq, Qp, VerbsError } from '../../../api/verbs/index.js';
import { type Engine, type Hold, type Lease, type SendListener, SendQueue } from '../../core/index.js';
import { immediateOf, NO_QUEUE_PAIRS, type QueuePairNames, type Welcome } from '../wire/index.js';
import { Datagrams } from './datagrams.js';
import {
  type ClientLink,
  connectUc,
  createSilentQp,
  depthFor,
  INLINE_BYTES,
  type LinkListener,
  type LinkSizes,
  OWNER,
  type Path,
} from './link.js';
import { LinkState } from './link-state.js';
import { type Describe, sendCopy } from './send-copy.js';

/** HERD's way, a client's end: requests are WRITEs into its slots at the server, whose immediate data names the slot; answers come as datagrams. */
export class UcClientLink implements ClientLink, SendListener<number> {
  readonly pairs: QueuePairNames;
  readonly #qp: Qp;
  readonly #writes: SendQueue<number>;
  readonly #answers: Datagrams;
  readonly #hold: Hold;
  readonly #state = new LinkState();
  /** Where each slot is. */
  #addrs: readonly bigint[] = [];
  #rkey = 0;
  readonly #describe: Describe<number> = (qp, slot, bytes) =>
    qp.wrRdmaWriteImm(this.#rkey, this.#addrs[slot], immediateOf(slot, bytes));

  /** @throws VerbsError ENOMEM when there is no room, EIO when the device was lost */
  constructor(
    readonly engine: Engine,
    id: CmId,
    sizes: LinkSizes,
  ) {
    const depth = depthFor(sizes);
    createSilentQp(engine, id);
    this.#answers = new Datagrams(
      engine,
      { sends: 0, receives: depth, bytes: sizes.slotBytes },
      {
        onDatagram: (bytes) => this.#state.listener?.onMessage(bytes),
        onRoom: () => undefined,
        onLost: (error) => this.#state.lose(error),
      },
    );
    const cap = { maxSendWr: depth, maxRecvWr: 0, maxSendSge: 1, maxRecvSge: 0, maxInlineData: INLINE_BYTES };
    const { cq, pd } = engine;
    try {
      this.#answers.take();
      this.#qp = pd.createQp({ qpType: QpType.UC, sendCq: cq, recvCq: cq, sqSigAll: true, cap });
      this.#writes = SendQueue.owning(engine, this.#qp, depth, this, OWNER);
    } catch (error) {
      this.#answers.end();
      throw error;
    }
    this.pairs = { ...NO_QUEUE_PAIRS, ucQpn: this.#qp.qpNum, udQpn: this.#answers.qpn };
    this.#hold = engine.hold();
  }

  get room(): number {
    return this.#state.isOver ? 0 : this.#writes.room;
  }

  begin(path: Path, { window, slotBytes, addr, rkey, pairs }: Welcome): void {
    this.#rkey = rkey;
    this.#addrs = Array.from({ length: window }, (_, slot) => BigInt.asUintN(64, addr + BigInt(slot * slotBytes)));
    this.#answers.begin(pairs.udQkey);
    connectUc(this.#qp, path, { qpn: pairs.ucQpn, psn: pairs.ucPsn });
  }

  listen(listener: LinkListener): void {
    this.#state.listen(listener);
  }

  send(bytes: Uint8Array, slot: number): void {
    if (!this.#state.isOver) sendCopy(this.#writes, bytes, slot, this.#describe);
  }

  destroyed(): void {
    if (!this.#state.end()) return;
    this.#qp[Symbol.dispose]();
    this.#writes.destroyed();
    this.#answers.end();
    this.#hold.release();
  }

  onDone(): void {
    this.#state.listener?.onRoom();
  }

  onFailed(_: number | undefined, _lease: Lease | undefined, cq: Cq | undefined): void {
    if (cq !== undefined) this.#state.loseBy(this.engine, cq);
  }

  onRefused(error: VerbsError): void {
    this.#state.lose(error);
  }
}
