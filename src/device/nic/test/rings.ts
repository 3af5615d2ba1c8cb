import { AccessFlags, QpState, SendFlags, type WcOpcode, type WcStatus } from '../../ibta/index.js';
import {
  CompChannelRing,
  CompletionQueue,
  CqArm,
  Cqe,
  DoorbellPage,
  RecvWqe,
  Ring,
  RING_HEADER_WORDS,
  type RingShape,
  SendWqe,
  SgeWords,
  WorkQueue,
} from '../rings/layout.js';

/** The driver's end of the rings, written from `layout.ts` alone. */

export const ALL_ACCESS =
  AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_READ | AccessFlags.REMOTE_ATOMIC;

export interface Sge {
  readonly addr: bigint;
  readonly length: number;
  readonly lkey: number;
}

export interface SendRequest {
  /** A `WrOpcode`, or what is none to see it refused. */
  readonly opcode: number;
  readonly wrId?: bigint | number;
  readonly flags?: number;
  readonly sgList?: readonly Sge[];
  /** Data in the entry itself; sets SendFlags.INLINE. */
  readonly inline?: Uint8Array;
  /** Immediate data, or the R_Key to invalidate. */
  readonly imm?: number;
  readonly rkey?: number;
  readonly remoteAddr?: bigint;
  readonly compareAdd?: bigint;
  readonly swap?: bigint;
  /** Destination QP of a datagram, or SRQ number of an XRC request. */
  readonly remoteQpn?: number;
  readonly remoteQkey?: number;
  readonly addressHandle?: number;
}

export interface ReceiveRequest {
  readonly wrId?: bigint | number;
  readonly sgList?: readonly Sge[];
}

export interface Completion {
  readonly wrId: bigint;
  readonly status: WcStatus;
  readonly opcode: WcOpcode;
  readonly vendorErr: number;
  readonly byteLen: number;
  readonly immData: number;
  readonly qpNum: number;
  readonly srcQp: number;
  readonly wcFlags: number;
  readonly detail: readonly number[];
}

export function lo32(value: bigint): number {
  return Number(BigInt.asIntN(32, value));
}

export function hi32(value: bigint): number {
  return Number(BigInt.asIntN(32, value >> 32n));
}

export function join64(hi: number, lo: number): bigint {
  return (BigInt(hi >>> 0) << 32n) | BigInt(lo >>> 0);
}

/** Rings the NIC: the queue's number goes into the page unless it stands there already. */
export class Doorbell {
  readonly #page: Int32Array;

  constructor(memory: SharedArrayBuffer) {
    this.#page = new Int32Array(memory);
  }

  ring(sendQueue: Int32Array, qpn: number): void {
    if (Atomics.exchange(sendQueue, WorkQueue.DOORBELL, 1) === 1) return;
    const producer = this.#page[Ring.PRODUCER];
    this.#page[RING_HEADER_WORDS + (producer & (DoorbellPage.ENTRIES - 1))] = qpn;
    Atomics.store(this.#page, Ring.PRODUCER, (producer + 1) | 0);
  }
}

function writeSges(words: Int32Array, at: number, sgList: readonly Sge[]): void {
  sgList.forEach((sge, i) => {
    const base = at + i * SgeWords.SIZE;
    words[base + SgeWords.ADDR_LO] = lo32(sge.addr);
    words[base + SgeWords.ADDR_HI] = hi32(sge.addr);
    words[base + SgeWords.LENGTH] = sge.length;
    words[base + SgeWords.LKEY] = sge.lkey;
  });
}

/** The producer's end of a send or receive queue. */
export class DriverQueue {
  readonly memory: SharedArrayBuffer;
  readonly words: Int32Array;
  #producer = 0;

  constructor(private readonly shape: RingShape) {
    this.memory = new SharedArrayBuffer(shape.bytes);
    this.words = new Int32Array(this.memory);
  }

