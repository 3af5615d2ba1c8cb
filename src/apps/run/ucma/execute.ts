import { VerbsError } from '../../../api/verbs/index.js';
import { Errno } from '../../../device/ibta/index.js';
import { COMMANDS, commands, NOT_YET } from './commands.js';
import type { UcmaFile } from './ucma-file.js';

/** `struct rdma_ucm_cmd_hdr`: cmd, in, out. */
export const HEADER_BYTES = 8;

/** What a `write()` of a program to `/dev/infiniband/rdma_cm` comes to. */
export type Outcome =
  /** To be told as a negative number. */
  | { readonly kind: 'failed'; readonly errno: number }
  /** There is no event yet. */
  | { readonly kind: 'not yet' }
  | {
      readonly kind: 'done';
      /** Where the program wants its answer, and the answer; absent where there is none. */
      readonly response?: { readonly address: bigint; readonly bytes: Buffer };
      /** Takes it back, where the program cannot be told of it. */
      undo(): void;
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
  const { call, bytes, responseAt, responseBytes = 0, act } = command;
  if (inBytes < bytes) return failed(Errno.EINVAL);
  if (outBytes < responseBytes) return failed(Errno.ENOSPC);
  const request = message.subarray(HEADER_BYTES, HEADER_BYTES + inBytes);
  try {
    const answer = act(file, request, call);
    file.poll();
    if (answer === NOT_YET) return { kind: 'not yet' };
    const undo = (): void => answer?.undo?.();
    if (answer === undefined || responseAt === undefined) return { kind: 'done', undo };
    return { kind: 'done', response: { address: request.readBigUInt64LE(responseAt), bytes: answer.bytes }, undo };
  } catch (error) {
    if (error instanceof VerbsError) return failed(error.errnoNumber);
    throw error;
  }
}
