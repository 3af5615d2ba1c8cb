import type { AdviseMrAdvice, MwType } from '../../device/ibta/index.js';
import type { Ah, AhAttrInit } from './address-handle.js';
import type { Address } from './address.js';
import type { Context } from './context.js';
import type { Mw } from './memory-window.js';
import type { Mr, RegistrableMemory } from './memory.js';
import type { Qp, QpInitAttr } from './queue-pair.js';
import type { Srq, SrqInitAttr } from './shared-receive-queue.js';
import type { WorkCompletion } from './work-completion.js';
import type { Sge } from './work-request.js';

/** What `regMr` can be asked for beside access. */
export interface RegMrOptions {
  /**
   * How work requests and peers name the first byte (`ibv_reg_mr_iova`). It must lie as far from a multiple of 4096 as
   * the memory does. Default: the memory's address, or 0 with ZERO_BASED.
   */
  readonly iova?: Address;
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
   *   ordinary memory from Node 24 on alone, where registering it makes it impossible to detach, for good
   * @param access bits of `AccessFlags`. Reading locally needs none; REMOTE_WRITE and REMOTE_ATOMIC need LOCAL_WRITE
   *   (protocol.md 3.6). Default 0
   * @throws VerbsError EINVAL for a flag that does not exist, a combination that is not allowed, an iova that does not
   *   fit, or for empty, detached or resizable memory; EOPNOTSUPP for flags that the device lacks, and for memory that
   *   could be taken away under a NIC in a thread of its own (ordinary memory before Node 24; that of WebAssembly,
   *   unless it is shared); ENOMEM when the device has no key left
   */
  regMr(memory: RegistrableMemory, access?: number, options?: RegMrOptions): Mr;

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
