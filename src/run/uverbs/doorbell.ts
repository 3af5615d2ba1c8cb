import { Errno } from '../../device/ibta/index.js';
import type { Calls } from '../notifications/blocked-calls.js';
import { readProgram } from '../processes/program-memory.js';
import type { GuestContext } from './guest-context.js';
import { Structs } from './structs.js';

/** To copy so much takes as long as to have two threads change places on a processor, and back. */
const LONG_BYTES = 16 * 1024;

/** What the loop of the NICs does for who has posted something. */
export interface Turns {
  /** Has the NICs take turns until there is nothing more to do. */
  onPosted(): void;
  /** To be called before the answer to a call that NICs are to work on afterwards: the program goes on meanwhile. */
  letGo(): void;
}

type Rung = Pick<GuestContext, 'isCrowded' | 'postedBytes' | 'ringPosted' | 'ring' | 'goesOn'>;

/**
 * Answers a doorbell. The program goes on when the NIC has done what it can; but where that is to copy much, the program is not kept
 * waiting, and posts its next request meanwhile.
 */
export function answerDoorbell(calls: Calls, context: Rung, turns: Turns): void {
  const { request } = Structs.DOORBELL;
  if (calls.address(2) !== request.bytes) {
    calls.refuse(Errno.EINVAL);
    return;
  }
  // To read the name from the program's memory takes longer than to look at a few queue pairs, and less than to look at many.
  const { isCrowded } = context;
  const named = isCrowded ? handleOf(calls) : undefined;
  if (isCrowded && named === undefined) {
    calls.refuse(Errno.EFAULT);
    return;
  }
  const long = context.postedBytes(named) >= LONG_BYTES;
  const wentOn = context.goesOn;
  context.goesOn = long;
  if (long) {
    turns.letGo();
    calls.answer(request.bytes);
  }
  // What a program has posted while it was let go on was taken before it rang for that.
  const isDone = named === undefined && (context.ringPosted() || wentOn);
  const errno = isDone ? undefined : ring(context, named ?? handleOf(calls));
  if (errno === undefined) turns.onPosted();
  if (long) return;
  if (errno === undefined) calls.answer(request.bytes);
  else calls.refuse(errno);
}

/** Rings for the queue pair that a doorbell names. @returns what is wrong with it */
function ring(context: Rung, handle: number | undefined): number | undefined {
  if (handle === undefined) return Errno.EFAULT;
  return context.ring(handle) ? undefined : Errno.EINVAL;
}

/** The queue pair that a doorbell names, or undefined where that cannot be read. */
function handleOf(calls: Calls): number | undefined {
  const { request } = Structs.DOORBELL;
  const bytes = readProgram(calls.tid, calls.address(1), request.bytes);
  return bytes === undefined ? undefined : request.readPadded(bytes).handle;
}
