import type {
  AdviseMrAdvice,
  AhAttr,
  EventType,
  MwType,
  NodeType,
  QpAttr,
  QpCap,
  QpType,
  SrqType,
  TransportType,
  WrOpcode,
} from '../../../device/ibta/index.js';
import type { Address, WrId } from '../address.js';
import type { WorkCompletion } from '../work-completion.js';
import type { AhAttrInit, QpBaseCalls, QpCalls } from './queue-pair.js';
import type { CompCntrCalls, CompCntrInitAttr, QpAttachCompCntrAttr } from './completion-counter.js';
import type { CqCalls } from './completion.js';
import type { ContextCalls } from './context.js';
import type { MrCalls, RegistrableMemory, RegMrOptions } from './memory.js';
import type { OpenOptions } from './open-options.js';
import type { SendBuilderCalls } from './send-builder.js';
import type { SrqCalls, XrcdInitAttr, XrcTargetQpInitAttr, XrcTargetQpOpenAttr } from './shared-receive-queue.js';
import type {
  AtomicWriteRequest,
  CompareAndSwapRequest,
  Dataless,
  FetchAndAddRequest,
  FlushRequest,
  Gathering,
  LocalInvRequest,
  RdmaReadRequest,
  RdmaWriteRequest,
  RdmaWriteWithImmRequest,
  SendWithInvRequest,
  Sge,
} from './work-request.js';

/* eslint-disable max-lines -- Types that name each other cannot be divided among files without a circle of imports. */

// What verbs.h has as structs: the objects of a device as they name each other, and what calls take and events tell where
// that names objects. A device opens a context, a context makes domains and queues, these make queue pairs, and each object
// knows its context. What names no other object lies in the files beside this one.

/** `struct ibv_device`. */
export interface Device {
  /** `verbena0`. */
  readonly name: string;
  readonly guid: bigint;
  readonly nodeType: NodeType;
  readonly transportType: TransportType;

  /**
   * Brings the NIC up (`ibv_open_device`).
   *
   * @throws VerbsError EADDRINUSE when another NIC is on the address, EADDRNOTAVAIL when the machine does not have it,
   *   EINVAL when it is not an address, EINVAL for words of `netem` that mean nothing, or with `link` `shm`, EINVAL for a `minAckTimeout` that is none,
   *   EOPNOTSUPP when `link` is `shm` and memory cannot be shared, EACCES or ENOENT and the like for the capture file
   */
  open(options?: OpenOptions): Context;
}

/** `struct ibv_context`: a device that is open. */
export interface Context extends ContextCalls {
  readonly device: Device;

  /** Makes a protection domain (`ibv_alloc_pd`). @throws VerbsError ENOMEM when the device is full */
  allocPd(): Pd;

  /** Makes a thread domain (`ibv_alloc_td`). */
  allocTd(): Td;

  /**
   * Makes a parent domain (`ibv_alloc_parent_domain`).
   *
   * @throws VerbsError EINVAL when one of the domains has ended or is another context's
   */
  allocParentDomain(init: ParentDomainInitAttr): ParentDomain;

  /**
   * Opens a domain of extended reliable connections (`ibv_open_xrcd`). Opening it again by the same file gives the same
   * domain, which lives until it was closed as often.
   *
   * @throws VerbsError EINVAL for flags that do not exist, or EXCL where the file has a domain; EAGAIN without CREAT
   *   where it has none; EBADF when the descriptor is none; ENOMEM when the device is full
   */
  openXrcd(init?: XrcdInitAttr): Xrcd;

  /** Makes a completion channel (`ibv_create_comp_channel`). @throws VerbsError ENOMEM when the device is full */
  createCompChannel(): CompChannel;

  /**
   * Makes a completion queue (`ibv_create_cq`, `ibv_create_cq_ex`).
   *
   * @throws VerbsError EINVAL for a size outside 1 to `DeviceAttr.maxCqe`, a vector or flag that does not exist, or a
   *   channel of another context; EOPNOTSUPP for fields of completions that the device does not have (CVLAN, FLOW_TAG,
   *   TM_INFO); ENOMEM when the device is full
   */
  createCq(init: CqInitAttr): Cq;

  /**
   * Makes a completion counter (`ibv_create_comp_cntr`), both of whose numbers are 0.
   *
   * @throws VerbsError EINVAL for a type that does not exist; ENOMEM when the device is full
   */
  createCompCntr(init?: CompCntrInitAttr): CompCntr;

