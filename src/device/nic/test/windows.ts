import { AccessFlags, type MwType, WrOpcode } from '../../ibta/index.js';
import type { TestHost, TestMr } from './host.js';
import type { TestQp } from './qp.js';
import { ALL_ACCESS, type SendRequest } from './rings.js';

/** Memory windows as a program and its library handle them. */

/** Access of a region that windows of any kind can be bound to, and that lets no peer in by its own key. */
export const BINDABLE = AccessFlags.LOCAL_WRITE | AccessFlags.MW_BIND;
export const REMOTE_ALL = ALL_ACCESS & ~AccessFlags.LOCAL_WRITE;

/** A window, and the key that it is going to have once what was posted is carried out. */
export class TestMw {
  rkey: number;

  constructor(
    readonly host: TestHost,
    readonly handle: number,
    readonly type: MwType,
    rkey: number,
  ) {
    this.rkey = rkey;
  }

  /** A place as a peer names it that knows the window's key. */
  at(remoteAddr: bigint): { remoteAddr: bigint; rkey: number } {
    return { remoteAddr, rkey: this.rkey };
  }

  dealloc(): void {
    this.host.nic.control.deallocMw(this.handle);
  }
}

export function window(host: TestHost, type: MwType, pd = host.pd): TestMw {
  const { handle, rkey } = host.nic.control.allocMw({ pd, type });
  return new TestMw(host, handle, type, rkey);
}

/** `ibv_inc_rkey`: the next tag, the same index. */
export function incRkey(rkey: number): number {
  return ((rkey & 0xffffff00) | ((rkey + 1) & 0xff)) >>> 0;
}

export interface BindOptions {
  /** Piece of the region; by default all of it. */
  readonly offset?: number;
  readonly length?: bigint | number;
  readonly access?: number;
  readonly newRkey?: number;
  readonly flags?: number;
  readonly over?: Partial<SendRequest>;
}

/** A BIND_MW request; `mw` goes on with the new key. */
export function bindRequest(mw: TestMw, mr: TestMr | undefined, options: BindOptions = {}): SendRequest {
  const { offset = 0, access = REMOTE_ALL, newRkey = incRkey(mw.rkey), over } = options;
  const length = BigInt(options.length ?? (mr === undefined ? 0 : mr.length - offset));
  const request: SendRequest = {
    opcode: WrOpcode.BIND_MW,
    rkey: mw.rkey | 0,
    imm: newRkey | 0,
    remoteAddr: (mr?.addr ?? 0n) + BigInt(offset),
    compareAdd: length,
    swap: (BigInt(access) << 32n) | BigInt(mr?.lkey ?? 0),
    ...(options.flags === undefined ? {} : { flags: options.flags }),
    ...over,
  };
  mw.rkey = newRkey;
  return request;
}

/** Posts a BIND_MW request. @returns its wr_id */
export function bind(qp: TestQp, mw: TestMw, mr: TestMr | undefined, options: BindOptions = {}): bigint {
  return qp.post(bindRequest(mw, mr, options));
}

/** Posts a LOCAL_INV request. @returns its wr_id */
export function localInvalidate(qp: TestQp, rkey: number, over: Partial<SendRequest> = {}): bigint {
  return qp.post({ opcode: WrOpcode.LOCAL_INV, imm: rkey | 0, ...over });
}
