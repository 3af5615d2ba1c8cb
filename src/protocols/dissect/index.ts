/** What the protocols of this package mean by their packets, for those who read captures. */
import type { Dissector } from '../core/index.js';
import { messagesDissector } from '../messages/dissector/index.js';
import { rsocketDissector } from '../rsocket/dissector/index.js';
import { UcpDissector } from '../ucp/dissector/index.js';
import { XioDissector } from '../xio/dissector/index.js';

export type { CapturedExchange } from '../core/index.js';
export { type CapturedPacket, Conversations } from './conversations.js';

/** Those of each protocol, for a capture. */
export function dissectors(): readonly Dissector[] {
  return [messagesDissector, new UcpDissector(), new XioDissector(), rsocketDissector];
}
