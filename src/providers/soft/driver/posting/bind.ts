import { incRkey, invalid, type Mw, type MwBindInfo, type Problem, Resource } from '../../../../api/verbs/index.js';
import type { OpenDevice } from '../context-base.js';
import { SoftMw } from '../memory/memory-window.js';
import { writeBind } from './entries.js';

/**
 * Writes into the send entry at word `at` that a window is to be bound, and to get the key `newRkey`. What was asked for
 * is checked already, but for whose the objects are.
 *
 * @returns why it cannot be written, or undefined
 */
export function writeBindOf(
  words: Int32Array,
  at: number,
  context: OpenDevice,
  mw: Mw,
  newRkey: number,
  bindInfo: MwBindInfo,
): Problem | undefined {
  if (!(mw instanceof SoftMw) || mw.context !== context || mw.destroyed)
    return invalid('mw is not a live memory window of this context', 'Make one by allocMw');
  const { mr } = bindInfo;
  let lkey = 0;
  if (mr !== undefined) {
    if (!(mr instanceof Resource) || mr.context !== context || mr.destroyed)
      return invalid('bindInfo.mr is not a live memory region of this context', 'Make one by regMr');
    ({ lkey } = mr);
  }
  writeBind(words, at, mw.rkey, newRkey, lkey, bindInfo);
  return undefined;
}

/** The key that the next bind gives a window of type 1; none for what is not a window of ours, whose bind is refused. */
export function nextKeyOf(mw: Mw): number {
  return mw instanceof SoftMw ? incRkey(mw.rkey) : 0;
}

/** Gives a window of type 1 the key that its bind, which was posted, gives it. */
export function noteBound(mw: Mw, newRkey: number): void {
  if (mw instanceof SoftMw) mw.rkey = newRkey;
}