  /** Entries that the NIC has not given back. */
  get inUse(): number {
    return (this.#producer - Atomics.load(this.words, Ring.CONSUMER)) >>> 0;
  }

  get room(): number {
    return this.shape.entries - this.inUse;
  }

  get state(): QpState {
    const state = Atomics.load(this.words, WorkQueue.QP_STATE);
    return Object.values(QpState).find((value) => value === state) ?? QpState.RESET;
  }

  writeSend(request: SendRequest): void {
    const { words } = this;
    const at = this.#claim();
    const sgList = request.sgList ?? [];
    const flags = (request.flags ?? SendFlags.SIGNALED) | (request.inline === undefined ? 0 : SendFlags.INLINE);
    const wrId = BigInt(request.wrId ?? 0);
    words[at + SendWqe.CONTROL] = request.opcode | (flags << 8) | (sgList.length << 16);
    words[at + SendWqe.INLINE_BYTES] = request.inline?.length ?? 0;
    words[at + SendWqe.WR_ID_LO] = lo32(wrId);
    words[at + SendWqe.WR_ID_HI] = hi32(wrId);
    words[at + SendWqe.IMM_DATA] = request.imm ?? 0;
    words[at + SendWqe.RKEY] = request.rkey ?? 0;
    words[at + SendWqe.REMOTE_ADDR_LO] = lo32(request.remoteAddr ?? 0n);
    words[at + SendWqe.REMOTE_ADDR_HI] = hi32(request.remoteAddr ?? 0n);
    words[at + SendWqe.COMPARE_ADD_LO] = lo32(request.compareAdd ?? 0n);
    words[at + SendWqe.COMPARE_ADD_HI] = hi32(request.compareAdd ?? 0n);
    words[at + SendWqe.SWAP_LO] = lo32(request.swap ?? 0n);
    words[at + SendWqe.SWAP_HI] = hi32(request.swap ?? 0n);
    words[at + SendWqe.REMOTE_QPN] = request.remoteQpn ?? 0;
    words[at + SendWqe.REMOTE_QKEY] = request.remoteQkey ?? 0;
    words[at + SendWqe.ADDRESS_HANDLE] = request.addressHandle ?? 0;
    if (request.inline !== undefined) new Uint8Array(this.memory).set(request.inline, 4 * (at + SendWqe.DATA));
    else writeSges(words, at + SendWqe.DATA, sgList);
    this.#publish();
  }

  writeReceive(request: ReceiveRequest): void {
    const { words } = this;
    const at = this.#claim();
    const sgList = request.sgList ?? [];
    const wrId = BigInt(request.wrId ?? 0);
    words[at + RecvWqe.NUM_SGE] = sgList.length;
    words[at + RecvWqe.WR_ID_LO] = lo32(wrId);
    words[at + RecvWqe.WR_ID_HI] = hi32(wrId);
    writeSges(words, at + RecvWqe.DATA, sgList);
    this.#publish();
  }

  #claim(): number {
    if (this.room === 0) throw new Error('ENOMEM: the work queue is full');
    return RING_HEADER_WORDS + (this.#producer & (this.shape.entries - 1)) * this.shape.entryWords;
  }

  #publish(): void {
    this.#producer = (this.#producer + 1) | 0;
    Atomics.store(this.words, Ring.PRODUCER, this.#producer);
  }
}

/** The consumer's end of a completion queue. */
export class DriverCq {
  readonly memory: SharedArrayBuffer;
  cqn = 0;
  readonly #words: Int32Array;
  #consumer = 0;

  constructor(private readonly shape: RingShape) {
    this.memory = new SharedArrayBuffer(shape.bytes);
    this.#words = new Int32Array(this.memory);
  }

  get queued(): number {
    return (Atomics.load(this.#words, Ring.PRODUCER) - this.#consumer) >>> 0;
  }

  get overrun(): boolean {
    return Atomics.load(this.#words, CompletionQueue.OVERRUN) === 1;
  }

  get armed(): number {
    return Atomics.load(this.#words, CompletionQueue.ARM);
  }

  /** Asks for one event; asking for both kinds keeps "any" (protocol/services.md 3.8). */
  arm(solicitedOnly: boolean): void {
    const arm = solicitedOnly && this.armed !== CqArm.ANY ? CqArm.SOLICITED : CqArm.ANY;
    Atomics.store(this.#words, CompletionQueue.ARM, arm);
  }

  /** Takes up to `max` completions. */
  poll(max = Infinity): Completion[] {
    const result: Completion[] = [];
    while (result.length < max && this.queued > 0) {
      result.push(this.#read(RING_HEADER_WORDS + (this.#consumer & (this.shape.entries - 1)) * Cqe.SIZE));
      this.#consumer = (this.#consumer + 1) | 0;
      Atomics.store(this.#words, Ring.CONSUMER, this.#consumer);
    }
    return result;
  }

  /** Takes all completions without a look at them. @returns how many there were */
  skip(): number {
    const { queued } = this;
    this.#consumer = (this.#consumer + queued) | 0;
    Atomics.store(this.#words, Ring.CONSUMER, this.#consumer);
    return queued;
  }

  #read(at: number): Completion {
    const words = this.#words;
    return {
      wrId: join64(words[at + Cqe.WR_ID_HI], words[at + Cqe.WR_ID_LO]),
      // The NIC's own word for it: tests compare it with the constants.
      status: words[at + Cqe.STATUS] as WcStatus,
      opcode: words[at + Cqe.OPCODE] as WcOpcode,
      vendorErr: words[at + Cqe.VENDOR_ERR],
      byteLen: words[at + Cqe.BYTE_LEN] >>> 0,
      immData: words[at + Cqe.IMM_DATA] >>> 0,
      qpNum: words[at + Cqe.QP_NUM],
      srcQp: words[at + Cqe.SRC_QP],
      wcFlags: words[at + Cqe.WC_FLAGS],
      detail: [...words.subarray(at + Cqe.DETAIL, at + Cqe.DETAIL + Cqe.DETAIL_WORDS)],
    };
  }
}

/** The consumer's end of a completion channel. */
export class DriverChannel {
  readonly memory: SharedArrayBuffer;
  handle = 0;
  readonly #words: Int32Array;
  #consumer = 0;

  constructor(shape: RingShape) {
    this.memory = new SharedArrayBuffer(shape.bytes);
    this.#words = new Int32Array(this.memory);
  }

  /** Numbers of the CQs whose events wait, oldest first; each is taken. */
  take(): number[] {
    const cqns: number[] = [];
    while (this.#consumer !== Atomics.load(this.#words, Ring.PRODUCER)) {
      cqns.push(this.#words[RING_HEADER_WORDS + (this.#consumer & (CompChannelRing.ENTRIES - 1))]);
      this.#consumer = (this.#consumer + 1) | 0;
      Atomics.store(this.#words, Ring.CONSUMER, this.#consumer);
    }
    return cqns;
  }
}
