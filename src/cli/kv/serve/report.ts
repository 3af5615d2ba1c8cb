import type { KvMode, KvPersistenceStatistics, KvServerStatistics, KvStoreStatistics } from '../../../entry/kv.js';
import { amount } from '../../kit/output.js';
import { serverText, type ServerPlace } from '../common/server-place.js';
import { countText, timeText } from '../common/units.js';

/** What a server has counted so far. */
export interface ServedCounts {
  readonly seconds: number;
  readonly server: KvServerStatistics;
  readonly store: KvStoreStatistics;
}

/** What happens to a server, a line of `--json` each. */
export type ServeEvent =
  | {
      readonly event: 'listening';
      readonly address: ServerPlace;
      readonly mode: KvMode;
      readonly memoryBytes: number;
      readonly epoch: number;
      readonly directory?: string;
      readonly log?: KvPersistenceStatistics;
      readonly redisPort?: number;
      /** By which etcd has it, and what becomes of its keys when it is lost. */
      readonly name?: string;
      readonly keys?: 'move' | 'stay';
    }
  | ({ readonly event: 'statistics'; readonly requestsPerSecond: number } & ServedCounts)
  | ({ readonly event: 'end' } & ServedCounts);

export type ServeReport = (event: ServeEvent) => void;

/** Each as a line of JSON, on standard output. */
export const reportJson: ServeReport = (event) => void process.stdout.write(`${JSON.stringify(event)}\n`);

const MODES: Readonly<Record<KvMode, string>> = { cache: 'a cache', store: 'a store' };

function plural(count: number, one: string, many: string): string {
  return `${countText(count)} ${count === 1 ? one : many}`;
}

function found({ hits, misses }: KvStoreStatistics): string {
  const asked = hits + misses;
  return asked === 0 ? 'nothing asked for' : `${((100 * hits) / asked).toFixed(1)} % found`;
}

function holding({ keys, bytes }: KvStoreStatistics): string {
  return `${plural(keys, 'entry', 'entries')} in ${amount(bytes)}`;
}

/** What went out of the store, or not into it, by itself. */
function losses({ evictions, expirations, refusals }: KvStoreStatistics): string {
  return [
    [evictions, 'evicted'],
    [expirations, 'expired'],
    [refusals, 'refused as the store was full'],
  ]
    .filter(([count]) => count !== 0)
    .map(([count, what]) => `, ${countText(Number(count))} ${what}`)
    .join('');
}

function keptIn({ directory, log }: { readonly directory?: string; readonly log?: KvPersistenceStatistics }): string {
  if (directory === undefined || log === undefined) return '';
  return `, kept in ${directory} (${plural(log.recoveredKeys, 'entry', 'entries')} found)`;
}

/** The event for people. */
export function serveText(event: ServeEvent): string {
  switch (event.event) {
    case 'listening': {
      const { address, mode, memoryBytes, redisPort, name } = event;
      const known = name === undefined ? '' : `, known to etcd as ${name}`;
      const redis = redisPort === undefined ? '' : `, to clients of Redis at 127.0.0.1:${redisPort}`;
      return `serving ${MODES[mode]} of ${amount(memoryBytes)} at ${serverText(address)}${keptIn(event)}${redis}${known}, until Ctrl-C`;
    }
    case 'statistics': {
      const { seconds, server, store, requestsPerSecond } = event;
      const who = plural(server.clients, 'client', 'clients');
      const rate = `${countText(requestsPerSecond)} requests/s`;
      return `${timeText(seconds * 1000)}: ${who}, ${rate}, ${found(store)}, ${holding(store)}${losses(store)}`;
    }
    case 'end': {
      const { seconds, server, store } = event;
      const served = plural(server.requests, 'request', 'requests');
      return `served ${served} in ${timeText(seconds * 1000)}: ${found(store)}, ${holding(store)}${losses(store)}`;
    }
  }
}

/** For people: where it listens and what it has served on standard output, what it counts meanwhile on standard error. */
export const reportText: ServeReport = (event) => {
  const stream = event.event === 'statistics' ? process.stderr : process.stdout;
  stream.write(`${serveText(event)}\n`);
};
