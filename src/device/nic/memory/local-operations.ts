import { Syndrome, WrOpcode } from '../../ibta/index.js';
import { BindWqe, Cqe, SendWqe } from '../rings/layout.js';
import type { BindMw } from './memory-window.js';

/** What carries out binds and invalidations. */
interface Keys {
  bind(request: BindMw, pd: number, qpn: number): number;
  invalidate(rkey: number, pd: number, qpn: number): boolean;
}

/**
 * The requests of a send queue that need no packets: BIND_MW and LOCAL_INV (protocol/reliable.md 2.7, protocol/services.md 3.7). One that fails
 * completes MW_BIND_ERR, which is IBTA's memory management operation error for both.
 */
export class LocalOperations {
  /** Why the last one failed, with the numbers that belong to it. */
  syndrome: Syndrome = Syndrome.NONE;
  readonly detail = new Int32Array(Cqe.DETAIL_WORDS);

  constructor(private readonly keys: Keys) {}

  /**
   * Carries out the entry at word `entry` for QP `qpn` of protection domain `pd`.
   *
   * @returns false when it failed, and nothing has changed
   */
  execute(words: Int32Array, entry: number, pd: number, qpn: number): boolean {
    return (words[entry + SendWqe.CONTROL] & 0xff) === WrOpcode.LOCAL_INV
      ? this.#invalidate(words[entry + SendWqe.IMM_DATA], pd, qpn)
      : this.#bind(words, entry, pd, qpn);
  }

  #invalidate(rkey: number, pd: number, qpn: number): boolean {
    if (this.keys.invalidate(rkey, pd, qpn)) return true;
    this.syndrome = Syndrome.LOCAL_INVALIDATE;
    this.detail.fill(0);
    this.detail[0] = rkey;
    return false;
  }

  #bind(words: Int32Array, entry: number, pd: number, qpn: number): boolean {
    const lengthHi = words[entry + BindWqe.LENGTH_HI] >>> 0;
    const lengthLo = words[entry + BindWqe.LENGTH_LO] >>> 0;
    const request: BindMw = {
      rkey: words[entry + SendWqe.RKEY],
      newRkey: words[entry + SendWqe.IMM_DATA],
      lkey: words[entry + BindWqe.LKEY],
      addrHi: words[entry + SendWqe.REMOTE_ADDR_HI],
      addrLo: words[entry + SendWqe.REMOTE_ADDR_LO],
      // Inexact only where it is longer than any region.
      lengthBytes: lengthHi * 2 ** 32 + lengthLo,
      access: words[entry + BindWqe.ACCESS],
    };
    const reason = this.keys.bind(request, pd, qpn);
    if (reason === 0) return true;
    const { detail } = this;
    this.syndrome = Syndrome.MW_BIND;
    detail[0] = request.rkey;
    detail[1] = request.lkey;
    detail[2] = request.addrHi;
    detail[3] = request.addrLo;
    detail[4] = lengthLo;
    detail[5] = reason;
    return false;
  }
}
