/** One of the two processes of `measure/comfort.ts`: `messenger-peer WAY ADDRESS [HOST PORT]`, then orders. With a peer it is the client. */
import { LatencyRecorder } from '../measure/latency.js';
import { type EchoTask, type Effort, measureAwaited, type Measurement } from '../measure/measurement.js';
import { MESSENGERS, type MessengerName, type Talker } from './messengers/index.js';

/** What a peer can be told to do. */
export type MessengerOrder =
  | { readonly kind: 'hello' }
  | ({ readonly kind: 'ping' } & EchoTask)
  /** Sends messages of `bytes`, so many at a time. */
  | { readonly kind: 'pour'; readonly bytes: number; readonly window: number; readonly effort: Effort }
  | { readonly kind: 'crowd'; readonly connections: number; readonly atATime: number };

/** What a server does with a connection, as its first message says by its only byte. */
const ECHO = 1;
const DRAIN = 2;
const READY = new Uint8Array(1);

const [way, address, host, port] = process.argv.slice(2);
const isName = (name: string): name is MessengerName => name in MESSENGERS;
if (!isName(way)) throw new Error(`there is no way ${way}`);
const messenger = MESSENGERS[way];

function bytesInUse(): number {
  globalThis.gc?.();
  return process.memoryUsage().rss;
}

/** The task is the length of the first message: every way tells that. */
async function answer(talker: Talker): Promise<void> {
  const task = await talker.receive();
  await talker.send(READY);
  if (task === DRAIN) for (;;) await talker.receive();
  const message = new Uint8Array(4096);
  for (;;) await talker.send(message.subarray(0, await talker.receive()));
}

async function begin(talker: Talker, task: number): Promise<void> {
  await talker.send(new Uint8Array(task));
  // A way without messages would put the next one right behind.
  await talker.receive();
}

async function ping(talker: Talker, { bytes, effort }: EchoTask): Promise<Measurement> {
  await begin(talker, ECHO);
  const message = new Uint8Array(bytes);
  const recorder = new LatencyRecorder(effort, 1);
  recorder.start();
  do {
    const sent = talker.send(message);
    for (let came = 0; came < bytes;) came += await talker.receive();
    await sent;
  } while (recorder.lap());
  return recorder.measurement();
}

/** 10^6 messages a second. */
async function pour(talker: Talker, bytes: number, window: number, effort: Effort): Promise<Measurement> {
  await begin(talker, DRAIN);
  const message = new Uint8Array(bytes);
  const round = async (): Promise<number> => {
    await Promise.all(Array.from({ length: window }, () => talker.send(message)));
    return window;
  };
  return { samples: await measureAwaited(effort, round, (milliseconds, sent) => sent / milliseconds / 1000) };
}

/** µs to make one connection, of many, and KiB that this end of one takes. */
async function crowd(connections: number, atATime: number): Promise<Measurement> {
  const kept: Talker[] = [];
  const before = bytesInUse();
  const begun = performance.now();
  let left = connections;
  const some = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      kept.push(await messenger.connect(host, Number(port), address));
    }
  };
  await Promise.all(Array.from({ length: atATime }, some));
  const us = ((performance.now() - begun) * 1000) / connections;
  return { samples: [us, (bytesInUse() - before) / connections / 1024] };
}

function onOrder(obey: (order: MessengerOrder) => Promise<object>): void {
  // `measure/comfort.ts` sends nothing else.
  process.on('message', (order: MessengerOrder) => void obey(order).then((reply) => process.send?.(reply)));
}

async function serve(): Promise<void> {
  const connected: Talker[] = [];
  const bound = await messenger.serve(address, (talker) => {
    connected.push(talker);
    // A client that goes ends what is done for it.
    answer(talker).catch(() => undefined);
  });
  const before = bytesInUse();
  onOrder((order) =>
    Promise.resolve(
      order.kind === 'crowd' ? { samples: [(bytesInUse() - before) / order.connections / 1024] } : { info: bound },
    ),
  );
}

async function obey(order: MessengerOrder): Promise<object> {
  if (order.kind === 'hello') return {};
  if (order.kind === 'crowd') return crowd(order.connections, order.atATime);
  const talker = await messenger.connect(host, Number(port), address);
  return order.kind === 'ping' ? ping(talker, order) : pour(talker, order.bytes, order.window, order.effort);
}

if (process.argv.length === 4) await serve();
else onOrder(obey);
