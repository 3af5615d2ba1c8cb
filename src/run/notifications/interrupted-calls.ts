import { statSync } from 'node:fs';
import { blockedCall, type NotifiedCalls, yieldProcessor } from '../../node/system/index.js';
import { type FilterRule, isNotified } from '../launcher/filter.js';
import { type Machine, SYSTEM_CALLS, type SystemCall } from '../launcher/system-calls.js';
import type { GuestFile } from '../processes/guest-files.js';
import { readText } from '../processes/program-memory.js';
import { type InterruptedCall, SignalFrame } from './signal-frame.js';

const PATH_BYTES = 4096;
const AT_FDCWD = 0xffff_ff9c;
/** Some tenths of a second. */
const LOOKS = 10_000;
/** Threads whose last `open` is remembered. */
const MOST = 256;

/** Where calls that open have the path; the others that name a file by its path never block. */
const OPENS: Readonly<Partial<Record<SystemCall, { readonly path: number; readonly directory?: number }>>> = {
  open: { path: 0 },
  creat: { path: 0 },
  openat: { path: 1, directory: 0 },
  openat2: { path: 1, directory: 0 },
};

interface KnownFiles {
  find(tid: number, fd: number): Pick<GuestFile, 'mayBlock'> | undefined;
}

/**
 * Restarts calls that a signal interrupts before they are received here. The kernel treats a call that waits to be received as
 * one that blocks: where the handler has no SA_RESTART the call returns EINTR, which Linux never returns from these calls.
 * So the end of each handler (`rt_sigreturn`) is received here as well, and has the thread make such a call again.
 *
 * It has a second use. A handler's frame lies below the frames of the calls that it interrupts. Since the handler cannot
 * return while we answer another call, an answer never reaches the memory of a function that has returned.
 */
export class InterruptedCalls {
  readonly #frame = new SignalFrame();
  /** The last `open` of each thread that went on to the kernel: that may block there, in which EINTR is its answer. */
  readonly #opens = new Map<number, string>();
  readonly #names: ReadonlyMap<number, SystemCall>;

  constructor(
    private readonly machine: Machine,
    private readonly rules: readonly FilterRule[],
    private readonly files: KnownFiles,
  ) {
    // The keys of that table.
    const names = Object.keys(SYSTEM_CALLS) as SystemCall[];
    this.#names = new Map(names.map((name) => [SYSTEM_CALLS[name][machine], name]));
  }

  received(calls: OpeningCall): void {
    const { tid } = calls;
    const name = this.#names.get(calls.number);
    const path = name === undefined ? undefined : OPENS[name]?.path;
    if (path === undefined) return;
    this.#opens.delete(tid);
    for (const oldest of this.#opens.keys()) {
      if (this.#opens.size < MOST) break;
      this.#opens.delete(oldest);
    }
    this.#opens.set(tid, `${calls.instruction} ${calls.address(path)}`);
  }

  returning({ tid }: Pick<NotifiedCalls, 'tid'>): void {
    let now = blockedCall(tid);
    // The next signal has woken it: it sleeps again as soon as it has had a processor.
    for (let i = 0; now === 'running' && i < LOOKS; i += 1) {
      yieldProcessor();
      now = blockedCall(tid);
    }
    if (now !== undefined && now !== 'running') this.restart(tid, now.stackPointer);
  }

  /** Has the call made again, if any, that the handler has interrupted whose frame lies there. */
  restart(tid: number, frame: number): void {
    const call = this.#frame.read(tid, frame);
    const name = call === undefined ? undefined : this.#nameOf(tid, call);
    if (call === undefined || name === undefined || !isNotified(this.rules, name, call.args)) return;
    if (name === 'write' && this.#mayBlock(tid, call)) return;
    if (this.#wasOpening(tid, name, call)) return;
    this.#frame.restart(SYSTEM_CALLS[name][this.machine], call);
  }

  /** Generic code (`syscall(3)`, cancellation points of glibc 2.41) sets the number from a register: the arguments have to tell. */
  #nameOf(tid: number, { number, args }: InterruptedCall): SystemCall | undefined {
    if (number !== undefined) return this.#names.get(number);
    const [first, second, third] = args;
    if (first % 2 ** 32 === AT_FDCWD) return 'openat';
    if (isNotified(this.rules, 'ioctl', args)) return 'ioctl';
    if (this.files.find(tid, first % 2 ** 32) === undefined) return undefined;
    if (second === 0 && third === 0) return 'close';
    return third >= 8 ? 'write' : undefined;
  }

  #mayBlock(tid: number, { args: [fd, address, lengthBytes] }: InterruptedCall): boolean {
    const file = this.files.find(tid, fd % 2 ** 32);
    // Another thread has closed it: a call that waited there had begun before.
    return file === undefined || file.mayBlock?.(tid, address, lengthBytes) === true;
  }

  /** Whether the kernel itself was interrupted while it opened something that blocks. */
  #wasOpening(tid: number, name: SystemCall, { args, instruction }: InterruptedCall): boolean {
    const open = OPENS[name];
    if (open === undefined || this.#opens.get(tid) !== `${instruction} ${args[open.path]}`) return false;
    const path = readText(tid, args[open.path], PATH_BYTES) ?? '';
    const directory = open.directory === undefined ? AT_FDCWD : args[open.directory] % 2 ** 32;
    const base = directory === AT_FDCWD ? 'cwd' : `fd/${directory}`;
    try {
      const facts = statSync(`/proc/${tid}/${path.startsWith('/') ? 'root' : base}/${path}`);
      return !facts.isFile() && !facts.isDirectory();
    } catch {
      return false;
    }
  }
}

interface OpeningCall {
  readonly tid: number;
  readonly number: number;
  readonly instruction: number;
  address(index: number): number;
}
