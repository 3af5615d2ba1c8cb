/** `stand-in-lives CASE ADDRESS ADDRESS`: what becomes of the thread of a stand-in. */
import { readdirSync } from 'node:fs';
import { listen, openDevice, type OpenOptions } from '../../../../entry/index.js';
import { connectTo, infoOf } from '../../../../providers/soft/test/support/ends.js';
import { makeSide, type Side } from '../../../../providers/soft/test/support/pair.js';

// The test that starts it gives these words.
const [life, one, two] = process.argv.slice(2) as ['idle' | 'closed' | 'kind' | 'busy-server', string, string];
const threads = (): number => readdirSync('/proc/self/task').length;
const open = (address: string): ReturnType<typeof openDevice> =>
  openDevice({ host: 'auto', address } satisfies OpenOptions);

async function waitFor(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}

/** Two devices of this process with connected queue pairs. */
function pair(): readonly [Side, Side] {
  const sides = [makeSide(open(one)), makeSide(open(two))] as const;
  connectTo(sides[0], infoOf(sides[1]));
  connectTo(sides[1], infoOf(sides[0]));
  return sides;
}

async function run(): Promise<void> {
  if (life === 'kind') {
    using context = open(one);
    process.send?.({ host: context.host });
  } else if (life === 'idle') {
    const before = threads();
    pair();
    process.send?.({ more: threads() - before });
    process.disconnect();
    // Nothing is awaited any more: the process ends.
  } else if (life === 'closed') {
    const before = threads();
    const sides = pair();
    const during = threads();
    for (const { context } of sides) context.close();
    await waitFor(() => threads() <= before);
    process.send?.({ more: during - before });
    process.disconnect();
  } else {
    const device = open(one);
    const listener = listen({ context: device, port: 4000 });
    process.send?.({ listening: true });
    const first = await listener.next();
    await first.accept();
    await new Promise((resolve) => process.once('message', resolve));
    await new Promise<void>((resolve) => process.send?.({ computing: true }, () => resolve()));
    // To look at counters is no turn of the NIC.
    const mras = (): number => device.counters()['link_stand_in_mras'];
    while (mras() === 0);
    const second = await listener.next();
    await second.accept();
    process.send?.({ mras: mras() });
    listener.close();
    process.disconnect();
  }
}

void run();
