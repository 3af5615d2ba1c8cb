import { Command } from 'commander';
import type { SocketAddress } from '../../../entry/index.js';
import { addressOf } from '../../kit/addresses.js';
import { cmDevices, withCmHosting } from '../common/hosting.js';
import { tool, ToolError } from '../../kit/errors.js';
import { endOnInterrupt, repeatedly } from '../../kit/interrupt.js';
import { hostsOf } from '../../kit/listening.js';
import { type HostingOptions, numberOption } from '../../kit/options.js';
import { type CmTimeResult, CmTimeRun, type CmTimeSetup } from './run.js';
import { CmTimeServer } from './server.js';
import type { StepResult } from './steps.js';

const NAME_WIDTH = 13;
const FIGURE_WIDTH = 11;

/** The C tool's table. */
export function stepTable(steps: readonly StepResult[]): string {
  const lines = steps.map(({ step, totalUs, maxUs, minUs, perConnectionUs }) => {
    const figures = [totalUs / 1000, maxUs / 1000, minUs, perConnectionUs];
    const columns = figures.map((figure) => figure.toFixed(2).padStart(FIGURE_WIDTH));
    return `${step.padEnd(NAME_WIDTH)}: ${columns.join('')}`;
  });
  return ['step              total ms     max ms     min us  us / conn', ...lines, ''].join('\n');
}

interface CmTimeFlags extends HostingOptions {
  readonly s?: string;
  readonly b?: string;
  readonly c: number;
  readonly p: number;
  readonly q?: number;
  readonly r: number;
  readonly t: number;
  readonly json?: true;
}

const PORT = 7471;
const MAX_QPN = 0xffffff;
/** How long ending connections may take after Ctrl-C; the end of the process ends the rest. */
const FAREWELL_MS = 80;

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Each reason once, with how many connections failed for it. */
function failureText({ failures }: CmTimeResult): string {
  const counts = new Map<string, number>();
  for (const why of failures) counts.set(why, (counts.get(why) ?? 0) + 1);
  return [...counts]
    .map(([why, count]) => `${count} ${count === 1 ? 'connection' : 'connections'} failed: ${why}`)
    .join('\n');
}

async function runClient(setup: CmTimeSetup, json: boolean): Promise<void> {
  const run = new CmTimeRun(json ? setup : { ...setup, progress: say });
  const interruption = { isOn: false };
  endOnInterrupt(() => {
    interruption.isOn = true;
    const result = run.soFar;
    process.stdout.write(json ? `${JSON.stringify({ ...result, interrupted: true })}\n` : stepTable(result.steps));
    run.close(FAREWELL_MS);
  });
  try {
    const result = await run.measure();
    if (interruption.isOn) return;
    process.stdout.write(json ? `${JSON.stringify(result)}\n` : stepTable(result.steps));
    if (result.failures.length > 0) throw new ToolError(failureText(result));
  } finally {
    if (!interruption.isOn) run.close();
  }
}

async function runServer(
  setup: Pick<CmTimeSetup, 'baseQpn' | 'devices'>,
  address: SocketAddress,
  json: boolean,
): Promise<void> {
  const server = new CmTimeServer({
    ...setup,
    address,
    warn: repeatedly((text) => process.stderr.write(`${text}\n`)),
  });
  endOnInterrupt(() => server.close(FAREWELL_MS));
  const { address: at } = server;
  say(
    json
      ? JSON.stringify({ listening: at })
      : `listening to port ${at?.port ?? 0} of ${at === undefined ? '?' : hostsOf(at.host, setup.devices.contexts?.[0]?.address).join(' and ')}, until Ctrl-C`,
  );
  await server.serve();
}

async function cmtime(flags: CmTimeFlags): Promise<void> {
  const json = flags.json === true;
  const source = flags.b === undefined ? undefined : { host: await addressOf(flags.b) };
  const common = {
    devices: cmDevices(flags),
    ...(flags.q === undefined ? {} : { baseQpn: flags.q }),
  };
  if (flags.s === undefined) return runServer(common, { ...source, port: flags.p }, json);
  const setup = {
    ...common,
    ...(source === undefined ? {} : { source }),
    destination: { host: await addressOf(flags.s), port: flags.p },
    connections: flags.c,
    retries: flags.r,
    timeoutMs: flags.t,
  };
  return runClient(setup, json);
}

export function command(): Command {
  const base = new Command('cmtime')
    .description(
      'Make and end many connections by rdma_cm, and print how long each step took.\n' +
        'Speaks with the C tool of the same name of rdma-core up to 50. Without -s: serve, until Ctrl-C.',
    )
    .option('-s <address>', 'client: name or address of the server')
    .option('-b <address>', 'address to bind to')
    .addOption(numberOption('-c <connections>', 'how many connections to make', 1, 1 << 20, 100))
    .addOption(numberOption('-p <port>', 'port of the server', 1, 65535, PORT))
    .addOption(
      numberOption('-q <qpn>', 'make no queue pairs, and name numbers from this one on in place of theirs', 2, MAX_QPN),
    )
    .addOption(numberOption('-r <retries>', 'how often to retry to resolve an address or a route', 0, 1000, 2))
    .addOption(numberOption('-t <ms>', 'how long address and route may take to be resolved', 1, 1 << 30, 2000));
  return withCmHosting(base)
    .addHelpText(
      'after',
      `
Two shells, one machine:
  verbena cmtime                             the server
  verbena cmtime -s 127.0.0.1 -c 1000        the client

With a host that runs Soft-RoCE and cmtime (here its address is 192.0.2.7):
  verbena cmtime -s 192.0.2.7`,
    )
    .action(tool(cmtime));
}
