import { DEFAULT_LIMITS, type NicLimits } from '../nic/index.js';
import type { ClientLimits } from './client.js';

/** Under which name a device tells how many objects of each kind there can be. */
const names = {
  pd: 'maxPd',
  mr: 'maxMr',
  mw: 'maxMw',
  channel: 'maxCompChannels',
  counter: 'maxCompCntr',
  cq: 'maxCq',
  xrcd: 'maxXrcd',
  srq: 'maxSrq',
  ah: 'maxAh',
  qp: 'maxQp',
} as const satisfies Record<Exclude<keyof ClientLimits, 'cmId'>, keyof NicLimits>;

// As it says, which `Object.entries` does not.
const entries = Object.entries(names) as readonly [keyof typeof names, (typeof names)[keyof typeof names]][];

/** The limits of a device, as a client of it has them. */
export function limitsOf(most: ClientLimits = {}): NicLimits {
  const own = { ...DEFAULT_LIMITS };
  for (const [kind, name] of entries) own[name] = Math.min(own[name], most[kind] ?? Infinity);
  return own;
}
