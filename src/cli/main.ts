import { Command } from 'commander';
import { PERF_TESTS } from './perftest/tests.js';
import { AmbiguousOption, completeOptions } from './kit/arguments.js';
import { packageVersion } from './kit/package-version.js';
import { fileFailure } from './kit/tool-error.js';

/** What the environment can say, for `--help`; docs/settings.md describes them. */
const SETTINGS = {
  VERBENA_ADDR: 'IP address of the device (default: a free loopback address)',
  VERBENA_HOST: 'where the NIC runs: thread (the default) or inline',
  VERBENA_PCAP: 'file that records every packet, as pcapng',
  VERBENA_LINK: 'auto (the default), udp or shm: which way packets go',
  VERBENA_NETEM: 'a bad network, such as "loss 1% delay 200us seed 7"',
  VERBENA_MIN_ACK_TIMEOUT: 'exponent of the shortest ACK timeout: 18 for machines that are overloaded',
  VERBENA_SPIN: 'µs that a program which awaits looks before it sleeps (default: 200; 0: none)',
  VERBENA_NATIVE: 'on (the default) or off: no system calls through koffi',
  VERBENA_SEED: 'seed of verbena/sim',
  VERBENA_STATS: 'on (the default) or off: not to be seen by rdma statistic',
  VERBENA_DEBUG: 'on: failures show where they came from',
} as const;

/** The variables, a line each. */
function settingsText(): string {
  const rows = Object.entries(SETTINGS);
  const width = Math.max(...rows.map(([name]) => name.length));
  return ['Environment:', ...rows.map(([name, what]) => `  ${name.padEnd(width)}  ${what}`)].join('\n');
}

/** What every subcommand's file exports. */
interface Subcommand {
  command(): Command;
}

/** Headings of `--help`, in their order. */
const GROUPS = {
  MAIN: 'Main:',
  TOOLS: 'RDMA tools:',
  BENCHMARKS: 'Benchmarks:',
  LOOK: 'Look and explain:',
  SERVICES: 'Services:',
  LEARN: 'Learn:',
} as const;

interface Entry {
  readonly name: string;
  readonly group: (typeof GROUPS)[keyof typeof GROUPS];
  /** One line of `--help`: at most 58 characters. */
  readonly summary: string;
  /** Loads the subcommand's code; only the one that was asked for, so that every start is quick. */
  load(): Promise<Subcommand>;
  /** The exit code for a command line that it does not take; default: 1. docs/tools/README.md has the table. */
  readonly usageExit?: number;
  /** Words from its first argument on belong to another program. */
  readonly passesOn?: true;
}

const USAGE_EXIT = 1;

