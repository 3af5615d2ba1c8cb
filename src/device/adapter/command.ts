import type { CmCommandTable } from '../cm/index.js';
import type { AhAttr, CompCntrType, DeviceMemoryPlace, ErrnoName, Gid, MwType, QpAttr, QpView } from '../ibta/index.js';
import type {
  CompletionQueueWatcher,
  CreateCq,
  CreateQp,
  CreateSrq,
  ForeignMemory,
  ModifySrq,
  MrKeys,
  PortStatus,
  QueuePairWatcher,
  WorkQueueWatcher,
} from '../nic/index.js';

/** Where the memory of a region is; `foreign` is for a NIC in the same thread, `device` is what a device has that is none of ours. */
export type MemoryRef =
  | BytesRef
  | { readonly kind: 'foreign'; readonly memory: ForeignMemory }
  | { readonly kind: 'device'; readonly place: DeviceMemoryPlace };

/**
 * Where bytes of this program are, said so that whoever hosts the NIC finds them: `view` for a NIC in the same thread,
 * `address` for one in another thread of the process, `shared` for memory that every thread may hold.
 */
export type BytesRef =
  | { readonly kind: 'view'; readonly bytes: Uint8Array }
  | { readonly kind: 'address'; readonly address: bigint; readonly lengthBytes: number }
  | {
      readonly kind: 'shared';
      readonly buffer: SharedArrayBuffer;
      readonly byteOffset: number;
      readonly lengthBytes: number;
    };

export interface RegisterMr {
  readonly pd: number;
  readonly memory: MemoryRef;
  /** Address of the first byte as peers and work requests name it. */
  readonly iova: bigint;
  readonly access: number;
}

/** What a re-registration changes; what is absent stays. */
export interface ReregisterMr {
  readonly handle: number;
  readonly pd?: number | undefined;
  readonly access?: number | undefined;
  /** With it always `iova`. */
  readonly memory?: MemoryRef | undefined;
  readonly iova?: bigint | undefined;
}

export interface AllocateMw {
  readonly pd: number;
  readonly type: MwType;
}

/** Name and first key of a memory window. */
export interface AllocatedMw {
  readonly handle: number;
  readonly rkey: number;
}

export interface CreateAh {
  readonly pd: number;
  readonly attr: AhAttr;
}

/** A queue pair and a multicast group. */
export interface McastMembership {
  readonly qpn: number;
  readonly gid: Gid;
}

/** Goes on with a completion queue in another ring. */
export interface ResizeCq {
  readonly cqn: number;
  readonly memory: ArrayBufferLike;
  readonly entries: number;
}

export interface CreateCompCntr {
  readonly type: CompCntrType;
  /** Two numbers of 64 bits. */
  readonly memory: ArrayBufferLike;
}

/** A queue pair, and a counter that is to count what it does. */
export interface AttachCompCntr {
  readonly qpn: number;
  readonly handle: number;
  /** Bits of `QpAttachCompCntrOp`. */
  readonly opMask: number;
}

/** How far events of a completion queue may be held back. */
export interface ModifyCq {
  readonly cqn: number;
  readonly cqCount: number;
  readonly cqPeriodUs: number;
}

/** How fast a queue pair may send; 0 is no limit, or the device's choice. */
export interface ModifyRateLimit {
  readonly qpn: number;
  readonly rateLimitKbps: number;
  readonly maxBurstBytes: number;
  readonly typicalPacketBytes: number;
}

/** A change of a queue pair's attributes. */
export interface ModifyQp {
  readonly qpn: number;
  readonly attr: Partial<QpAttr>;
}

/** Whom the NIC tells about a queue pair; for a NIC in the same thread, as the others. */
export interface WatchQp {
  readonly qpn: number;
  readonly watcher: QueuePairWatcher;
}

export interface WatchCq {
  readonly cqn: number;
  readonly watcher: CompletionQueueWatcher;
}

export interface WatchSrq {
  readonly srqn: number;
  readonly watcher: WorkQueueWatcher;
}

