/** Running the programs beside these tests as processes of their own. */
import { type ChildProcess, fork, type ForkOptions } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { endWithTest } from '../../../../test/support/children.js';

export interface Ending {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A program of `programs/`, running. It ends with the test at the latest. */
export class Program implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #ended: Promise<Ending>;
  readonly #inbox: unknown[] = [];
  #wanted: ((message: unknown) => void) | undefined;

  constructor(
    name: string,
    args: readonly string[] = [],
    env: Record<string, string> = {},
    options: Pick<ForkOptions, 'execPath' | 'execArgv'> = {},
  ) {
    const path = fileURLToPath(new URL(`./programs/${name}.js`, import.meta.url));
    const child = endWithTest(fork(path, args, { ...options, stdio: 'pipe', env: { ...process.env, ...env } }));
    this.#child = child;
    let stdout = '';
    let stderr = '';
    child.stdout?.on('data', (chunk) => (stdout += String(chunk)));
    child.stderr?.on('data', (chunk) => (stderr += String(chunk)));
    child.on('message', (message) => {
      if (this.#wanted === undefined) this.#inbox.push(message);
      else this.#wanted(message);
      this.#wanted = undefined;
    });
    this.#ended = new Promise((resolve, reject) => {
      child.on('error', reject);
      child.on('close', (code, signal) => resolve({ code, signal, stdout, stderr }));
    });
  }

  async message(): Promise<unknown> {
    const waiting = this.#inbox.shift();
    if (waiting !== undefined) return waiting;
    const message = new Promise<unknown>((resolve) => (this.#wanted = resolve));
    const early = this.#ended.then(({ code, signal, stderr }) => {
      throw new Error(`the program ended (${String(code)}, ${String(signal)}) before it said anything: ${stderr}`);
    });
    return Promise.race([message, early]);
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  send(message: object): void {
    this.#child.send(message);
  }

  ended(): Promise<Ending> {
    return this.#ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#ended;
  }
}

/** Has a program run with so many file descriptors. */
export function withDescriptors(count: number): Pick<ForkOptions, 'execPath' | 'execArgv'> {
  return { execPath: '/bin/sh', execArgv: ['-c', `ulimit -n ${count}; exec "$0" "$@"`, process.execPath] };
}

/** What two ends tell each other. */
export interface EndInfo {
  readonly address: string;
  readonly qpNum: number;
  readonly addr: string;
  readonly rkey: number;
}

/** Checks that a message is an {@link EndInfo}. */
export function asEndInfo(message: unknown): EndInfo {
  const { address, qpNum, addr, rkey } = message as Partial<Record<keyof EndInfo, unknown>>; // looked at field by field
  if (typeof address !== 'string' || typeof qpNum !== 'number' || typeof addr !== 'string' || typeof rkey !== 'number')
    throw new Error(`not the other end: ${JSON.stringify(message)}`);
  return { address, qpNum, addr, rkey };
}
