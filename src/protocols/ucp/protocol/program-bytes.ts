// Memory of a program's that a call uses is the program's all the same: it can transfer its buffer, or change its length, in the midst of the call. JavaScript throws
// at whoever uses a view of it then. What is gone reads as zeros here, and what would be written to it is lost.
//
// They ask for `byteLength`: in code that V8 11.3 (Node 20) has compiled, `length` of a view stays what it was when its buffer was transferred.

const NONE = new Uint8Array(0);

/** The same bytes, in a view that has its length for good: one of a buffer that can grow may follow it. Only what takes the bytes away makes it shorter: it has none then. */
export function steady(view: Uint8Array): Uint8Array {
  const buffer: Changeable = view.buffer;
  const { byteLength } = view;
  const canChange = buffer.resizable === true || buffer.growable === true;
  // One that is gone already cannot be cut.
  return canChange && byteLength > 0 ? view.subarray(0, byteLength) : view;
}

/** What buffers of newer engines say of themselves. */
interface Changeable {
  readonly byteLength: number;
  readonly resizable?: boolean;
  readonly growable?: boolean;
}

/** What is there of them. @param view was as long as `end` at least */
export function partOf(view: Uint8Array, begin: number, end: number): Uint8Array {
  if (begin >= end) return NONE;
  const { byteLength } = view;
  if (begin === 0 && end === byteLength) return view;
  return end <= byteLength ? view.subarray(begin, end) : new Uint8Array(end - begin);
}

/** Writes where they are. @param view was long enough for them */
export function putInto(view: Uint8Array, bytes: Uint8Array, at: number): void {
  // JavaScript throws at whoever writes where nothing is, be it no byte.
  if (bytes.length === 0) return;
  if (at + bytes.length <= view.byteLength) view.set(bytes, at);
}

/** Up to so many bytes are moved one by one sooner than by a view of them. */
const FEW_BYTES = 32;

/** Writes at their beginning what of the bytes lies from `from` on. @param view was long enough for it */
export function putRest(view: Uint8Array, bytes: Uint8Array, from: number): void {
  const length = bytes.length - from;
  if (length > view.byteLength) return;
  if (length > FEW_BYTES) view.set(bytes.subarray(from));
  else for (let i = 0; i < length; i += 1) view[i] = bytes[from + i];
}
