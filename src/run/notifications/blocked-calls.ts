import {
  type BlockedCall,
  blockedCall,
  callRestart,
  type Restart,
  type NotifiedCalls,
} from '../../node/system/index.js';

/** The call of a program that waits for its answer, as those see it who answer it. */
export type Calls = Omit<NotifiedCalls, 'receive' | 'wakeInPlace' | 'close' | 'fd' | 'instruction'>;

/** A call as the kernel shows it while the thread is blocked there. */
interface Waiting {
  readonly tid: number;
  readonly number: number;
  readonly address: number;
  readonly lengthBytes: number;
}

/**
 * Calls that wait for something to happen. Once such a call was received here, no signal interrupts it (Linux 5.19 and newer).
 * So the kernel carries it out, on a file where it blocks: signals have the effect there that they have on any call. To wake
 * the thread, ptrace(2) interrupts its call; the kernel restarts the call, which is then received again, and answered.
 */
export class BlockedCalls {
  readonly #waiting: Waiting[] = [];
  /** Threads that did not stop at once. */
  readonly #interrupted: Restart[] = [];

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  /** Whether threads are left that {@link wake} must look at again. */
  get isUnfinished(): boolean {
    return this.#interrupted.length > 0;
  }

  /** Has the call that was just received block in the kernel. */
  block(calls: Calls): void {
    const { tid, number } = calls;
    this.#forget(tid);
    this.#waiting.push({ tid, number, address: calls.address(1), lengthBytes: calls.address(2) });
    calls.letThrough();
  }

  /** Has the calls made again that still block. To be called again until {@link isEmpty}. */
  wake(): void {
    for (const call of [...this.#waiting]) {
      const now = blockedCall(call.tid);
      // Without a call to see, the thread runs: on its way into the kernel, or in the handler of a signal.
      if (now === 'running') continue;
      if (now !== undefined && isSame(now, call)) {
        const restart = callRestart(call.tid);
        // A debugger has attached to the thread, which restarts the call as well.
        if (restart === undefined) continue;
        this.#interrupted.push(restart);
      }
      this.#forget(call.tid);
    }
    this.finish();
  }

  /** Has threads continue that had not stopped. */
  finish(): void {
    const left = this.#interrupted.filter((restart) => !restart.finish());
    this.#interrupted.splice(0, this.#interrupted.length, ...left);
  }

  #forget(tid: number): void {
    const left = this.#waiting.filter((call) => call.tid !== tid);
    this.#waiting.splice(0, this.#waiting.length, ...left);
  }
}

function isSame({ number, args }: BlockedCall, call: Waiting): boolean {
  return number === call.number && args[1] === call.address && args[2] === call.lengthBytes;
}
