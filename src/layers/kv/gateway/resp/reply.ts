/** A word in place of a value, as `OK`. */
export class SimpleReply {
  constructor(readonly text: string) {}
}

/** A refusal. By custom the text begins with a word in capitals, which programs look at. */
export class ErrorReply {
  /** @param text without the ends of lines */
  constructor(readonly text: string) {}
}

/** What a request is answered (RESP2): undefined is the null of bulk strings. Texts are bulk strings. */
export type Reply = SimpleReply | ErrorReply | number | bigint | Uint8Array | string | undefined | readonly Reply[];

export const OK = new SimpleReply('OK');
export const PONG = new SimpleReply('PONG');

/** Bytes of a reply, but for those around its values. */
export function replyBytes(reply: Reply): number {
  if (reply instanceof Uint8Array || typeof reply === 'string') return reply.length;
  return Array.isArray(reply) ? reply.reduce<number>((sum, one: Reply) => sum + replyBytes(one), 0) : 0;
}

/** What comes at once, or later. */
export type Soon<T> = T | Promise<T>;
