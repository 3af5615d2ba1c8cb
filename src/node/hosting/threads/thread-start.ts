import { existsSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { codeOf, errnoNameOf } from '../../../device/link/index.js';
import { CommandError } from '../../../device/nic/index.js';
import type { ThreadStart } from './thread-protocol.js';

/** The errno in what Node says of a thread that could not be made. */
const ERRNO = /\bE[A-Z]{3,}\b(?!_)/;

/**
 * Starts the thread of a NIC.
 *
 * @throws CommandError ENOENT where the thread's file is missing; EAGAIN, ENOMEM and the like when there can be none; what Node forbids as it says it
 */
export function startThread(start: ThreadStart): Worker {
  const file = new URL('./thread-worker.js', import.meta.url);
  if (isMissing(file)) throw new CommandError('ENOENT', bundled(file));
  try {
    return new Worker(file, {
      name: 'verbena',
      workerData: start,
      transferList: [start.first.commands, start.first.notices],
      // Flags of the program, a loader or --input-type among them, are not meant for this thread.
      execArgv: [],
    });
  } catch (error) {
    // What Node was told to forbid is no want of anything.
    throw codeOf(error) === 'ERR_ACCESS_DENIED' ? error : threadRefused(error);
  }
}

/** A program that is bundled has this module, and not the file beside it. */
function isMissing(file: URL): boolean {
  try {
    return !existsSync(file);
  } catch {
    // What Node was told to forbid to be looked at may be there.
    return false;
  }
}

function bundled({ pathname }: URL): string {
  return `the file of the NIC's thread is not at ${pathname}: was verbena bundled? Keep it out of the bundle, by --external:verbena --external:verbena/* of esbuild`;
}

/** As a command that was refused, what Node throws when it cannot make a thread. */
export function threadRefused(error: unknown): CommandError {
  const text = error instanceof Error ? error.message : String(error);
  const errno = errnoNameOf(codeOf(error) === 'ERR_WORKER_INIT_FAILED' ? (ERRNO.exec(text)?.[0] ?? '') : codeOf(error));
  return new CommandError(errno, `no thread can be made for the NIC: ${text}; host 'inline' needs none`);
}
