import type { MessagePort } from 'node:worker_threads';
import type { AdapterCommand, AdapterReply } from '../../../device/adapter/index.js';
import type { AdapterFacts } from '../../../providers/soft/index.js';
import type { ErrnoName } from '../../../device/ibta/index.js';
import { codeOf, errnoNameOf } from '../../../device/link/index.js';
import { CommandError } from '../../../device/nic/index.js';
import type { AdapterSpec } from '../native-adapter.js';

/**
 * What a NIC's thread and its drivers say to each other beside the rings.
 *
 * Commands and replies go over a message port that both read synchronously, one for each client. A command has a number, and its
 * reply the same: a call may be interrupted while it waits, and nobody is to take the reply that comes then for his own.
 * `DoorbellPage.COMMANDS` is the number of the last command that was sent, `REPLIES` a count that changes with each reply, so that
 * neither looks for a message that has not been sent. The first reply tells how the start went, the last that the client has ended.
 *
 * Whoever shares a NIC gives its thread a port, a gate, and hands on the other end. Who has that asks there for a client of
 * their own, once, and counts `ThreadWords.KNOCKS` up. The NIC then closes the gate.
 */

/** What a client brings: its memory, and the NIC's ends of its ports. */
export interface ClientStart {
  readonly doorbells: ArrayBufferLike;
  readonly asyncEvents: ArrayBufferLike;
  readonly cmEvents: ArrayBufferLike;
  /**
   * One word, of all NIC threads that one thread of the program uses: 1 while that, tired of polling, naps on it. Whichever
   * NIC has done something puts 0 back and wakes it.
   */
  readonly poller: ArrayBufferLike;
  /** {@link LoopWords}: how the event loop of the client's thread hears of events. */
  readonly loop: ArrayBufferLike;
  /** Number of the eventfd that wakes it; a {@link Notice} does where there is none. */
  readonly loopFd: number | undefined;
  /** Whose it is (`ownThread`): when that is gone, nobody can say so. */
  readonly thread: string | undefined;
  readonly commands: MessagePort;
  /** Takes {@link Notice}s. */
  readonly notices: MessagePort;
}

/** The last thing that comes through a gate: nobody takes clients there any more. */
export const GATE_CLOSED = 'closed';

/** Words of a client and its event loop. */
export const LoopWords = {
  /** Counts up when a ring whose ASYNC_WAITERS was set got an event. */
  NEWS: 0,
  /** 1 while nobody looks at that: whoever counts up puts 0 back, and wakes the loop. */
  ASLEEP: 1,
  COUNT: 2,
} as const;

/** `workerData` of the thread. */
export interface ThreadStart {
  readonly spec: AdapterSpec;
  /** Whether there are system calls; otherwise the thread lives in its event loop, and messages wake it. */
  readonly native: boolean;
  /** {@link ThreadWords}. */
  readonly state: ArrayBufferLike;
  readonly first: ClientStart;
}

export const ThreadWords = {
  /** {@link ThreadState}. */
  STATE: 0,
  /** Counts up when something was sent to a gate. */
  KNOCKS: 1,
  /** 1 asks the thread to end, whoever still uses it. */
  STOP: 2,
  COUNT: 3,
} as const;

/** What the thread is found in when nothing is heard of it. */
export const ThreadState = {
  /** None of our code has run in it. */
  UNBORN: 0,
  RUNNING: 1,
  /** It has let go of everything, or was refused what it needs. */
  STOPPED: 2,
  FAILED: 3,
} as const;
export type ThreadState = (typeof ThreadState)[keyof typeof ThreadState];

/** What a client may have done beside the commands of its adapter. */
export type ThreadRequest =
  | AdapterCommand
  | { readonly verb: 'share'; readonly gate: MessagePort }
  | { readonly verb: 'leave' };

/** What goes to the thread. `wake` says nothing: that a message came is what wakes a thread without an eventfd. */
export type ThreadMessage = { readonly number: number; readonly command: ThreadRequest } | { readonly wake: true };

export type StartReply = Started | { readonly errno: ErrnoName; readonly message: string };

export interface Started {
  readonly facts: AdapterFacts;
  /** The NIC's thread (`ownThread`). */
  readonly thread?: string | undefined;
  /** Number of the eventfd that wakes the thread, for as long as it has not stopped. */
  readonly wakeFd?: number | undefined;
}

/** What comes back over the command port. */
export type ThreadReply =
  | { readonly started: StartReply }
  | { readonly number: number; readonly reply: AdapterReply }
  | { readonly stopped: true };

export type Notice =
  | { readonly kind: 'event' }
  | { readonly kind: 'warning'; readonly text: string }
  | { readonly kind: 'failure'; readonly text: string };

/** As a reply, what a start or a command threw. */
export function refusal(error: unknown): { readonly errno: ErrnoName; readonly message: string } {
  if (error instanceof CommandError) return { errno: error.errno, message: error.message };
  return { errno: errnoNameOf(codeOf(error)), message: error instanceof Error ? error.message : String(error) };
}