  /**
   * The oldest asynchronous event (`ibv_get_async_event`). Blocks the thread until there is one.
   *
   * @param timeoutMs default: for ever
   * @throws VerbsError ETIMEDOUT after that long; EINVAL after close
   */
  getAsyncEvent(timeoutMs?: number): AsyncEvent;

  /** The same events in the event loop, which is not blocked. Keeps the process alive only while awaited. */
  asyncEvents(): AsyncIterable<AsyncEvent, void, undefined>;

  /**
   * Says that an event has been dealt with (`ibv_ack_async_event`). Nothing waits for it here; programs that are written
   * for other devices call it all the same.
   *
   * @throws VerbsError EINVAL when that is not an event
   */
  ackAsyncEvent(event: AsyncEvent): void;
}

/** `struct ibv_pd`: a protection domain. QPs may use the memory of their own domain only. */
export interface Pd extends Disposable {
  readonly context: Context;

  /**
   * Registers memory where it lies, so that the NIC may read and write it (`ibv_reg_mr`). It stays alive until it is
   * deregistered or the device is closed, whatever the program forgets. Nothing is copied, and no locked-memory limit
   * applies.
   *
   * @param memory at least one byte; best from `alloc()`. Shared memory does everywhere. Ordinary memory can be detached
   *   (by a transfer, or a stream that reads into it). An inline or simulated NIC notices that: requests that use it end
   *   with LOC_PROT_ERR, or NAK remote access error for a peer. A NIC in a thread of its own could not, so it takes
   *   ordinary memory from Node 24 on alone, where registering it makes it impossible to detach, for good. Memory of a GPU
   *   (`verbena/gpu`) stays there: its device copies what goes in and out
   * @param access bits of `AccessFlags`. Reading locally needs none; REMOTE_WRITE and REMOTE_ATOMIC need LOCAL_WRITE
   *   (protocol/services.md 3.6). Default 0
   * @throws VerbsError EINVAL for a flag that does not exist, a combination that is not allowed, an iova that does not
   *   fit, or for empty, detached or resizable memory; EOPNOTSUPP for flags that the device lacks, and for memory that
   *   could be taken away under a NIC in a thread of its own (ordinary memory before Node 24; that of WebAssembly,
   *   unless it is shared), and for REMOTE_ATOMIC on memory of a GPU that has no atomics of 64 bits; ENOMEM when the device
   *   has no key left
   */
  regMr(memory: RegistrableMemory | DeviceMemory, access?: number, options?: RegMrOptions): Mr;

  /**
   * Makes a region of memory that is not there (`ibv_alloc_null_mr`): what is written to it is lost, what is read from
   * it is zeros. For local use alone, at any address and length; its `rkey` opens nothing.
   *
   * @throws VerbsError ENOMEM when the device has no key left
   */
  allocNullMr(): Mr;

  /**
   * Makes a memory window, which opens nothing before it is bound (`ibv_alloc_mw`).
   *
   * @throws VerbsError EINVAL when `type` is no `MwType`; ENOMEM when the device is full
   */
  allocMw(type: MwType): Mw;

  /**
   * Makes a queue pair, in state RESET (`ibv_create_qp`). Those of type XRC_RECV are made by `Xrcd.createQp`.
   *
   * @throws VerbsError EINVAL for capabilities above the device's, for CQs or an SRQ of another context, for a CQ that
   *   is missing, for an SRQ where the type has none, and for flags that do not exist; EOPNOTSUPP for a type or a flag
   *   that the device does not have; EPERM for RAW_PACKET where the process may not; ENOMEM when the device is full
   */
  createQp(init: QpInitAttr): Qp;

  /**
   * Makes a shared receive queue (`ibv_create_srq`, `ibv_create_srq_ex`).
   *
   * @throws VerbsError EINVAL for sizes outside the device's, for a limit above the size, and where `xrcd` or `cq` are
   *   missing with type XRC or given without it; EOPNOTSUPP for type TM; ENOMEM when the device is full
   */
  createSrq(init: SrqInitAttr): Srq;

