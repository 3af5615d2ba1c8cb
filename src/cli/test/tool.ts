import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { endWithTest } from '../../../test/support/children.js';

export const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));

/** A second for each try: a tool that gets no processor for half a second is none that has died. */
const PATIENT = { VERBENA_MIN_ACK_TIMEOUT: '18' };
/** For a tool whose peer does die. */
export const IMPATIENT: Readonly<Record<string, string>> = { VERBENA_MIN_ACK_TIMEOUT: '0' };

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A run of `bin/verbena`, as a user starts it. It ends with the test at the latest. */
export class Tool {
  readonly child: ChildProcessByStdio<null, Readable, Readable>;
  readonly ended: Promise<Ended>;
  #stdout = '';
  #stderr = '';

  /** `wrapper` is a command that runs the command given to it as its last arguments. */
  constructor(
    args: readonly string[],
    settings: Readonly<Record<string, string>> = {},
    wrapper: readonly string[] = [],
  ) {
    // The caller's settings must not leak in.
    const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('VERBENA_')));
    const [file, ...rest] = [...wrapper, process.execPath, `${ROOT}bin/verbena`, ...args];
    this.child = endWithTest(
      spawn(file, rest, {
        cwd: ROOT,
        env: { ...env, ...PATIENT, ...settings },
        stdio: ['ignore', 'pipe', 'pipe'],
      }),
    );
    this.child.stdout.setEncoding('utf8').on('data', (text: string) => (this.#stdout += text));
    this.child.stderr.setEncoding('utf8').on('data', (text: string) => (this.#stderr += text));
    this.ended = once(this.child, 'close').then(([code, signal]) => ({
      code: code as number | null,
      signal: signal as NodeJS.Signals | null,
      stdout: this.#stdout,
      stderr: this.#stderr,
    }));
  }

  /** Waits until the tool has printed `text` on stderr. */
  async complained(text: string): Promise<void> {
    while (!this.#stderr.includes(text)) {
      const ended = await Promise.race([once(this.child.stderr, 'data').then(() => undefined), this.ended]);
      if (ended !== undefined && !ended.stderr.includes(text)) {
        throw new Error(`the tool ended without '${text}' on standard error: ${JSON.stringify(ended)}`);
      }
    }
  }

  /** Waits until the tool has printed `text` on stdout. */
  async printed(text: string): Promise<void> {
    while (!this.#stdout.includes(text)) {
      const ended = await Promise.race([once(this.child.stdout, 'data').then(() => undefined), this.ended]);
      if (ended !== undefined && !ended.stdout.includes(text)) {
        throw new Error(`the tool ended without printing '${text}': ${JSON.stringify(ended)}`);
      }
    }
  }
}

export function run(
  args: readonly string[],
  settings?: Readonly<Record<string, string>>,
  wrapper?: readonly string[],
): Promise<Ended> {
  return new Tool(args, settings, wrapper).ended;
}

/** As {@link run}, once nobody else has what the tool needs and a machine has one of only. */
export async function runWhenFree(args: readonly string[]): Promise<Ended> {
  for (;;) {
    const ended = await run(args);
    if (!ended.stderr.includes('is taken')) return ended;
  }
}
