import { Command } from 'commander';
import { readWaits } from '../../node/statistics/index.js';
import { tool, ToolError } from '../kit/errors.js';

interface Options {
  readonly json?: true;
}

const NOBODY = 'No program runs under `verbena run --explain`. Start it so: verbena run --explain -- PROGRAM';

function why(word: string | undefined, { json }: Options): void {
  const pid = word === undefined ? undefined : Number(word);
  if (pid !== undefined && !(Number.isInteger(pid) && pid > 0)) throw new ToolError(`${word} is no process number`);
  const launchers = readWaits();
  if (launchers.length === 0) throw new ToolError(NOBODY);
  const waits = launchers.flatMap((each) =>
    each.waits.filter((wait) => pid === undefined || wait.pid === pid || each.launcher === pid),
  );
  if (json === true) {
    process.stdout.write(`${JSON.stringify(waits, null, 2)}\n`);
    return;
  }
  if (waits.length === 0 && pid !== undefined)
    throw new ToolError(`No thread of process ${pid} waits in, or uses, RDMA under verbena run --explain`);
  for (const { comm, pid: number, what, why: reason } of waits)
    process.stdout.write(`${comm} (pid ${number}), ${what}: ${reason}\n`);
  if (waits.length === 0) process.stdout.write('No thread waits in a call of libibverbs or librdmacm.\n');
}

export function command(): Command {
  return new Command('why')
    .description('Print what the threads of programs under `verbena run --explain` wait for, and what would wake them.')
    .argument('[pid]', 'of a program, or of its launcher; default: all of this user')
    .option('--json', 'the same as a JSON array of {pid, comm, what, why}')
    .action(tool(why));
}
