import { assert, EventType } from '../ibta/index.js';
import { PeerTable } from '../stand-in/index.js';
import {
  BTH_BYTES,
  bthDestQp,
  bthPadCount,
  bthPkey,
  bthTver,
  Ecn,
  ICRC_BYTES,
  IcrcVerifier,
  isMulticastGid,
  MULTICAST_QPN,
  Opcode,
  OpcodeBit,
  opcodeBits,
  opcodeHeaderBytes,
  OpcodeService,
  type PacketMeta,
} from '../wire/index.js';
import { CommandError } from './command-error.js';
import { type ControlCore, ControlVerbs } from './control/control-verbs.js';
import { type NicObjects, ObjectTable } from './control/objects.js';
import { NicCounters } from './counters.js';
import { AddressTable } from './datagram/address-table.js';
import { GeneralServices, GSI_QPN } from './datagram/general-services.js';
import { MulticastTable } from './datagram/multicast-table.js';
import { CopyEngine } from './memory/copying/copy-engine.js';
import { DataMover } from './memory/copying/data-mover.js';
import { MemoryTable } from './memory/memory-table.js';
import {
  DEFAULT_LIMITS,
  type MulticastGroups,
  type NicConfig,
  type NicEvents,
  type NicLimits,
  type SendFrame,
} from './nic-config.js';
import { isCongestionNotification } from './port/congestion-notification.js';
import { PacketBuilder } from './port/packet-builder.js';
import { pkeysMatch, Port } from './port/port.js';
import { HeldQueuePairs } from './queue-pairs/held-queue-pairs.js';
import type { QueuePair } from './queue-pairs/queue-pair.js';
import { type Scheduled, TransmitResult } from './queue-pairs/turns.js';
import type { CompletionQueue } from './queues/completion-queue.js';
import { Doorbells } from './queues/doorbells.js';
import type { SharedReceiveQueue } from './queues/shared-receive-queue.js';
import { Cqe } from './rings/layout.js';
import { Timers } from './time/timers.js';

/** Packets that one QP may send before the next has its turn; those of more than 4 KiB count for as many as hold as much. */
const QUANTUM = 32;
/** Turns in one {@link Nic.transmit}, so that whoever drives the NIC gets to look at what arrived. */
const TURNS = 8;

const NO_GROUPS: MulticastGroups = {
  join: () => undefined,
  leave: () => undefined,
};

function isReliable(opcode: number): boolean {
  const service = opcode >>> 5;
  return service === OpcodeService.RC || service === OpcodeService.XRC;
}

function noFrames(): SendFrame {
  throw new CommandError('EOPNOTSUPP', 'this link carries no Ethernet frames, so there are no raw packet QPs on it');
}

/**
 * A software RNIC without any input or output of its own. Packets, doorbells and the time come in; packets,
 * completions and the next wake-up go out. The same calls with the same arguments give the same results, to the bit.
 */
export class Nic implements ControlCore {
  nowUs = 0;
  timestampLo = 0;
  timestampHi = 0;
  /** Control verbs: the calls that make, change and end objects. */
  readonly control: ControlVerbs;
  readonly builder: PacketBuilder;
  readonly memory: MemoryTable;
  readonly mover: DataMover;
  readonly copyEngine = new CopyEngine();
  readonly counters = new NicCounters();
  readonly timers = new Timers();
  readonly limits: NicLimits;
  readonly events: NicEvents;
  readonly port: Port;
  readonly detail = new Int32Array(Cqe.DETAIL_WORDS);
  readonly addresses: AddressTable;
  readonly multicast: MulticastTable;
  /** Queue pair 1. */
  readonly generalServices: GeneralServices;
  readonly random: () => number;
  readonly objects: NicObjects;
  readonly peers: PeerTable;

  readonly #verifier: IcrcVerifier;
  readonly #openFrames: () => SendFrame;
  #sendFrame: SendFrame | undefined;
  readonly doorbells: Doorbells | undefined;
  #pages: readonly Doorbells[] = [];
  /** QPs that have something to send, in the order of their turns: a ring. */
  #ready: (Scheduled | undefined)[] = new Array<Scheduled | undefined>(64).fill(undefined);
  #readyHead = 0;
  #readyCount = 0;
  readonly #held: HeldQueuePairs;
  #atWork = false;
  readonly #overrun: CompletionQueue[] = [];

