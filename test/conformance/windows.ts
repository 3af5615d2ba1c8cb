/** Memory windows, bound and ready for peers. */
import assert from 'node:assert/strict';
import {
  AccessFlags,
  incRkey,
  type Mr,
  type Mw,
  MwType,
  type RemoteMemory,
  SendFlags,
  WcOpcode,
  WrOpcode,
} from '../../src/index.js';
import { assertSuccess, type End, pollOne, REMOTE_ACCESS } from './support.js';

/** A window that is bound. */
export interface BoundWindow extends RemoteMemory {
  readonly mw: Mw;
  /** The key that counts now. */
  readonly rkey: number;
  /** How peers name its first byte. */
  readonly remoteAddr: bigint;
}

export interface WindowOptions {
  /** Default: the memory of the end. */
  readonly mr?: Mr;
  /** Where in the region it begins; default 0. */
  readonly offset?: number;
  /** Default: all that follows. */
  readonly length?: number;
  /** Default: all remote access. */
  readonly access?: number;
}

/** Binds a new window on the QP of `end`, and waits for that. It ends with `end`. */
export function bindWindow(end: End, type: MwType, options: WindowOptions = {}): BoundWindow {
  return rebindWindow(end, end.keep(end.pd.allocMw(type)), options);
}

/** Binds a window (one of type 2 must be free) on the QP of `end`, and waits for that. */
export function rebindWindow(end: End, mw: Mw, options: WindowOptions = {}): BoundWindow {
  const { mr = end.mr, offset = 0, access = REMOTE_ACCESS } = options;
  const addr = mr.iova + BigInt(offset);
  const bindInfo = { mr, addr, length: options.length ?? mr.length - offset, mwAccessFlags: access };
  let { rkey } = mw;
  if (mw.type === MwType.TYPE_1) {
    end.qp.bindMw(mw, { sendFlags: SendFlags.SIGNALED, bindInfo });
    ({ rkey } = mw);
  } else {
    rkey = incRkey(mw.rkey);
    end.qp.postSend({ opcode: WrOpcode.BIND_MW, sendFlags: SendFlags.SIGNALED, bindMw: { mw, rkey, bindInfo } });
  }
  const wc = pollOne(end.cq);
  assertSuccess(end, wc);
  assert.equal(wc.opcode, WcOpcode.BIND_MW);
  return { mw, rkey, remoteAddr: (access & AccessFlags.ZERO_BASED) === 0 ? addr : 0n };
}
