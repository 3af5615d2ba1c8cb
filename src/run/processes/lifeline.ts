import { constants } from 'node:os';
import { RecordPair } from '../../node/system/index.js';
import type { Calls } from '../notifications/blocked-calls.js';
import { descriptorName } from './processes.js';

/**
 * Ends a process when we end before it, however that happens: its NIC is gone, its calls fail with ENOSYS, and what polls a queue would
 * do so for ever. It holds one end of a socket; that the other end is closed is a signal to it, which the kernel sends.
 */
export class Lifeline {
  /** @throws SystemCallError when no descriptor is left */
  readonly #pair = new RecordPair(1);

  constructor(private readonly pid: number) {}

  /** Puts it into the process whose call waits, unless that has it. @param at the number to have there */
  give(calls: Calls, at: number): void {
    if (descriptorName(this.pid, at) === undefined) calls.addFd(this.#pair.farFd, at);
    this.#pair.signalAtHangUp(this.pid, constants.signals.SIGKILL);
  }

  /** The process has nothing of ours any more. */
  slacken(): void {
    this.#pair.signalAtHangUp(0, 0);
  }

  close(): void {
    this.slacken();
    this.#pair.close();
  }
}
