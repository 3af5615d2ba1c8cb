/** What the protocols of this package mean by their packets, for those who read captures. */
import type { Dissector } from '../engine/index.js';
import { messagesDissector } from '../messages/dissector/index.js';
import { rsocketDissector } from '../rsocket/dissector/index.js';

export { type CapturedPacket, Conversations } from './conversations.js';

/** One for each protocol. */
export const DISSECTORS: readonly Dissector[] = [messagesDissector, rsocketDissector];
