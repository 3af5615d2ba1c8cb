import { EventType, type QpAttr, type QpCap, type QpType } from '../spec/index.js';
import {
  BTH_BYTES,
  bthDestQp,
  bthPadCount,
  bthPkey,
  bthTver,
  ICRC_BYTES,
  IcrcVerifier,
  OpcodeBit,
  opcodeBits,
  opcodeHeaderBytes,
  OpcodeService,
  type PacketMeta,
} from '../wire/index.js';
import { CommandError } from './command-error.js';
import { CompChannel } from './queues/comp-channel.js';
import { CompletionQueue } from './queues/completion-queue.js';
import { checkModification, checkQpCap, checkQpType, type PortFacts } from './control.js';
import { NicCounters } from './counters.js';
import { DataMover } from './memory/data-mover.js';
import { DoorbellPage, recvQueueShape, Ring, RING_HEADER_WORDS, sendQueueShape } from './layout.js';
import { MemoryTable, type MrAttributes, type MrKeys } from './memory/memory-table.js';
import { type NicCore, Served } from './nic-core.js';
import { PacketBuilder } from './packet-builder.js';
import { DEFAULT_LIMITS, type NicConfig, type NicEvents, type NicLimits } from './ports.js';
import { QueuePair } from './queue-pair.js';
import { TimerWheel } from './timer-wheel.js';
import { WorkQueue } from './queues/work-queue.js';

/** Packets that one QP may send before the next has its turn. */
const QUANTUM = 32;
/** Turns in one {@link Nic.transmit}, so that whoever drives the NIC gets to look at what arrived. */
const TURNS = 8;
/** QPNs 0 and 1 are special, and rxe starts at 16 as well; the last is the multicast QPN. */
const FIRST_QPN = 16;
const LAST_QPN = 0xfffffe;
/** P_Keys match when their low 15 bits do and one side is a full member, which this port is (PROTOCOL.md 1.1). */
const PKEY_MASK = 0x7fff;

/** What makes a queue pair. */
export interface CreateQp {
  readonly type: QpType;
  readonly pd: number;
  readonly sendCq: number;
  readonly recvCq: number;
  readonly cap: QpCap;
  readonly sqSigAll: boolean;
  /** Rings of the shapes that the layout prescribes for `cap`. */
  readonly sq: SharedArrayBuffer;
  readonly rq: SharedArrayBuffer;
}

/** What makes a completion queue. */
export interface CreateCq {
  readonly entries: number;
  readonly memory: SharedArrayBuffer;
  readonly channel?: number | undefined;
}

/**
 * A software RNIC without any input or output of its own. Packets, doorbells and the time come in; packets,
 * completions and the next wake-up go out. The same calls with the same arguments give the same results, to the bit.
 */
export class Nic implements NicCore {
  nowUs = 0;
  readonly builder: PacketBuilder;
  readonly memory: MemoryTable;
  readonly mover: DataMover;
  readonly counters = new NicCounters();
  readonly timers = new TimerWheel();
  readonly limits: NicLimits;
  readonly events: NicEvents;

  readonly #random: () => number;
  readonly #verifier: IcrcVerifier;
  readonly #port: PortFacts;
  readonly #doorbells: Int32Array | undefined;
  readonly #qps = new Map<number, QueuePair>();
  readonly #cqs = new Map<number, CompletionQueue>();
  readonly #channels = new Map<number, CompChannel>();
  /** QPs by their number in the timer wheel. */
  readonly #timerOwners: (QueuePair | undefined)[] = [];
  readonly #freeTimers: number[] = [];
  /** QPs that have something to send, in the order of their turns: a ring. */
  #ready: (QueuePair | undefined)[] = new Array<QueuePair | undefined>(64).fill(undefined);
  #readyHead = 0;
  #readyCount = 0;
  readonly #overrun: CompletionQueue[] = [];
  #nextCqn = 1;
  #nextChannel = 1;

