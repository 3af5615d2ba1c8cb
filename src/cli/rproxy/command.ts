import { Command, Option } from 'commander';
import { attempt, tool, ToolError } from '../kit/errors.js';
import { endOnInterrupt } from '../kit/interrupt.js';
import { type HostingOptions, streamDevice, withHosting, numberOption } from '../kit/options.js';
import { openLocalDoor, openRemoteDoor } from './doors.js';
import { parsePlace, type Place, placeText, type RdmaPlace } from './places.js';
import { type Door, Proxy } from './proxy.js';
import { reportJson, reportText } from './report.js';

interface RproxyFlags extends HostingOptions {
  readonly listen: Place;
  readonly to: Place;
  readonly maxConnections: number;
  readonly buffer: number;
  readonly keepalive: number;
  readonly drain: number;
  readonly verbose?: true;
  readonly json?: true;
}

const KIB = 1024;
/** What the end of a proxy may take beyond the time for its connections. */
const FLUSH_SECONDS = 2;

function withHost(to: RdmaPlace): RdmaPlace & { readonly host: string } {
  const { host } = to;
  if (host === undefined) throw new ToolError(`--to ${placeText(to)} has no host: write rdma:HOST:PORT.`);
  return { ...to, host };
}

async function openDoor(proxy: Proxy, flags: RproxyFlags): Promise<Door> {
  const { listen, to, buffer, keepalive: keepAliveSeconds } = flags;
  if (to.kind !== 'unix' && to.port === 0) throw new ToolError(`--to ${placeText(to)}: port 0 is nobody's.`);
  const bytes = buffer * KIB;
  const setup = {
    ...streamDevice(flags),
    sendBufferBytes: bytes,
    receiveBufferBytes: bytes,
    keepAliveSeconds,
  };
  if (listen.kind === 'rdma' && to.kind !== 'rdma')
    return attempt(`Cannot listen at ${placeText(listen)}`, () => openRemoteDoor(proxy, listen, to, setup));
  if (listen.kind !== 'rdma' && to.kind === 'rdma') return openLocalDoor(proxy, listen, withHost(to), setup);
  const which = listen.kind === 'rdma' ? 'Both are rdma' : 'Neither is rdma';
  throw new ToolError(
    `${which}: one of --listen and --to is rdma:..., the other tcp:... or unix:... A second rproxy on the other host does the reverse.`,
  );
}

async function rproxy(flags: RproxyFlags): Promise<void> {
  const { maxConnections, drain: drainSeconds, verbose, json } = flags;
  const report = json === true ? reportJson : reportText(verbose === true);
  const proxy = new Proxy({ report, maxConnections, drainSeconds });
  const door = await openDoor(proxy, flags);
  proxy.serve(door);
  endOnInterrupt(() => proxy.drain(), (drainSeconds + FLUSH_SECONDS) * 1000);
  report({ event: 'listening', at: door.at, to: placeText(flags.to) });
}

export function command(): Command {
  const base = new Command('rproxy')
    .description(
      'Carry TCP connections over an RDMA network: TCP here to rsocket there, or rsocket here to TCP there.\n' +
        'With one on either side, unmodified programs talk through them. The far side may also be a program of librdmacm’s rsockets.',
    )
    .addOption(
      new Option(
        '--listen <place>',
        'where connections come: tcp:[HOST:]PORT (host by default 127.0.0.1), unix:PATH or rdma:[HOST:]PORT (host by default that of --addr)',
      )
        .argParser(parsePlace)
        .makeOptionMandatory(),
    )
    .addOption(
      new Option('--to <place>', 'where each is carried to: rdma:HOST:PORT, tcp:[HOST:]PORT or unix:PATH')
        .argParser(parsePlace)
        .makeOptionMandatory(),
    )
    .addOption(numberOption('--max-connections <n>', 'connections at a time; more are turned away', 1, 100_000, 1000))
    .addOption(
      numberOption(
        '--buffer <KiB>',
        'of each connection: what is on its way to the peer, and the same back',
        4,
        1 << 20,
        256,
      ),
    )
    .addOption(
      numberOption(
        '--keepalive <seconds>',
        'silence after which each side is asked whether it is there; 0: never',
        0,
        32_767,
        60,
      ),
    )
    .addOption(numberOption('--drain <seconds>', 'how long connections may go on after Ctrl-C', 0, 86_400, 5))
    .option('-v, --verbose', 'tell of each connection')
    .option('--json', 'tell all that happens, a line of JSON each');
  return withHosting(base, 'the one that --listen or --to calls for, else VERBENA_ADDR, or a free loopback address')
    .addHelpText(
      'after',
      `
Redis across an RDMA network, with no change to either end:
  verbena rproxy --listen rdma:7471 --to tcp:6379 --addr 10.0.0.2     on the server's host
  verbena rproxy --listen tcp:6380 --to rdma:10.0.0.2:7471            on the client's
  redis-cli -p 6380

Whoever reaches an rdma: listener reaches what is behind it: RDMA authenticates nobody.`,
    )
    .action(tool(rproxy));
}
