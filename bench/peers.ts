/** Two processes that measure together, and take orders over Node's channel between processes. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** What a process answers to an order. */
export interface Answer {
  readonly samples?: readonly number[];
  readonly info?: unknown;
}

function isAnswer(message: unknown): message is Answer {
  return typeof message === 'object' && message !== null;
}

/** One process, started from a program beside this file. */
export class Peer implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #failure: Promise<never>;

  constructor(program: string, args: readonly string[]) {
    // Memory is measured after a collection.
    const execArgv = ['--expose-gc', ...process.execArgv];
    const child = fork(fileURLToPath(new URL(`./${program}.js`, import.meta.url)), args, { execArgv });
    this.#child = child;
    this.#failure = once(child, 'exit').then(([code, signal]) => {
      throw new Error(`${program} ${args.join(' ')} ended early: ${String(code ?? signal)}`);
    });
    // Only whoever waits for an answer wants to know.
    this.#failure.catch(() => undefined);
  }

  /** Gives an order and waits until it is done. */
  async order(order: object): Promise<Answer> {
    const answer = once(this.#child, 'message');
    this.#child.send(order);
    const [message] = (await Promise.race([answer, this.#failure])) as [unknown];
    if (!isAnswer(message)) throw new Error('a measuring process answered with nothing');
    return message;
  }

  /** Gives an order whose end nobody waits for. */
  start(order: object): void {
    this.#child.send(order);
  }

  /** Gives an order whose answer is samples. */
  async samples(order: object): Promise<readonly number[]> {
    const { samples } = await this.order(order);
    if (samples === undefined) throw new Error('a measuring process sent no samples');
    return samples;
  }

  /** Ends it; its addresses and ports are free afterwards. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const gone = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await gone;
  }
}
