import { readdirSync, readFileSync } from 'node:fs';

/** Processes that are remembered before those that have ended are forgotten. */
const MANY = 1024;
/** Generations that are looked at to find what a process has inherited. */
const MOST_ANCESTORS = 64;

interface Process {
  /** Numbers of processes come again; with the time of the start they do not. */
  readonly startedAt: string;
  /** Undefined where the kernel's is right. */
  readonly path: string | undefined;
}

/** `/proc/PID/stat`, where that is. */
function statOf(pid: number): { readonly parent: number; readonly startedAt: string } | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name before may have spaces and parentheses in it.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return { parent: Number(fields[1]), startedAt: fields[19] };
  } catch {
    return undefined;
  }
}

function childrenOf(pid: number): readonly number[] {
  try {
    return readdirSync(`/proc/${pid}/task`)
      .flatMap((tid) => readFileSync(`/proc/${pid}/task/${tid}/children`, 'latin1').split(' '))
      .filter((word) => word !== '')
      .map(Number);
  } catch {
    return [];
  }
}

/**
 * Working directories of programs that lie in a directory of ours, which the kernel does not have. A process inherits its
 * parent's, and keeps it past execve(2).
 */
export class WorkingDirectories {
  readonly #processes = new Map<number, Process>();

  /** @param processOf the process that a thread belongs to */
  constructor(private readonly processOf: (tid: number) => number) {}

  /** The directory of ours that a thread's relative paths begin at, or undefined. */
  of(tid: number): string | undefined {
    // Of most programs none ever goes there.
    return this.#processes.size === 0 ? undefined : this.#pathOf(this.processOf(tid), MOST_ANCESTORS);
  }

  /** A process has moved: to a directory of ours, or elsewhere. */
  move(tid: number, path: string | undefined): void {
    if (this.#processes.size === 0 && path === undefined) return;
    const pid = this.processOf(tid);
    const facts = statOf(pid);
    if (facts === undefined) return;
    if (this.#processes.size > MANY) this.#forgetEnded();
    this.#settle(pid, this.#pathOf(pid, MOST_ANCESTORS));
    this.#processes.set(pid, { startedAt: facts.startedAt, path });
  }

  /** What was started before keeps what it has inherited. */
  #settle(pid: number, path: string | undefined): void {
    for (const child of childrenOf(pid)) {
      const facts = statOf(child);
      if (facts === undefined || this.#processes.get(child)?.startedAt === facts.startedAt) continue;
      this.#processes.set(child, { startedAt: facts.startedAt, path });
      this.#settle(child, path);
    }
  }

  #pathOf(pid: number, generations: number): string | undefined {
    const facts = pid > 1 && pid !== process.pid && generations > 0 ? statOf(pid) : undefined;
    if (facts === undefined) return undefined;
    const known = this.#processes.get(pid);
    if (known?.startedAt === facts.startedAt) return known.path;
    const path = this.#pathOf(facts.parent, generations - 1);
    if (this.#processes.size > MANY) this.#forgetEnded();
    this.#processes.set(pid, { startedAt: facts.startedAt, path });
    return path;
  }

  #forgetEnded(): void {
    for (const [pid, { startedAt }] of this.#processes)
      if (statOf(pid)?.startedAt !== startedAt) this.#processes.delete(pid);
  }
}
