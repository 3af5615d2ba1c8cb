/** Memory windows as peers name them. */
import { AccessFlags, type Mw, type MwType, type RemoteMemory } from '../../src/entry/index.js';
import { bind, openWindow, wholeOf } from './memory-support.js';
import { assertSuccess, type End, REMOTE_ACCESS } from './support.js';

export interface BoundWindow extends RemoteMemory {
  readonly mw: Mw;
}

/** Binds a new window over all the memory of `end`; it ends with `end`. */
export function bindWindow(end: End, type: MwType, access: number = REMOTE_ACCESS): BoundWindow {
  const { mw, rkey } = openWindow(end, type, wholeOf(end.mr, access));
  return { mw, rkey, remoteAddr: (access & AccessFlags.ZERO_BASED) === 0 ? end.mr.iova : 0n };
}

/** Binds a window of type 1 anew. */
export function rebindWindow(end: End, { mw, remoteAddr }: BoundWindow): BoundWindow {
  const { wc, rkey } = bind(end, mw, wholeOf(end.mr));
  assertSuccess(end, wc);
  return { mw, rkey, remoteAddr };
}