const ENTRIES: readonly Entry[] = [
  {
    name: 'transfer',
    group: GROUPS.MAIN,
    summary: 'move a file between two processes by RDMA WRITE',
    load: () => import('./transfer/command.js'),
  },
  {
    name: 'ibv_devices',
    group: GROUPS.TOOLS,
    summary: 'list RDMA devices',
    load: () => import('./devices/ibv-devices.js'),
  },
  {
    name: 'ibv_devinfo',
    group: GROUPS.TOOLS,
    summary: "print a device's attributes",
    load: () => import('./devices/ibv-devinfo.js'),
    usageExit: 255,
  },
  {
    name: 'ibv_rc_pingpong',
    group: GROUPS.TOOLS,
    summary: 'bounce messages over a reliable connection (RC)',
    load: () => import('./pingpong/ibv-rc-pingpong.js'),
  },
  {
    name: 'ibv_uc_pingpong',
    group: GROUPS.TOOLS,
    summary: 'the same over an unreliable connection (UC)',
    load: () => import('./pingpong/ibv-uc-pingpong.js'),
  },
  {
    name: 'ibv_ud_pingpong',
    group: GROUPS.TOOLS,
    summary: 'the same over datagrams (UD)',
    load: () => import('./pingpong/ibv-ud-pingpong.js'),
  },
  {
    name: 'ibv_srq_pingpong',
    group: GROUPS.TOOLS,
    summary: 'the same over RC with a shared receive queue',
    load: () => import('./pingpong/ibv-srq-pingpong.js'),
  },
  {
    name: 'ibv_xsrq_pingpong',
    group: GROUPS.TOOLS,
    summary: 'the same over XRC, with several clients',
    load: async () => ({ command: (await import('./pingpong/xsrq/command.js')).xsrqCommand }),
  },
  {
    name: 'rping',
    group: GROUPS.TOOLS,
    summary: 'ping by RDMA READ and WRITE over rdma_cm',
    load: () => import('./rdmacm/rping/command.js'),
    usageExit: 22,
  },
  {
    name: 'ucmatose',
    group: GROUPS.TOOLS,
    summary: 'make many connections by rdma_cm, exchange messages',
    load: () => import('./rdmacm/ucmatose/command.js'),
  },
  {
    name: 'udaddy',
    group: GROUPS.TOOLS,
    summary: 'the same with datagrams',
    load: () => import('./rdmacm/udaddy/command.js'),
  },
  {
    name: 'mckey',
    group: GROUPS.TOOLS,
    summary: 'join a multicast group; send to it or receive from it',
    load: () => import('./rdmacm/mckey/command.js'),
  },
  {
    name: 'rdma_client',
    group: GROUPS.TOOLS,
    summary: 'exchange one message with rdma_server',
    load: () => import('./rdmacm/one-message/rdma-client.js'),
  },
  {
    name: 'rdma_server',
    group: GROUPS.TOOLS,
    summary: 'the server of rdma_client',
    load: () => import('./rdmacm/one-message/rdma-server.js'),
  },
  {
    name: 'rdma_xclient',
    group: GROUPS.TOOLS,
    summary: 'send one message to rdma_xserver over RC or XRC',
    load: () => import('./rdmacm/one-message/rdma-xclient.js'),
  },
  {
    name: 'rdma_xserver',
    group: GROUPS.TOOLS,
    summary: 'the server of rdma_xclient',
    load: () => import('./rdmacm/one-message/rdma-xserver.js'),
  },
  {
    name: 'cmtime',
    group: GROUPS.BENCHMARKS,
    summary: 'measure each step of making and ending connections',
    load: () => import('./rdmacm/cmtime/command.js'),
  },
  {
    name: 'rstream',
    group: GROUPS.BENCHMARKS,
    summary: 'measure streams of rsockets',
    load: () => import('./rsocket/rstream/command.js'),
  },
  {
    name: 'riostream',
    group: GROUPS.BENCHMARKS,
    summary: 'measure writes into memory that the peer has mapped',
    load: () => import('./rsocket/riostream/command.js'),
  },
  {
    name: 'rcopy',
    group: GROUPS.SERVICES,
    summary: 'copy a file to another host over rsockets',
    load: () => import('./rsocket/rcopy/command.js'),
  },
  {
    name: 'udpong',
    group: GROUPS.BENCHMARKS,
    summary: 'measure datagrams of rsockets',
    load: () => import('./rsocket/udpong/command.js'),
  },
  ...PERF_TESTS.map((test) => ({
    name: test.name,
    group: GROUPS.BENCHMARKS,
    summary: test.summary,
    load: async () => {
      const { perftestCommand } = await import('./perftest/command.js');
      return { command: () => perftestCommand(test) };
    },
  })),
  {
    name: 'ucx_perftest',
    group: GROUPS.BENCHMARKS,
    summary: 'measure UCP: tags, puts, gets, atomics, streams',
    load: () => import('./ucx/perftest/command.js'),
  },
  {
    name: 'ucx_info',
    group: GROUPS.LOOK,
    summary: 'print what UCP offers: transports, settings, sizes',
    load: () => import('./ucx/info/command.js'),
  },
  {
    name: 'xio_perftest',
    group: GROUPS.BENCHMARKS,
    summary: 'measure requests and responses of verbena/xio',
    load: () => import('./xio/perftest/command.js'),
  },
  {
    name: 'ibv_asyncwatch',
    group: GROUPS.TOOLS,
    summary: "print the events of a device's port as they happen",
    load: () => import('./devices/ibv-asyncwatch.js'),
  },
  {
    name: 'show_gids',
    group: GROUPS.TOOLS,
    summary: "print a device's GID table",
    load: () => import('./devices/show-gids.js'),
  },
  {
    name: 'rdma',
    group: GROUPS.LOOK,
    summary: 'print links, queue pairs and counters of running NICs',
    load: () => import('./rdma/command.js'),
  },
  {
    name: 'dump',
    group: GROUPS.LOOK,
    summary: 'print the RoCEv2 packets of a capture',
    load: () => import('./dump/command.js'),
    usageExit: 2,
  },
  {
    name: 'explain',
    group: GROUPS.LOOK,
    summary: 'explain from captures why connections failed',
    load: () => import('./explain/command.js'),
    usageExit: 2,
  },
  {
    name: 'run',
    group: GROUPS.MAIN,
    summary: 'run a C program that uses libibverbs, unmodified',
    load: () => import('../run/index.js'),
    usageExit: 2,
    passesOn: true,
  },
  {
    name: 'rproxy',
    group: GROUPS.SERVICES,
    summary: 'carry TCP connections of any program over RDMA',
    load: () => import('./rproxy/command.js'),
  },
  {
    name: 'kv',
    group: GROUPS.SERVICES,
    summary: 'serve a key-value store, or call one',
    load: () => import('./kv/command.js'),
    usageExit: 2,
  },
  {
    name: 'lab',
    group: GROUPS.LEARN,
    summary: 'run a lesson',
    load: () => import('./lab/command.js'),
    passesOn: true,
  },
];

