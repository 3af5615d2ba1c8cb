import { Command } from 'commander';
import { ProgramThread } from './launcher/program-thread.js';
import { say } from './reports/failure-report.js';
import type { RunFlags } from './run.js';

/** As a shell says of a command line that it does not understand. */
const USAGE = 2;

/** All that it takes to run a program is loaded while the thread that starts it gets ready. */
async function run(words: readonly string[], flags: RunFlags): Promise<void> {
  if (flags.check !== true && words.length === 0) {
    say('Name the program to run: verbena run -- ibv_devinfo');
    process.exit(USAGE);
  }
  const thread = flags.check === true ? undefined : new ProgramThread();
  const { check, runProgram } = await import('./run.js');
  if (thread === undefined) process.exit(check());
  runProgram(thread, words, flags);
}

export function command(): Command {
  return new Command('run')
    .description('Run a program that uses libibverbs or librdmacm, as it is, on software NICs.')
    .argument('[program...]', 'the program and its arguments, after --')
    .option(
      '--addr <address>',
      'address of a NIC; several times for several',
      (value, before: string[]) => [...before, value],
      [],
    )
    .option('--netem <words>', 'what happens to packets on their way, such as "loss 1%" (default: VERBENA_NETEM)')
    .option('--pcap <file>', 'record every packet (default: VERBENA_PCAP)')
    .option('--stats', 'print what the NICs have counted when the program has ended')
    .option('--explain', 'print why requests of the program have failed')
    .option('--check', 'say what this machine lacks')
    .option('--doorbells <way>', 'how programs ring: call, which hands their processor to the NIC, or log', 'call')
    .passThroughOptions()
    .action(run);
}
