/** What a client may send at most. */
export interface RequestLimits {
  readonly maxArguments: number;
  /** Bytes of one argument. */
  readonly maxArgumentBytes: number;
  /** Bytes of all arguments of a request. */
  readonly maxRequestBytes: number;
}

/** The arguments of a request: its name, and what follows. They are views of what has come. */
export type Request = readonly Uint8Array[];

/** What a client has sent is no request; there is no telling where the next one would begin. */
export class ProtocolFault {
  constructor(readonly text: string) {}
}

/** As in Redis, `PROTO_INLINE_MAX_SIZE`. */
const MAX_INLINE_BYTES = 65_536;
/** Of the line that says how many or how long: the sign, and as many digits as any number has. */
const MAX_HEADER_BYTES = 32;
const CR = 13;
const LF = 10;
const SPACE = 32;
const DOUBLE_QUOTE = 34;
const DOLLAR = 36;
const SINGLE_QUOTE = 39;
const STAR = 42;
const MINUS = 45;
const ZERO = 48;
const NINE = 57;
const BACKSLASH = 92;
const NO_BYTES = new Uint8Array(0);

/** There is no whole number yet, or none at all. */
const INCOMPLETE = -1;
const NO_NUMBER = -2;
/** Any number below 0. */
const NEGATIVE = -3;

/**
 * Makes requests of what a client sends, in whatever pieces it comes (the protocol of Redis, RESP2: arrays of bulk strings, and inline commands). What is not
 * a request ends it: {@link ProtocolFault}, once and for all.
 */
export class RequestReader {
  #bytes: Uint8Array = NO_BYTES;
  /** Whether what has come may be added to it. */
  #isOwn = false;
  #at = 0;
  #end = 0;
  /** No line ends before. */
  #searched = 0;
  /** Arguments that are still to come; -1 between requests. */
  #left = -1;
  /** How long the next argument is; -1 while that is not known. */
  #length = -1;
  #arguments: Uint8Array[] = [];
  #argumentBytes = 0;
  #fault: ProtocolFault | undefined;
  /** There is no whole request until more has come. */
  #isStarved = false;

  constructor(private readonly limits: RequestLimits) {}

  /** Bytes that have come and are part of no request yet. */
  get buffered(): number {
    return this.#end - this.#at;
  }

  /** Whether there may be another request. */
  get hasMore(): boolean {
    return this.#fault === undefined && !this.#isStarved && this.buffered > 0;
  }

