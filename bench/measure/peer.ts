/** Two processes that measure together, and take orders over Node's channel between processes. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Frame } from '../report/flame.js';
import { adopt } from './children.js';
import type { Measurement, Percentiles } from './measurement.js';
import { processorTimeMs, threadsTimeMs } from './processor-time.js';

export interface Answer {
  readonly samples?: readonly number[];
  readonly percentiles?: Percentiles;
  /** All that was moved, warming up included. */
  readonly bytes?: number;
  /** Where there are several of a kind: a row of samples for each. */
  readonly rows?: readonly (readonly number[])[];
  readonly info?: unknown;
  readonly profile?: Frame;
}

function isAnswer(message: unknown): message is Answer {
  return typeof message === 'object' && message !== null;
}

const NS_PER_MS = 1e6;

/** One process, started from a program in `peers/`. */
export class Peer implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #failure: Promise<never>;

  constructor(program: string, args: readonly string[], env: NodeJS.ProcessEnv = {}) {
    // Memory is measured after a collection.
    const execArgv = ['--expose-gc', ...process.execArgv];
    const path = fileURLToPath(new URL(`../peers/${program}.js`, import.meta.url));
    const child = fork(path, args, { execArgv, env: { ...process.env, ...env } });
    adopt(child);
    this.#child = child;
    this.#failure = once(child, 'exit').then(([code, signal]) => {
      throw new Error(`${program} ${args.join(' ')} ended early: ${String(code ?? signal)}`);
    });
    // Only whoever waits for an answer wants to know.
    this.#failure.catch(() => undefined);
  }

  /** Milliseconds of processor time that it has used. */
  get processorTimeMs(): number {
    return this.#child.pid === undefined ? 0 : processorTimeMs(this.#child.pid);
  }

  /** The same, of its threads of now, to the nanosecond. */
  get threadsTimeMs(): number {
    return this.#child.pid === undefined ? 0 : threadsTimeMs(this.#child.pid);
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

  async samples(order: object): Promise<readonly number[]> {
    return (await this.measurement(order)).samples;
  }

  /** The same, with percentiles where they are known. */
  async measurement(order: object): Promise<Measurement> {
    const { samples, percentiles } = await this.order(order);
    if (samples === undefined) throw new Error('a measuring process sent no samples');
    return percentiles === undefined ? { samples } : { samples, percentiles };
  }

  /** Ends it; its addresses and ports are free afterwards. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const gone = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await gone;
  }
}

/** Has bytes moved, and looks what that takes of the processors. */
export async function withProcessorTime(peers: readonly Peer[], move: () => Promise<Answer>): Promise<Measurement> {
  const usedMs = (): number => peers.reduce((sum, peer) => sum + peer.processorTimeMs, 0);
  const before = usedMs();
  const { samples, bytes } = await move();
  const took = usedMs() - before;
  if (samples === undefined || bytes === undefined) throw new Error('a measuring process sent no samples');
  return { samples, cpuNsPerByte: (took * NS_PER_MS) / bytes };
}
