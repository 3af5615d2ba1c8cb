import type { Conversations } from '../../protocols/dissect/index.js';
import type { Examined } from './examine.js';

/** The same packet with what its protocol means by it. A damaged one may say anything, and so says nothing. */
export function withMeaning(examined: Examined, conversations: Conversations): Examined {
  const { packet, addresses, mad, verdict, timeNs } = examined;
  if (packet === undefined || verdict === 'wrong') return examined;
  const meaning = conversations.next({
    ...addresses,
    timeUs: Number(timeNs) / 1000,
    packet,
    cm: mad?.cm,
    isCut: verdict === 'cut',
  });
  return meaning === undefined ? examined : { ...examined, meaning };
}
