import {
  type CmId,
  type SendSge,
  VerbsError,
  WcStatus,
  wcStatusStr,
  type WorkCompletion,
} from '../../../entry/index.js';
import { sentence, ToolError } from '../../kit/errors.js';
import { setImmediate } from 'node:timers/promises';

const SLICE_MS = 50;

/**
 * Waits as long as it takes by a call that blocks the thread. It blocks for moments only, since signals, Ctrl-C among
 * them, arrive in the event loop.
 */
export async function patiently<Result>(wait: (timeoutMs: number) => Result): Promise<Result> {
  for (;;) {
    try {
      return wait(SLICE_MS);
    } catch (error) {
      if (!(error instanceof VerbsError && error.errno === 'ETIMEDOUT')) throw error;
    }
    await setImmediate();
  }
}

/** Every message has this length; what is in it means nothing (protocol/tools.md 7.2). */
export const MESSAGE_BYTES = 16;

/** A message that needs no memory region. */
export const MESSAGE: SendSge = { bytes: new Uint8Array(MESSAGE_BYTES) };

/** The smallest queue pair that takes and sends one message. */
export const CAP = { maxSendWr: 1, maxRecvWr: 1, maxSendSge: 1, maxRecvSge: 1, maxInlineData: MESSAGE_BYTES };

function refuseFailure(id: CmId, what: string, completion: WorkCompletion): void {
  if (completion.status === WcStatus.SUCCESS) return;
  const why = id.verbs?.explain(completion) ?? '';
  throw new ToolError(`${what}: ${wcStatusStr(completion.status)} (${completion.status}): ${why}`);
}

/** Waits until the message has been sent, and the peer has it. */
export async function untilSent(id: CmId): Promise<void> {
  const completion = await patiently((timeoutMs) => id.getSendComp(timeoutMs));
  refuseFailure(id, 'The message could not be sent', completion);
}

/** Waits for the peer's message. */
export async function untilReceived(id: CmId): Promise<void> {
  const completion = await patiently((timeoutMs) => id.getRecvComp(timeoutMs));
  refuseFailure(id, 'The message of the peer did not come', completion);
}

/** What the C tools return when a call fails, and what the shell sees of that. */
const FAILED = -1;
const FAILED_EXIT_CODE = 255;

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/**
 * Runs a test between the two lines that the C tools print.
 *
 * @param test calls `begun` when its peer may come, or not at all
 */
export async function playOut(name: string, test: (begun: () => void) => Promise<void>): Promise<void> {
  let isTold = false;
  const begun = (): void => {
    if (!isTold) say(`${name}: start`);
    isTold = true;
  };
  try {
    await test(begun);
    say(`${name}: end 0`);
  } catch (error) {
    begun();
    process.stderr.write(`${sentence(error)}\n`);
    say(`${name}: end ${FAILED}`);
    // Not process.exitCode: what the failure left behind must not keep the tool alive.
    process.exit(FAILED_EXIT_CODE);
  }
}
