import type { AdapterCounters } from './command.js';

/** All that an adapter has counted, each under a name of its own. */
export function namedCounters({ nic, link, cm }: AdapterCounters): Record<string, number> {
  return { ...nic, ...cm, ...Object.fromEntries(Object.entries(link).map(([name, count]) => [`link_${name}`, count])) };
}
