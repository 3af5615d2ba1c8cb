/** Asks memcached, as quickly as a program can that knows how long each answer will be: `memcached-peer PORT`, then orders. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { LatencyRecorder } from '../measure/latency.js';
import { type Effort, measureLoops, type Measurement } from '../measure/measurement.js';
import { KV_KEYS, kvKey, VALUE_BYTES } from './kv-keys.js';

/** What a peer can be told to do. */
export type MemcachedOrder =
  | { readonly kind: 'hello' }
  | { readonly kind: 'latency'; readonly operation: 'get' | 'set'; readonly effort: Effort }
  | {
      readonly kind: 'rate';
      readonly operation: 'get' | 'set';
      readonly clients: number;
      readonly atATime: number;
      readonly effort: Effort;
    };

const [port] = process.argv.slice(2);
const value = 'x'.repeat(VALUE_BYTES);
const STEP = 7919;
const REQUESTS = {
  get: Array.from({ length: KV_KEYS }, (_, n) => `get ${kvKey(n)}\r\n`),
  set: Array.from({ length: KV_KEYS }, (_, n) => `set ${kvKey(n)} 0 0 ${VALUE_BYTES}\r\n${value}\r\n`),
} as const;
const ANSWER_BYTES = {
  get: `VALUE ${kvKey(0)} 0 ${VALUE_BYTES}\r\n${value}\r\nEND\r\n`.length,
  set: 'STORED\r\n'.length,
} as const;

let last = 0;
function nextRequest(operation: 'get' | 'set'): string {
  last = (last + STEP) % KV_KEYS;
  return REQUESTS[operation][last];
}

/** A connection on which some requests are written at a time, and answered. */
class Connection {
  #awaited = 0;
  #tell: () => void = () => undefined;

  constructor(private readonly socket: Socket) {
    socket.setNoDelay();
    socket.on('data', ({ length }) => {
      this.#awaited -= length;
      if (this.#awaited === 0) this.#tell();
      if (this.#awaited < 0) throw new Error('memcached answers something else');
    });
  }

  ask(operation: 'get' | 'set', count: number): Promise<void> {
    let text = '';
    for (let i = 0; i < count; i += 1) text += nextRequest(operation);
    this.#awaited = count * ANSWER_BYTES[operation];
    this.socket.write(text, 'latin1');
    return new Promise((resolve) => (this.#tell = resolve));
  }
}

const connections: Connection[] = [];
async function connectionsOf(count: number): Promise<readonly Connection[]> {
  while (connections.length < count) {
    const socket = connect(Number(port), '127.0.0.1');
    await once(socket, 'connect');
    connections.push(new Connection(socket));
  }
  return connections.slice(0, count);
}

async function latency(operation: 'get' | 'set', effort: Effort): Promise<Measurement> {
  const [connection] = await connectionsOf(1);
  const recorder = new LatencyRecorder(effort, 1);
  recorder.start();
  do await connection.ask(operation, 1);
  while (recorder.lap());
  return recorder.measurement();
}

async function rate(operation: 'get' | 'set', clients: number, atATime: number, effort: Effort): Promise<Measurement> {
  const all = await connectionsOf(clients);
  const samples = await measureLoops(effort, clients, async (worker) => {
    await all[worker].ask(operation, atATime);
    return atATime;
  });
  return { samples };
}

async function obey(order: MemcachedOrder): Promise<object> {
  if (order.kind === 'latency') return latency(order.operation, order.effort);
  if (order.kind === 'rate') return rate(order.operation, order.clients, order.atATime, order.effort);
  const [connection] = await connectionsOf(1);
  // All keys, since the step leaves none out.
  for (let n = 0; n < KV_KEYS; n += 1) await connection.ask('set', 1);
  return {};
}

// `measure/kv.ts` sends nothing else.
process.on('message', (order: MemcachedOrder) => void obey(order).then((answer) => process.send?.(answer)));
