import { closeSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { watchProcess } from '../../node/system/index.js';

/** Bits of capabilities(7). */
export const Capability = { NET_RAW: 13, IPC_LOCK: 14 } as const;

/** Whether a thread of a program has a capability, in its user namespace. */
export function hasCapability(tid: number, capability: number): boolean {
  try {
    const effective = /^CapEff:\s*([\da-f]+)/m.exec(readFileSync(`/proc/${tid}/status`, 'latin1'))?.[1];
    return ((BigInt(`0x${effective ?? '0'}`) >> BigInt(capability)) & 1n) === 1n;
  } catch {
    return false;
  }
}

/** Numbers of threads are used again, though not soon. */
const FORGET_AFTER_MS = 1000;

interface Watched {
  readonly pidFd: number;
  readonly onEnd: (() => void)[];
}

/** The programs that make calls: which process a thread belongs to, what files it has, and when it has ended. */
export class Processes {
  readonly #processOfThread = new Map<number, number>();
  readonly #watched = new Map<number, Watched>();
  #forgetAtMs = 0;
  version = 0;

  /** Descriptors that are readable when a process has ended: call {@link look} then. */
  get pollFds(): readonly number[] {
    return [...this.#watched.values()].map(({ pidFd }) => pidFd).filter((fd) => fd >= 0);
  }

  /** The process that a thread belongs to; 0 when it is gone. */
  processOf(tid: number): number {
    const now = Date.now();
    if (now > this.#forgetAtMs) {
      this.#processOfThread.clear();
      this.#forgetAtMs = now + FORGET_AFTER_MS;
    }
    const known = this.#processOfThread.get(tid);
    if (known !== undefined) return known;
    const pid = threadGroup(tid);
    if (pid > 0) this.#processOfThread.set(tid, pid);
    return pid;
  }

  /** Calls back once a process has ended. @returns a function that forgets that */
  watch(pid: number, onEnd: () => void): () => void {
    let watched = this.#watched.get(pid);
    if (watched === undefined) {
      watched = { pidFd: watchProcess(pid), onEnd: [] };
      this.#watched.set(pid, watched);
      this.version += 1;
    }
    watched.onEnd.push(onEnd);
    return () => {
      const { onEnd: list } = watched;
      if (list.includes(onEnd)) list.splice(list.indexOf(onEnd), 1);
      if (list.length === 0 && this.#watched.get(pid) === watched) this.#unwatch(pid, watched);
    };
  }

  look(): void {
    for (const [pid, watched] of [...this.#watched]) {
      if (isAlive(pid)) continue;
      this.#unwatch(pid, watched);
      for (const onEnd of [...watched.onEnd]) onEnd();
    }
  }

  #unwatch(pid: number, { pidFd }: Watched): void {
    this.#watched.delete(pid);
    if (pidFd >= 0) closeSync(pidFd);
    this.version += 1;
  }
}

function threadGroup(tid: number): number {
  try {
    return Number(/^Tgid:\s*(\d+)/m.exec(readFileSync(`/proc/${tid}/status`, 'latin1'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

/** A process that nobody has waited for is there still, and has nothing any more. */
function isAlive(pid: number): boolean {
  try {
    const state = /^State:\s*(\S)/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1];
    return state !== 'Z' && state !== 'X';
  } catch {
    return false;
  }
}

/** What the kernel calls the file of a descriptor; undefined where there is none. */
export function descriptorName(pid: number, fd: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/fd/${fd}`);
  } catch {
    return undefined;
  }
}

export function descriptorsOf(pid: number, name: string): readonly number[] {
  try {
    return readdirSync(`/proc/${pid}/fd`)
      .map(Number)
      .filter((fd) => descriptorName(pid, fd) === name);
  } catch {
    return [];
  }
}

/** What the kernel allows by default since 5.16. */
const DEFAULT_LOCKED_BYTES = 8 * 2 ** 20;

/**
 * How many bytes a process may pin (`ulimit -l`), or undefined where it is not limited. CAP_IPC_LOCK lifts the limit, but who has lowered
 * it below the default wants to see what it does.
 */
export function lockedMemoryLimit(pid: number): number | undefined {
  try {
    const soft = /^Max locked memory\s+(\S+)/m.exec(readFileSync(`/proc/${pid}/limits`, 'latin1'))?.[1];
    const limit = Number(soft);
    if (!Number.isFinite(limit)) return undefined;
    return limit < DEFAULT_LOCKED_BYTES || !hasCapability(pid, Capability.IPC_LOCK) ? limit : undefined;
  } catch {
    return undefined;
  }
}
