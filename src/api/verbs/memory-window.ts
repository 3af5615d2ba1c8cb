import type { MwType } from '../../device/ibta/index.js';
import type { Address, WrId } from './address.js';
import type { Context } from './context.js';
import type { Mr } from './memory.js';
import type { Pd } from './protection-domain.js';

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

/** The R_Key with the next low byte, for the next bind of a window (`ibv_inc_rkey`): the upper 24 bits stay. */
export function incRkey(rkey: number): number {
  return ((rkey & ~0xff) | ((rkey + 1) & 0xff)) >>> 0;
}
