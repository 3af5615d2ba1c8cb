// What one process has computed the others need not: a cache that they share, a counter, and a list that several write to.
//
//   node shared-cache.js serve             prints where it listens
//   node shared-cache.js use HOST:PORT     is one of the processes that share it
import { connect, type KvClient, serve } from 'verbena/kv';

const KEPT_MS = 60_000;

const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

/** The nth prime number, the slow way. */
function prime(n: number): number {
  let found = 0;
  let candidate = 1;
  while (found < n) {
    candidate += 1;
    let divisor = 2;
    while (divisor * divisor <= candidate && candidate % divisor !== 0) divisor += 1;
    if (divisor * divisor > candidate) found += 1;
  }
  return candidate;
}

/** What is in the cache, or else is computed and put there for a minute. */
async function cached(client: KvClient, key: string, compute: () => string): Promise<string> {
  const value = await client.get(key);
  if (value !== undefined) return `${text(value)} (from the cache)`;
  const computed = compute();
  await client.set(key, computed, { ttlMs: KEPT_MS });
  return `${computed} (computed)`;
}

/** Adds to a list, whoever else does at the same time: whoever comes second begins again with what is there then. */
async function append(client: KvClient, key: string, item: string): Promise<readonly string[]> {
  for (;;) {
    const entry = await client.entry(key);
    const before = entry === undefined ? [] : (JSON.parse(text(entry.value)) as readonly string[]);
    const items = [...before, item];
    const value = JSON.stringify(items);
    const version = await (entry === undefined ? client.add(key, value) : client.cas(key, value, entry.version));
    if (version !== undefined) return items;
  }
}

async function use(place: string): Promise<void> {
  const colon = place.lastIndexOf(':');
  await using client = await connect({ host: place.slice(0, colon), port: Number(place.slice(colon + 1)) });
  const visit = await client.incr('visits');
  console.log(`visit ${visit}`);
  console.log(`prime 5000: ${await cached(client, 'prime:5000', () => String(prime(5000)))}`);
  console.log(`so far: ${(await append(client, 'visitors', `visitor ${visit}`)).join(', ')}`);
}

async function main(): Promise<void> {
  const [role, place = ''] = process.argv.slice(2);
  if (role === 'use' && place !== '') return use(place);
  if (role !== 'serve') throw new Error('usage: shared-cache serve | use HOST:PORT');
  const server = serve();
  console.log(`${server.address.host}:${server.address.port}`);
  await server.closed;
}

void main();
