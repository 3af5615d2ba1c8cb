import type { Command } from 'commander';
import { PERF_TESTS } from './perftest/tests.js';

/** What every subcommand's file exports. */
interface Subcommand {
  command(): Command;
}

/** Headings of `--help`, in their order. */
export const GROUPS = {
  MAIN: 'Main:',
  TOOLS: 'RDMA tools:',
  BENCHMARKS: 'Benchmarks:',
  LOOK: 'Look and explain:',
  SERVICES: 'Services:',
  LEARN: 'Learn:',
} as const;

export interface Entry {
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

export const USAGE_EXIT = 1;

const PING_PONGS = [
  ['ibv_rc_pingpong', 'bounce messages over a reliable connection (RC)'],
  ['ibv_uc_pingpong', 'the same over an unreliable connection (UC)'],
  ['ibv_ud_pingpong', 'the same over datagrams (UD)'],
  ['ibv_srq_pingpong', 'the same over RC with a shared receive queue'],
] as const;

const ONE_MESSAGE = [
  ['rdma_client', 'exchange one message with rdma_server'],
  ['rdma_server', 'the server of rdma_client'],
  ['rdma_xclient', 'send one message to rdma_xserver over RC or XRC'],
  ['rdma_xserver', 'the server of rdma_xclient'],
] as const;

export const ENTRIES: readonly Entry[] = [
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
    load: () => import('./devices/devices.js'),
  },
  {
    name: 'ibv_devinfo',
    group: GROUPS.TOOLS,
    summary: "print a device's attributes",
    load: () => import('./devices/ibv-devinfo.js'),
    usageExit: 255,
  },
  ...PING_PONGS.map(([name, summary]) => ({
    name,
    group: GROUPS.TOOLS,
    summary,
    load: async () => {
      const { pingPongCommand } = await import('./pingpong/command.js');
      return { command: () => pingPongCommand(name) };
    },
  })),
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
  ...ONE_MESSAGE.map(([name, summary]) => ({
    name,
    group: GROUPS.TOOLS,
    summary,
    load: async () => {
      const { oneMessageCommand } = await import('./rdmacm/one-message/command.js');
      return { command: () => oneMessageCommand(name) };
    },
  })),
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
    name: 'why',
    group: GROUPS.LOOK,
    summary: 'print what programs under run --explain wait for',
    load: () => import('./why/command.js'),
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

export async function commandOf(entry: Entry): Promise<Command> {
  const command = refusingWith(entry.usageExit ?? USAGE_EXIT, (await entry.load()).command());
  return command.showHelpAfterError(`(verbena ${entry.name} --help lists what there is)`);
}
