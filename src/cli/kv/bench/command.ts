import { randomInt } from 'node:crypto';
import { Command } from 'commander';
import type { KvCalls } from '../../../entry/kv.js';
import { endOnInterrupt } from '../../kit/interrupt.js';
import { checkWritable, writeWhole } from '../../kit/new-file.js';
import { progressBar } from '../../kit/progress.js';
import { isHere, spinningHosts } from '../../kit/spinning.js';
import { printed } from '../common/bytes.js';
import { failingDistinctly, kvTool } from '../common/failure.js';
import { connectTo, reachBy } from '../common/reach.js';
import { type StorePlace, storeText } from '../common/server-place.js';
import { Bench } from './bench.js';
import { type BenchFlags, sizesText, withBenchOptions } from './options.js';
import { startServer } from './own-server.js';
import { benchFacts, benchPlot, type BenchSetup, headText, resultText, setupText } from './report.js';
import { seededRandom, uniform, Workload, zipf } from './workload.js';

interface BenchedStore extends StorePlace {
  stop(): void;
}

/** The servers that were named, or one of our own. */
async function storeFor({ server, etcd, mode, memory, window, host, oneSided }: BenchFlags): Promise<BenchedStore> {
  if (server !== undefined || etcd !== undefined) return { server: server ?? [], etcd, stop: () => undefined };
  const args = ['--mode', mode, '--memory', memory, '--max-window', String(Math.max(...window))];
  if (oneSided === true) args.push('--one-sided');
  const own = await startServer(host === undefined ? args : [...args, '--host', host]);
  return { server: [own.place], stop: () => own.stop() };
}

async function clientsFor(flags: BenchFlags, { server, etcd }: StorePlace): Promise<readonly KvCalls[]> {
  const { addr: localAddress } = flags;
  const window = Math.max(...flags.window);
  const where = { ...flags, server, etcd };
  const isAnyHere = etcd !== undefined || server.some(({ host }) => isHere(host));
  const clients = [await reachBy(spinningHosts(where, isAnyHere), { window })];
  // They have the device of the first.
  while (clients.length < flags.clients) clients.push(await connectTo(where, { window, localAddress }));
  return clients;
}

function workloadFor({ keys, zipf: theta, put: putPercent, valueSize }: BenchFlags, seed: number): Workload {
  const random = seededRandom(seed);
  const chooser = theta === undefined ? uniform(keys, random) : zipf(keys, theta, random);
  const { least: leastValueBytes, most: mostValueBytes } = valueSize;
  return new Workload({ keys, chooser, putPercent, leastValueBytes, mostValueBytes, random });
}

function setupOf(flags: BenchFlags, { server: servers, etcd }: StorePlace, seed: number): BenchSetup {
  const { transport, oneSided = false, clients, keys, zipf: theta = 0, put: putPercent, valueSize } = flags;
  const distribution = flags.zipf === undefined ? 'uniform' : 'zipf';
  const valueBytes = sizesText(valueSize);
  const [server, ...others] = servers;
  const store = etcd === undefined ? (others.length === 0 ? { server } : { servers }) : { etcd };
  return {
    ...store,
    transport,
    oneSided,
    clients,
    keys,
    distribution,
    theta,
    putPercent,
    valueBytes,
    seed,
  };
}

async function bench(flags: BenchFlags): Promise<void> {
  const { seed = randomInt(2 ** 32), json, plot } = flags;
  if (plot !== undefined) checkWritable(plot);
  const workload = workloadFor(flags, seed);
  const store = await storeFor(flags);
  const setup = setupOf(flags, store, seed);
  const say = async (text: string): Promise<void> => {
    if (json !== true) await printed(text);
  };
  await say(setupText(setup, storeText(store)));
  const clients = await clientsFor(flags, store);
  const runs = new Bench(clients, workload, progressBar('{what}  {operations} requests', process.stderr, true));
  const conclude = async (isInterrupted: boolean): Promise<void> => {
    if (json === true) await printed(`${JSON.stringify(benchFacts(setup, runs.results, isInterrupted))}\n`);
    const svg = plot === undefined ? undefined : benchPlot(setup, runs.results);
    if (plot !== undefined && svg !== undefined) writeWhole(plot, svg);
    for (const client of clients) client.close();
    store.stop();
  };
  const sayCut = async (): Promise<void> => {
    const { cut } = runs;
    if (cut !== undefined) await say(`${resultText(setup, cut)}(interrupted after ${cut.seconds.toFixed(1)} s)\n`);
  };
  endOnInterrupt(async () => {
    runs.stop();
    await sayCut();
    await conclude(true);
  });
  let isWhole = false;
  try {
    if (flags.fill) await runs.fill();
    await say(headText(setup));
    for (const window of flags.window) {
      const result = await runs.run(window, flags.warmUp * 1000, flags.seconds * 1000);
      if (runs.isStopped) return;
      await say(resultText(setup, result));
    }
    isWhole = true;
  } catch (error) {
    if (runs.isStopped) return;
    await sayCut();
    throw error;
  } finally {
    if (!runs.isStopped) await conclude(!isWhole);
  }
}

export function benchCommand(): Command {
  const base = failingDistinctly(new Command('bench')).description(
    'Measure how many requests a store answers, and how long each takes: one that runs, or one that is begun for it.',
  );
  return withBenchOptions(base)
    .addHelpText(
      'after',
      `
Ctrl-C prints what there is so far. Latency is from the call until its promise is resolved, in this one process.

HERD's workload, on a store of its own:
  verbena kv bench --zipf --put 5 --window 1,2,4,8,16,32,64 --plot herd.svg`,
    )
    .action(kvTool(bench));
}