  /**
   * Makes an address handle (`ibv_create_ah`).
   *
   * @throws VerbsError EINVAL for an address without GRH, a port that does not exist, an empty GID index or a value out
   *   of range; ENOMEM when the device is full
   */
  createAh(attr: AhAttrInit): Ah;

  /**
   * Makes an address handle for the sender of a datagram (`ibv_create_ah_from_wc`).
   *
   * @param wc completion of the receive request
   * @param grh the first 40 bytes of its buffer
   * @param portNum default 1
   * @throws VerbsError as `Context.initAhFromWc` and {@link createAh}
   */
  createAhFromWc(wc: WorkCompletion, grh: Uint8Array, portNum?: number): Ah;

  /**
   * Says how memory that was registered ON_DEMAND is going to be used (`ibv_advise_mr`). A hint: memory here is always
   * present, so that nothing has to be fetched.
   *
   * @param flags bits of `AdviseMrFlags`
   * @param sgList pieces of regions of this domain
   * @throws VerbsError EOPNOTSUPP when there is no such advice; EINVAL for flags that do not exist or an empty list;
   *   EFAULT for a key that no region of this domain has, or a piece that is not inside its region
   */
  adviseMr(advice: AdviseMrAdvice, flags: number, sgList: readonly Sge[]): void;

  /**
   * Ends the domain (`ibv_dealloc_pd`).
   *
   * @throws VerbsError EBUSY while anything is in it, naming it; EINVAL when it was ended before
   */
  dealloc(): void;
}

/**
 * `struct ibv_td`: a thread domain, the promise that one thread alone uses what is made in it. A hint: this changes
 * nothing that a program could see.
 */
export interface Td extends Disposable {
  readonly context: Context;

  /**
   * Ends the domain (`ibv_dealloc_td`).
   *
   * @throws VerbsError EBUSY while a parent domain is made from it; EINVAL when it was ended before
   */
  dealloc(): void;
}

/** What `allocParentDomain` takes (`struct ibv_parent_domain_init_attr`). */
export interface ParentDomainInitAttr {
  readonly pd: Pd;
  readonly td?: Td;
}

/**
 * A parent domain (`ibv_alloc_parent_domain`): a protection domain joined with a thread domain. It can stand wherever
 * a protection domain can, and what is made in it belongs to {@link pd}: keys of the one are good in the other.
 */
export interface ParentDomain extends Pd {
  /** The domain that it was made from. */
  readonly pd: Pd;
  readonly td: Td | undefined;
}

/**
 * What of a region is to change. The flags of `ibv_rereg_mr` are the set of those present: `memory` and `iova` are
 * CHANGE_TRANSLATION, `pd` is CHANGE_PD, `access` is CHANGE_ACCESS.
 */
export interface MrChange {
  /** At least one byte; of the kind that the region has, the program's own or a device's. */
  readonly memory?: RegistrableMemory | DeviceMemory;
  /** As in `RegMrOptions`. */
  readonly iova?: Address;
  /** A domain of the same context. */
  readonly pd?: Pd;
  /** Bits of `AccessFlags`. */
  readonly access?: number;
}

/** `struct ibv_mr`: registered memory. */
export interface Mr extends MrCalls {
  readonly context: Context;
  readonly pd: Pd;

  /**
   * Changes the region (`ibv_rereg_mr`). Its keys stay, and the fields of the region follow. Work that uses the region
   * meanwhile sees it as it was or as it will be. Nothing has changed when it throws, so that the states of the C call
   * in which a region cannot be used any more do not occur.
   *
   * @throws VerbsError EINVAL when nothing is to change, for a domain of another context, for memory, `iova` or access
   *   as `Pd.regMr`, or after dereg; EOPNOTSUPP for flags that the device lacks; EBUSY while memory windows are bound to
   *   it
   */
  rereg(change: MrChange): void;
}

/** `struct ibv_mw_bind_info`: what a window is to open. Without a region, or with length 0, it opens nothing. */
export interface MwBindInfo {
  /** The region that the window lies in. It needs MW_BIND, and LOCAL_WRITE where peers may write. */
  readonly mr?: Mr;
  /** Where the window begins, named as the region's `iova` names it; 0 when absent. */
  readonly addr?: Address;
  /** Bytes; 0 when absent. */
  readonly length?: number;
  /**
   * What peers may do: REMOTE_WRITE, REMOTE_READ, REMOTE_ATOMIC, FLUSH_GLOBAL and FLUSH_PERSISTENT of `AccessFlags`; on
   * windows of type 2 also ZERO_BASED, which has them name its first byte as 0. LOCAL_WRITE and MW_BIND, which a region's
   * flags may bring along, are let through and mean nothing. None when absent.
   */
  readonly mwAccessFlags?: number;
}