/** What an administrator of the network, or a failing board, does to a device. What is absent stays. */
export interface PortChange {
  /** Whether the cable is plugged in. */
  readonly linkUp?: boolean;
  /** The GID table after entry 0, which is the device's own address; `undefined` is an empty entry. */
  readonly gids?: readonly (Gid | undefined)[];
  /** The P_Key table: 16 bits each. */
  readonly pkeys?: readonly number[];
  /** The board fails for good. */
  readonly fatal?: true;
}

/** What the adapter has counted: the NIC, the link below it, and the connection manager beside it. */
export interface AdapterCounters {
  readonly nic: Record<string, number>;
  readonly link: Record<string, number>;
  readonly cm: Record<string, number>;
}

/**
 * Every control verb of an adapter: `[argument, value]`. All of it is plain data that can be cloned to another thread,
 * except foreign memory and watchers.
 */
export interface CommandTable extends CmCommandTable {
  allocPd: [argument: undefined, value: number];
  deallocPd: [argument: number, value: undefined];
  regMr: [argument: RegisterMr, value: MrKeys];
  allocNullMr: [argument: number, value: MrKeys];
  reregMr: [argument: ReregisterMr, value: MrKeys];
  deregMr: [argument: number, value: undefined];
  allocMw: [argument: AllocateMw, value: AllocatedMw];
  deallocMw: [argument: number, value: undefined];
  createCompChannel: [argument: ArrayBufferLike, value: number];
  destroyCompChannel: [argument: number, value: undefined];
  createCompCntr: [argument: CreateCompCntr, value: number];
  destroyCompCntr: [argument: number, value: undefined];
  attachCompCntr: [argument: AttachCompCntr, value: undefined];
  createCq: [argument: CreateCq, value: number];
  resizeCq: [argument: ResizeCq, value: undefined];
  modifyCq: [argument: ModifyCq, value: undefined];
  destroyCq: [argument: number, value: undefined];
  openXrcd: [argument: undefined, value: number];
  closeXrcd: [argument: number, value: undefined];
  createSrq: [argument: CreateSrq, value: { readonly srqn: number }];
  modifySrq: [argument: ModifySrq, value: undefined];
  querySrq: [argument: number, value: { readonly limit: number }];
  destroySrq: [argument: number, value: undefined];
  createAh: [argument: CreateAh, value: number];
  destroyAh: [argument: number, value: undefined];
  createQp: [argument: Omit<CreateQp, 'doorbells'>, value: { readonly qpn: number }];
  modifyQp: [argument: ModifyQp, value: undefined];
  modifyRateLimit: [argument: ModifyRateLimit, value: undefined];
  queryQp: [argument: number, value: QpAttr];
  viewQp: [argument: number, value: QpView | undefined];
  qpCounters: [argument: number, value: Record<string, number>];
  destroyQp: [argument: number, value: undefined];
  attachMcast: [argument: McastMembership, value: undefined];
  detachMcast: [argument: McastMembership, value: undefined];
  watchQp: [argument: WatchQp, value: undefined];
  watchCq: [argument: WatchCq, value: undefined];
  watchSrq: [argument: WatchSrq, value: undefined];
  queryPort: [argument: undefined, value: PortStatus];
  administer: [argument: PortChange, value: undefined];
  counters: [argument: undefined, value: AdapterCounters];
}

export type Verb = keyof CommandTable;
export type Argument<V extends Verb> = CommandTable[V][0];
export type Value<V extends Verb> = CommandTable[V][1];

export type EndVerb =
  | 'deallocPd'
  | 'deregMr'
  | 'deallocMw'
  | 'destroyCompChannel'
  | 'destroyCompCntr'
  | 'destroyCq'
  | 'closeXrcd'
  | 'destroySrq'
  | 'destroyAh'
  | 'destroyQp';

export type AdapterCommand = { [V in Verb]: { readonly verb: V; readonly argument: Argument<V> } }[Verb];

/** The answer to a command: a value, or why it was refused; nothing has changed then. */
export type AdapterReply<V extends Verb = Verb> =
  | { readonly value: Value<V> }
  | { readonly errno: ErrnoName; readonly message: string };
