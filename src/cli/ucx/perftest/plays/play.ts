import type { UcpEndpoint, UcpMemory, UcpRkey, UcpWorker } from '../../../../entry/ucp.js';
import type { Plan } from '../plan.js';
import type { UcpTest } from '../tests.js';

/** One side of a test, whatever its messages go by. */
export interface Half {
  readonly plan: Plan;
  /** What it does; undefined where it only holds out its memory. */
  readonly play: Play | undefined;
  /** All that was handed over has arrived. */
  flush(): Promise<unknown>;
  explain(): string;
  close(): void;
}

export interface Side {
  readonly plan: Plan;
  readonly test: UcpTest;
  readonly isClient: boolean;
  readonly worker: UcpWorker;
  readonly out: UcpEndpoint;
  /** Streams come in here: the same, but where both sides are one process. */
  readonly into: UcpEndpoint;
  /** What is sent: as many bytes as a message has, and those between its pieces. */
  readonly data: Uint8Array;
  /** What is received into, and what the other side reaches. */
  readonly memory: UcpMemory;
  readonly theirs: UcpRkey;
}

/**
 * Plays a side of a message, the next one with each call: resolves when the side may go on to another, as far as its memory is concerned. Where several may
 * be under way, it is called again before that.
 */
export type Play = () => Promise<unknown>;

/** What a side does in a test; undefined for one that only holds out its memory. */
export type PlayOf = (side: Side) => Play | undefined;

/** Others of the event loop have their turn. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** A message that goes there and back: the client's side begins. */
export function pingPong(side: Pick<Side, 'isClient'>, send: Play, receive: Play): Play {
  if (side.isClient)
    return async () => {
      const answered = receive();
      await send();
      await answered;
    };
  return async () => {
    await receive();
    await send();
  };
}
