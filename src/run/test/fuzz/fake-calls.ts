import { closeSync } from 'node:fs';
import type { Calls } from '../../notifications/blocked-calls.js';
import { type CallId, requireNativeHost } from '../../../node/system/index.js';

const F_DUPFD_CLOEXEC = 1030;

/** How a call ended: by a number (negative: an errno), by the kernel, or not yet. */
export type Ending = number | 'let through' | 'waits';

/** A program's calls without a program and a filter: the program is this process, and its calls are made by {@link make}. */
export class FakeCalls implements Calls {
  readonly tid = process.pid;
  readonly number = 1;
  id: CallId = { low: 0, high: 0x5e };
  /** Descriptors that the program has been given, and not closed. */
  readonly fds = new Set<number>();
  answered = 0;
  refused = 0;
  #args: readonly number[] = [];
  readonly #waiting = new Set<number>();
  readonly #endings = new Map<number, Ending>();
  /** The number of calls after which a signal takes the next answer back. */
  #interrupted = false;

  /**
   * Makes a call.
   *
   * @param interrupted a signal takes it back before its answer comes
   * @returns its ending as the program sees it; a call that was taken back has none
   * @throws Error when it was answered twice
   */
  make(args: readonly number[], act: (calls: Calls) => void, interrupted = false): Ending | 'taken back' {
    this.id = { low: this.id.low + 1, high: this.id.high };
    const { low } = this.id;
    this.#args = args;
    this.#interrupted = interrupted;
    this.#waiting.add(low);
    act(this);
    if (interrupted) {
      this.#waiting.delete(low);
      return 'taken back';
    }
    const ending = this.#endings.get(low) ?? 'waits';
    this.#endings.delete(low);
    return ending;
  }

  /** How calls have ended that had to wait. */
  takeEndings(): readonly Ending[] {
    const all = [...this.#endings.values()];
    this.#endings.clear();
    return all;
  }

  int(index: number): number {
    return (this.#args[index] ?? 0) | 0;
  }

  address(index: number): number {
    return this.#args[index] ?? 0;
  }

  isWaiting({ low }: CallId): boolean {
    return this.#waiting.has(low);
  }

  answer(value: number, id = this.id): boolean {
    return this.#end(value, id);
  }

  refuse(errno: number, id = this.id): boolean {
    if (!Number.isInteger(errno) || errno <= 0 || errno > 4095) throw new Error(`a call failed with errno ${errno}`);
    return this.#end(-errno, id);
  }

  letThrough(): boolean {
    return this.#end('let through', this.id);
  }

  addFd(fd: number): number {
    const own = requireNativeHost().libc.fcntl(fd, F_DUPFD_CLOEXEC, 3);
    if (own >= 0) this.fds.add(own);
    return own;
  }

  answerWithFd(fd: number): number {
    const own = this.addFd(fd);
    this.#end(own, this.id);
    return own;
  }

  close(fd: number): void {
    if (this.fds.delete(fd)) closeSync(fd);
  }

  closeAll(): void {
    for (const fd of [...this.fds]) this.close(fd);
  }

  #end(ending: Ending, { low }: CallId): boolean {
    if (!this.#waiting.has(low)) return false;
    if (this.#interrupted && low === this.id.low) {
      this.#waiting.delete(low);
      return false;
    }
    this.#waiting.delete(low);
    if (typeof ending === 'number' && ending < 0) this.refused += 1;
    else this.answered += 1;
    this.#endings.set(low, ending);
    return true;
  }
}
