import { spawnSync } from 'node:child_process';
import { InvalidArgumentError, Option } from 'commander';
import { ToolError } from './errors.js';

function processors(text: string): string {
  if (/^\d+(-\d+)?(,\d+(-\d+)?)*$/.test(text)) return text;
  throw new InvalidArgumentError('Give numbers of processors, such as 0 or 0,2-3.');
}

/** Of tools that may be kept on some processors. */
export function processorsOption(): Option {
  return new Option('-c <cpus>', 'run on these processors, such as 0 or 0,2-3, by taskset').argParser(processors);
}

/** Keeps all threads on these processors; those that begin later have what their parents have. */
export function pinTo(list: string): void {
  const { error, status, stderr } = spawnSync('taskset', ['-a', '-c', '-p', list, String(process.pid)], {
    encoding: 'utf8',
  });
  if (error !== undefined) throw new ToolError('-c needs the program taskset, of util-linux.', 1, { cause: error });
  if (status !== 0) throw new ToolError(`-c ${list}: ${stderr.trim()}`);
}