  /** More has come. The bytes are not to be changed from now on. */
  push(chunk: Uint8Array): void {
    this.#isStarved = false;
    const kept = this.buffered;
    if (kept === 0) {
      this.#bytes = chunk;
      this.#isOwn = false;
      this.#at = this.#searched = 0;
      this.#end = chunk.length;
      return;
    }
    const end = this.#end + chunk.length;
    // What requests are views of is not written over: beyond the end nobody looks.
    if (!this.#isOwn || end > this.#bytes.length) this.#grow(kept + chunk.length);
    this.#bytes.set(chunk, this.#end);
    this.#end += chunk.length;
  }

  /** The next request; undefined until more has come. */
  next(): Request | ProtocolFault | undefined {
    this.#fault ??= this.#step();
    if (this.#fault !== undefined) return this.#fault;
    this.#isStarved = this.#left !== 0;
    if (this.#isStarved) return undefined;
    const request = this.#arguments;
    this.#left = -1;
    this.#arguments = [];
    this.#argumentBytes = 0;
    return request;
  }

  #grow(needed: number): void {
    const bytes = new Uint8Array(Math.max(2 * needed, 1024));
    bytes.set(this.#bytes.subarray(this.#at, this.#end));
    this.#searched = Math.max(0, this.#searched - this.#at);
    this.#end -= this.#at;
    this.#at = 0;
    this.#bytes = bytes;
    this.#isOwn = true;
  }

  /** Goes on until a request is whole or there is no more to read. */
  #step(): ProtocolFault | undefined {
    while (this.#left < 0) {
      if (this.#at === this.#end) return undefined;
      const at = this.#at;
      const fault = this.#bytes[at] === STAR ? this.#readCount() : this.#readInline();
      if (fault !== undefined || this.#at === at) return fault;
    }
    while (this.#left > 0) {
      const left = this.#left;
      const fault = this.#length < 0 ? this.#readLength() : this.#readArgument();
      if (fault !== undefined) return fault;
      if (this.#left === left && (this.#length < 0 || this.#end - this.#at < this.#length + 2)) return undefined;
    }
    return undefined;
  }

  #readCount(): ProtocolFault | undefined {
    const count = this.#readNumber();
    if (count === INCOMPLETE) return undefined;
    if (count === NO_NUMBER || count > this.limits.maxArguments) return new ProtocolFault('invalid multibulk length');
    // A request of nothing is none.
    if (count > 0) this.#left = count;
    return undefined;
  }

  #readLength(): ProtocolFault | undefined {
    if (this.#at === this.#end) return undefined;
    const first = this.#bytes[this.#at];
    if (first !== DOLLAR) return new ProtocolFault(`expected '$', got '${printable(first)}'`);
    const length = this.#readNumber();
    if (length === INCOMPLETE) return undefined;
    if (length < 0 || length > this.limits.maxArgumentBytes) return new ProtocolFault('invalid bulk length');
    this.#argumentBytes += length;
    if (this.#argumentBytes > this.limits.maxRequestBytes) return new ProtocolFault('too big request');
    this.#length = length;
    return undefined;
  }

  #readArgument(): ProtocolFault | undefined {
    const at = this.#at;
    const end = at + this.#length;
    if (this.#end < end + 2) return undefined;
    const bytes = this.#bytes;
    if (bytes[end] !== CR || bytes[end + 1] !== LF)
      return new ProtocolFault('a bulk string does not end where it says');
    this.#arguments.push(bytes.subarray(at, end));
    this.#at = end + 2;
    this.#left -= 1;
    this.#length = -1;
    return undefined;
  }

  /** The number of a line that begins here, behind a mark; what is no number is looked at no further. */
  #readNumber(): number {
    const bytes = this.#bytes;
    const end = Math.min(this.#end, this.#at + MAX_HEADER_BYTES);
    let at = this.#at + 1;
    const isNegative = at < end && bytes[at] === MINUS;
    if (isNegative) at += 1;
    const firstDigit = at;
    let number = 0;
    for (; at < end; at += 1) {
      const digit = bytes[at];
      if (digit < ZERO || digit > NINE) break;
      number = number * 10 + digit - ZERO;
    }
    if (at === end || (at + 1 === end && bytes[at] === CR))
      return end < this.#at + MAX_HEADER_BYTES ? INCOMPLETE : NO_NUMBER;
    if (at === firstDigit || bytes[at] !== CR || bytes[at + 1] !== LF) return NO_NUMBER;
    this.#at = at + 2;
    return isNegative ? NEGATIVE : number;
  }

  #readInline(): ProtocolFault | undefined {
    const bytes = this.#bytes;
    const found = bytes.indexOf(LF, Math.max(this.#at, this.#searched));
    const isThere = found >= 0 && found < this.#end;
    if ((isThere ? found : this.#end) - this.#at > MAX_INLINE_BYTES) return new ProtocolFault('too big inline request');
    this.#searched = this.#end;
    if (!isThere) return undefined;
    const end = found > this.#at && bytes[found - 1] === CR ? found - 1 : found;
    const words = splitWords(bytes.subarray(this.#at, end));
    if (words === undefined) return new ProtocolFault('unbalanced quotes in request');
    this.#at = this.#searched = found + 1;
    if (words.length > this.limits.maxArguments) return new ProtocolFault('too big inline request');
    // An empty line is no request.
    if (words.length === 0) return undefined;
    this.#arguments = words;
    this.#left = 0;
    return undefined;
  }
}

function printable(byte: number): string {
  return byte > SPACE && byte < 127 ? String.fromCharCode(byte) : '?';
}

const ESCAPES: Readonly<Partial<Record<number, number>>> = { 110: LF, 114: CR, 116: 9, 98: 8, 97: 7 };
const LOWER_X = 120;

/** The words of a line, as a shell has them. @returns undefined where a quote does not end */
function splitWords(line: Uint8Array): Uint8Array[] | undefined {
  const words: Uint8Array[] = [];
  let at = 0;
  for (;;) {
    while (at < line.length && isBlank(line[at])) at += 1;
    if (at === line.length) return words;
    const word: number[] = [];
    while (at < line.length && !isBlank(line[at])) {
      const quote = line[at];
      if (quote !== DOUBLE_QUOTE && quote !== SINGLE_QUOTE) {
        word.push(quote);
        at += 1;
        continue;
      }
      at = quote === DOUBLE_QUOTE ? readQuoted(line, at + 1, word) : readPlainlyQuoted(line, at + 1, word);
      // A closing quote ends the word.
      if (at < 0 || (at < line.length && !isBlank(line[at]))) return undefined;
    }
    words.push(Uint8Array.from(word));
  }
}

/** @returns what follows the closing quote; -1 where there is none */
function readQuoted(line: Uint8Array, begin: number, word: number[]): number {
  for (let at = begin; at < line.length; at += 1) {
    const byte = line[at];
    if (byte === DOUBLE_QUOTE) return at + 1;
    if (byte !== BACKSLASH || at + 1 === line.length) {
      word.push(byte);
      continue;
    }
    at += 1;
    const number = line[at] === LOWER_X ? hexAt(line, at + 1) : undefined;
    word.push(number ?? ESCAPES[line[at]] ?? line[at]);
    if (number !== undefined) at += 2;
  }
  return -1;
}

function readPlainlyQuoted(line: Uint8Array, begin: number, word: number[]): number {
  for (let at = begin; at < line.length; at += 1) {
    if (line[at] === SINGLE_QUOTE) return at + 1;
    if (line[at] === BACKSLASH && line[at + 1] === SINGLE_QUOTE) at += 1;
    word.push(line[at]);
  }
  return -1;
}

function hexAt(line: Uint8Array, at: number): number | undefined {
  const text = String.fromCharCode(...line.subarray(at, at + 2));
  return /^[0-9a-f]{2}$/i.test(text) ? Number.parseInt(text, 16) : undefined;
}

function isBlank(byte: number): boolean {
  return byte === SPACE || (byte >= 9 && byte <= 13) || byte === 0;
}
