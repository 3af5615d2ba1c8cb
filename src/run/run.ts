import { checkMachine, filterProblem, machineProblem } from './launcher/check.js';
import { openGuestDevices } from './launcher/guest-devices.js';
import { type LaunchOptions, Launcher } from './launcher/launcher.js';
import type { ProgramEnd } from './launcher/program.js';
import type { ProgramThread } from './launcher/program-thread.js';
import { thisMachine } from './launcher/system-calls.js';
import { FailureReport, print, say, statisticsLine } from './reports/failure-report.js';

export interface RunFlags {
  readonly addr: readonly string[];
  readonly netem?: string;
  readonly pcap?: string;
  readonly stats?: true;
  readonly explain?: true;
  readonly check?: true;
  readonly doorbells: LaunchOptions['doorbells'];
}

const FAILED = 1;

/** Says what this machine lacks. @returns the exit code */
export function check(): number {
  const told = checkMachine();
  for (const { what, problem } of told) process.stdout.write(`${what}: ${problem ?? 'good'}\n`);
  return told.every(({ problem }) => problem === undefined) ? 0 : FAILED;
}

function endLike({ code, signal, sentence, refused }: ProgramEnd): void {
  if (refused !== undefined) say(filterProblem(refused));
  if (sentence !== undefined) say(sentence);
  if (signal !== null) {
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  }
  process.exit(code);
}

export function runProgram(thread: ProgramThread, words: readonly string[], flags: RunFlags): void {
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
    new Launcher({ machine, thread, devices, doorbells: flags.doorbells, failures, say, words }, end);
  } catch (error) {
    say(error instanceof Error ? error.message : String(error));
    process.exit(FAILED);
  }
}
