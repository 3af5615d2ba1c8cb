/** Every name of libibverbs and librdmacm, with what stands for it here: the one table, from which `node scripts/page.mjs porting` makes the page. */
import type { Area } from '../table.js';
import { addresses } from './addresses.js';
import { cmConnections } from './cm-connections.js';
import { cmAddrInfo, cmIdentifiers } from './cm-identifiers.js';
import { cmMessages } from './cm-messages.js';
import { completions } from './completions.js';
import { device } from './device.js';
import { absentObjects, names, plumbing } from './elsewhere.js';
import { memory } from './memory.js';
import { queuePairs } from './queue-pairs.js';
import { requests } from './requests.js';
import { rsocketOptions, rsockets } from './rsockets.js';

export const areas: readonly Area[] = [
  device,
  memory,
  addresses,
  completions,
  queuePairs,
  requests,
  absentObjects,
  names,
  plumbing,
  cmIdentifiers,
  cmAddrInfo,
  cmConnections,
  cmMessages,
];

/** Those of rsocket.h, which are not exports of the root. */
export const rsocketAreas: readonly Area[] = [rsockets, rsocketOptions];
