/**
 * What is in the messages of a soak: words that tell their key, the round they belong to, and their place, so that a word of
 * another round, of another place, or of nobody is seen at once.
 */

/** Not what any round has in a place by rule; what lies where nobody may write. */
export const FILLER = 0x5aa5c33c | 0;

/** What of a span of sizes most messages have. */
const SMALL_BYTES = 256;
const MIDDLE_BYTES = 8192;

function mixed(a: number, b: number): number {
  let x = Math.imul(a ^ (b + 0x9e3779b9), 0x85ebca6b);
  x ^= x >>> 15;
  x = Math.imul(x, 0xc2b2ae35);
  return x ^ (x >>> 13);
}

export function wordOf(key: number, round: number, place: number): number {
  return Math.imul(mixed(key, round) ^ Math.imul(place + 1, 0x9e3779b1), 0x27d4eb2f);
}

/** The words of memory that begins and ends where a word does. */
export function wordsOf(bytes: Uint8Array): Int32Array {
  return new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length >> 2);
}

/** How long the message of a round is: a multiple of 4 from 8 on, up to `maxBytes`, most of them short. */
export function lengthOf(key: number, round: number, maxBytes: number): number {
  const dice = mixed(~key, round) >>> 0;
  const scale = dice % 10 < 5 ? SMALL_BYTES : dice % 10 < 8 ? MIDDLE_BYTES : maxBytes;
  const most = Math.min(scale, maxBytes);
  return 8 + ((((dice >>> 8) % (most - 7)) >> 2) << 2);
}

/** Puts a round's words there, from its place `from` on. */
export function fill(words: Int32Array, key: number, round: number, from = 0): void {
  for (let i = 0; i < words.length; i += 1) words[i] = wordOf(key, round, from + i);
}

/** Why these are not a round's words, or undefined. */
export function patternProblem(words: Int32Array, key: number, round: number, from = 0): string | undefined {
  for (let i = 0; i < words.length; i += 1)
    if (words[i] !== wordOf(key, round, from + i))
      return `word ${i} of ${words.length} of round ${round} is ${hex(words[i])}, not ${hex(wordOf(key, round, from + i))}`;
  return undefined;
}

/** Why there is something else than filler, or undefined. */
export function fillerProblem(words: Int32Array): string | undefined {
  for (let i = 0; i < words.length; i += 1)
    if (words[i] !== FILLER) return `word ${i} of ${words.length} beside what was allowed is ${hex(words[i])}`;
  return undefined;
}

/**
 * Why memory that a round may have been on its way into holds anything but words of before and words of that round, or
 * undefined.
 *
 * @param before what was there when it was last looked at
 * @param lengthWords how far the round reaches
 */
export function tornProblem(
  words: Int32Array,
  before: Int32Array,
  key: number,
  round: number,
  lengthWords: number,
): string | undefined {
  for (let i = 0; i < words.length; i += 1)
    if (words[i] !== before[i] && (i >= lengthWords || words[i] !== wordOf(key, round, i)))
      return `word ${i} is ${hex(words[i])}: it was ${hex(before[i])}, and round ${round} (${lengthWords} words) was on its way`;
  return undefined;
}

function hex(word: number): string {
  return `0x${(word >>> 0).toString(16).padStart(8, '0')}`;
}
