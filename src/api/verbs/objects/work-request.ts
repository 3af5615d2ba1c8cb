import type { SelectivityLevel, WrOpcode } from '../../../device/ibta/index.js';
import type { Address, WrId } from '../address.js';

/** `struct ibv_sge`: a piece of registered memory. `Mr.sge()` makes one. */
export interface Sge {
  readonly addr: Address;
  /** Bytes, 0 to 2^32 - 1. */
  readonly length: number;
  /** Key of the memory region that the piece lies in, 32 bits. */
  readonly lkey: number;
}

/** Data that is taken while posting, from memory that need not be registered. Only with `SendFlags.INLINE`. */
export interface InlineData {
  readonly bytes: Uint8Array;
}

/**
 * A piece of what is sent. With `SendFlags.INLINE` the L_Key of an {@link Sge} gives no right and takes none: it only tells
 * which region the address is of, where regions have addresses of their own (`iova`, `ZERO_BASED`).
 */
export type SendSge = Sge | InlineData;

/** Whom an XRC request is for (protocol/services.md 3.3). */
export interface XrcDestination {
  /** Number of the peer's shared receive queue, 24 bits. */
  readonly remoteSrqn: number;
}

interface SendWrFields {
  /** Comes back in the completion; 0 when absent. */
  readonly wrId?: WrId;
  /** Bits of `SendFlags`; 0 when absent. */
  readonly sendFlags?: number;
  /** Needed on QPs of type XRC_SEND. */
  readonly xrc?: XrcDestination;
}

/** What requests have that send pieces of memory. */
export interface Gathering extends SendWrFields {
  /** The message is these pieces one after the other; none makes a message of length zero. */
  readonly sgList?: readonly SendSge[];
}

/** What requests have that move no data. */
export interface Dataless extends SendWrFields {
  /** It moves no data. */
  readonly sgList?: undefined;
}

/** Memory of the peer. Its bounds and rights are checked by the peer (protocol/reliable.md 2.3). */
export interface RemoteMemory {
  readonly remoteAddr: Address;
  /** The key that the peer told, 32 bits. */
  readonly rkey: number;
}

/**
 * SEND that also frees a type 2 window which the peer has bound on its end of the connection (IBTA 9.4.1.1). For any other
 * R_Key: REM_ACCESS_ERR, and the key stays open.
 */
export interface SendWithInvRequest extends Gathering {
  readonly opcode: typeof WrOpcode.SEND_WITH_INV;
  readonly invalidateRkey: number;
}

/** RDMA WRITE: puts the pieces into the peer's memory, without a completion there. */
export interface RdmaWriteRequest extends Gathering {
  readonly opcode: typeof WrOpcode.RDMA_WRITE;
  readonly rdma: RemoteMemory;
}

/** RDMA WRITE that also completes the peer's next receive request, with immediate data. */
export interface RdmaWriteWithImmRequest extends Gathering {
  readonly opcode: typeof WrOpcode.RDMA_WRITE_WITH_IMM;
  readonly rdma: RemoteMemory;
  /** 0 to 2^32 - 1; the peer's completion shows the same number. */
  readonly immData: number;
}

/** RDMA READ: fetches the peer's memory into the pieces, which need LOCAL_WRITE. Never inline. */
export interface RdmaReadRequest extends SendWrFields {
  readonly opcode: typeof WrOpcode.RDMA_READ;
  readonly sgList?: readonly Sge[];
  readonly rdma: RemoteMemory;
}

/** 8 bytes of the peer's memory, at an address that is a multiple of 8. */
export interface AtomicCompareAndSwap extends RemoteMemory {
  /** What the memory must hold for the swap to happen, 0 to 2^64 - 1. */
  readonly compareAdd: Address;
  /** What is then put there, 0 to 2^64 - 1. */
  readonly swap: Address;
}

/** 8 bytes of the peer's memory, at an address that is a multiple of 8. */
export interface AtomicFetchAndAdd extends RemoteMemory {
  /** What is added, modulo 2^64. */
  readonly compareAdd: Address;
}

/** Compare-and-swap; the piece (8 bytes, LOCAL_WRITE) receives what was there before, in native byte order. */
export interface CompareAndSwapRequest extends SendWrFields {
  readonly opcode: typeof WrOpcode.ATOMIC_CMP_AND_SWP;
  readonly sgList: readonly [Sge];
  readonly atomic: AtomicCompareAndSwap;
}

/** Fetch-and-add; the piece (8 bytes, LOCAL_WRITE) receives what was there before, in native byte order. */
export interface FetchAndAddRequest extends SendWrFields {
  readonly opcode: typeof WrOpcode.ATOMIC_FETCH_AND_ADD;
  readonly sgList: readonly [Sge];
  readonly atomic: AtomicFetchAndAdd;
}

/**
 * Frees a type 2 window that is bound on this queue pair. It waits for all requests before it, and then nobody can use the
 * key (protocol/reliable.md 2.7, protocol/services.md 3.7). For any other key, that of a region included: MW_BIND_ERR.
 */
export interface LocalInvRequest extends Dataless {
  readonly opcode: typeof WrOpcode.LOCAL_INV;
  readonly invalidateRkey: number;
}

/**
 * FLUSH: completes once what was written to the peer's memory before is in place (IBTA annex A19). The peer's region
 * and QP need FLUSH_GLOBAL or FLUSH_PERSISTENT of `AccessFlags`, as `type` asks for.
 */
export interface FlushRequest extends Dataless {
  readonly opcode: typeof WrOpcode.FLUSH;
  readonly rdma: RemoteMemory;
  readonly flush: {
    /** Bytes, 0 to 2^32 - 1. */
    readonly length: number;
    /** Bits of `PlacementType`, at least one. */
    readonly type: number;
    readonly level: SelectivityLevel;
  };
}

/**
 * ATOMIC WRITE: puts 8 bytes into the peer's memory, at a multiple of 8, all at once. The pieces make up 8 bytes and are
 * taken as they lie in memory. The peer's region needs REMOTE_WRITE.
 */
export interface AtomicWriteRequest extends SendWrFields {
  readonly opcode: typeof WrOpcode.ATOMIC_WRITE;
  readonly sgList: readonly SendSge[];
  readonly rdma: RemoteMemory;
}

/** `struct ibv_recv_wr`: room for one message. */
export interface RecvWr {
  /** Comes back in the completion; 0 when absent. */
  readonly wrId?: WrId;
  /** Filled one after the other; each needs LOCAL_WRITE. None takes messages of length zero. */
  readonly sgList?: readonly Sge[];
}
