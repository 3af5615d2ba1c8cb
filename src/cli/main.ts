import { Command } from 'commander';
import { commandOf, ENTRIES, type Entry, GROUPS, USAGE_EXIT } from './commands.js';
import { AmbiguousOption, completeOptions } from './kit/arguments.js';
import { packageVersion } from './kit/output.js';
import { fileFailure } from './kit/tool-error.js';

/** What the environment can say, for `--help`; docs/settings.md describes them. */
const SETTINGS = {
  VERBENA_ADDR: 'IP address of the device (default: a free loopback address)',
  VERBENA_HOST: 'where the NIC runs: thread, inline, or auto (inline, with a stand-in while the program computes)',
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
    if (entry === wanted) program.addCommand(await commandOf(entry));
    else program.command(entry.name).description(entry.summary).helpGroup(entry.group);
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
