/**
 * One of the processes of `measure/kv.ts`: `kv-peer serve|gateway ADDRESS`, or `kv-peer ask ADDRESS HOST PORT`, then orders. A gateway has the store in its own process.
 */
import { connect, createStore, type KvClient, serve, serveRedis } from '../../src/entry/kv.js';
import { LatencyRecorder } from '../measure/latency.js';
import { type Effort, measureLoops, type Measurement } from '../measure/measurement.js';
import { KV_KEYS, kvKey, VALUE_BYTES } from './kv-keys.js';

export type KvOperation = 'get' | 'set';

/** What a peer can be told to do. */
export type KvOrder =
  | { readonly kind: 'hello' }
  | { readonly kind: 'fill' }
  /** One call after the other: µs. */
  | { readonly kind: 'latency'; readonly operation: KvOperation; readonly effort: Effort }
  /** So many clients, each of which makes so many calls at a time: calls a second. */
  | {
      readonly kind: 'rate';
      readonly operation: KvOperation;
      readonly clients: number;
      readonly atATime: number;
      readonly effort: Effort;
    };

const [role, address, host, port] = process.argv.slice(2);
const WINDOW = 16;

const value = new Uint8Array(VALUE_BYTES).fill(120);
const keys = Array.from({ length: KV_KEYS }, (_, n) => new TextEncoder().encode(kvKey(n)));
/** Far apart, and all of them before one comes again. */
const STEP = 7919;
let last = 0;
function nextKey(): Uint8Array {
  last = (last + STEP) % KV_KEYS;
  return keys[last];
}

const clients: KvClient[] = [];
async function clientsOf(count: number): Promise<readonly KvClient[]> {
  while (clients.length < count)
    clients.push(await connect({ host, port: Number(port), localAddress: address, window: WINDOW }));
  return clients.slice(0, count);
}

async function fill(): Promise<void> {
  const [client] = await clientsOf(1);
  await client.setMany(keys.map((key) => ({ key, value })));
}

async function latency(operation: KvOperation, effort: Effort): Promise<Measurement> {
  const [client] = await clientsOf(1);
  const recorder = new LatencyRecorder(effort, 1);
  recorder.start();
  do {
    if (operation === 'get') await client.get(nextKey());
    else await client.set(nextKey(), value);
  } while (recorder.lap());
  return recorder.measurement();
}

async function rate(operation: KvOperation, count: number, atATime: number, effort: Effort): Promise<Measurement> {
  const all = await clientsOf(count);
  const call = (client: KvClient): Promise<unknown> =>
    operation === 'get' ? client.get(nextKey()) : client.set(nextKey(), value);
  const several = (client: KvClient): Promise<unknown> => {
    const some = Array.from({ length: atATime }, nextKey);
    return operation === 'get' ? client.getMany(some) : client.setMany(some.map((key) => ({ key, value })));
  };
  const once = atATime === 1 ? call : several;
  const samples = await measureLoops(effort, count, async (worker) => {
    await once(all[worker]);
    return atATime;
  });
  return { samples };
}

async function ask(order: KvOrder): Promise<object> {
  switch (order.kind) {
    case 'hello':
      return {};
    case 'fill':
      await fill();
      return {};
    case 'latency':
      return latency(order.operation, order.effort);
    case 'rate':
      return rate(order.operation, order.clients, order.atATime, order.effort);
  }
}

function onOrder(obey: (order: KvOrder) => Promise<object>): void {
  // `measure/kv.ts` sends nothing else.
  process.on('message', (order: KvOrder) => void obey(order).then((answer) => process.send?.(answer)));
}

async function listen(): Promise<number> {
  const server = serve({ host: address, store: createStore() });
  if (role === 'serve') return server.address.port;
  const client = await connect({ ...server.address, localAddress: address, window: 64 });
  return (await serveRedis({ client })).port;
}

if (role === 'ask') onOrder(ask);
else {
  const info = await listen();
  onOrder(() => Promise.resolve({ info }));
}
