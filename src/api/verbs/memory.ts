import type { Address } from './address.js';
import type { Context } from './context.js';
import type { Pd } from './protection-domain.js';
import type { Sge } from './work-request.js';

/** Memory that can be registered: any buffer, any view of one. Which NIC takes which, `Pd.regMr` says. */
export type RegistrableMemory = ArrayBuffer | SharedArrayBuffer | ArrayBufferView;

/**
 * What of a region is to change. The flags of `ibv_rereg_mr` are the set of those present: `memory` and `iova` are
 * CHANGE_TRANSLATION, `pd` is CHANGE_PD, `access` is CHANGE_ACCESS.
 */
export interface MrChange {
  /** At least one byte. */
  readonly memory?: RegistrableMemory;
  /** As in `RegMrOptions`. */
  readonly iova?: Address;
  /** A domain of the same context. */
  readonly pd?: Pd;
  /** Bits of `AccessFlags`. */
  readonly access?: number;
}

/** `struct ibv_mr`: registered memory. */
export interface Mr extends Disposable {
  readonly context: Context;
  readonly pd: Pd;
  /** Where the memory begins: its real address wherever the host tells it. */
  readonly addr: bigint;
  /** How work requests and peers name its first byte: {@link addr} unless it was registered otherwise. */
  readonly iova: bigint;
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
   * Changes the region (`ibv_rereg_mr`). Its keys stay, and the fields above follow. Work that uses the region
   * meanwhile sees it as it was or as it will be. Nothing has changed when it throws, so that the states of the C call
   * in which a region cannot be used any more do not occur.
   *
   * @throws VerbsError EINVAL when nothing is to change, for a domain of another context, for memory, `iova` or access
   *   as `Pd.regMr`, or after dereg; EOPNOTSUPP for flags that the device lacks; EBUSY while memory windows are bound to
   *   it
   */
  rereg(change: MrChange): void;

  /**
   * Ends the registration (`ibv_dereg_mr`). Work that still uses it ends in LOC_PROT_ERR, a peer's in a NAK.
   *
   * @throws VerbsError EBUSY while memory windows are bound to it; EINVAL when it was ended before
   */
  dereg(): void;
}

/** What `alloc()` can be asked for. */
export interface AllocOptions {
  /** The address is a multiple of this power of two; default 4096. */
  readonly align?: number;
}