  constructor(config: NicConfig) {
    this.limits = { ...DEFAULT_LIMITS, ...config.limits };
    this.events = config.events;
    this.memory = new MemoryTable(config.random, this.limits);
    this.mover = new DataMover(this.memory);
    this.builder = new PacketBuilder(config.sink, config.crc32, this.counters);
    this.#random = config.random;
    this.#verifier = new IcrcVerifier(config.crc32);
    this.#port = { gids: config.gids, mtu: config.portMtu, limits: this.limits };
    this.#doorbells = config.doorbells === undefined ? undefined : new Int32Array(config.doorbells);
  }

  // Control verbs. Each throws CommandError and then has changed nothing.

  allocPd(): number {
    return this.memory.allocPd();
  }

  /** EBUSY while memory regions or queue pairs belong to it. */
  deallocPd(pd: number): void {
    this.memory.deallocPd(pd);
  }

  regMr(attributes: MrAttributes): MrKeys {
    return this.memory.register(attributes);
  }

  /** The region is closed at once, also to work that is in flight. */
  deregMr(handle: number): void {
    this.memory.deregister(handle);
  }

  createCompChannel(memory: SharedArrayBuffer): number {
    if (this.#channels.size >= this.limits.maxCompChannels)
      throw new CommandError('ENOMEM', `no more than ${this.limits.maxCompChannels} completion channels`);
    const handle = this.#nextChannel++;
    this.#channels.set(handle, new CompChannel(handle, memory));
    return handle;
  }

  destroyCompChannel(handle: number): void {
    const channel = this.#channel(handle);
    if (channel.users > 0) throw new CommandError('EBUSY', `${channel.users} CQs still report to the channel`);
    this.#channels.delete(handle);
  }

  createCq({ entries, memory, channel }: CreateCq): number {
    if (!Number.isInteger(entries) || entries <= 0 || entries > this.limits.maxCqe)
      throw new CommandError('EINVAL', `a CQ has 1 to ${this.limits.maxCqe} entries, not ${entries}`);
    if (this.#cqs.size >= this.limits.maxCq) throw new CommandError('ENOMEM', `no more than ${this.limits.maxCq} CQs`);
    const target = channel === undefined ? undefined : this.#channel(channel);
    const cqn = this.#nextCqn++;
    const onOverrun = (cq: CompletionQueue): void => {
      this.#overrun.push(cq);
    };
    this.#cqs.set(cqn, new CompletionQueue(cqn, memory, entries, target, this.events, this.counters, onOverrun));
    if (target !== undefined) target.users += 1;
    return cqn;
  }

  destroyCq(cqn: number): void {
    const cq = this.#cq(cqn);
    if (cq.users > 0) throw new CommandError('EBUSY', `${cq.users} queues still complete to the CQ`);
    this.#cqs.delete(cqn);
    if (cq.channel !== undefined) cq.channel.users -= 1;
  }

  createQp(create: CreateQp): { readonly qpn: number } {
    const { type, pd, cap, sqSigAll } = create;
    checkQpType(type);
    checkQpCap(cap, this.limits);
    if (this.#qps.size >= this.limits.maxQp) throw new CommandError('ENOMEM', `no more than ${this.limits.maxQp} QPs`);
    const sendCq = this.#cq(create.sendCq);
    const recvCq = this.#cq(create.recvCq);
    const sqShape = sendQueueShape(cap.maxSendWr, cap.maxSendSge, cap.maxInlineData);
    const rqShape = recvQueueShape(cap.maxRecvWr, cap.maxRecvSge);
    const sq = new WorkQueue(create.sq, sqShape, cap.maxSendSge);
    const rq = new WorkQueue(create.rq, rqShape, cap.maxRecvSge);
    this.memory.holdPd(pd);
    const qpn = this.#freshQpn();
    const timer = this.#freeTimers.pop() ?? this.#timerOwners.length;
    const qp = new QueuePair({ qpn, type, pd, sendCq, recvCq, cap, sqSigAll, sq, rq }, this, timer);
    this.#timerOwners[timer] = qp;
    this.#qps.set(qpn, qp);
    sendCq.users += 1;
    recvCq.users += 1;
    return { qpn };
  }

  modifyQp(qpn: number, attr: Partial<QpAttr>): void {
    const qp = this.#qp(qpn);
    const { path, mtuBytes } = checkModification(qp, attr, this.#port);
    qp.modify(attr, path, mtuBytes);
    this.#settleOverruns();
  }

  queryQp(qpn: number): QpAttr {
    return this.#qp(qpn).query();
  }

  destroyQp(qpn: number): void {
    const qp = this.#qp(qpn);
    this.#qps.delete(qpn);
    qp.retire();
    this.timers.clear(qp.timerId);
    this.#timerOwners[qp.timerId] = undefined;
    this.#freeTimers.push(qp.timerId);
    qp.sendCq.users -= 1;
    qp.recvCq.users -= 1;
    this.memory.releasePd(qp.pd);
  }

  // The data path, in the order of one turn.

  /** Tells the NIC the time, in µs on any clock that never goes back. */
  advanceTo(nowUs: number): void {
    if (nowUs > this.nowUs) this.nowUs = nowUs;
  }

  /**
   * Takes a packet, from its BTH to its ICRC. Whatever is wrong with it, it is counted and dropped; `bytes` may be
   * written to while this runs.
   */
  receive(bytes: Uint8Array, offset: number, lengthBytes: number, meta: PacketMeta): void {
    const { counters } = this;
    counters.rcvdPkts += 1;
    counters.rcvdBytes += lengthBytes;
    if (lengthBytes < BTH_BYTES + ICRC_BYTES || (lengthBytes & 3) !== 0) {
      counters.rxMalformed += 1;
      return;
    }
    const opcode = bytes[offset];
    const bits = opcodeBits[opcode];
    if (bits === 0) {
      counters.rxUnknownOpcode += 1;
    } else if (bthTver(bytes, offset) !== 0) {
      counters.rxBadVersion += 1;
    } else if (lengthBytes < opcodeHeaderBytes[opcode] + bthPadCount(bytes, offset) + ICRC_BYTES) {
      counters.rxMalformed += 1;
    } else if (this.#verifier.verify(bytes, offset, lengthBytes, meta) < 0) {
      counters.rxIcrcEncapsulated += 1;
    } else if ((bthPkey(bytes, offset) & PKEY_MASK) !== PKEY_MASK) {
      counters.rxBadPkey += 1;
    } else {
      this.#deliver(bytes, offset, lengthBytes, opcode, bits, meta);
    }
  }

  /** Takes the doorbells that the driver rang since the last call. */
  ringDoorbells(): void {
    const words = this.#doorbells;
    if (words === undefined) return;
    const producer = Atomics.load(words, Ring.PRODUCER);
    let consumer = words[Ring.CONSUMER];
    if (consumer === producer) return;
    // A driver that claims more than the ring holds is believed up to what it can have written.
    if ((producer - consumer) >>> 0 > DoorbellPage.ENTRIES) consumer = (producer - DoorbellPage.ENTRIES) | 0;
    while (consumer !== producer) {
      this.#qps.get(words[RING_HEADER_WORDS + (consumer & (DoorbellPage.ENTRIES - 1))])?.onDoorbell();
      consumer = (consumer + 1) | 0;
    }
    Atomics.store(words, Ring.CONSUMER, consumer);
  }

  /**
   * Fires the timers that are due, after what has arrived was looked at: an answer that waited in the socket while this
   * process was not running is no reason to send again. Then builds packets into the sink.
   *
   * @returns whether there is more to send once the sink was flushed
   */
  transmit(): boolean {
    this.timers.expire(this.nowUs, this.#fire);
    for (let turn = 0; turn < TURNS && this.#readyCount > 0; turn += 1) {
      const qp = this.#takeReady();
      if (qp === undefined) continue;
      const served = qp.transmit(QUANTUM);
      if (served === Served.BLOCKED) {
        this.#settleOverruns();
        this.schedule(qp);
        return true;
      }
      if (served === Served.MORE) this.schedule(qp);
    }
    this.#settleOverruns();
    return this.#readyCount > 0;
  }

  /** Whether a timer is due. */
  get timerDue(): boolean {
    return this.nowUs >= this.timers.nextDueUs;
  }

  /** When the NIC wants to be told the time again though nothing else happens; Infinity when it does not. */
  nextWakeupUs(): number {
    return this.#readyCount > 0 ? this.nowUs : this.timers.nextDueUs;
  }

  schedule(qp: QueuePair): void {
    if (qp.scheduled) return;
    qp.scheduled = true;
    const size = this.#ready.length;
    if (this.#readyCount === size) {
      const ordered = Array.from({ length: size }, (_, i) => this.#ready[(this.#readyHead + i) % size]);
      this.#ready = [...ordered, ...new Array<QueuePair | undefined>(size).fill(undefined)];
      this.#readyHead = 0;
    }
    this.#ready[(this.#readyHead + this.#readyCount) % this.#ready.length] = qp;
    this.#readyCount += 1;
  }

  #takeReady(): QueuePair | undefined {
    const qp = this.#ready[this.#readyHead];
    this.#ready[this.#readyHead] = undefined;
    this.#readyHead = (this.#readyHead + 1) % this.#ready.length;
    this.#readyCount -= 1;
    if (qp !== undefined) qp.scheduled = false;
    return qp;
  }

  #deliver(
    bytes: Uint8Array,
    offset: number,
    lengthBytes: number,
    opcode: number,
    bits: number,
    meta: PacketMeta,
  ): void {
    const { counters } = this;
    const qp = this.#qps.get(bthDestQp(bytes, offset));
    if (qp === undefined) {
      counters.rxUnknownQp += 1;
    } else if (opcode >>> 5 !== OpcodeService.RC) {
      counters.rxWrongTransport += 1;
    } else if (!qp.mayReceive) {
      counters.rxWrongState += 1;
    } else if (!qp.isPeer(meta.sourceWords)) {
      counters.rxWrongPeer += 1;
    } else if ((bits & OpcodeBit.REQUEST) !== 0) {
      qp.onHeard();
      qp.responder.onRequest(bytes, offset, lengthBytes);
    } else if (!qp.maySend) {
      counters.rxWrongState += 1;
    } else if ((bits & OpcodeBit.READ_RESPONSE) !== 0) {
      qp.completer.onReadResponse(bytes, offset, lengthBytes);
    } else if ((bits & OpcodeBit.ATOMIC_ACK) !== 0) {
      qp.completer.onAtomicAcknowledge(bytes, offset);
    } else {
      qp.completer.onAcknowledge(bytes, offset);
    }
  }

  readonly #fire = (timer: number): void => {
    this.#timerOwners[timer]?.completer.onTimer();
  };

  /** Ends the QPs of CQs that lost an entry: apart from where it happened, so that nobody's state changes under them. */
  #settleOverruns(): void {
    for (let cq = this.#overrun.pop(); cq !== undefined; cq = this.#overrun.pop()) {
      this.events.asyncEvent({ type: EventType.CQ_ERR, cqn: cq.cqn });
      for (const qp of this.#qps.values()) if (qp.sendCq === cq || qp.recvCq === cq) qp.onCqOverrun();
    }
  }

  #freshQpn(): number {
    for (;;) {
      const qpn = this.#random() & 0xffffff;
      if (qpn >= FIRST_QPN && qpn <= LAST_QPN && !this.#qps.has(qpn)) return qpn;
    }
  }

  #qp(qpn: number): QueuePair {
    const qp = this.#qps.get(qpn);
    if (qp === undefined) throw new CommandError('EINVAL', `there is no QP 0x${qpn.toString(16)}`);
    return qp;
  }

  #cq(cqn: number): CompletionQueue {
    const cq = this.#cqs.get(cqn);
    if (cq === undefined) throw new CommandError('EINVAL', `there is no CQ ${cqn}`);
    return cq;
  }

  #channel(handle: number): CompChannel {
    const channel = this.#channels.get(handle);
    if (channel === undefined) throw new CommandError('EINVAL', `there is no completion channel ${handle}`);
    return channel;
  }
}