/** `struct ibv_mw_bind`: how `bindMw` binds. */
export interface MwBind {
  /** Comes back in the completion; 0 when absent. */
  readonly wrId?: WrId;
  /** FENCE and SIGNALED of `SendFlags`; 0 when absent. */
  readonly sendFlags?: number;
  readonly bindInfo: MwBindInfo;
}

/** `struct ibv_mw`: a memory window, a key for a part of a region that can be given and taken back quickly. */
export interface Mw extends Disposable {
  readonly context: Context;
  readonly pd: Pd;
  readonly type: MwType;
  /**
   * The key for peers. Type 1: changes with each `bindMw`. Type 2: the one that the device gave; a BIND_MW request names
   * the one that counts from then on, which may differ in its low byte (`incRkey` makes the next).
   */
  readonly rkey: number;

  /**
   * Ends the window (`ibv_dealloc_mw`), bound or not.
   *
   * @throws VerbsError EINVAL when it was ended before
   */
  dealloc(): void;
}

/** `struct ibv_ah`: an address handle, which says where datagrams go. Any number of requests and QPs may use it. */
export interface Ah extends Disposable {
  readonly context: Context;
  readonly pd: Pd;
  /** The address that it was made from, complete. */
  readonly attr: AhAttr;

  /**
   * Ends the handle (`ibv_destroy_ah`). A datagram that was posted with it and is not yet sent completes with
   * LOC_QP_OP_ERR.
   *
   * @throws VerbsError EINVAL when it was ended before
   */
  destroy(): void;
}

/** What `createCq` takes (`struct ibv_cq_init_attr_ex`). */
export interface CqInitAttr {
  /** Completions that the queue must hold, 1 to `DeviceAttr.maxCqe`. */
  readonly cqe: number;
  /** Where its events go. */
  readonly channel?: CompChannel;
  /** 0 to `Context.numCompVectors` - 1; default 0. */
  readonly compVector?: number;
  /** Anything of the caller's; comes back as `cq.cqContext`. */
  readonly cqContext?: unknown;
  /** Bits of `WcExFlags`: the fields that completions must tell. Default `WC_STANDARD_FLAGS`. */
  readonly wcFlags?: number;
  /** Bits of `CreateCqAttrFlags`; default 0. */
  readonly flags?: number;
}

/** `struct ibv_cq`: a completion queue. */
export interface Cq extends CqCalls {
  readonly context: Context;
  readonly channel: CompChannel | undefined;
}

/** `struct ibv_comp_channel`: where CQs say that something has completed. */
export interface CompChannel extends Disposable {
  readonly context: Context;

  /**
   * The CQ that raised the oldest event (`ibv_get_cq_event`). Blocks the thread until there is one.
   *
   * @param timeoutMs default: for ever
   * @throws VerbsError ETIMEDOUT after that long; EDEADLK without a time, when no CQ of the channel is armed (C blocks for ever); EINVAL after destroy
   */
  getCqEvent(timeoutMs?: number): Cq;

  /** As {@link getCqEvent}, but undefined when there is no event now. */
  tryGetCqEvent(): Cq | undefined;

  /**
   * The same events in the event loop, which is not blocked; each must be acknowledged, too. Keeps the process alive
   * only while awaited, and ends when the channel is destroyed.
   */
  [Symbol.asyncIterator](): AsyncIterator<Cq, void, undefined>;

  /**
   * Ends the channel (`ibv_destroy_comp_channel`).
   *
   * @throws VerbsError EBUSY while CQs use it; EINVAL when it was ended before
   */
  destroy(): void;
}

/** `struct ibv_comp_cntr`: a completion counter. */
export interface CompCntr extends CompCntrCalls {
  readonly context: Context;
}

