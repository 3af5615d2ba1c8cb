import { type EventType, type Gid, ipFromGid, Mtu, type QpAttr, type QpCap, QpType } from '../../ibta/index.js';
import {
  SeededRandom,
  type SimulatedLink,
  type SimulatedLinkOptions,
  type SimulatedNetwork,
} from '../../link/simulated/index.js';
import type { PeerTable } from '../../stand-in/index.js';
import { Nic, type NicAsyncEvent, type NicLimits } from '../index.js';
import type { PacketSink } from '../../wire/index.js';
import {
  compChannelShape,
  completionQueueShape,
  doorbellPageShape,
  recvQueueShape,
  sendQueueShape,
} from '../rings/layout.js';
import { crc32 } from '../../wire/index.js';
import { type Manner, SlowMemory } from '../../../../test/support/foreign-memory.js';
import { TestQp } from './qp.js';
import { ALL_ACCESS, Doorbell, DriverChannel, DriverCq, DriverQueue, hi32, lo32, type Sge } from './rings.js';

export interface HostOptions {
  readonly seed?: number;
  readonly portMtu?: Mtu;
  readonly limits?: Partial<NicLimits>;
  readonly link?: SimulatedLinkOptions;
  /** How the memory of the next region behaves; undefined for plain bytes. Default: {@link mannerOfAll}. */
  readonly memory?: (() => Manner | undefined) | undefined;
  /** What the NIC sends into, around the link's own. */
  readonly sink?: (inner: PacketSink) => PacketSink;
  /** Where its stand-in looks. */
  readonly peers?: PeerTable;
}

export interface MrOptions {
  readonly access?: number;
  readonly pd?: number;
  /** Address of the first byte; by default each region gets pages of its own beyond 2^32. */
  readonly iova?: bigint;
  /** Lies in foreign memory that behaves so. */
  readonly manner?: Manner;
}

export interface QpOptions {
  readonly type?: QpType;
  readonly pd?: number;
  readonly sendCq?: DriverCq;
  readonly recvCq?: DriverCq;
  readonly cap?: Partial<QpCap>;
  readonly sqSigAll?: boolean;
  readonly srq?: TestSrq;
  readonly xrcd?: number;
  readonly createFlags?: number;
}

/** A shared receive queue as a program sees it. */
export interface TestSrq {
  readonly srqn: number;
  readonly queue: DriverQueue;
}

export interface SrqOptions {
  readonly pd?: number;
  readonly maxWr?: number;
  readonly maxSge?: number;
  readonly limit?: number;
  /** Both for an XRC shared receive queue. */
  readonly xrcd?: number;
  readonly cq?: DriverCq;
}

const NO_BYTES = new Uint8Array(0);

/**
 * How all memory of these tests behaves: plain bytes, or what VERBENA_TEST_MEMORY says, `copied` or `late`, so that the whole
 * of them can be run over foreign memory.
 */
function mannerOfAll(): Manner | undefined {
  switch (process.env['VERBENA_TEST_MEMORY']) {
    case 'copied':
      return {};
    case 'late':
      // Always the same, so that two runs of a test that are compared differ in nothing but what the test is about.
      return { delayUs: () => 2 };
    default:
      return undefined;
  }
}

/** Bytes beside a region that nobody may touch. */
export const CANARY_BYTES = 64;
const CANARY = 0xa5;

/** Registered memory, with canaries on both sides. */
export class TestMr {
  readonly bytes: Uint8Array;
  handle = 0;
  lkey = 0;
  rkey = 0;
  /** Where it lies, if it is not plain bytes. */
  memory: SlowMemory | undefined;

  constructor(
    readonly addr: bigint,
    private readonly whole: Uint8Array,
    before: number,
    after: number,
  ) {
    this.bytes = whole.subarray(before, whole.length - after);
  }

  get length(): number {
    return this.bytes.length;
  }

  sge(offset = 0, length = this.length - offset): Sge {
    return { addr: this.addr + BigInt(offset), length, lkey: this.lkey };
  }

  /** A part of it by its address, as a peer names it. */
  at(offset: number): { remoteAddr: bigint; rkey: number } {
    return { remoteAddr: this.addr + BigInt(offset), rkey: this.rkey };
  }

  get view(): DataView {
    return new DataView(this.bytes.buffer, this.bytes.byteOffset, this.bytes.byteLength);
  }

  /** Whether everything outside of the region is as it was. */
  get canariesIntact(): boolean {
    const begin = this.bytes.byteOffset - this.whole.byteOffset;
    const end = begin + this.bytes.length;
    const isCanary = (byte: number): boolean => byte === CANARY;
    return this.whole.subarray(0, begin).every(isCanary) && this.whole.subarray(end).every(isCanary);
  }
}

/** One NIC on one simulated link, with the pump that drives it and a driver for tests. */
export class TestHost {
  readonly nic: Nic;
  readonly link: SimulatedLink;
  readonly events: NicAsyncEvent[] = [];
  /** Channels of which the NIC said that an event was put into them. */
  readonly channelNotices: number[] = [];
  /** Is called in the midst of the NIC's turn, as soon as an armed completion queue has a completion. */
  onNotice: (() => void) | undefined;
  readonly random: SeededRandom;
  /** Every region that was registered here. */
  readonly regions: TestMr[] = [];
  /** The PD of everything that names no other. */
  readonly pd: number;
  readonly doorbell: Doorbell;
  /** Whether regions are made of what is asked for, not of plain bytes alone. */
  readonly hasForeignMemory: boolean;
  readonly #memory: () => Manner | undefined;
  #nextIova = 0x7f10_0000_0000n;

