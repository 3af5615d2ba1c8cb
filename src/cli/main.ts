import { Command } from 'commander';
import { packageVersion } from './package-version.js';
import { PERF_TESTS } from './perftest/tests.js';
import { settingsText } from './settings.js';
import { fileFailure } from './tool-error.js';

/** What every subcommand's file exports. */
interface Subcommand {
  command(): Command;
}

interface Entry {
  readonly name: string;
  readonly summary: string;
  /** Loads the subcommand's code; only the one that was asked for, so that every start is quick. */
  load(): Promise<Subcommand>;
}

const ENTRIES: readonly Entry[] = [
  {
    name: 'transfer',
    summary: 'move a file from one process to another by RDMA WRITE',
    load: () => import('./transfer/command.js'),
  },
  { name: 'ibv_devices', summary: 'list RDMA devices', load: () => import('./ibv-devices.js') },
  { name: 'ibv_devinfo', summary: "print a device's attributes", load: () => import('./ibv-devinfo.js') },
  {
    name: 'ibv_rc_pingpong',
    summary: 'bounce messages between two hosts over a reliable connection',
    load: () => import('./ibv-rc-pingpong.js'),
  },
  {
    name: 'ibv_uc_pingpong',
    summary: 'the same over an unreliable connection',
    load: () => import('./ibv-uc-pingpong.js'),
  },
  { name: 'ibv_ud_pingpong', summary: 'the same over datagrams', load: () => import('./ibv-ud-pingpong.js') },
  {
    name: 'ibv_srq_pingpong',
    summary: 'the same over reliable connections that share a receive queue',
    load: () => import('./ibv-srq-pingpong.js'),
  },
  {
    name: 'ibv_xsrq_pingpong',
    summary: 'the same over extended reliable connections (XRC), with several clients',
    load: () => import('./ibv-xsrq-pingpong.js'),
  },
  {
    name: 'rping',
    summary: 'move text to and fro by RDMA READ and WRITE, over a connection by address and port',
    load: () => import('./rping.js'),
  },
  {
    name: 'ucmatose',
    summary: 'make any number of connections by address and port, and exchange messages',
    load: () => import('./ucmatose.js'),
  },
  { name: 'udaddy', summary: 'the same with datagrams', load: () => import('./udaddy.js') },
  {
    name: 'mckey',
    summary: 'join a multicast group by address, and send to it or receive from it',
    load: () => import('./mckey.js'),
  },
  {
    name: 'rdma_client',
    summary: 'exchange one message with rdma_server, by the calls that wait',
    load: () => import('./rdma-client.js'),
  },
  { name: 'rdma_server', summary: 'the server of rdma_client', load: () => import('./rdma-server.js') },
  {
    name: 'rdma_xclient',
    summary: 'send one message to rdma_xserver over RC or XRC',
    load: () => import('./rdma-xclient.js'),
  },
  { name: 'rdma_xserver', summary: 'the server of rdma_xclient', load: () => import('./rdma-xserver.js') },
  {
    name: 'cmtime',
    summary: 'measure how long each step of making and ending connections takes',
    load: () => import('./cmtime.js'),
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
    name: 'ibv_asyncwatch',
    summary: "print what happens to a device's port, as it happens",
    load: () => import('./ibv-asyncwatch.js'),
  },
  { name: 'show_gids', summary: "print a device's GID table", load: () => import('./show-gids.js') },
  { name: 'rdma', summary: 'print what the NICs of running programs have counted', load: () => import('./rdma.js') },
  { name: 'dump', summary: 'print the RoCEv2 packets of a pcap or pcapng file', load: () => import('./dump.js') },
  { name: 'explain', summary: 'tell from captures why connections failed', load: () => import('./explain.js') },
  { name: 'lab', summary: 'run one of the teaching programs', load: () => import('./lab.js') },
];

async function main(words: readonly string[]): Promise<void> {
  const program = new Command('verbena')
    .description('RDMA without an RDMA NIC: tools of the software RoCEv2 adapter.')
    .version(packageVersion())
    .enablePositionalOptions()
    .showHelpAfterError('(verbena --help lists the subcommands)')
    .addHelpText('after', `\n${settingsText()}`);
  const wanted = words.find((word) => !word.startsWith('-') && word !== 'help');
  for (const entry of ENTRIES) {
    if (entry.name === wanted) {
      const command = (await entry.load()).command();
      program.addCommand(command.showHelpAfterError(`(verbena ${entry.name} --help lists what there is)`));
    } else program.command(entry.name).description(entry.summary);
  }
  await program.parseAsync(words, { from: 'user' });
}

// A reader that left early (`verbena dump FILE | head`) is no failure of ours.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  process.stderr.write(`${fileFailure('standard output', 'written', error).message}\n`);
  process.exit(1);
});

// Not awaited: what it loads may share this file's bundle, and would wait for the end of what waits for it.
void main(process.argv.slice(2));
