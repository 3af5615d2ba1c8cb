/** A program of a soak, as its supervisor sees it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type MemberOptions, type Order, type Report } from './protocol.js';

const PROGRAM = fileURLToPath(new URL('./member.js', import.meta.url));
/** A heap that grows because nobody cleans up would hide one that leaks. */
const NODE_FLAGS = ['--max-semi-space-size=2', '--max-old-space-size=256'];
/** USER_HZ is 100 wherever Node runs. */
const MS_PER_TICK = 10;
const TAIL_LINES = 12;

export interface ChildHandlers {
  readonly onReport: (report: Report) => void;
  readonly onExit: (code: number | null, signal: NodeJS.Signals | null) => void;
}

export interface ChildInit {
  readonly options: MemberOptions;
  /** What comes before the name of the program. */
  readonly prefix: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly log: string;
  readonly folder: string;
}

export class Child {
  readonly log: string;
  readonly #process: ChildProcess;
  /** Resolves when it is gone. */
  readonly gone: Promise<void>;
  isGone = false;

  constructor({ options, prefix, env, log, folder }: ChildInit, { onReport, onExit }: ChildHandlers) {
    this.log = log;
    const reports = ['--report-on-signal', '--report-signal=SIGUSR2', `--report-directory=${folder}`];
    const [command, ...args] = [
      ...prefix,
      process.execPath,
      ...NODE_FLAGS,
      ...reports,
      PROGRAM,
      JSON.stringify(options),
    ];
    const output = openSync(log, 'a');
    const environment: NodeJS.ProcessEnv = { ...process.env, ...env };
    // Whoever has set these wants them for programs of his own; to read certificates takes each process 0.1 s.
    for (const name of Object.keys(environment))
      if (name === 'NODE_EXTRA_CA_CERTS' || name.startsWith('VERBENA_')) environment[name] = undefined;
    // In groups of their own, since a Ctrl-C is the supervisor's to answer.
    const stdio = ['ignore', output, output, 'ipc'] as const;
    this.#process = spawn(command, args, { stdio: [...stdio], env: environment, detached: true });
    closeSync(output);
    this.#process.on('message', (report) => onReport(report as Report)); // our own program sends nothing else
    // Written to one that is gone.
    this.#process.on('error', () => undefined);
    this.gone = new Promise((resolve) => {
      this.#process.on('exit', (code, signal) => {
        this.isGone = true;
        onExit(code, signal);
        resolve();
      });
    });
  }

  get pid(): number {
    return this.#process.pid ?? -1;
  }

  order(order: Order): void {
    if (!this.isGone && this.#process.connected) this.#process.send(order, () => undefined);
  }

  signal(signal: NodeJS.Signals): void {
    if (!this.isGone) this.#process.kill(signal);
  }

  tail(): string {
    return readFileSync(this.log, 'utf8').trimEnd().split('\n').slice(-TAIL_LINES).join('\n');
  }

  /** What its threads wait for, and what it has open, as the kernel sees it; its stacks go to a report of Node's. */
  describe(): string {
    try {
      const pid = this.#programPid();
      const proc = `/proc/${pid}`;
      const threads = readdirSync(`${proc}/task`).map((task) => {
        const name = readFileSync(`${proc}/task/${task}/comm`, 'utf8').trim();
        const state = /^State:\s*(.*)$/m.exec(readFileSync(`${proc}/task/${task}/status`, 'utf8'))?.[1] ?? '?';
        const waits = readFileSync(`${proc}/task/${task}/wchan`, 'utf8');
        return `${name} ${state} in ${waits}`;
      });
      const files = readdirSync(`${proc}/fd`).flatMap((fd) => {
        try {
          return [readlinkSync(join(proc, 'fd', fd))];
        } catch {
          return [];
        }
      });
      process.kill(pid, 'SIGUSR2');
      return `threads: ${threads.join('; ')}\n  open: ${files.join(', ')}`;
    } catch (error) {
      return `cannot be looked at: ${String(error)}`;
    }
  }

  /** Whether a thread of it could run just now, and how long all have run so far; undefined where nobody can tell. */
  processor(): { readonly isRunnable: boolean; readonly usedMs: number } | undefined {
    try {
      const task = `/proc/${this.#programPid()}/task`;
      // After the name, which may hold anything: the state first, the ticks of user and system twelfth and thirteenth.
      const threads = readdirSync(task).map((id) => {
        const stat = readFileSync(`${task}/${id}/stat`, 'utf8');
        return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      });
      const ticks = threads.reduce((sum, fields) => sum + Number(fields[11]) + Number(fields[12]), 0);
      return { isRunnable: threads.some(([state]) => state === 'R'), usedMs: ticks * MS_PER_TICK };
    } catch {
      // It has just ended.
      return undefined;
    }
  }

  /** What the program was started by may still be there, and wait for it. */
  #programPid(): number {
    const { pid } = this;
    const command = readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
    if (command !== 'unshare') return pid;
    return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ')[0]);
  }
}
