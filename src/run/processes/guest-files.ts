import type { Calls } from '../notifications/blocked-calls.js';
import type { DescriptorRange } from '../launcher/descriptor-ranges.js';
import type { DeviceNumber } from '../sysfs/tree.js';
import { Lifeline } from './lifeline.js';
import { descriptorName, descriptorsOf, type Processes } from './processes.js';
import { readdirSync } from 'node:fs';

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

  has(pid: number, name: string): boolean {
    let names = this.#names.get(pid);
    if (names === undefined) this.#names.set(pid, (names = this.list(pid)));
    return names.has(name);
  }
}

/** How often it is looked whether files are still open in the programs that opened them, ms. */
const SWEEP_MS = 1000;

/** A file of ours that programs have open. A kind of device is a class of them. */
export interface GuestFile {
  /** What the kernel calls it, and nothing else: so it is known by whatever number a program has it. */
  readonly name: string;
  /** The process that opened it, whose memory its commands mean, and with which it ends. */
  readonly pid: number;
  /** The descriptor of ours that the program's is a copy of. */
  readonly fd: number;
  readonly device: DeviceNumber;
  /** Answers a call of `ioctl` on it. */
  ioctl(calls: Calls): void;
  /** Answers a call of `write` on it. */
  write(calls: Calls): void;
  /**
   * Whether a `write` of so many bytes at that address may block until something happens, so that a signal interrupts it.
   * Absent where none may.
   */
  mayBlock?(tid: number, address: number, lengthBytes: number): boolean;
  /** Lets go of what the program has closed of other files that came with it. Absent where none come. */
  sweep?(open: OpenFiles): void;
  /** What the process's memory holds from now on may be another program's. Absent where it has registered none. */
  executing?(): void;
  /** The program has let go of it. Idempotent. */
  close(): void;
}

/**
 * The files of ours that programs have open. One lives for as long as the process that opened it has a descriptor of it, whatever
 * its children do with theirs.
 */
export class GuestFiles<F extends GuestFile = GuestFile> {
  readonly #byName = new Map<string, F>();
  /** By thread and number, of those asked for lately: the name takes some microseconds. */
  readonly #lately = new Map<string, F>();
  /** Numbers that were given and not taken back, by process. */
  readonly #given = new Map<number, Set<number>>();
  readonly #lifelines = new Map<number, Lifeline>();
  /** What ends the watch of the process that opened a file. */
  readonly #forget = new Map<F, () => void>();
  readonly #ofProcess = new Map<number, Set<F>>();
  #sweepAtMs = 0;

  /** @param onEnd called before a file is closed that was given */
  constructor(
    private readonly processes: Processes,
    private readonly onEnd: (file: F) => void = () => undefined,
  ) {}

  [Symbol.iterator](): IterableIterator<F> {
    return this.#byName.values();
  }

  get size(): number {
    return this.#byName.size;
  }

  /** Opens a file in the program whose call waits, and answers that. @returns whether it has it now */
  give(calls: Calls, file: F, ranges: readonly DescriptorRange[]): boolean {
    const [{ end }] = ranges;
    // The last number of the first range is that of the lifeline.
    const at = ranges
      .map((range) => this.#freeNumber(file.pid, range === ranges[0] ? { ...range, end: end - 1 } : range))
      .find((free) => free !== undefined);
    if (at !== undefined) this.#tie(calls, file.pid, end - 1);
    // A signal may have taken the call back, or the program may have as many as it can.
    const fd = at === undefined ? -1 : calls.answerWithFd(file.fd, at);
    if (fd < 0) return false;
    this.#byName.set(file.name, file);
    this.#numbersOf(file.pid).add(fd);
    this.#filesOf(file.pid).add(file);
    const forget = this.processes.watch(file.pid, () => this.#end(file));
    this.#forget.set(file, forget);
    return true;
  }

  /** The file that a program knows by a number, or undefined where it is none of ours. */
  find(tid: number, fd: number): F | undefined {
    const key = `${tid} ${fd}`;
    const known = this.#lately.get(key);
    if (known !== undefined) return known;
    const file = this.#byName.get(descriptorName(tid, fd) ?? '');
    if (file !== undefined) this.#lately.set(key, file);
    return file;
  }

  closing(tid: number, fd: number): void {
    const file = this.find(tid, fd);
    this.#lately.clear();
    const pid = this.processes.processOf(tid);
    this.#given.get(pid)?.delete(fd);
    if (file?.pid !== pid) return;
    if (!descriptorsOf(pid, file.name).some((other) => other !== fd)) this.#end(file);
  }

  /** A program is about to run another in its place, unless it cannot. */
  executing(tid: number): void {
    const pid = this.processes.processOf(tid);
    for (const file of this.#ofProcess.get(pid) ?? []) {
      file.executing?.();
      this.sweepSoon();
    }
  }

  /** Ends what programs have let go of without a call that comes to us. */
  sweep(nowMs = Date.now()): void {
    if (nowMs < this.#sweepAtMs) return;
    this.#sweepAtMs = nowMs + SWEEP_MS;
    this.#lately.clear();
    const open = new OpenFiles();
    for (const file of [...this.#byName.values()]) {
      file.sweep?.(open);
      if (!open.has(file.pid, file.name)) this.#end(file);
    }
  }

  sweepSoon(): void {
    this.#lately.clear();
    this.#sweepAtMs = 0;
  }

  closeAll(): void {
    for (const file of [...this.#byName.values()]) this.#end(file);
  }

  #end(file: F): void {
    if (!this.#byName.delete(file.name)) return;
    this.#lately.clear();
    this.#forget.get(file)?.();
    this.#forget.delete(file);
    this.onEnd(file);
    file.close();
    const others = this.#filesOf(file.pid);
    others.delete(file);
    if (others.size > 0) return;
    this.#ofProcess.delete(file.pid);
    this.#given.delete(file.pid);
    this.#lifelines.get(file.pid)?.slacken();
  }

  #tie(calls: Calls, pid: number, at: number): void {
    let lifeline = this.#lifelines.get(pid);
    if (lifeline === undefined) {
      lifeline = new Lifeline(pid);
      this.#lifelines.set(pid, lifeline);
      this.processes.watch(pid, () => {
        this.#lifelines.get(pid)?.close();
        this.#lifelines.delete(pid);
      });
    }
    lifeline.give(calls, at);
  }

  #numbersOf(pid: number): Set<number> {
    let numbers = this.#given.get(pid);
    if (numbers === undefined) this.#given.set(pid, (numbers = new Set()));
    return numbers;
  }

  #filesOf(pid: number): Set<F> {
    let files = this.#ofProcess.get(pid);
    if (files === undefined) this.#ofProcess.set(pid, (files = new Set()));
    return files;
  }

  #freeNumber(pid: number, { first, end }: DescriptorRange): number | undefined {
    const given = this.#numbersOf(pid);
    for (let fd = first; fd < end; fd += 1) {
      if (!given.has(fd) && descriptorName(pid, fd) === undefined) return fd;
    }
    return undefined;
  }
}
