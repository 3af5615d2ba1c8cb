import type {
  Ah,
  CompChannel,
  Context,
  Cq,
  DeviceAttr,
  Gid,
  Mr,
  Mw,
  Pd,
  Qp,
  QpModifyAttr,
  Sge,
  Srq,
  Xrcd,
  XrcTargetQp,
} from '../../src/entry/index.js';
import { type MwType, QpState, type QpType, type WrOpcode } from '../../src/entry/index.js';
import type { HostPackets } from '../sim/packet-book.js';
import type { Polled } from '../sim/polled.js';
import type { Arena } from './arena.js';

/** What the model knows of each object. It is told by whoever makes the calls, never by the NIC. */

/** Something that a step made, with a number that it keeps when other steps are left out. */
export interface Thing {
  readonly id: number;
}

export interface PdRecord extends Thing {
  readonly api: Pd;
}

export interface AhRecord extends Thing {
  readonly api: Ah;
  readonly pd: PdRecord;
  readonly to: string;
  alive: boolean;
}

export interface CqRecord extends Thing {
  readonly api: Cq;
  capacity: number;
  /** Overrun: nothing that completes here is heard of any more. */
  dead: boolean;
  /** Its program waits for solicited completions alone, and for failures. */
  readonly onlySolicited: boolean;
  /** Which completions raise an event now. */
  armed: 'no' | 'any' | 'solicited';
  /** Whether one that should was read since it was armed. */
  called: 'yes' | 'no' | 'maybe';
  /** All that is read from now on came after it was armed. */
  fresh: boolean;
}

/** A region: where it lies in its host's memory, and by which address it is named. */
export interface RegionRecord extends Thing {
  readonly api: Mr;
  readonly host: HostRecord;
  pd: PdRecord;
  access: number;
  at: number;
  lengthBytes: number;
  iova: bigint;
  alive: boolean;
}

/** What a window was bound to, or is going to be. */
export interface Binding {
  readonly region: RegionRecord | undefined;
  readonly rkey: number;
  readonly addr: bigint;
  readonly lengthBytes: number;
  readonly access: number;
  readonly qp: QpRecord;
  readonly zeroBased: boolean;
}

export interface WindowRecord extends Thing {
  readonly api: Mw;
  readonly host: HostRecord;
  readonly type: MwType;
  readonly pd: PdRecord;
  alive: boolean;
  /** What it is bound to, when nothing is pending and nothing unsure. */
  binding: Binding | undefined;
  /** All it may be bound to, besides. */
  readonly possible: Set<Binding>;
  unsure: boolean;
  epoch: number;
  readonly pending: Set<SendRecord>;
}

export interface RecvRecord {
  readonly wrId: number;
  readonly sges: readonly Sge[];
  /** The domain whose memory it may name. */
  readonly pd: PdRecord | undefined;
  readonly capacity: number;
  readonly tick: number;
  /** Whether its pieces could not be filled at some time since it was posted. */
  couldNot: boolean;
  /** Where its pieces lay, one list for each time that they were found elsewhere. */
  readonly pieces: Place[][];
  closedTick: number;
  readFrom: CqRecord | undefined;
}

export interface SrqRecord extends Thing {
  readonly api: Srq;
  readonly host: HostRecord;
  readonly pd: PdRecord;
  readonly xrcCq: CqRecord | undefined;
  readonly recvs: RecvRecord[];
  maxWr: number;
  /** Lives of QPs that took from it: each may have one request that it never gives back. */
  lives: number;
  alive: boolean;
  /** Of its event; 0 when none is armed. */
  limit: number;
  /** Requests that QPs may have taken and never gave back. */
  lost: number;
  /** There were more than that for certain since it was armed. */
  wasAbove: boolean;
  /** The limit of an event that was read, until it is held against what is left. */
  reached: number;
}

export class Life {
  peerAddress = '';
  destQpn = -1;
  rqPsn = -1;
  sqPsn = -1;
  mtuBytes = 0;
  timeout = 0;
  rnrRetry = 7;
  maxRdAtomic = 0;
  maxDestRdAtomic = 0;
  accessFlags = 0;
  qkey = 0;
  /** What its owner set last, and whom it named as its peer. */
  readonly attrs: QpModifyAttr = {};
  dgid: Gid | undefined;
  /** The life that it was first found to fit; none that comes later does. */
  mate: Life | undefined;
  /** What was sent in this life that takes a receive request at the peer. */
  readonly messages: SendRecord[] = [];
  posted = 0;
  /** Messages of the mate that were received. */
  delivered = 0;
  /** Of unreliable services: the place of the last message of the mate that came. */
  lastMessage = -1;
  /** When it went to ERR: the first request of the peer that may have done it; 0 when it had other reasons. */
  errorBy = Infinity;
  /** What peers had under way when it went to ERR. */
  inbound: readonly SendRecord[] = [];
  sendsFailed = false;
  /** Its owner sent it to ERR, or a completion of it was lost. */
  doomed = false;
  /** It may have taken a request of a shared queue for a message that never came to its end. */
  holds = false;
  /** The request of a shared queue that it ended in error. */
  failedShared = 0;
}

