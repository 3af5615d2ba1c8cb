import { ErrorReply, MapReply, type Protocol, type Reply, SetReply, SimpleReply, TextReply } from './reply.js';

const ENCODER = new TextEncoder();
const FIRST_BYTES = 4096;
/** Beyond that the room is given back. */
const KEPT_BYTES = 1 << 18;
const CR = 13;
const LF = 10;
const DOLLAR = 36;
const STAR = 42;
const PLUS = 43;
const MINUS = 45;
const ZERO = 48;
const COLON = 58;
/** A mark, a sign, the digits of 2^64, the end of the line. */
const MAX_HEADER_BYTES = 24;
const NULL = { 2: ENCODER.encode('$-1\r\n'), 3: ENCODER.encode('_\r\n') } as const;
const PERCENT = 37;
const EQUALS = 61;
const TILDE = 126;
/** How a verbatim string says that it is plain text. */
const PLAIN = 'txt:';
/** Larger numbers are written as texts. */
const MAX_QUICK = 1e9;
/** Copying so few is quicker than asking somebody to. */
const FEW_BYTES = 64;

/** Writes replies, one behind the other. */
export class ReplyWriter {
  #bytes = new Uint8Array(FIRST_BYTES);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** All that was written: a copy. It begins anew. */
  take(): Uint8Array {
    const taken = this.#bytes.slice(0, this.#length);
    this.#length = 0;
    if (this.#bytes.length > KEPT_BYTES) this.#bytes = new Uint8Array(FIRST_BYTES);
    return taken;
  }

  write(reply: Reply, protocol: Protocol = 2): void {
    if (reply instanceof Uint8Array) this.#bulk(reply);
    else if (typeof reply === 'string') this.#bulk(ENCODER.encode(reply));
    else if (reply === undefined) this.#put(NULL[protocol]);
    else if (reply instanceof SimpleReply) this.#line(PLUS, reply.text);
    else if (reply instanceof ErrorReply) this.#line(MINUS, reply.text);
    else if (typeof reply === 'number' || typeof reply === 'bigint') this.#number(COLON, reply);
    else if (reply instanceof MapReply) this.#map(reply, protocol);
    else if (reply instanceof TextReply) this.#text(reply, protocol);
    else if (reply instanceof SetReply) this.#list(protocol === 3 ? TILDE : STAR, reply.members, protocol);
    else this.#list(STAR, reply, protocol);
  }

  #list(mark: number, list: readonly Reply[], protocol: Protocol): void {
    this.#number(mark, list.length);
    for (const one of list) this.write(one, protocol);
  }

  #map({ entries }: MapReply, protocol: Protocol): void {
    if (protocol === 3) this.#number(PERCENT, entries.length);
    else this.#number(STAR, 2 * entries.length);
    for (const [name, value] of entries) {
      this.write(name, protocol);
      this.write(value, protocol);
    }
  }

  #text({ text }: TextReply, protocol: Protocol): void {
    const bytes = ENCODER.encode(protocol === 3 ? PLAIN + text : text);
    this.#number(protocol === 3 ? EQUALS : DOLLAR, bytes.length);
    this.#put(bytes);
    this.#endLine();
  }

  #bulk(value: Uint8Array): void {
    this.#number(DOLLAR, value.length);
    this.#put(value);
    this.#endLine();
  }

  #line(mark: number, text: string): void {
    this.#reserve(MAX_HEADER_BYTES);
    this.#bytes[this.#length++] = mark;
    this.#put(ENCODER.encode(text));
    this.#endLine();
  }

  #number(mark: number, number: number | bigint): void {
    if (typeof number === 'bigint' || number < 0 || number >= MAX_QUICK) {
      this.#line(mark, String(number));
      return;
    }
    this.#reserve(MAX_HEADER_BYTES);
    const bytes = this.#bytes;
    let at = this.#length;
    bytes[at++] = mark;
    let digits = 1;
    for (let rest = number; rest >= 10; rest = (rest / 10) | 0) digits += 1;
    let rest = number | 0;
    for (let i = at + digits - 1; i >= at; i -= 1) {
      const tenth = (rest / 10) | 0;
      bytes[i] = ZERO + rest - 10 * tenth;
      rest = tenth;
    }
    at += digits;
    bytes[at++] = CR;
    bytes[at++] = LF;
    this.#length = at;
  }

  #put(some: Uint8Array): void {
    this.#reserve(some.length);
    const at = this.#length;
    if (some.length > FEW_BYTES) this.#bytes.set(some, at);
    else for (let i = 0; i < some.length; i += 1) this.#bytes[at + i] = some[i];
    this.#length += some.length;
  }

  #endLine(): void {
    this.#reserve(2);
    this.#bytes[this.#length++] = CR;
    this.#bytes[this.#length++] = LF;
  }

  #reserve(more: number): void {
    const needed = this.#length + more;
    if (needed <= this.#bytes.length) return;
    const bytes = new Uint8Array(2 * needed);
    bytes.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = bytes;
  }
}
