import { writeSync } from 'node:fs';
import { Command } from 'commander';
import type { LaunchOptions } from './launcher/launcher.js';
import { checkMachine, filterProblem, machineProblem } from './launcher/check.js';
import { openGuestDevices } from './launcher/guest-devices.js';
import { Launcher } from './launcher/launcher.js';
import type { ProgramEnd } from './launcher/program.js';
import { thisMachine } from './launcher/system-calls.js';
import { FailureReport } from './reports/failure-report.js';
import { statisticsLine } from './reports/statistics.js';

interface RunFlags {
  readonly addr: readonly string[];
  readonly netem?: string;
  readonly pcap?: string;
  readonly stats?: true;
  readonly explain?: true;
  readonly check?: true;
  readonly doorbells: LaunchOptions['doorbells'];
}

const FAILED = 1;
/** As a shell says of a command line that it does not understand. */
const USAGE = 2;

/** Writes to the program's own standard error: Node's stream would make it non-blocking. */
function print(line: string): void {
  try {
    writeSync(2, `${line}\n`);
  } catch {
    // There is nobody who could be told, or nobody reads.
  }
}

function say(text: string): void {
  print(`verbena run: ${text}`);
}

function check(): number {
  const told = checkMachine();
  for (const { what, problem } of told) process.stdout.write(`${what}: ${problem ?? 'good'}\n`);
  return told.every(({ problem }) => problem === undefined) ? 0 : FAILED;
}

/** Ends this process as the program has ended. */
function endLike({ code, signal, sentence, refused }: ProgramEnd): void {
  if (refused !== undefined) say(filterProblem(refused));
  if (sentence !== undefined) say(sentence);
  if (signal !== null) {
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  }
  process.exit(code);
}

function run(words: readonly string[], flags: RunFlags): void {
  if (flags.check === true) process.exit(check());
  if (words.length === 0) {
    say('Name the program to run: verbena run -- ibv_devinfo');
    process.exit(USAGE);
  }
  const machine = thisMachine();
  const problem = machineProblem();
  if (machine === undefined || problem !== undefined) {
    say(problem ?? '');
    process.exit(FAILED);
  }
  try {
    const devices = openGuestDevices({
      addresses: flags.addr,
      warn: say,
      ...(flags.netem === undefined ? {} : { netem: flags.netem }),
      ...(flags.pcap === undefined ? {} : { capture: flags.pcap }),
    });
    const failures = flags.explain === true ? new FailureReport(say) : undefined;
    const end = (how: ProgramEnd): void => {
      failures?.end();
      if (flags.stats === true) for (const device of devices) print(statisticsLine(device));
      for (const { context } of devices) context.close();
      endLike(how);
    };
    new Launcher({ machine, devices, doorbells: flags.doorbells, failures, say, words }, end);
  } catch (error) {
    say(error instanceof Error ? error.message : String(error));
    process.exit(FAILED);
  }
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