export class QpRecord implements Thing {
  life = new Life();
  seenState: QpState = QpState.RESET;
  /** At the look before. */
  formerState: QpState = QpState.RESET;
  sends: SendRecord[] = [];
  recvs: RecvRecord[] = [];
  alive = true;
  /** Multicast groups that it hears, or heard, and until when. */
  readonly memberships: { readonly group: string; untilTick: number }[] = [];
  lives = 0;

  constructor(
    readonly id: number,
    readonly host: HostRecord,
    readonly type: QpType,
    readonly api: Qp | XrcTargetQp,
    readonly pd: PdRecord | undefined,
    readonly sendCq: CqRecord | undefined,
    readonly recvCq: CqRecord | undefined,
    readonly srq: SrqRecord | undefined,
    readonly sqSigAll: boolean,
    /** What it sends to groups does not come back to itself. */
    readonly blocksOwn = false,
  ) {}

  get qpn(): number {
    return this.api.qpNum;
  }

  /** The QP as one that posts; undefined for targets of XRC. */
  get poster(): Qp | undefined {
    return 'postSend' in this.api ? this.api : undefined;
  }

  get name(): string {
    return `QP ${this.qpn} of ${this.host.address}`;
  }
}

/** Where a request points in the memory of its peer. */
export interface Remote {
  readonly rkey: number;
  readonly addr: bigint;
  readonly lengthBytes: number;
  /** Bits of `AccessFlags` that it needs. */
  readonly access: number;
}

/** A piece of a host's memory. */
export interface Place {
  readonly arena: Arena;
  readonly at: number;
  readonly lengthBytes: number;
}

/** A send request from post to completion, and all that could be said of it meanwhile. */
export class SendRecord {
  /** At some time since it was posted ... */
  couldLocal = false;
  couldNotLocal = false;
  couldRemote = false;
  couldNotRemote = false;
  couldNotQp = false;
  /** ... a receive request was there that fits, none, one too small, one whose memory may not be filled. */
  couldRecv = false;
  noRecv = false;
  smallRecv = false;
  badRecv = false;
  paired = false;
  /** The peer is connected to something else: anything may be answered. */
  wild = false;
  /** Nobody was there to answer, or packets may have been lost. */
  troubled = false;
  /** The memory that its key names changed since it was posted. */
  moved = false;
  firstTarget: number | undefined;
  /** Where its pieces lay, one list for each time that they were found elsewhere. */
  readonly pieces: Place[][] = [];
  /** Where in the peer's memory it pointed. */
  readonly remotes: Place[] = [];
  /** Atomics: seen to take effect; and what they found, when that is certain. */
  executed = false;
  found: bigint | undefined;
  /** Place among the messages of its life. */
  messageIndex = -1;
  /** Times that a receiver was told of it. */
  deliveries = 0;
  acknowledged = false;
  /** Neither completed nor given up. */
  open = true;
  /** When it could no longer write anywhere. */
  closedTick = Infinity;
  /** When nothing of it can be under way any more, once it is no longer outstanding. */
  ghostUntilUs = -1;
  /** Its queue had failed when it was posted: it is flushed, though the program may read of that when the queue goes on. */
  tooLate = false;
  /** Its place among the requests of its life. */
  index = 0;
  inline: Uint8Array | undefined;
  solicited = false;
  remote: Remote | undefined;
  immData: number | undefined;
  invalidates: number | undefined;
  srqn = 0;
  /** That of the key that it binds or closes, when it was posted. */
  epoch = 0;
  binds: { readonly window: WindowRecord; readonly binding: Binding } | undefined;
  /** FETCH_ADD: what it adds; CMP_AND_SWP: what it compares with and swaps in. */
  operand = 0n;
  swap = 0n;
  ah: AhRecord | undefined;
  remoteQpn = 0;
  remoteQkey = 0;
  group: string | undefined;
  /** Datagrams: who got it. */
  readonly copies = new Set<QpRecord>();

  constructor(
    readonly wrId: number,
    readonly qp: QpRecord,
    readonly opcode: WrOpcode,
    readonly sges: readonly Sge[],
    readonly lengthBytes: number,
    readonly signalled: boolean,
    readonly tick: number,
    readonly life: Life,
  ) {}
}

/** A host while it is up. One that crashed comes back as another record. */
export interface HostRecord extends Thing {
  readonly address: string;
  readonly context: Context;
  readonly channel: CompChannel;
  readonly xrcd: Xrcd;
  readonly limits: DeviceAttr;
  /** What its device held when it was opened. */
  readonly fresh: Readonly<Record<string, number>>;
  readonly arena: Arena;
  up: boolean;
  paused: boolean;
  /** Looks at its completion queues now and then only. */
  readonly lazy: boolean;
  read: number;
  /** Some of its programs wait for solicited completions alone. */
  readonly onlySolicited: boolean;
  readonly pds: PdRecord[];
  readonly ahs: AhRecord[];
  readonly cqs: CqRecord[];
  readonly regions: RegionRecord[];
  readonly windows: WindowRecord[];
  readonly srqs: SrqRecord[];
  readonly qps: QpRecord[];
  /** What its NIC sent and was handed, and which completions were polled. */
  readonly packets: HostPackets;
  readonly polled: Polled;
}
