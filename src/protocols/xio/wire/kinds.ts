/**
 * What a message is. The numbers are Accelio's, where it has such; those from 0x1000 on that are not in its list are ours (protocol/xio.md
 * 10).
 */
export const Kind = {
  /** Says no more than what has come, and what may come. */
  NOP: 0x01,
  REQUEST: 0x12,
  RESPONSE: 0x14,
  /** A message that is not answered. */
  ONE_WAY: 0x22,
  /** The receiver's program has let go of such a message. */
  RECEIPT: 0x24,
  SESSION: 0x102,
  SESSION_ANSWER: 0x104,
  /** The sender begins nothing any more, and waits for nothing. */
  FIN: 0x402,
  /** The sender ends the session at once. Its status says why. */
  ABORT: 0x404,
  CANCEL: 0x802,
  /** Stands in its order for something that was given up before the peer had it. */
  VOID: 0x1004,
  /** The server sends the session on: what was not sent yet is for another. */
  MOVE: 0x1008,
  KEEP_ALIVE: 0x4002,
  ALIVE: 0x4004,
} as const;
export type Kind = (typeof Kind)[keyof typeof Kind];

export interface KindRules {
  readonly name: keyof typeof Kind;
  /** Whether it has a number in the order of its connection, and is sent again on the next until the peer has it. */
  readonly isSequenced: boolean;
  /** Whether it takes of the receiver's credits. */
  readonly isCall: boolean;
  /** Whether it is about another message, by the number of that. */
  readonly isAbout: boolean;
  /** What it may carry. */
  readonly carries: 'nothing' | 'header' | 'header and body';
}

function rules(
  name: keyof typeof Kind,
  carries: KindRules['carries'],
  what: Partial<Pick<KindRules, 'isSequenced' | 'isCall' | 'isAbout'>> = {},
): KindRules {
  return { name, carries, isSequenced: false, isCall: false, isAbout: false, ...what };
}

const RULES: ReadonlyMap<number, KindRules> = new Map<number, KindRules>([
  [Kind.NOP, rules('NOP', 'nothing')],
  [Kind.REQUEST, rules('REQUEST', 'header and body', { isSequenced: true, isCall: true })],
  [Kind.RESPONSE, rules('RESPONSE', 'header and body', { isSequenced: true, isAbout: true })],
  [Kind.ONE_WAY, rules('ONE_WAY', 'header and body', { isSequenced: true, isCall: true })],
  [Kind.RECEIPT, rules('RECEIPT', 'nothing', { isSequenced: true, isAbout: true })],
  [Kind.SESSION, rules('SESSION', 'header')],
  [Kind.SESSION_ANSWER, rules('SESSION_ANSWER', 'header')],
  [Kind.FIN, rules('FIN', 'nothing', { isSequenced: true })],
  [Kind.ABORT, rules('ABORT', 'nothing')],
  [Kind.CANCEL, rules('CANCEL', 'nothing', { isSequenced: true, isAbout: true })],
  [Kind.VOID, rules('VOID', 'nothing', { isSequenced: true })],
  [Kind.MOVE, rules('MOVE', 'header', { isSequenced: true })],
  [Kind.KEEP_ALIVE, rules('KEEP_ALIVE', 'nothing')],
  [Kind.ALIVE, rules('ALIVE', 'nothing')],
]);

/** The rules of a kind; undefined for a number that is none. */
export function rulesOf(kind: number): KindRules | undefined {
  return RULES.get(kind);
}

export const Flag = {
  /** The sender waits for word that this has come. */
  ACKNOWLEDGE: 0x0001,
  /** Of ONE_WAY: a RECEIPT is asked for. */
  RECEIPT: 0x0002,
  /** Of REQUEST: the token names memory for the response's body. */
  TOKEN: 0x0004,
  /** Of REQUEST: the body of the response is not to come along with its head, however short it is. */
  APART_RESPONSE: 0x0008,
  /** Of REQUEST: it is the session's own, about memory that is granted. */
  DIRECT: 0x0010,
} as const;
export const KNOWN_FLAGS: number = Flag.ACKNOWLEDGE | Flag.RECEIPT | Flag.TOKEN | Flag.APART_RESPONSE | Flag.DIRECT;
