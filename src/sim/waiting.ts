import { runtime } from '../api/runtime/index.js';
import type { SimulatedCluster } from './cluster/simulated-cluster.js';
import { whatIsAwaited } from './cluster/simulated-report.js';
import type { SimHost } from './host.js';

/** What a test waits for will not come, or has not come in time. The message says what everybody was waiting for. */
export class StalledError extends Error {
  override readonly name = 'StalledError';
  readonly #waiting: string;
  readonly #nowUs: number;

  /** @param about - `from` was made where somebody began to wait: its stack leads there, where that of a timer leads nowhere */
  constructor(
    message: string,
    { waiting, nowUs, from }: { readonly waiting: string; readonly nowUs: number; readonly from: Error },
  ) {
    super(message);
    this.#waiting = waiting;
    this.#nowUs = nowUs;
    const lines = from.stack?.split('\n').filter((line) => /^ +at /.test(line)) ?? [];
    this.stack = [`${this.name}: ${this.message}`, ...lines].join('\n');
  }

  // Getters, so that those who print an error with its fields do not print the message's second half twice.
  /** What the hosts were waiting for, a line each. */
  get waiting(): string {
    return this.#waiting;
  }

  /** Virtual time at which it was found out, in µs. */
  get nowUs(): number {
    return this.#nowUs;
  }
}

const nothing = (): void => undefined;

/**
 * Calls `action` once nothing has happened, and nothing is left to happen, for so long in real time. A program that only
 * waits for its network would have gone on at once, but it may be reading a file.
 *
 * @returns ends the watch
 */
export function whenStalled({ simulation }: SimulatedCluster, patienceMs: number, action: () => void): () => void {
  let stopTimer = nothing;
  const stopObserving = simulation.observe({
    stepped: () => {
      stopTimer();
      stopTimer = nothing;
    },
    quiet: () => {
      stopTimer();
      stopTimer = runtime().timer(patienceMs, action);
    },
  });
  return () => {
    stopObserving();
    stopTimer();
  };
}

/** What everybody is waiting for, host by host. */
export function describeWaiting(hosts: Iterable<SimHost>): string {
  const lines = [...hosts].flatMap((host) => {
    const { name, address, state } = host;
    const awaited = state === 'down' ? [] : whatIsAwaited(host.context);
    const about = state === 'up' ? '' : ` is ${state}`;
    const title = `  ${name} (${address})${about}${awaited.length === 0 ? (state === 'up' ? ': nothing' : '') : ':'}`;
    return [title, ...awaited.map((line) => `    ${line}`)];
  });
  return lines.join('\n');
}
