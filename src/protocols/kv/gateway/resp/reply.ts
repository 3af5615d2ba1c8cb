/** A word in place of a value, as `OK`. */
export class SimpleReply {
  constructor(readonly text: string) {}
}

/** A refusal. By custom the text begins with a word in capitals, which programs look at. */
export class ErrorReply {
  /** @param text without the ends of lines */
  constructor(readonly text: string) {}
}

/** Names and values: a map in RESP3, a list in RESP2. */
export class MapReply {
  constructor(readonly entries: readonly (readonly [string, Reply])[]) {}
}

/** Values without an order: a set in RESP3, a list in RESP2. */
export class SetReply {
  constructor(readonly members: readonly Reply[]) {}
}

/** Lines of text for people: a verbatim string in RESP3, a bulk string in RESP2. */
export class TextReply {
  constructor(readonly text: string) {}
}

/** The versions of the protocol. */
export type Protocol = 2 | 3;

/** The answer to a request. `undefined` is the null of bulk strings in RESP2, the only null in RESP3. Texts are bulk strings. */
export type Reply =
  | SimpleReply
  | ErrorReply
  | MapReply
  | SetReply
  | TextReply
  | number
  | bigint
  | Uint8Array
  | string
  | undefined
  | readonly Reply[];

export const OK = new SimpleReply('OK');
export const RESET = new SimpleReply('RESET');
export const PONG = new SimpleReply('PONG');

/** Bytes of a reply, but for those around its values. */
export function replyBytes(reply: Reply): number {
  if (reply instanceof Uint8Array || typeof reply === 'string') return reply.length;
  if (reply instanceof TextReply) return reply.text.length;
  return Array.isArray(reply) ? reply.reduce<number>((sum, one: Reply) => sum + replyBytes(one), 0) : 0;
}

/** What comes at once, or later. */
export type Soon<T> = T | Promise<T>;
