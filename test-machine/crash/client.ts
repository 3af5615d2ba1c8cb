/** A client of a crash run: changes keys of its own, and says before each change what it wants and after it that it was answered, until it is killed. */
import { writeSync } from 'node:fs';
import { SeededRandom } from '../../src/device/link/index.js';
import { connect } from '../../src/entry/kv.js';
import { type ClientOrders, isCounter, keysOf } from './orders.js';

const WORKERS = 8;
const SHORT_BYTES = 200;
const LONG_BYTES = 900;

const orders = JSON.parse(process.argv[2]) as ClientOrders; // our supervisor's
const { host, port, localAddress, transport, seed } = orders;
const random = new SeededRandom(seed);
const keys = keysOf(orders);
// What was written is with the supervisor, whatever becomes of this program.
const say = (line: string): void => void writeSync(1, `${line}\n`);

const client = await connect({ host, port, localAddress, transport, window: WORKERS });

async function change(key: string, number: number): Promise<void> {
  if (isCounter(key)) {
    say(`> ${key} INCR`);
    await client.incr(key);
  } else if (random.chance(0.15)) {
    say(`> ${key} DEL`);
    await client.delete(key);
  } else {
    const value = `${seed}.${number}.`.padEnd(random.below(random.chance(0.1) ? LONG_BYTES : SHORT_BYTES), 'x');
    say(`> ${key} SET ${value}`);
    await client.set(key, value);
  }
  say(`< ${key}`);
}

async function work(own: readonly string[]): Promise<void> {
  for (let number = 0; ; number += 1) await change(own[random.below(own.length)], number);
}

try {
  await Promise.all(
    Array.from({ length: WORKERS }, (_, worker) => work(keys.filter((_key, i) => i % WORKERS === worker))),
  );
} catch (error) {
  // The server has ended: what was under way nobody knows.
  say(`! ${String(error)}`);
  process.exit();
}