/** What `createSrq` takes (`struct ibv_srq_init_attr_ex`). */
export interface SrqInitAttr {
  /** Default BASIC. */
  readonly srqType?: SrqType;
  /** Requests that may be outstanding, 1 to `DeviceAttr.maxSrqWr`. */
  readonly maxWr: number;
  /** Pieces of a request, 0 to `DeviceAttr.maxSrqSge`; default 1. */
  readonly maxSge?: number;
  /** As in `SrqModifyAttr`; default 0. */
  readonly srqLimit?: number;
  /** XRC only, and needed there: the domain whose QPs can fill it. */
  readonly xrcd?: Xrcd;
  /** XRC only, and needed there: where its requests complete. */
  readonly cq?: Cq;
  /** Anything of the caller's; comes back as `srq.srqContext`. */
  readonly srqContext?: unknown;
}

/**
 * `struct ibv_srq`: a receive queue that several QPs take from, in the order of posting. A QP that goes to ERR leaves it
 * as it is, and raises QP_LAST_WQE_REACHED once it takes no more from it (protocol/services.md 3.4).
 */
export interface Srq extends SrqCalls {
  readonly context: Context;
  readonly pd: Pd;
}

/** Where a datagram goes (UD). */
export interface DatagramDestination {
  /** Of the QP's protection domain. */
  readonly ah: Ah;
  /** The peer's QP number, 24 bits; 0xffffff for a multicast group. */
  readonly remoteQpn: number;
  /**
   * The Q_Key that the peer's QP has, 32 bits. With its top bit set, the Q_Key of our own QP goes in its place
   * (protocol/packets.md 1.5).
   */
  readonly remoteQkey: number;
}

/**
 * SEND: fills the peer's next receive request. On UD it is one packet of at most the path MTU (longer: LOC_LEN_ERR); on
 * RAW_PACKET an Ethernet frame without its checksum.
 */
export interface SendRequest extends Gathering {
  readonly opcode: typeof WrOpcode.SEND;
  /** Needed on QPs of type UD. */
  readonly ud?: DatagramDestination;
}

/** SEND with 32 bits of immediate data beside the message. */
export interface SendWithImmRequest extends Gathering {
  readonly opcode: typeof WrOpcode.SEND_WITH_IMM;
  /** 0 to 2^32 - 1; the peer's completion shows the same number. */
  readonly immData: number;
  /** Needed on QPs of type UD. */
  readonly ud?: DatagramDestination;
}

/** Binds a memory window of type 2 (protocol/services.md 3.7). A bind that is not allowed ends in MW_BIND_ERR. */
export interface BindMwRequest extends Dataless {
  readonly opcode: typeof WrOpcode.BIND_MW;
  readonly bindMw: {
    readonly mw: Mw;
    /** The window's key from then on: the one it has, but for its low byte (`incRkey`). */
    readonly rkey: number;
    readonly bindInfo: MwBindInfo;
  };
}

/** `struct ibv_send_wr`: what to do, told apart by `opcode`. */
export type SendWr =
  | SendRequest
  | SendWithImmRequest
  | SendWithInvRequest
  | RdmaWriteRequest
  | RdmaWriteWithImmRequest
  | RdmaReadRequest
  | CompareAndSwapRequest
  | FetchAndAddRequest
  | LocalInvRequest
  | BindMwRequest
  | FlushRequest
  | AtomicWriteRequest;

/** Posting without an object for any request (`ibv_wr_start` to `ibv_wr_complete`, of `struct ibv_qp_ex`). */
export interface SendBuilder extends SendBuilderCalls {
  /** Binds a window of type 2; `rkey` is its key from then on. */
  wrBindMw(mw: Mw, rkey: number, bindInfo: MwBindInfo): void;
  /** UD: where the request goes. */
  wrSetUdAddr(ah: Ah, remoteQpn: number, remoteQkey: number): void;
}

interface QpInitFields {
  /** Where send requests complete. */
  readonly sendCq: Cq;
  /** Where receive requests come from, instead of a queue of its own; RC, UC and UD. */
  readonly srq?: Srq;
  /** Sizes; `defaultQpCap` says what is taken for those that are absent. */
  readonly cap?: Partial<QpCap>;
  /** Every send request completes with an entry, as if all were SIGNALED. Default false. */
  readonly sqSigAll?: boolean;
  /** Bits of `QpCreateFlags`; default 0. This device has BLOCK_SELF_MCAST_LB, on UD. */
  readonly createFlags?: number;
  /**
   * Bits of `QpCreateSendOpsFlags`: the requests that the `wr*` calls of this QP may build. Default: all that its type
   * has.
   */
  readonly sendOpsFlags?: number;
  /** Another QP's number to send under: EOPNOTSUPP. */
  readonly sourceQpn?: number;
  /** Anything of the caller's; comes back as `qp.qpContext`. */
  readonly qpContext?: unknown;
}

