import { readFileSync, writeSync } from 'node:fs';
import type { GuestDevice } from '../launcher/guest-devices.js';

/** What a device has counted, as `rdma statistic` prints it: a line of those counters that are not zero. */
export function statisticsLine({ name, address, context }: Pick<GuestDevice, 'name' | 'address' | 'context'>): string {
  const counted = Object.entries(context.counters()).filter(([, count]) => count !== 0);
  return [`link ${name}/1`, ...counted.map(([counter, count]) => `${counter} ${count}`), `address ${address}`].join(
    ' ',
  );
}

/** Writes to the program's own standard error: Node's stream would make it non-blocking. */
export function print(line: string): void {
  try {
    writeSync(2, `${line}\n`);
  } catch {
    // There is nobody who could be told, or nobody reads.
  }
}

export function say(text: string): void {
  print(`verbena run: ${text}`);
}

/** Failures of one kind, and of all, that are told in a second: a program that polls on after the first may fail some thousand times. */
const MOST_ALIKE = 8;
const MOST = 64;
const WINDOW_MS = 1000;
/** Programs whose names are kept. */
const MOST_NAMES = 4096;
const NUMBERS = /0x[0-9a-f]+|\d+/g;

/** Tells people why requests of programs have failed: a paragraph each, and not too many. */
export class FailureReport {
  #windowEndsMs = -Infinity;
  #told = 0;
  readonly #names = new Map<number, string>();
  /** How often a sentence was told, whatever the numbers in it. */
  readonly #alike = new Map<string, number>();
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

  /** A program opens a device: what it is called, for when it has ended. */
  meet(pid: number): void {
    if (this.#names.size >= MOST_NAMES) this.#names.clear();
    this.#names.set(pid, this.nameOf(pid));
  }

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
      this.#alike.clear();
    }
    const kind = `${what}: ${why}`.replaceAll(NUMBERS, '');
    const alike = this.#alike.get(kind) ?? 0;
    if (alike === MOST_ALIKE || this.#told === MOST) {
      this.#untold += 1;
      return;
    }
    this.#told += 1;
    this.#alike.set(kind, alike + 1);
    this.say(`${this.#names.get(pid) ?? this.nameOf(pid)} (pid ${pid}), ${what}: ${why}`);
  }

  /** Says how many were left out. */
  end(): void {
    if (this.#untold > 0) this.say(`${this.#untold} more ${this.#untold === 1 ? 'failure' : 'failures'}`);
    this.#untold = 0;
  }
}

export function processName(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trimEnd();
  } catch {
    return 'a program that has ended';
  }
}
