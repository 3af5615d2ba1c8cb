import type { Address } from '../address.js';
import type { Sge } from './work-request.js';

/** Memory that can be registered: any buffer, any view of one. Which NIC takes which, `Pd.regMr` says. */
export type RegistrableMemory = ArrayBuffer | SharedArrayBuffer | ArrayBufferView;

/** What `regMr` can be asked for beside access. */
export interface RegMrOptions {
  /**
   * How work requests and peers name the first byte (`ibv_reg_mr_iova`). It must lie as far from a multiple of 4096 as
   * the memory does. Default: the memory's address, or 0 with ZERO_BASED.
   */
  readonly iova?: Address;
}

/** Where a memory region is and how it is named, and its calls that name no other object. */
export interface MrCalls extends Disposable {
  /** Where the memory begins: its real address wherever the host, or the device that has it, tells it. */
  readonly addr: bigint;
  /** How work requests and peers name its first byte: {@link addr} unless it was registered otherwise. */
  readonly iova: bigint;
  /** Bytes. */
  readonly length: number;
  /** Key for our own work requests. */
  readonly lkey: number;
  /** Key for the peer's. It is a capability: any peer that knows it can use the region as its access flags say. */
  readonly rkey: number;
  /** Bits of `AccessFlags`. */
  readonly access: number;
  /** The registered memory itself; empty where that is a device's (`DeviceMemory`). */
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
   * @throws VerbsError EBUSY while memory windows are bound to it; EINVAL when it was ended before
   */
  dereg(): void;
}

/** What `alloc()` can be asked for. */
export interface AllocOptions {
  /** The address is a multiple of this power of two; default 4096. */
  readonly align?: number;
}

/** The R_Key with the next low byte, for the next bind of a window (`ibv_inc_rkey`): the upper 24 bits stay. */
export function incRkey(rkey: number): number {
  return ((rkey & ~0xff) | ((rkey + 1) & 0xff)) >>> 0;
}
