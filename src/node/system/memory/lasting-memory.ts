/** What of a program's memory stays where it is, whatever the program does. */
import { types } from 'node:util';
import threads, { markAsUntransferable } from 'node:worker_threads';
import { isResizable } from '../../../device/nic/index.js';

/** Later than our oldest Node. */
const isMarked = Reflect.get(threads, 'isMarkedAsUntransferable') as ((object: object) => boolean) | undefined;

/** Whether memory is shared: nobody can detach or shrink it, and each thread that has it keeps it alive. Of any realm. */
export function isShared(buffer: ArrayBufferLike): buffer is SharedArrayBuffer {
  return types.isSharedArrayBuffer(buffer);
}

/**
 * Whether {@link markAsUntransferable} means all ways of taking memory away. Before Node 24 only messages heed it: streams
 * that read into memory of the program's, and `ArrayBuffer.prototype.transfer`, do not.
 */
function marksHold(): boolean {
  const transfer = Reflect.get(ArrayBuffer.prototype, 'transfer') as (() => unknown) | undefined;
  if (transfer === undefined) return false;
  const probe = new ArrayBuffer(1);
  markAsUntransferable(probe);
  try {
    Reflect.apply(transfer, probe, []);
  } catch {
    // So it should.
  }
  return probe.byteLength === 1;
}

let holds: boolean | undefined;

/** Whether this Node can keep ordinary memory from being taken away. */
export function canNailDown(): boolean {
  holds ??= marksHold();
  return holds;
}

/** Whether a buffer could be transferred: a transfer that fails half-way tells without doing it. */
function isTransferable(buffer: ArrayBuffer): boolean {
  let begun = false;
  const message = {
    get content(): never {
      begun = true;
      throw new Error('not to be sent');
    },
  };
  try {
    structuredClone(message, { transfer: [buffer] });
  } catch {
    // Either the buffer was refused, or the content was asked for.
  }
  return begun;
}

/**
 * Has ordinary memory stay where it is for good, as long as somebody holds the buffer: there is no way back.
 *
 * @returns false when that cannot be had: on a Node that {@link canNailDown} says it of, and for memory of WebAssembly,
 *   which a `grow` replaces (V8 ends the process when it grows although it was marked)
 */
export function nailDown(buffer: ArrayBuffer): boolean {
  if (!canNailDown() || isResizable(buffer)) return false;
  // Node's pool of small Buffers, too.
  if (isMarked?.(buffer) === true) return true;
  if (!isTransferable(buffer)) return false;
  markAsUntransferable(buffer);
  return true;
}
