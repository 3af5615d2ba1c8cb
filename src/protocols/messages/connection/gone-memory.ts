import { invalid, VerbsError } from '../../../api/verbs/index.js';

/**
 * Whether memory of the program's lacks bytes that it had: it was transferred, or shrank. Asked of `byteLength`: in code that V8 11.3 (Node 20) has compiled, `length` of a
 * view may stay what it was.
 */
export function isGone(bytes: Uint8Array, byteLength: number): boolean {
  return bytes.byteLength < byteLength;
}

/** What a call fails with whose memory {@link isGone is gone}. */
export function goneError(call: string): VerbsError {
  return new VerbsError(
    call,
    invalid('the memory is gone', 'It was transferred, or made shorter, before the call had ended'),
  );
}
