import { VerbsError } from '../../api/verbs/index.js';
import { Errno } from '../../device/ibta/index.js';
import { NOT_YET } from './command.js';
import { COMMANDS, commands } from './commands.js';
import { Refusal } from '../refusal.js';
import type { UcmaFile } from './ucma-file.js';

/** `struct rdma_ucm_cmd_hdr`: cmd, in, out. */
export const HEADER_BYTES = 8;

/** The only command that waits. */
const GET_EVENT = 12;

export function isGetEvent(message: Buffer): boolean {
  return message.length >= HEADER_BYTES && message.readUInt32LE(0) === GET_EVENT;
}

/** What a `write()` of a program to `/dev/infiniband/rdma_cm` comes to. */
export type Outcome =
  /** To be told as a negative number. */
  | { readonly kind: 'failed'; readonly errno: number }
  /** There is no event yet. */
  | { readonly kind: 'not yet' }
  | {
      readonly kind: 'done';
      /** Where the program wants its answer, and the answer; absent where there is none. */
      readonly response?: { readonly address: bigint; readonly bytes: Uint8Array };
      /** Takes it back, where the program cannot be told of it. Absent where that cannot be done. */
      readonly undo?: (() => void) | undefined;
    };

function failed(errno: number): Outcome {
  return { kind: 'failed', errno };
}

/**
 * Carries out a command of a program.
 *
 * @param message what it wrote: header and request
 */
export function execute(file: UcmaFile, message: Buffer): Outcome {
  if (message.length < HEADER_BYTES) return failed(Errno.EINVAL);
  const number = message.readUInt32LE(0);
  const inBytes = message.readUInt16LE(4);
  const outBytes = message.readUInt16LE(6);
  if (number >= COMMANDS || HEADER_BYTES + inBytes > message.length) return failed(Errno.EINVAL);
  const command = commands[number];
  if (command === undefined) return failed(Errno.ENOSYS);
  if (inBytes < command.requestBytes) return failed(Errno.EINVAL);
  if (outBytes < command.answerBytes) return failed(Errno.ENOSPC);
  try {
    const response = command.run(file, message.subarray(HEADER_BYTES, HEADER_BYTES + inBytes));
    file.poll();
    if (response === NOT_YET) return { kind: 'not yet' };
    return { kind: 'done', ...(response === undefined ? {} : { response }), undo: response?.undo };
  } catch (error) {
    if (error instanceof Refusal) return failed(Errno[error.errno]);
    if (error instanceof VerbsError) {
      file.refused(error);
      return failed(error.errnoNumber);
    }
    // A mistake of ours is told as one, and the program goes on as with a device that failed.
    process.emitWarning(error instanceof Error ? error : String(error));
    return failed(Errno.EIO);
  }
}
