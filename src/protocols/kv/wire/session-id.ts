/** Names a session: 64 bits that nobody can guess, in two words, so that none has to be made for each request. */
export interface SessionId {
  readonly high: number;
  readonly low: number;
}

export const NO_SESSION: SessionId = { high: 0, low: 0 };

/** The same 32 bits, of whatever sign. */
export function isSameSession(a: SessionId, b: SessionId): boolean {
  return (a.high | 0) === (b.high | 0) && (a.low | 0) === (b.low | 0);
}

/** A new one. @param random gives 32 bits that nobody can guess */
export function newSessionId(random: () => number): SessionId {
  for (;;) {
    const id = { high: random() >>> 0, low: random() >>> 0 };
    if (!isSameSession(id, NO_SESSION)) return id;
  }
}

/** As the key of a table. */
export function sessionKey({ high, low }: SessionId): string {
  return `${(high >>> 0).toString(16)}:${(low >>> 0).toString(16)}`;
}
