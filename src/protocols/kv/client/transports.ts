import type { CmId } from '../../../api/rdmacm/index.js';
import type { Engine } from '../../core/index.js';
import { LOSSY, LOSSY_MEMORY, RELIABLE, type RepeatRules } from '../protocol/index.js';
import type { ClientLink, LinkSizes } from '../transport/link.js';
import { RcLink } from '../transport/rc-link.js';
import { UcClientLink } from '../transport/uc-client-link.js';
import { UdClientLink } from '../transport/ud-client-link.js';
import { Transport } from '../wire/index.js';

/** How requests and answers travel, as a client uses it. */
export interface ClientTransport {
  readonly number: Transport;
  readonly link: new (engine: Engine, id: CmId, sizes: LinkSizes) => ClientLink;
  readonly repeats: RepeatRules;
  /** Whether the server has requests in the order in which they were sent. */
  readonly keepsOrder: boolean;
  /** Requests that one message may have: with HERD each slot has its own. */
  readonly mostRequests: number;
}

/** How requests and answers travel: by reliable connections, unreliable ones, or datagrams. */
export type TransportName = 'rc' | 'uc' | 'ud';

export const CLIENT_TRANSPORTS = {
  rc: { number: Transport.RC, link: RcLink, repeats: RELIABLE, keepsOrder: true, mostRequests: Infinity },
  uc: { number: Transport.UC, link: UcClientLink, repeats: LOSSY_MEMORY, keepsOrder: false, mostRequests: 1 },
  ud: { number: Transport.UD, link: UdClientLink, repeats: LOSSY, keepsOrder: false, mostRequests: Infinity },
} as const satisfies Readonly<Record<TransportName, ClientTransport>>;
