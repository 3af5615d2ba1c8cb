import type { Context } from './context.js';
import type { Qp, QpInitAttr } from './queue-pair.js';
import type { Sge } from './work-request.js';

/** Memory that can be registered: any buffer, any view of one. */
export type RegistrableMemory = ArrayBuffer | SharedArrayBuffer | ArrayBufferView;

/** `struct ibv_pd`: a protection domain. QPs may use the memory of their own domain only. */
export interface Pd extends Disposable {
  readonly context: Context;

  /**
   * Registers memory where it lies, so that the NIC may read and write it (`ibv_reg_mr`). The region keeps the memory
   * alive until it is deregistered. Nothing is copied or pinned, and no locked-memory limit applies.
   *
   * @param memory at least one byte. Memory that is later detached (transferred) or shrunk ends requests that use it
   *   with LOC_PROT_ERR, or NAK remote access error for a peer; `alloc()` gives memory to which that cannot happen.
   * @param access bits of `AccessFlags`. Reading locally needs none; REMOTE_WRITE and REMOTE_ATOMIC need LOCAL_WRITE
   *   (PROTOCOL.md 3.6). Default 0
   * @throws VerbsError EINVAL for a flag that does not exist, a combination that is not allowed, or empty or detached
   *   memory; EOPNOTSUPP for ON_DEMAND and other flags that the device lacks; ENOMEM when the device has no key left
   */
  regMr(memory: RegistrableMemory, access?: number): Mr;

  /**
   * Makes a queue pair, in state RESET (`ibv_create_qp`).
   *
   * @throws VerbsError EINVAL for capabilities above the device's and for CQs of another context; EOPNOTSUPP for a
   *   type that the device does not have; ENOMEM when the device is full
   */
  createQp(init: QpInitAttr): Qp;

  /**
   * Ends the domain (`ibv_dealloc_pd`).
   *
   * @throws VerbsError EBUSY while MRs or QPs are in it, naming them; EINVAL when it was ended before
   */
  dealloc(): void;
}

/** `struct ibv_mr`: registered memory. */
export interface Mr extends Disposable {
  readonly context: Context;
  readonly pd: Pd;
  /** Where the memory begins: its real address wherever the host tells it. */
  readonly addr: bigint;
  /** Bytes. */
  readonly length: number;
  /** Key for our own work requests. */
  readonly lkey: number;
  /** Key for the peer's. It is a capability: whoever knows it can use the region as its access flags say. */
  readonly rkey: number;
  /** Bits of `AccessFlags`. */
  readonly access: number;
  /** The registered memory itself. */
  readonly bytes: Uint8Array;

  /**
   * A piece of the region, for a work request.
   *
   * @param offset bytes from the beginning of the region; default 0
   * @param length bytes; default all that follow `offset`
   * @throws VerbsError EINVAL when the piece is not inside the region
   */
  sge(offset?: number, length?: number): Sge;

  /**
   * Ends the registration (`ibv_dereg_mr`). Work that still uses it ends in LOC_PROT_ERR, a peer's in a NAK.
   *
   * @throws VerbsError EINVAL when it was ended before
   */
  dereg(): void;
}

/** What `alloc()` can be asked for. */
export interface AllocOptions {
  /** The address is a multiple of this power of two; default 4096. */
  readonly align?: number;
}
