import { readFileSync } from 'node:fs';

/** Failures that are told in a second: a program that polls on after the first may fail some thousand times. */
const MOST = 8;
const WINDOW_MS = 1000;

/** Tells people why requests of programs have failed: a paragraph each, and not too many. */
export class FailureReport {
  #windowEndsMs = -Infinity;
  #told = 0;
  #untold = 0;

  /**
   * @param say takes a paragraph
   * @param nameOf what a process is called
   */
  constructor(
    private readonly say: (text: string) => void,
    private readonly nameOf: (pid: number) => string = processName,
    private readonly nowMs: () => number = () => performance.now(),
  ) {}

  /**
   * @param pid whose request it was
   * @param what the request
   * @param why a sentence
   */
  tell(pid: number, what: string, why: string): void {
    const now = this.nowMs();
    if (now >= this.#windowEndsMs) {
      this.end();
      this.#windowEndsMs = now + WINDOW_MS;
      this.#told = 0;
    }
    if (this.#told === MOST) {
      this.#untold += 1;
      return;
    }
    this.#told += 1;
    this.say(`${this.nameOf(pid)} (pid ${pid}), ${what}: ${why}`);
  }

  /** Says how many were left out. */
  end(): void {
    if (this.#untold > 0) this.say(`${this.#untold} more ${this.#untold === 1 ? 'failure' : 'failures'}`);
    this.#untold = 0;
  }
}

function processName(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trimEnd();
  } catch {
    return 'a program that has ended';
  }
}
