/** One of the processes of `measure/designs.ts`: `designs-peer serve ADDRESS BYTES`, or `designs-peer ask ADDRESS BYTES DESIGN PLACES`, then orders. */
import { connect, createStore, type KvClient, serve } from '../../src/entry/kv.js';
import { LatencyRecorder } from '../measure/latency.js';
import { type Effort, measureLoops, type Measurement } from '../measure/measurement.js';
import { KV_KEYS, kvKey } from './kv-keys.js';
import { serveTable, TableReader } from './neighbourhood.js';

/** How GETs are served: by requests, or by READs. PUTs are requests by `rc`, or by the design's own transport. */
export type Design = 'rc' | 'uc' | 'ud' | 'pilaf' | 'farm';

export interface DesignPlaces {
  readonly store: { readonly host: string; readonly port: number };
  readonly table: { readonly host: string; readonly port: number };
}

/** What a peer can be told to do. */
export type DesignOrder =
  | { readonly kind: 'hello' }
  | { readonly kind: 'fill' }
  /** One call after the other: µs. */
  | { readonly kind: 'latency'; readonly putPercent: number; readonly effort: Effort }
  /** So many calls at a time: calls a second. */
  | { readonly kind: 'rate'; readonly putPercent: number; readonly window: number; readonly effort: Effort };

const [role, address, bytes, design, places] = process.argv.slice(2);
const WINDOW = 16;

const value = new Uint8Array(Number(bytes)).fill(120);
const keys = Array.from({ length: KV_KEYS }, (_, n) => new TextEncoder().encode(kvKey(n)));

interface Asker {
  readonly client: KvClient;
  readonly get: (n: number) => Promise<Uint8Array | undefined>;
}

async function askerFor(name: Design, { store, table }: DesignPlaces): Promise<Asker> {
  const transport = name === 'uc' || name === 'ud' ? name : 'rc';
  const oneSided = name === 'pilaf';
  const client = await connect({ ...store, transport, oneSided, localAddress: address, window: WINDOW });
  if (name !== 'farm') return { client, get: (n) => client.get(keys[n]) };
  const reader = new TableReader(value.length);
  await reader.connect(table, address, WINDOW);
  return { client, get: (n) => reader.get(n, keys[n]) };
}

let asker: Asker | undefined;
/** Spread evenly, by a period that is longer than any run: Numerical Recipes' generator. */
let state = 1;
function chance(): number {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return state / 2 ** 32;
}

async function once({ client, get }: Asker, putPercent: number): Promise<void> {
  const n = Math.floor(chance() * KV_KEYS);
  if (chance() * 100 < putPercent) await client.set(keys[n], value);
  else if ((await get(n))?.length !== value.length) throw new Error(`no value of ${kvKey(n)}`);
}

async function fill({ client }: Asker): Promise<object> {
  await client.setMany(keys.map((key) => ({ key, value })));
  return {};
}

async function latency(from: Asker, putPercent: number, effort: Effort): Promise<Measurement> {
  const recorder = new LatencyRecorder(effort, 1);
  recorder.start();
  do await once(from, putPercent);
  while (recorder.lap());
  return recorder.measurement();
}

async function rate(from: Asker, putPercent: number, window: number, effort: Effort): Promise<Measurement> {
  const samples = await measureLoops(effort, window, async () => {
    await once(from, putPercent);
    return 1;
  });
  return { samples };
}

async function ask(order: DesignOrder): Promise<object> {
  // `measure/designs.ts` says nothing else.
  asker ??= await askerFor(design as Design, JSON.parse(places) as DesignPlaces);
  switch (order.kind) {
    case 'hello':
      return {};
    case 'fill':
      return fill(asker);
    case 'latency':
      return latency(asker, order.putPercent, order.effort);
    case 'rate':
      return rate(asker, order.putPercent, order.window, order.effort);
  }
}

function onOrder(obey: (order: DesignOrder) => Promise<object>): void {
  // `measure/designs.ts` sends nothing else.
  process.on('message', (order: DesignOrder) => void obey(order).then((answer) => process.send?.(answer)));
}

function listenHere(): DesignPlaces {
  const server = serve({ host: address, store: createStore(), oneSided: true });
  const placed = ({ host, port }: DesignPlaces['store']): DesignPlaces['store'] => ({ host, port });
  return { store: placed(server.address), table: placed(serveTable(address, keys, value)) };
}

if (role === 'ask') onOrder(ask);
else {
  const info = listenHere();
  onOrder(() => Promise.resolve({ info }));
}
