import {
  type Load,
  type LoadFigures,
  kvLoad,
  MEMCACHED,
  memcachedLoad,
  REDIS,
  REDIS_BENCHMARK,
  type RedisKind,
  redisLoad,
} from '../measure/kv.js';
import { type Effort, once } from '../measure/measurement.js';
import type { Tool } from '../measure/tool.js';
import { type Row, type SectionMaker, WAYS } from './section.js';

/** How stores are asked, by the names that rows and aims have for it. */
const LOADS: Readonly<Record<string, Omit<Load, 'operation'>>> = {
  alone: { clients: 1, atATime: 1 },
  crowd: { clients: 50, atATime: 1 },
  pipelined: { clients: 50, atATime: 16 },
};
const OPERATIONS = ['get', 'set'] as const;

interface Store {
  readonly id: string;
  readonly name: string;
  readonly measure: (load: Load, effort: Effort) => Promise<LoadFigures>;
  readonly needs?: Tool;
}

const redis = (kind: RedisKind, name: string): Store => ({
  id: kind === 'gateway' ? 'gateway' : `redis.${kind}`,
  name,
  measure: (load, effort) => redisLoad(kind, load, effort),
  needs: kind === 'gateway' ? REDIS_BENCHMARK : REDIS,
});

const STORES: readonly Store[] = [
  ...WAYS.map((way): Store => ({
    id: way.id,
    name: way.name,
    measure: (load, effort) => kvLoad(way, load, effort),
  })),
  redis('tcp', 'Redis, TCP'),
  redis('unix', 'Redis, Unix socket'),
  { id: 'memcached', name: 'memcached, TCP', measure: memcachedLoad, needs: MEMCACHED },
  redis('gateway', 'Redis gateway, TCP'),
];

function rows(loadName: string, shape: Omit<Load, 'operation'>, effort: Effort): Row[] {
  const { clients, atATime } = shape;
  const isAlone = clients === 1;
  return OPERATIONS.flatMap((operation) =>
    STORES.flatMap(({ id, name, measure, needs }): Row[] => {
      const figures = once(() => measure({ ...shape, operation }, effort));
      const what = `${operation.toUpperCase()}, ${name}`;
      const needed = needs === undefined ? {} : { needs };
      const rate: Row = {
        id: `kv.${loadName}.${operation}.${id}`,
        what: isAlone ? what : `${what}, ${clients}${atATime > 1 ? ` × ${atATime}` : ''}`,
        unit: '1/s',
        measure: async () => (await figures()).rate,
        ...needed,
      };
      const latency: Row = {
        id: `kv.latency.${operation}.${id}`,
        what,
        unit: 'µs',
        measure: async () => (await figures()).latency ?? { samples: [] },
        ...needed,
      };
      return isAlone ? [rate, latency] : [rate];
    }),
  );
}

/** The key-value store beside others, all of whose clients are one process. */
export const kv: SectionMaker = ({ effort }) => ({
  title:
    'Key-value store (kv), values of 32 B: one client, 50 clients, 50 clients with 16 requests at a time each; redis-benchmark asks Redis and the gateway',
  rows: Object.entries(LOADS).flatMap(([name, load]) => rows(name, load, effort)),
});
