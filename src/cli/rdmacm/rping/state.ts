import { MAY_BE_GONE, toldIfSilent } from '../common/silence.js';
import { ToolError } from '../../kit/errors.js';
import type { FullAddress } from '../../../entry/index.js';
import type { RpingFlags } from './flags.js';

/** What the C tool's -1 is to the shell. */
export const FAILED = 255;

export interface Result {
  readonly role: 'client' | 'server';
  readonly peer: FullAddress | undefined;
  readonly pings: number;
  readonly sizeBytes: number;
  readonly elapsedUs: number;
  /** It ended otherwise than by a side that had enough. */
  readonly failed: boolean;
}

export function printResult(result: Result, { json }: RpingFlags): void {
  if (json !== true) return;
  const { pings, elapsedUs } = result;
  process.stdout.write(`${JSON.stringify({ ...result, usecPerPing: pings === 0 ? 0 : elapsedUs / pings })}\n`);
}

/** @throws ToolError when it failed */
export function failIfFailed({ role, failed }: Result): void {
  if (failed) throw new ToolError(`rping ${role} failed: -1`, FAILED);
}

/** How far a connection is, by the C tool's numbers, which it prints when another state comes than it waits for. */
export const State = {
  IDLE: 1,
  CONNECT_REQUEST: 2,
  ADDR_RESOLVED: 3,
  ROUTE_RESOLVED: 4,
  CONNECTED: 5,
  RDMA_READ_ADV: 6,
  RDMA_READ_COMPLETE: 7,
  RDMA_WRITE_ADV: 8,
  RDMA_WRITE_COMPLETE: 9,
  DISCONNECTED: 10,
  ERROR: 11,
} as const;
export type StateName = keyof typeof State;
export type State = (typeof State)[StateName];

/** The conversation ended before its time. */
export class Stopped extends ToolError {
  constructor(
    why: string,
    /** Not because the peer had enough. */
    readonly failed: boolean,
  ) {
    super(why, FAILED);
  }
}

/** The states that events and completions bring a connection into, for the one who waits for them, in their order. */
export class Progress {
  readonly #waiting: State[] = [];
  #latest: State = State.IDLE;
  #wake: (() => void) | undefined;
  #whenOver: (() => void) | undefined;

  /** The newest state, whether somebody has waited for it or not. */
  get latest(): State {
    return this.#latest;
  }

  /** Nothing follows DISCONNECTED and ERROR. */
  advance(state: State): void {
    if (this.#isOver()) return;
    this.#latest = state;
    this.#waiting.push(state);
    this.#wake?.();
    if (this.#isOver()) this.#whenOver?.();
  }

  /**
   * Waits for the next state.
   *
   * @param meaning what it may mean that none comes, which the user is told after a while
   * @throws Stopped when it is another
   */
  async expect(wanted: StateName, meaning = MAY_BE_GONE): Promise<void> {
    const state = await toldIfSilent(this.#next(), meaning);
    if (state === State[wanted]) return;
    throw new Stopped(`wait for ${wanted} state ${state}`, state !== State.DISCONNECTED);
  }

  /** Waits until nothing can follow any more, but no longer than that. */
  async over(timeoutMs: number): Promise<void> {
    if (this.#isOver()) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, timeoutMs);
      this.#whenOver = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async #next(): Promise<State> {
    for (;;) {
      const state = this.#waiting.shift();
      if (state !== undefined) return state;
      if (this.#isOver()) return this.#latest;
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  #isOver(): boolean {
    return this.#latest === State.DISCONNECTED || this.#latest === State.ERROR;
  }
}