/** Has a command, and those below it, exit with `code` when they do not take their command line. */
function refusingWith(code: number, command: Command): Command {
  for (const each of command.commands) refusingWith(code, each);
  return command.exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : code));
}

async function main(words: readonly string[]): Promise<void> {
  const program = new Command('verbena')
    .description('RDMA without an RDMA NIC: tools of the software RoCEv2 adapter.')
    .version(packageVersion())
    .enablePositionalOptions()
    .showHelpAfterError('(verbena --help lists the subcommands)')
    .addHelpText('after', `\n${settingsText()}`);
  const name = words.find((word) => !word.startsWith('-') && word !== 'help');
  const wanted = ENTRIES.find((entry) => entry.name === name);
  const groups = Object.values(GROUPS);
  for (const entry of [...ENTRIES].sort((a, b) => groups.indexOf(a.group) - groups.indexOf(b.group))) {
    if (entry === wanted) {
      const command = refusingWith(entry.usageExit ?? USAGE_EXIT, (await entry.load()).command());
      program.addCommand(command.showHelpAfterError(`(verbena ${entry.name} --help lists what there is)`));
    } else program.command(entry.name).description(entry.summary).helpGroup(entry.group);
  }
  await program.parseAsync(completed(program, words, wanted), { from: 'user' });
}

function completed(program: Command, words: readonly string[], entry: Entry | undefined): string[] {
  try {
    return completeOptions(program, words, entry?.passesOn === true);
  } catch (error) {
    if (!(error instanceof AmbiguousOption)) throw error;
    process.stderr.write(`error: ${error.message}\n(verbena ${entry?.name ?? ''} --help lists what there is)\n`);
    process.exit(entry?.usageExit ?? USAGE_EXIT);
  }
}

// A reader that left early (`verbena dump FILE | head`) is no failure of ours.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  process.stderr.write(`${fileFailure('standard output', 'written', error).message}\n`);
  process.exit(1);
});

// Not awaited: what it loads may share this file's bundle, and would wait for the end of what waits for it.
void main(process.argv.slice(2));