  constructor(config: NicConfig) {
    const limits = { ...DEFAULT_LIMITS, ...config.limits };
    this.limits = limits;
    this.events = config.events;
    this.peers = config.peers ?? new PeerTable();
    this.random = config.random;
    this.memory = new MemoryTable(config.random, limits, () => this.nowUs);
    this.mover = new DataMover(this.memory);
    this.port = new Port(config.gids, config.portMtu, config.pkeys, limits);
    this.addresses = new AddressTable(limits);
    this.multicast = new MulticastTable(limits, config.groups ?? NO_GROUPS, this.port);
    this.#openFrames = config.openFrames ?? noFrames;
    this.builder = new PacketBuilder(config.sink, config.crc32, this.counters, this.port);
    this.generalServices = new GeneralServices(this, config.random());
    this.#held = new HeldQueuePairs(this.builder);
    this.#verifier = new IcrcVerifier(config.crc32);
    this.doorbells = config.doorbells === undefined ? undefined : this.openDoorbells(config.doorbells);
    this.objects = {
      channels: new ObjectTable('completion channel', limits.maxCompChannels),
      compCntrs: new ObjectTable('completion counter', limits.maxCompCntr),
      cqs: new ObjectTable('CQ', limits.maxCq),
      srqs: new ObjectTable('SRQ', limits.maxSrq),
      xrcds: new ObjectTable('XRC domain', limits.maxXrcd),
      qps: new ObjectTable('QP', limits.maxQp),
      rawQps: new Set(),
    };
    this.control = new ControlVerbs(this);
  }

  /**
   * Whether a call of the data path was left in its midst, by an error or by an interruption: nothing is known then of what
   * the NIC holds, and it is not to be used any more.
   */
  get isBroken(): boolean {
    return this.#atWork;
  }

  // The data path, in the order of one turn.

  /** Tells the NIC the time, in µs on any clock that never goes back. */
  advanceTo(nowUs: number): void {
    if (nowUs <= this.nowUs) return;
    this.nowUs = nowUs;
    const nowNs = Math.floor(nowUs * 1000);
    this.timestampLo = nowNs | 0;
    this.timestampHi = Math.floor(nowNs / 2 ** 32) | 0;
  }

  /**
   * Takes a packet, from its BTH to its ICRC. Whatever is wrong with it, it is counted and dropped; `bytes` may be
   * written to while this runs.
   */
  receive(bytes: Uint8Array, offset: number, lengthBytes: number, meta: PacketMeta): void {
    this.#atWork = true;
    this.#take(bytes, offset, lengthBytes, meta);
    this.#atWork = false;
  }

