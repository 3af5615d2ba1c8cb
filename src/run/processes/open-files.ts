import { readdirSync } from 'node:fs';
import { descriptorName } from './processes.js';

/** What the kernel calls the files that a process has open. */
function namesOf(pid: number): ReadonlySet<string> {
  try {
    const names = readdirSync(`/proc/${pid}/fd`).map((fd) => descriptorName(pid, Number(fd)));
    return new Set(names.filter((name) => name !== undefined));
  } catch {
    return new Set();
  }
}

/** Which files processes have open. Each process is listed once, when it is first asked about, however many files are looked for. */
export class OpenFiles {
  readonly #names = new Map<number, ReadonlySet<string>>();

  constructor(private readonly list: (pid: number) => ReadonlySet<string> = namesOf) {}

  /** Whether a process has a file of that name open. */
  has(pid: number, name: string): boolean {
    let names = this.#names.get(pid);
    if (names === undefined) this.#names.set(pid, (names = this.list(pid)));
    return names.has(name);
  }
}
