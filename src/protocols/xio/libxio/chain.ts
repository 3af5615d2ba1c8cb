import { invalid, show, VerbsError } from '../../../api/verbs/index.js';
import type { XioMsg } from './types.js';

/** More than any end has credit for. */
const MOST = 65_535;

/** A message, and those behind it by `next`. @throws VerbsError EINVAL for what is no message, one that comes twice, and too many */
export function chainOf(call: string, first: XioMsg): readonly XioMsg[] {
  const chain = new Set<XioMsg>();
  let message: unknown = first;
  do {
    if (!isMessage(message)) throw new VerbsError(call, invalid(`the message is ${show(message)}`));
    if (chain.has(message)) throw new VerbsError(call, invalid('a message is behind itself, by next'));
    if (chain.size === MOST) throw new VerbsError(call, invalid(`more than ${MOST} messages are behind each other`));
    chain.add(message);
    message = message.next;
  } while (message !== undefined);
  return [...chain];
}

function isMessage(value: unknown): value is XioMsg {
  return typeof value === 'object' && value !== null;
}