  #take(bytes: Uint8Array, offset: number, lengthBytes: number, meta: PacketMeta): void {
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
    } else if (!meta.unsealed && this.#verifier.verify(bytes, offset, lengthBytes, meta) < 0) {
      counters.rxIcrcEncapsulated += 1;
    } else if (!this.port.up) {
      counters.rxPortDown += 1;
    } else if (meta.segmentBytes !== 0 && !isReliable(opcode)) {
      // Nobody else cuts messages into such pieces, or looks for the payload elsewhere.
      counters.rxMalformed += 1;
    } else {
      this.#deliver(bytes, offset, lengthBytes, opcode, bits, meta);
    }
  }

  /** Takes an Ethernet frame that is not RoCE: every raw packet QP gets its copy (protocol/packets.md 1.2). */
  receiveFrame(bytes: Uint8Array, offset: number, lengthBytes: number): void {
    if (!this.port.up) {
      this.counters.rxPortDown += 1;
      return;
    }
    this.#atWork = true;
    for (const qp of this.objects.rawQps) if (qp.mayReceive) qp.onRequest(bytes, offset, lengthBytes, undefined);
    this.settleOverruns();
    this.#atWork = false;
  }

  /** The NIC by whose memory packets came is gone. Whoever heard its peer by that way last has no peer any more. */
  onGone(way: number): void {
    for (const qp of this.objects.qps.values()) if (qp.peerWay === way) qp.sending.onPeerGone?.();
    this.events.gone?.(way);
  }

  /** Hands a frame to the link; where the port is down, it is lost on the way. */
  readonly sendFrame: SendFrame = (bytes, offset, lengthBytes) => {
    assert(this.#sendFrame !== undefined, 'a frame is sent before the way of frames was opened');
    if (this.port.up) return this.#sendFrame(bytes, offset, lengthBytes);
    this.counters.sendErr += 1;
    return 0;
  };

  requireFrames(): void {
    this.#sendFrame ??= this.#openFrames();
  }

  /** Takes one more doorbell page (`DoorbellPage` of the layout): that of a driver which rings for queue pairs of its own. */
  openDoorbells(memory: ArrayBufferLike): Doorbells {
    const page = new Doorbells(memory);
    this.#pages = [...this.#pages, page];
    return page;
  }

  get doorbellPages(): number {
    return this.#pages.length;
  }

  /** Looks at a page no more. */
  closeDoorbells(page: Doorbells): void {
    this.#pages = this.#pages.filter((other) => other !== page);
  }

  /** Takes the doorbells that drivers rang since the last call, of each page all of them. @returns whether there were any */
  ringDoorbells(): boolean {
    const pages = this.#pages;
    let rung = false;
    for (let i = 0; i < pages.length; i += 1) {
      if (!pages[i].rung) continue;
      rung = true;
      this.#atWork = true;
      pages[i].take(this.objects.qps);
      this.#atWork = false;
    }
    return rung;
  }

  /**
   * Fires the timers that are due, after what has arrived was looked at: an answer that waited in the socket while this
   * process was not running is no reason to send again. Then builds packets into the sink.
   *
   * @returns whether there is more to send once the sink was flushed
   */
  transmit(): boolean {
    this.#atWork = true;
    const { copyEngine } = this;
    if (copyEngine.busy) copyEngine.takeNotice();
    const more = this.#transmit();
    if (copyEngine.busy) copyEngine.endTurn();
    this.#atWork = false;
    return more;
  }

  #transmit(): boolean {
    // Whoever is handed the time without need has it boxed: 16 bytes of garbage.
    if (this.timerDue) this.timers.expire(this.nowUs);
    this.settleOverruns();
    if (this.generalServices.busy && !this.generalServices.transmit()) return true;
    if (this.#held.count > 0) this.#held.release(this.#enqueue);
    for (let turn = 0; turn < TURNS && this.#readyCount > 0; turn += 1) {
      const qp = this.#takeReady();
      if (qp === undefined) continue;
      if (qp.way !== 0 && this.#held.isBehind(qp)) {
        this.#hold(qp, qp.way);
        continue;
      }
      const served = qp.transmit(QUANTUM);
      if (served === TransmitResult.BLOCKED) {
        const way = this.builder.fullWay;
        if (way !== 0) {
          this.#hold(qp, way);
          continue;
        }
        this.settleOverruns();
        this.schedule(qp, 0);
        return true;
      }
      if (served === TransmitResult.MORE) this.schedule(qp, 0);
    }
    this.settleOverruns();
    return this.#readyCount > 0;
  }

  get timerDue(): boolean {
    return this.nowUs >= this.timers.nextDueUs;
  }

  /** When the NIC wants to be told the time again though nothing else happens; Infinity when it does not. */
  nextWakeupUs(): number {
    const busy =
      this.#readyCount > 0 ||
      this.generalServices.busy ||
      this.copyEngine.busy ||
      (this.#held.count > 0 && this.#held.hasRoom);
    return busy ? this.nowUs : this.timers.nextDueUs;
  }

  schedule(qp: Scheduled, due: number): void {
    qp.due |= due;
    if (qp.scheduled) return;
    qp.scheduled = true;
    this.#enqueue(qp);
  }

  unhold(qp: Scheduled): void {
    if (qp.held) {
      this.#held.remove(qp);
      this.#enqueue(qp);
    }
    qp.way = 0;
  }

  /** It stays scheduled, and comes back into the queue when there is room. */
  #hold(qp: Scheduled, way: number): void {
    qp.scheduled = true;
    this.#held.add(qp, way);
  }

  readonly #enqueue = (qp: Scheduled): void => {
    const size = this.#ready.length;
    if (this.#readyCount === size) {
      const ordered = Array.from({ length: size }, (_, i) => this.#ready[(this.#readyHead + i) % size]);
      this.#ready = [...ordered, ...new Array<Scheduled | undefined>(size).fill(undefined)];
      this.#readyHead = 0;
    }
    this.#ready[(this.#readyHead + this.#readyCount) % this.#ready.length] = qp;
    this.#readyCount += 1;
  };

  #takeReady(): Scheduled | undefined {
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
    const qpn = bthDestQp(bytes, offset);
    const qp = this.objects.qps.find(qpn);
    if (qpn === MULTICAST_QPN) {
      this.#deliverToGroup(bytes, offset, lengthBytes, opcode, bits, meta);
    } else if (qpn === GSI_QPN && !isMulticastGid(meta.destination)) {
      this.generalServices.onPacket(bytes, offset, lengthBytes, meta);
    } else if (qp === undefined || (this.multicast.size > 0 && isMulticastGid(meta.destination))) {
      // What goes to a group goes to its members, not to one QP (protocol/services.md 3.5).
      counters.rxUnknownQp += 1;
    } else if (opcode === Opcode.CNP) {
      this.#onCongestionNotification(qp, bytes, offset, lengthBytes, meta);
    } else if (opcode >>> 5 !== qp.service) {
      counters.rxWrongTransport += 1;
    } else if (!pkeysMatch(bthPkey(bytes, offset), qp.pkey)) {
      counters.rxBadPkey += 1;
    } else if (!qp.mayReceive) {
      counters.rxWrongState += 1;
    } else if (qp.connected && !qp.isPeer(meta.sourceWords)) {
      counters.rxWrongPeer += 1;
    } else if ((bits & OpcodeBit.REQUEST) !== 0) {
      if (!qp.responds) {
        counters.rxWrongTransport += 1;
        return;
      }
      if (opcode === Opcode.RC_FLUSH && !meta.unsealed) this.#onFlush(qp);
      if (qp.connected) {
        qp.onHeard();
        qp.peerWay = meta.way;
        if ((meta.trafficClass & Ecn.MASK) === Ecn.CE) qp.onMarked(bits);
      }
      qp.onRequest(bytes, offset, lengthBytes, meta);
    } else if (!qp.maySend) {
      counters.rxWrongState += 1;
    } else {
      qp.peerWay = meta.way;
      if ((meta.trafficClass & Ecn.MASK) === Ecn.CE) qp.onMarked(bits);
      qp.onResponse(bytes, offset, lengthBytes, bits, meta);
    }
  }

  /** Its ICRC shows whether the peer is Linux's rxe (protocol/packets.md 1.7). */
  #onFlush(qp: QueuePair): void {
    const { headersTwice } = this.#verifier;
    if (headersTwice) this.counters.rxFlushHeadersTwice += 1;
    qp.sending.onPeerFlush?.(headersTwice);
  }

  /**
   * Its own kind of packet, but as any other it counts only from the peer of a queue pair that may send. In RTR that has sent
   * answers to READs at most, of which whoever asked takes care.
   */
  #onCongestionNotification(
    qp: QueuePair,
    bytes: Uint8Array,
    offset: number,
    lengthBytes: number,
    meta: PacketMeta,
  ): void {
    const { counters } = this;
    if (!isCongestionNotification(bytes, offset, lengthBytes)) counters.rxMalformed += 1;
    else if (!pkeysMatch(bthPkey(bytes, offset), qp.pkey)) counters.rxBadPkey += 1;
    else if (!qp.connected) counters.rxWrongTransport += 1;
    else if (!qp.mayReceive) counters.rxWrongState += 1;
    else if (!qp.isPeer(meta.sourceWords)) counters.rxWrongPeer += 1;
    else if (!qp.maySend || qp.sending.onCongestion === undefined) counters.rpCnpIgnored += 1;
    else {
      counters.rpCnpHandled += 1;
      qp.sending.onCongestion(true);
    }
  }

  #deliverToGroup(
    bytes: Uint8Array,
    offset: number,
    lengthBytes: number,
    opcode: number,
    bits: number,
    meta: PacketMeta,
  ): void {
    const { counters, multicast } = this;
    const members = multicast.membersOf(meta.destinationWords);
    if (members === undefined) {
      counters.rxUnknownQp += 1;
      return;
    }
    for (const qp of members) {
      if (opcode >>> 5 !== qp.service || (bits & OpcodeBit.REQUEST) === 0) counters.rxWrongTransport += 1;
      else if (!pkeysMatch(bthPkey(bytes, offset), qp.pkey)) counters.rxBadPkey += 1;
      else if (!qp.mayReceive) counters.rxWrongState += 1;
      else if (!multicast.isBlocked(qp, bytes, offset, meta)) qp.onRequest(bytes, offset, lengthBytes, meta);
    }
  }

  /** A CQ lost an entry. What follows comes later, so that nobody's state changes under them. */
  onCqOverrun(cq: CompletionQueue): void {
    this.#overrun.push(cq);
  }

  settleOverruns(): void {
    for (let cq = this.#overrun.pop(); cq !== undefined; cq = this.#overrun.pop()) {
      this.events.asyncEvent({ type: EventType.CQ_ERR, cqn: cq.cqn });
      for (const qp of this.objects.qps.values())
        if (qp.sendCq === cq || qp.receiving.completesTo(cq)) qp.onCqOverrun();
      for (const srq of this.objects.srqs.values()) {
        if (srq.cq !== cq) continue;
        srq.failed = true;
        this.events.asyncEvent({ type: EventType.SRQ_ERR, srqn: srq.srqn });
      }
    }
  }

  xrcSrq(srqn: number, xrcd: number): SharedReceiveQueue | undefined {
    const srq = this.objects.srqs.find(srqn);
    return srq?.xrcd === xrcd ? srq : undefined;
  }

  /** Gives up all copies from and to foreign memory, and that memory: nobody drives this NIC any more. */
  abandonCopies(): void {
    for (const qp of this.objects.qps.values()) qp.copies?.abandon();
    this.memory.closeForeign();
  }

  /** The device is lost: nothing passes any more, and what was posted ends in FATAL_ERR. */
  fail(): void {
    this.port.up = false;
    this.events.asyncEvent({ type: EventType.DEVICE_FATAL });
    for (const qp of this.objects.qps.values()) qp.onDeviceLost();
    this.settleOverruns();
  }
}
