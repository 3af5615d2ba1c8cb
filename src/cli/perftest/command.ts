import { Command } from 'commander';
import { openGpu } from '../../entry/gpu.js';
import type { Context, Mtu } from '../../entry/index.js';
import { addressOf } from '../kit/addresses.js';
import { findDevice } from '../devices/devices.js';
import { connectToServer, Listener } from '../pingpong/exchange/bootstrap.js';
import { openFor } from '../pingpong/local-address.js';
import { attempt, tool, ToolError } from '../kit/errors.js';
import { endOnInterrupt } from '../kit/interrupt.js';
import { isHere, openFirst, spinningHosts } from '../kit/spinning.js';
import { agree, type Agreement, alone, VERSION } from './exchange/agreement.js';
import { connectedQueuePairs } from './queue-pairs/cm-queue-pairs.js';
import { openAsClient, openAsServer } from './queue-pairs/cm-opening.js';
import { type PerfFlags, withFlags } from './flags.js';
import { QueuePairs } from './queue-pairs/queue-pairs.js';
import type { Exchange } from './exchange/exchange.js';
import { refuseOtherOptions } from './other-options.js';
import { runTest } from './run-test.js';
import { warmUp } from './warm-up.js';
import { counterOf, Report } from './report/report.js';
import { fitToMtu, gpuOf, type Settings, settle } from './settings.js';
import { TcpExchange } from './exchange/tcp-exchange.js';
import type { PerfTest } from './tests.js';

function note(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** Whether a test polls without a pause, and suffers when another thread takes its processor. */
function spins({ test, events }: Settings): boolean {
  return test.measure === 'lat' && !events;
}

function openGpuFor(flags: PerfFlags): Pick<Settings, 'gpu'> {
  const wanted = gpuOf(flags);
  if (wanted === undefined) return {};
  const gpu = attempt(`Couldn't open device ${wanted.index} of ${wanted.kind}`, () => openGpu(wanted));
  note(`Memory of ${wanted.kind} device ${wanted.index}: ${gpu.device.name}`);
  return { gpu };
}

/** The MTU that was asked for, or the port's; never above the port's. */
function ownMtu(context: Context, { mtu, ibPort, reportCounters = [] }: PerfFlags): Mtu {
  const counters = context.counters();
  const unknown = reportCounters.find((name) => !Object.hasOwn(counters, counterOf(name)));
  if (unknown !== undefined)
    throw new ToolError(`--report-counters: no counter is called '${unknown}'. \`verbena rdma statistic\` lists them.`);
  const { activeMtu } = attempt(`Unable to query port ${ibPort} attributes`, () => context.queryPort(ibPort));
  if (mtu === undefined || mtu <= activeMtu) return mtu ?? activeMtu;
  note(`Requested mtu is higher than active mtu; changing to active mtu ${activeMtu}`);
  return activeMtu;
}

async function agreeOn(exchange: Exchange, mtu: Mtu, { test }: Settings, flags: PerfFlags): Promise<Agreement> {
  if (flags.dont_xchg_versions !== true) return agree(exchange, mtu, test.name);
  exchange.peerVersion = Number(VERSION);
  return alone(mtu);
}

async function overCm(wanted: Settings, flags: PerfFlags, host: string | undefined): Promise<void> {
  const { name } = wanted.test;
  const report = new Report(wanted, flags);
  endOnInterrupt(() => report.interrupted());
  report.notes();
  // A server does not know its client; a device without an explicit address is on loopback.
  const peerIsHere = host === undefined ? flags.addr === undefined : isHere(await addressOf(host));
  const opening = await openFirst(spins(wanted) ? spinningHosts(flags, peerIsHere) : [flags], (options) =>
    host === undefined ? openAsServer(options, name, () => report.waiting()) : openAsClient(host, options, name),
  );
  const { exchange, context } = opening;
  const mtu = ownMtu(context, flags);
  const warmUpRun = await warmUp(context, wanted, flags, mtu);
  const agreement = await agreeOn(exchange, mtu, wanted, flags);
  const settings = fitToMtu(wanted, agreement.mtu, flags.size !== undefined, note);
  const queuePairs = settings.byCm
    ? await connectedQueuePairs(opening, settings, flags, agreement)
    : new QueuePairs(context, settings, flags, agreement);
  if (!settings.byCm) queuePairs.createQps();
  opening.stop();
  await runTest({ settings, flags, agreement, exchange, queuePairs, report, warmUpRun });
  await opening.close();
  context.close();
}

async function overTcp(wanted: Settings, flags: PerfFlags, host: string | undefined): Promise<void> {
  const { test } = wanted;
  const report = new Report(wanted, flags);
  endOnInterrupt(() => report.interrupted());
  report.notes();
  const device = findDevice(flags.ibDev, (name) => new ToolError(`IB device ${name} not found`));
  const toServer = host === undefined ? undefined : await connectToServer(host, flags.port);
  // The exchange reports a connection that broke during the warm-up.
  toServer?.on('error', () => undefined);
  const listener = toServer === undefined ? await Listener.open(flags.port) : undefined;
  const context = await openFor(device, toServer, flags, spins(wanted));
  if (listener !== undefined) report.waiting();
  // A client that comes in the meantime waits in the listener's queue.
  const mtu = ownMtu(context, flags);
  const warmUpRun = await warmUp(context, wanted, flags, mtu);
  const socket = toServer ?? (await listener?.accept());
  listener?.close();
  if (socket === undefined) throw new ToolError('No client came.');
  const exchange = new TcpExchange(socket, toServer !== undefined, test.name);
  const agreement = await agreeOn(exchange, mtu, wanted, flags);
  const settings = fitToMtu(wanted, agreement.mtu, flags.size !== undefined, note);
  const queuePairs = new QueuePairs(context, settings, flags, agreement);
  queuePairs.createQps();
  await runTest({ settings, flags, agreement, exchange, queuePairs, report, warmUpRun });
  context.close();
}

function examples({ name, measure }: PerfTest): string {
  const flags = measure === 'bw' ? '-s 1M -D 5' : '-n 10000';
  return `
Two shells, one machine:
  verbena ${name}                          the server
  verbena ${name} 127.0.0.1                the client; both sides take the same options

Another size, another length:
  verbena ${name} ${flags}
  verbena ${name} ${flags} 127.0.0.1

With a host that runs Soft-RoCE (here its address is 192.0.2.7, and this host's 192.0.2.8):
  ${name}                                  there, and
  verbena ${name} 192.0.2.7                here; or
  verbena ${name} --addr 192.0.2.8         here, and
  ${name} 192.0.2.8                        there`;
}

export function perftestCommand(test: PerfTest): Command {
  const command = new Command(test.name).description(
    `${test.summary.charAt(0).toUpperCase()}${test.summary.slice(1)}; speaks with the C tool of the same name.\n` +
      'Without a host: start a server and wait for a connection. With one: connect to the server there.',
  );
  return withFlags(command, test)
    .version(`Version: ${VERSION}`, '-V, --version', 'display version number of the C tools whose exchange this is')
    .addHelpText('after', examples(test))
    .action(
      tool(async (host: string | undefined, flags: PerfFlags) => {
        refuseOtherOptions(test, flags);
        const settings = { ...settle(test, flags, host !== undefined), ...openGpuFor(flags) };
        await (settings.talkByCm ? overCm : overTcp)(settings, flags, host);
      }),
    );
}
