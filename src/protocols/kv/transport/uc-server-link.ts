import { AccessFlags, QpType, WcOpcode } from '../../../device/ibta/index.js';
import type { CmId } from '../../../api/rdmacm/index.js';
import type { Cq, Mr, Pd, Qp, VerbsError } from '../../../api/verbs/index.js';
import { type Engine, type Hold, type Receiver, ReceiveQueue } from '../../core/index.js';
import type { Transfer } from '../protocol/index.js';
import { isAnnounced, type Offer, slotIn, type Welcome } from '../wire/index.js';
import type { Addressee } from './datagrams.js';
import { connectUc, depthFor, type LinkListener, type LinkSizes, OWNER, type Path, type ServerLink } from './link.js';
import { LinkState } from './link-state.js';
import type { ServerDatagrams } from './server-datagrams.js';
import { ValueMover } from './value-mover.js';

const NO_REQUEST: Uint8Array = new Uint8Array(0);

/**
 * HERD's way, a server's end: the slots of one client. They are alone in a protection domain with the client's queue pair, so that no other client can write to
 * them, whatever keys it knows. Receives without a buffer wait for the immediate data.
 */
export class UcServerLink implements ServerLink, Receiver {
  readonly place: Pick<Welcome, 'pairs' | 'addr' | 'rkey'>;
  readonly #pd: Pd;
  readonly #mr: Mr;
  readonly #qp: Qp;
  readonly #receives: ReceiveQueue;
  readonly #client: Addressee;
  readonly #request: Uint8Array;
  readonly #hold: Hold;
  readonly #values: ValueMover;
  readonly #state = new LinkState();
  readonly #undo: (() => void)[] = [];

  /** @throws VerbsError ENOMEM when there is no room, EIO when the device was lost */
  constructor(
    readonly engine: Engine,
    id: CmId,
    private readonly sizes: LinkSizes,
    path: Path,
    { pairs }: Offer,
    private readonly datagrams: ServerDatagrams,
  ) {
    const depth = depthFor(sizes);
    this.#values = new ValueMover(engine, id, sizes.window, this.#state);
    this.#undo.push(() => this.#values.end());
    try {
      this.#pd = engine.context.allocPd();
      this.#undo.push(() => this.#pd.dealloc());
      const access = AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE;
      const memory = engine.spareMemory.take(sizes.window * sizes.slotBytes);
      this.#undo.push(() => engine.spareMemory.give(memory));
      this.#mr = this.#pd.regMr(memory, access);
      this.#undo.push(() => this.#mr.dereg());
      const cap = { maxSendWr: 0, maxRecvWr: depth, maxSendSge: 0, maxRecvSge: 1 };
      this.#qp = this.#pd.createQp({ qpType: QpType.UC, sendCq: engine.cq, recvCq: engine.cq, cap });
      this.#undo.push(() => this.#qp.destroy());
      this.#receives = new ReceiveQueue(engine, this.#qp, this, { bytes: 0, owner: OWNER });
      // Undone last, once the queue pair is destroyed.
      this.#undo.unshift(() => this.#receives.end());
      connectUc(this.#qp, path, { qpn: pairs.ucQpn, psn: pairs.ucPsn });
      this.#receives.deepen(depth);
      this.#client = datagrams.addressee(path, pairs.udQpn);
      this.#undo.push(() => this.#client.end());
    } catch (error) {
      this.#release();
      throw error;
    }
    this.#request = new Uint8Array(sizes.slotBytes);
    const { iova, rkey } = this.#mr;
    this.place = { pairs: { ...datagrams.names, ucQpn: this.#qp.qpNum, ucPsn: 0 }, addr: iova, rkey };
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
    this.#release();
    this.#hold.release();
  }

  onMessage(slot: number, _: Uint8Array, cq: Cq): void {
    if (this.#state.isOver) return;
    const request = this.#requestIn(cq);
    this.#receives.giveBack(slot);
    this.#state.listener?.onMessage(request);
  }

  onReceiveError(cq: Cq): void {
    this.#state.loseBy(this.engine, cq);
  }

  onReceiveRefused(error: VerbsError): void {
    this.#state.lose(error);
  }

  /**
   * A copy of what was written; nothing where it makes no sense. The client may write on meanwhile: an honest one that has repeated a request writes the next
   * as soon as the first is answered. What is not what was announced is a mixture, or a request of which the announcement follows.
   */
  #requestIn(cq: Cq): Uint8Array {
    const { immData, byteLen } = cq;
    const slot = slotIn(immData);
    const { window, slotBytes } = this.sizes;
    if (cq.opcode !== WcOpcode.RECV_RDMA_WITH_IMM || slot >= window || byteLen > slotBytes) return NO_REQUEST;
    const at = slot * slotBytes;
    this.#request.set(this.#mr.bytes.subarray(at, at + byteLen));
    const request = this.#request.subarray(0, byteLen);
    return isAnnounced(immData, request) ? request : NO_REQUEST;
  }

  #release(): void {
    for (const undo of this.#undo.splice(0).reverse()) undo();
  }
}