  constructor(
    readonly network: SimulatedNetwork,
    readonly address: string,
    options: HostOptions = {},
  ) {
    this.random = new SeededRandom(options.seed ?? 1);
    this.hasForeignMemory = options.memory !== undefined;
    this.#memory = options.memory ?? mannerOfAll;
    this.link = network.attach(address, options.link);
    const doorbells = new SharedArrayBuffer(doorbellPageShape().bytes);
    this.doorbell = new Doorbell(doorbells);
    this.nic = new Nic({
      sink: options.sink?.(this.link.sink) ?? this.link.sink,
      events: {
        completionEvent: (channel) => {
          this.channelNotices.push(channel);
          this.onNotice?.();
        },
        asyncEvent: (event) => this.events.push(event),
      },
      crc32,
      random: this.random.u32,
      gids: [this.link.gid],
      portMtu: options.portMtu ?? Mtu.MTU_4096,
      doorbells,
      peers: options.peers,
      ...(options.limits === undefined ? {} : { limits: options.limits }),
    });
    this.pd = this.nic.control.allocPd();
  }

  get gid(): Gid {
    return this.link.gid;
  }

  get ip(): string {
    return ipFromGid(this.gid);
  }

  turn(nowUs: number): void {
    const { nic, link } = this;
    nic.advanceTo(nowUs);
    for (const { memory } of this.regions) memory?.advanceTo(nowUs);
    link.receive(nic, 64);
    nic.ringDoorbells();
    while (nic.transmit()) link.flush();
    link.flush();
  }

  /** When a copy from or to foreign memory finishes; Infinity when none is under way. */
  get nextCopyUs(): number {
    return Math.min(Infinity, ...this.regions.map(({ memory }) => memory?.nextUs ?? Infinity));
  }

  /** Registers new memory of `size` bytes, all zero. */
  mr(size: number, options: MrOptions = {}): TestMr {
    const iova = options.iova ?? this.#freshIova(size);
    const whole = new Uint8Array(size + 2 * CANARY_BYTES).fill(CANARY);
    const mr = new TestMr(iova, whole, CANARY_BYTES, CANARY_BYTES);
    mr.bytes.fill(0);
    const manner = options.manner ?? this.#memory();
    mr.memory = manner && new SlowMemory(mr.bytes, manner);
    const keys = this.nic.control.regMr({
      pd: options.pd ?? this.pd,
      bytes: mr.memory === undefined ? mr.bytes : NO_BYTES,
      foreign: mr.memory,
      iovaHi: hi32(iova),
      iovaLo: lo32(iova),
      access: options.access ?? ALL_ACCESS,
    });
    mr.handle = keys.handle;
    mr.lkey = keys.lkey;
    mr.rkey = keys.rkey;
    this.regions.push(mr);
    return mr;
  }

  /** Registers memory that holds `content`. */
  mrOf(content: Uint8Array, options: MrOptions = {}): TestMr {
    const mr = this.mr(content.length, options);
    mr.bytes.set(content);
    return mr;
  }

  channel(): DriverChannel {
    const channel = new DriverChannel(compChannelShape());
    channel.handle = this.nic.control.createCompChannel(channel.memory);
    return channel;
  }

  cq(entries = 256, channel?: DriverChannel): DriverCq {
    const cq = new DriverCq(completionQueueShape(entries));
    cq.cqn = this.nic.control.createCq({
      entries,
      memory: cq.memory,
      ...(channel === undefined ? {} : { channel: channel.handle }),
    });
    return cq;
  }

  srq(options: SrqOptions = {}): TestSrq {
    const { maxWr = 64, maxSge = 4, limit = 0, pd = this.pd, xrcd, cq } = options;
    const queue = new DriverQueue(recvQueueShape(maxWr, maxSge));
    const create = { pd, maxWr, maxSge, limit, memory: queue.memory, xrcd, cq: cq?.cqn };
    return { srqn: this.nic.control.createSrq(create).srqn, queue };
  }

  qp(options: QpOptions = {}): TestQp {
    const cap: QpCap = {
      maxSendWr: 64,
      maxRecvWr: 64,
      maxSendSge: 4,
      maxRecvSge: 4,
      maxInlineData: 256,
      ...options.cap,
    };
    const sq = new DriverQueue(sendQueueShape(cap.maxSendWr, cap.maxSendSge, cap.maxInlineData));
    const rq = new DriverQueue(recvQueueShape(cap.maxRecvWr, cap.maxRecvSge));
    const sendCq = options.sendCq ?? this.cq();
    const recvCq = options.recvCq ?? this.cq();
    const { type = QpType.RC, srq, xrcd, createFlags } = options;
    const { qpn } = this.nic.control.createQp({
      type,
      pd: type === QpType.XRC_RECV ? undefined : (options.pd ?? this.pd),
      xrcd,
      sendCq: sendCq.cqn,
      recvCq: recvCq.cqn,
      srq: srq?.srqn,
      cap,
      createFlags,
      sqSigAll: options.sqSigAll ?? false,
      sq: sq.memory,
      rq: rq.memory,
    });
    return new TestQp(this, qpn, sq, rq, sendCq, recvCq);
  }

  /** Types of the asynchronous events of one QP, in order. */
  eventsOf(qp: TestQp): EventType[] {
    return this.events.filter((event) => event.qpn === qp.qpn).map((event) => event.type);
  }

  #freshIova(size: number): bigint {
    const iova = this.#nextIova;
    this.#nextIova += BigInt(Math.ceil((size + 1) / 4096) * 4096 + 4096);
    // Not on a page boundary: the low 32 bits of addresses in one region then carry over now and again.
    return iova + 0x38n;
  }
}

export type { QpAttr };