/** `struct ibv_qp_init_attr_ex`. Only a QP of type XRC_SEND, which receives nothing, can do without `recvCq`. */
export type QpInitAttr = QpInitFields &
  (
    | { readonly qpType: typeof QpType.XRC_SEND; readonly recvCq?: Cq }
    | {
        readonly qpType: QpType;
        /** Where receive requests complete; may be the same as `sendCq`. */
        readonly recvCq: Cq;
      }
  );

/** What `query` tells. */
export interface QpQuery {
  readonly attr: QpAttr;
  readonly initAttr: QpInitAttr & { readonly cap: QpCap };
}

/** What queue pairs of all types have. */
export interface QpBase extends QpBaseCalls {
  readonly context: Context;

  /**
   * Has a counter count what the queue pair does (`ibv_qp_attach_comp_cntr`), until the queue pair ends. One counter can
   * count for several. WRITEs of the peer count when they have been placed whole, with immediate data or without; those of
   * a reliable connection that were refused or broken off count as errors. Writes that are atomic (ATOMIC_WRITE) are not
   * among them.
   *
   * @throws VerbsError EINVAL in another state than RESET and INIT, for a counter of another device or one that was ended,
   *   or no operations; EOPNOTSUPP for operations that the device does not count, and for types of QPs that peers cannot
   *   write to; EBUSY when the queue pair has a counter for them
   */
  attachCompCntr(compCntr: CompCntr, attr: QpAttachCompCntrAttr): void;
}

/**
 * `struct ibv_qp`: a queue pair. There are two styles of posting: {@link postSend} and {@link postRecv} take an object
 * per request; `wrStart` to `wrComplete` (after `ibv_wr_start`) and {@link postRecvSge} take none.
 */
export interface Qp extends QpBase, QpCalls, SendBuilder {
  readonly pd: Pd;
  readonly sendCq: Cq;
  /** The send CQ where an XRC_SEND QP was made without one. */
  readonly recvCq: Cq;
  readonly srq: Srq | undefined;

  /** All attributes as they are now (`ibv_query_qp`). @throws VerbsError EINVAL after destroy */
  query(): QpQuery;

  /**
   * Posts send requests in their order (`ibv_post_send`). Those before a failing one stay posted. Memory that a
   * request names must be left alone until its completion, unless `SendFlags.INLINE` is set.
   *
   * On success only a request that is SIGNALED (or any, with `sqSigAll`) completes with an entry; its slot in the send
   * queue comes back then, or with a later one that does. Completions come in posting order. Statuses beside SUCCESS:
   * protocol/reliable.md 2.10, send side.
   *
   * @throws PostError naming the failing request: EINVAL for an opcode or flag that the QP type does not have, more
   *   pieces than `cap.maxSendSge`, more inline data than `cap.maxInlineData`, an atomic or ATOMIC_WRITE that is not 8
   *   bytes at a multiple of 8, a datagram without `ud`, an XRC request without `xrc`, a window that cannot be bound so,
   *   a value out of range, or a QP that is not yet in RTS; ENOMEM when the send queue is full
   */
  postSend(wr: SendWr | readonly SendWr[]): void;

  /**
   * Binds a memory window of type 1 (`ibv_bind_mw`): posts a request that takes effect in its turn in the send queue,
   * and completes as BIND_MW. `mw.rkey` is the new key at once; the old one closes when the bind is carried out. Length
   * 0 unbinds. A bind that the region does not allow completes with MW_BIND_ERR. Among the access flags LOCAL_WRITE and
   * MW_BIND are let through and mean nothing, and FLUSH_GLOBAL and FLUSH_PERSISTENT may be given.
   *
   * @throws VerbsError EINVAL for a window of type 2, ZERO_BASED or another access flag that windows do not have, an
   *   address or length without a region, or a QP that is not yet in RTS; EPERM when region and window are of different
   *   domains; ENOMEM when the send queue is full
   */
  bindMw(mw: Mw, bind: MwBind): void;
}

