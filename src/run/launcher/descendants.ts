import { readFileSync } from 'node:fs';
import { adoptOrphans, childrenOfMainThread, type EndedChild, waitForChild } from '../../node/system/index.js';

/** The program, and all that it starts and leaves behind: they are ours to wait for. */
export class Descendants {
  /** 0 before it has started, and when it has ended: the number may soon be another's. */
  #program = 0;
  #onProgramEnd: (end: EndedChild) => void = () => undefined;
  #started = false;
  /** Signals for the program that came before it. */
  readonly #early: NodeJS.Signals[] = [];
  #asked = false;
  #onNoneLeft: () => void = () => undefined;
  /** Settles when the program and all that it has started have ended. */
  readonly noneLeft = new Promise<void>((resolve) => (this.#onNoneLeft = resolve));

  constructor() {
    adoptOrphans();
    process.on('SIGCHLD', () => this.wait());
  }

  /** The program has started. @param onEnd called once */
  begin(program: number, onEnd: (end: EndedChild) => void): void {
    this.#program = program;
    this.#onProgramEnd = onEnd;
    this.#started = true;
    for (const signal of this.#early) tell(program, signal);
    this.wait();
  }

  /** Takes leave of those that have ended. */
  wait(): void {
    // Whose end it is must be known.
    if (!this.#started) return;
    for (let ended = waitForChild(); ended !== 'none ended'; ended = waitForChild()) {
      if (ended === 'none left') {
        this.#onNoneLeft();
        return;
      }
      if (ended.pid !== this.#program) continue;
      this.#program = 0;
      this.#onProgramEnd(ended);
    }
  }

  get hasProgram(): boolean {
    return this.#program !== 0;
  }

  /** Hands a signal on to the program, as soon as there is one. @returns false when it has ended */
  tellProgram(signal: NodeJS.Signals): boolean {
    if (!this.#started) return this.#early.push(signal) > 0;
    return this.#program !== 0 && tell(this.#program, signal);
  }

  /** Asks what the program has left behind to end; whoever is told again has no choice. */
  endOthers(): void {
    const signal = this.#asked ? 'SIGKILL' : 'SIGTERM';
    this.#asked = true;
    for (const pid of childrenOfMainThread()) if (pid !== this.#program) tell(pid, signal);
  }

  /** Who has not ended: names with the numbers of processes. */
  names(): readonly string[] {
    const program = this.#program === 0 ? [] : [this.#program];
    return [...new Set([...program, ...childrenOfMainThread()])].map(nameOf);
  }
}

function tell(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    // It has just ended, or may not be told by us.
    return false;
  }
}

function nameOf(pid: number): string {
  try {
    return `${readFileSync(`/proc/${pid}/comm`, 'latin1').trim()} (${pid})`;
  } catch {
    return String(pid);
  }
}
