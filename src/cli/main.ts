import { Command } from 'commander';
import { PERF_TESTS } from './perftest/tests.js';
import { AmbiguousOption, completeOptions } from './kit/arguments.js';
import { packageVersion } from './kit/package-version.js';
import { fileFailure } from './kit/tool-error.js';

/** What the environment can say, for `--help`; README.md has the whole of it. */
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

interface Entry {
  readonly name: string;
  readonly summary: string;
  /** Loads the subcommand's code; only the one that was asked for, so that every start is quick. */
  load(): Promise<Subcommand>;
  /** The exit code for a command line that it does not take; default: 1. docs/tools.md has the table. */
  readonly usageExit?: number;
  /** Words from its first argument on belong to another program. */
  readonly passesOn?: true;
}

const USAGE_EXIT = 1;

const ENTRIES: readonly Entry[] = [
  {
    name: 'transfer',
    summary: 'move a file from one process to another by RDMA WRITE',
    load: () => import('./transfer/command.js'),
  },
  {
    name: 'ibv_devices',
    summary: 'list RDMA devices',
    load: () => import('./devices/ibv-devices.js'),
  },
  {
    name: 'ibv_devinfo',
    summary: "print a device's attributes",
    load: () => import('./devices/ibv-devinfo.js'),
    usageExit: 255,
  },
  {
    name: 'ibv_rc_pingpong',
    summary: 'bounce messages between two hosts over a reliable connection',
    load: () => import('./pingpong/ibv-rc-pingpong.js'),
  },
  {
    name: 'ibv_uc_pingpong',
    summary: 'the same over an unreliable connection',
    load: () => import('./pingpong/ibv-uc-pingpong.js'),
  },
  {
    name: 'ibv_ud_pingpong',
    summary: 'the same over datagrams',
    load: () => import('./pingpong/ibv-ud-pingpong.js'),
  },
  {
    name: 'ibv_srq_pingpong',
    summary: 'the same over reliable connections that share a receive queue',
    load: () => import('./pingpong/ibv-srq-pingpong.js'),
  },
  {
    name: 'ibv_xsrq_pingpong',
    summary: 'the same over extended reliable connections (XRC), with several clients',
    load: async () => ({ command: (await import('./pingpong/xsrq/command.js')).xsrqCommand }),
  },
  {
    name: 'rping',
    summary: 'move text to and fro by RDMA READ and WRITE, over a connection by address and port',
    load: () => import('./rdmacm/rping/command.js'),
    usageExit: 22,
  },
  {
    name: 'ucmatose',
    summary: 'make any number of connections by address and port, and exchange messages',
    load: () => import('./rdmacm/ucmatose/command.js'),
  },
  {
    name: 'udaddy',
    summary: 'the same with datagrams',
    load: () => import('./rdmacm/udaddy/command.js'),
  },
  {
    name: 'mckey',
    summary: 'join a multicast group by address, and send to it or receive from it',
    load: () => import('./rdmacm/mckey/command.js'),
  },
  {
    name: 'rdma_client',
    summary: 'exchange one message with rdma_server, by the calls that wait',
    load: () => import('./rdmacm/one-message/rdma-client.js'),
  },
  {
    name: 'rdma_server',
    summary: 'the server of rdma_client',
    load: () => import('./rdmacm/one-message/rdma-server.js'),
  },
  {
    name: 'rdma_xclient',
    summary: 'send one message to rdma_xserver over RC or XRC',
    load: () => import('./rdmacm/one-message/rdma-xclient.js'),
  },
  {
    name: 'rdma_xserver',
    summary: 'the server of rdma_xclient',
    load: () => import('./rdmacm/one-message/rdma-xserver.js'),
  },
  {
    name: 'cmtime',
    summary: 'measure how long each step of making and ending connections takes',
    load: () => import('./rdmacm/cmtime/command.js'),
  },
  {
    name: 'rstream',
    summary: 'measure how fast bytes go over rsockets',
    load: () => import('./rsocket/rstream/command.js'),
  },
  {
    name: 'riostream',
    summary: 'measure how fast bytes go into memory that the peer has mapped',
    load: () => import('./rsocket/riostream/command.js'),
  },
  {
    name: 'rcopy',
    summary: 'copy a file to another host over rsockets',
    load: () => import('./rsocket/rcopy/command.js'),
  },
  {
    name: 'udpong',
    summary: 'measure how fast datagrams go over rsockets',
    load: () => import('./rsocket/udpong/command.js'),
  },
  ...PERF_TESTS.map((test) => ({
    name: test.name,
    summary: test.summary,
    load: async () => {
      const { perftestCommand } = await import('./perftest/command.js');
      return { command: () => perftestCommand(test) };
    },
  })),
  {
    name: 'ucx_perftest',
    summary: 'measure how fast UCP is: tags, puts, gets, atomics, streams, active messages',
    load: () => import('./ucx/perftest/command.js'),
  },
  {
    name: 'ucx_info',
    summary: 'print what UCP is here: transports and what they do, settings, sizes',
    load: () => import('./ucx/info/command.js'),
  },
  {
    name: 'xio_perftest',
    summary: 'measure requests and responses of verbena/xio',
    load: () => import('./xio/perftest/command.js'),
  },
  {
    name: 'ibv_asyncwatch',
    summary: "print what happens to a device's port, as it happens",
    load: () => import('./devices/ibv-asyncwatch.js'),
  },
  {
    name: 'show_gids',
    summary: "print a device's GID table",
    load: () => import('./devices/show-gids.js'),
  },
  {
    name: 'rdma',
    summary: 'print what the NICs of running programs have counted',
    load: () => import('./rdma/command.js'),
  },
  {
    name: 'dump',
    summary: 'print the RoCEv2 packets of a pcap or pcapng file',
    load: () => import('./dump/command.js'),
    usageExit: 2,
  },
  {
    name: 'explain',
    summary: 'tell from captures why connections failed',
    load: () => import('./explain/command.js'),
    usageExit: 2,
  },
  {
    name: 'run',
    summary: 'run a program that uses libibverbs, as it is, on a software NIC',
    load: () => import('../run/index.js'),
    usageExit: 2,
    passesOn: true,
  },
  {
    name: 'rproxy',
    summary: 'carry TCP connections of any program over RDMA',
    load: () => import('./rproxy/command.js'),
  },
  {
    name: 'kv',
    summary: 'serve a key-value store, or call one',
    load: () => import('./kv/command.js'),
    usageExit: 2,
  },
  {
    name: 'lab',
    summary: 'run one of the teaching programs',
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
  for (const entry of ENTRIES) {
    if (entry === wanted) {
      const command = refusingWith(entry.usageExit ?? USAGE_EXIT, (await entry.load()).command());
      program.addCommand(command.showHelpAfterError(`(verbena ${entry.name} --help lists what there is)`));
    } else program.command(entry.name).description(entry.summary);
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