/** What `XrcTargetQp.query` tells. */
export interface XrcTargetQpQuery {
  readonly attr: QpAttr;
  readonly initAttr: XrcTargetQpInitAttr & { readonly qpType: typeof QpType.XRC_RECV; readonly xrcd: Xrcd };
}

/**
 * A queue pair of type XRC_RECV, the target of an extended reliable connection: it takes requests only, into the shared
 * receive queue that each of them names, which completes into its own CQ (protocol/services.md 3.3).
 */
export interface XrcTargetQp extends QpBase {
  readonly qpType: typeof QpType.XRC_RECV;
  readonly xrcd: Xrcd;

  /** All attributes as they are now (`ibv_query_qp`). @throws VerbsError EINVAL after destroy */
  query(): XrcTargetQpQuery;

  /**
   * Ends the queue pair, or lets go of it where it was opened by `openQp` (`ibv_destroy_qp`): it exists until all have.
   *
   * @throws VerbsError EINVAL when it was ended before
   */
  destroy(): void;
}

/** `struct ibv_xrcd`: a domain of extended reliable connections. Its targets fill the SRQs of the same domain only. */
export interface Xrcd extends Disposable {
  readonly context: Context;

  /**
   * Makes a queue pair of type XRC_RECV, in state RESET (`ibv_create_qp_ex` with an XRCD).
   *
   * @throws VerbsError ENOMEM when the device is full; EINVAL after close
   */
  createQp(init?: XrcTargetQpInitAttr): XrcTargetQp;

  /**
   * Takes part in a queue pair that somebody else made in the domain (`ibv_open_qp`), for its events and its end.
   *
   * @throws VerbsError EINVAL when the domain has no such queue pair
   */
  openQp(attr: XrcTargetQpOpenAttr): XrcTargetQp;

  /**
   * Ends the domain, or lets go of it where it was opened more than once (`ibv_close_xrcd`).
   *
   * @throws VerbsError EBUSY while QPs or SRQs are in it; EINVAL when it was closed before
   */
  close(): void;
}

type Event = typeof EventType;

/** Something happened to a QP. */
export interface QpEvent {
  readonly eventType: Event[
    | 'QP_FATAL'
    | 'QP_REQ_ERR'
    | 'QP_ACCESS_ERR'
    | 'COMM_EST'
    | 'SQ_DRAINED'
    | 'PATH_MIG'
    | 'PATH_MIG_ERR'
    | 'QP_LAST_WQE_REACHED'];
  readonly qp: Qp | XrcTargetQp;
  /** Of QP_REQ_ERR and QP_ACCESS_ERR: the device's own number for why it refused a request of the peer, if it has one. */
  readonly vendorErr?: number;
}

/** A CQ is lost: it was overrun. */
export interface CqEvent {
  readonly eventType: Event['CQ_ERR'];
  readonly cq: Cq;
}

/** A shared receive queue failed, or has fewer requests than its limit. */
export interface SrqEvent {
  readonly eventType: Event['SRQ_ERR' | 'SRQ_LIMIT_REACHED'];
  readonly srq: Srq;
}

/** Something happened to a port. */
export interface PortEvent {
  readonly eventType: Event[
    | 'PORT_ACTIVE'
    | 'PORT_ERR'
    | 'LID_CHANGE'
    | 'PKEY_CHANGE'
    | 'SM_CHANGE'
    | 'CLIENT_REREGISTER'
    | 'GID_CHANGE'
    | 'DEVICE_SPEED_CHANGE'];
  readonly portNum: number;
}

/** The device is lost. */
export interface DeviceEvent {
  readonly eventType: Event['DEVICE_FATAL'];
}

/**
 * `struct ibv_async_event`: what happened without a completion to say so (protocol/services.md 3.11). It needs no
 * acknowledgement: an object that an event names may be destroyed at any time. WQ_FATAL is never raised, since there are
 * no such objects.
 */
export type AsyncEvent = QpEvent | CqEvent | SrqEvent | PortEvent | DeviceEvent;

/**
 * Memory of another device than the processor, which no pointer of the program reaches: a `GpuBuffer` of `verbena/gpu` is such, and
 * only what is made there is. While it is registered it cannot be given back.
 */
export interface DeviceMemory extends Disposable {
  /** Bytes. */
  readonly length: number;
  /** Where its device has it. */
  readonly address: bigint;
}
