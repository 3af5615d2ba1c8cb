import { QpType, type SelectivityLevel, WrOpcode } from '../../../../device/ibta/index.js';
import { SendWqe } from '../../../../device/nic/index.js';
import {
  type Address,
  type Ah,
  bindRequestProblem,
  datagramProblem,
  flushProblem,
  invalid,
  isAddress,
  isAtomicAligned,
  isU32,
  isWrId,
  type Mw,
  type MwBindInfo,
  opcodeProblem,
  show,
  xrcProblem,
} from '../../../../api/verbs/index.js';
import { addressHandleNumber } from '../address-handle.js';
import { writeBindOf } from './bind.js';
import { writeCompareAdd, writeDatagram, writeFlush, writeRemote, writeSharedQueue, writeSwap } from './entries.js';
import { OpenBatch } from './open-batch.js';
import { handleProblem } from './send-queue.js';

const ATOMIC_BYTES = 8;

/** The requests of a batch (`ibv_wr_send` and so on), without an object for any. */
export class SendBatch extends OpenBatch {
  send(): void {
    this.begin(WrOpcode.SEND);
  }

  /** A request that names nothing but immediate data, or a key. */
  sendWith(
    opcode: typeof WrOpcode.SEND_WITH_IMM | typeof WrOpcode.SEND_WITH_INV | typeof WrOpcode.LOCAL_INV,
    value: number,
  ): void {
    if (this.begin(opcode)) this.#setImmediate(value);
  }

  rdma(opcode: typeof WrOpcode.RDMA_WRITE | typeof WrOpcode.RDMA_READ, rkey: number, remoteAddr: Address): void {
    if (this.begin(opcode)) this.#setRemote(rkey, remoteAddr);
  }

  writeImm(rkey: number, remoteAddr: Address, immData: number): void {
    if (!this.begin(WrOpcode.RDMA_WRITE_WITH_IMM)) return;
    this.#setRemote(rkey, remoteAddr);
    this.#setImmediate(immData);
  }

  compareAndSwap(rkey: number, remoteAddr: Address, compare: Address, swap: Address): void {
    if (!this.begin(WrOpcode.ATOMIC_CMP_AND_SWP)) return;
    this.#setAtomic(rkey, remoteAddr, compare);
    if (isWrId(swap)) writeSwap(this.queue.ring.words, this.at, swap);
    else this.fail(invalid(`swap is ${show(swap)}`, 'It is a bigint of 64 bits or a safe integer'));
  }

  fetchAndAdd(rkey: number, remoteAddr: Address, add: Address): void {
    if (this.begin(WrOpcode.ATOMIC_FETCH_AND_ADD)) this.#setAtomic(rkey, remoteAddr, add);
  }

  bind(mw: Mw, rkey: number, bindInfo: MwBindInfo): void {
    if (!this.begin(WrOpcode.BIND_MW)) return;
    const problem = bindRequestProblem(mw, rkey, bindInfo);
    const { ring, context } = this.queue;
    this.fail(problem ?? writeBindOf(ring.words, this.at, context, mw, rkey, bindInfo));
  }

  flush(rkey: number, remoteAddr: Address, length: number, type: number, level: SelectivityLevel): void {
    if (!this.begin(WrOpcode.FLUSH)) return;
    this.#setRemote(rkey, remoteAddr);
    const problem = flushProblem(length, type, level);
    if (problem === undefined) writeFlush(this.queue.ring.words, this.at, length, type, level);
    else this.fail(problem);
  }

  atomicWrite(rkey: number, remoteAddr: Address, data: Uint8Array): void {
    if (!this.begin(WrOpcode.ATOMIC_WRITE)) return;
    this.#setRemote(rkey, remoteAddr);
    if (!isAtomicAligned(remoteAddr)) this.#failUnaligned(remoteAddr);
    else if (!(data instanceof Uint8Array) || data.length !== ATOMIC_BYTES)
      this.fail(invalid('the data of an ATOMIC_WRITE are not 8 bytes', 'Give it a Uint8Array of 8'));
    else this.setWholeInline(data);
  }

  /** TCP segmentation, which no type has here. */
  tso(): void {
    this.fail(opcodeProblem(QpType.RAW_PACKET, WrOpcode.TSO));
  }

  setUdAddr(ah: Ah, remoteQpn: number, remoteQkey: number): void {
    if (!this.hasRequest('wrSetUdAddr')) return;
    const { ring, type, context } = this.queue;
    if (type !== QpType.UD) {
      this.fail(invalid('wrSetUdAddr, but the QP is not of type UD', 'It has a peer of its own: leave it out'));
      return;
    }
    const problem = datagramProblem(ah, remoteQpn, remoteQkey);
    const handle = problem === undefined ? addressHandleNumber(ah, context) : -1;
    if (handle < 0) this.fail(problem ?? handleProblem());
    else writeDatagram(ring.words, this.at, handle, remoteQpn, remoteQkey);
    this.addressed = true;
  }

  setXrcSrqn(remoteSrqn: number): void {
    if (!this.hasRequest('wrSetXrcSrqn')) return;
    const { ring, type } = this.queue;
    if (type !== QpType.XRC_SEND) {
      this.fail(invalid('wrSetXrcSrqn, but the QP is not of type XRC_SEND', 'Its peer chooses: leave it out'));
      return;
    }
    const problem = xrcProblem(remoteSrqn);
    if (problem === undefined) writeSharedQueue(ring.words, this.at, remoteSrqn);
    else this.fail(problem);
    this.addressed = true;
  }

  #setImmediate(value: number): void {
    if (isU32(value)) this.queue.ring.words[this.at + SendWqe.IMM_DATA] = value;
    else this.fail(invalid(`immediate data or key is ${show(value)}`, 'It is a number of 32 bits, never negative'));
  }

  #setRemote(rkey: number, remoteAddr: Address): void {
    if (isU32(rkey) && isAddress(remoteAddr)) writeRemote(this.queue.ring.words, this.at, remoteAddr, rkey);
    else
      this.fail(
        invalid(
          `the peer's memory is rkey ${show(rkey)}, address ${show(remoteAddr)}`,
          'A key is a number of 32 bits, an address a bigint of 64 bits or a safe integer, neither negative',
        ),
      );
  }

  #setAtomic(rkey: number, remoteAddr: Address, compareAdd: Address): void {
    this.#setRemote(rkey, remoteAddr);
    if (!isAtomicAligned(remoteAddr)) this.#failUnaligned(remoteAddr);
    else if (isWrId(compareAdd)) writeCompareAdd(this.queue.ring.words, this.at, compareAdd);
    else this.fail(invalid(`operand is ${show(compareAdd)}`, 'It is a bigint of 64 bits or a safe integer'));
  }

  #failUnaligned(remoteAddr: Address): void {
    this.fail(invalid(`an atomic at ${show(remoteAddr)}`, 'An atomic works at a multiple of 8'));
  }
}
