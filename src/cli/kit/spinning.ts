import { availableParallelism, networkInterfaces } from 'node:os';
import { VerbsError } from '../../entry/index.js';
import type { HostingOptions } from './options.js';
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

/** The program that looks for completions, and its NIC. */
const THREADS_OF_A_SIDE = 2;

export function isLoopback(address: string): boolean {
  return address.startsWith('127.') || address === '::1';
}

/** Whether a host of that address is this machine. */
export function isHere(address: string): boolean {
  if (isLoopback(address)) return true;
  return Object.values(networkInterfaces()).some((own) => own?.some((each) => each.address === address) === true);
}

/**
 * Where the NIC of a tool that looks for completions without a pause is to run, in order of preference: where that was said,
 * there; inline where the threads of all sides on this machine, each of which wants a processor for itself, are more than
 * those; else in a thread.
 *
 * @param peerIsHere whether the other side is on this machine as well
 */
export function spinningHosts<Options extends HostingOptions>(
  options: Options,
  peerIsHere: boolean,
  processors = availableParallelism(),
): readonly Options[] {
  return processors >= THREADS_OF_A_SIDE * (peerIsHere ? 2 : 1) ? [options] : inlineFirst(options);
}

/** The same for a tool that is better off without a thread wherever it runs. */
export function inlineFirst<Options extends HostingOptions>(options: Options): readonly Options[] {
  const isSaid = options.host !== undefined || (process.env['VERBENA_HOST'] ?? '') !== '';
  return isSaid ? [options] : [{ ...options, host: 'inline' }, options];
}

/** Opens what needs a device by the first of these options that this machine can do: inline needs system calls. */
export async function openFirst<Options, Opened>(
  candidates: readonly Options[],
  open: (options: Options) => Opened | Promise<Opened>,
): Promise<Opened> {
  const [options, ...others] = candidates;
  try {
    return await open(options);
  } catch (error) {
    if (others.length === 0 || !isWithoutInline(error)) throw error;
    return openFirst(others, open);
  }
}

function isWithoutInline(error: unknown): boolean {
  const cause = error instanceof Error && error.cause instanceof VerbsError ? error.cause : error;
  return cause instanceof VerbsError && cause.errno === 'ENOSYS';
}
