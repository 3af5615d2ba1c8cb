import { after } from '../../../api/provider/index.js';
import { reasonOf } from './condition.js';
import { PollEvents } from './constants.js';
import type { RsocketWait } from './core.js';
import { type AnyCore, coreOf, type Rsocket } from './rsocket.js';
import { yieldRound } from '../../../api/runtime/index.js';

/** One call in so many lets the event loop have a turn, however little it has to wait: a loop of microtasks would starve all others. */
const CALLS_PER_ROUND = 64;

let calls = 0;

/** Is awaited by calls that had nothing to wait for. */
export function perhapsNextRound(): Promise<void> | undefined {
  calls = (calls + 1) % CALLS_PER_ROUND;
  return calls === 0 ? new Promise((resolve) => yieldRound(resolve)) : undefined;
}

/** What `rpoll` looks at: `struct pollfd`. */
export interface PollFd {
  readonly fd: Rsocket;
  /** Of {@link PollEvents}: what is looked for. */
  readonly events: number;
  /** What was found. */
  revents: number;
}

/** Sockets that `rselect` looks at: `fd_set`. */
export type FdSet = Set<Rsocket>;

/**
 * Waits until one of several sockets is ready (`rpoll`).
 *
 * @param timeoutMs of the device's clock; 0: it looks once, and below 0 it waits for as long as it takes
 * @returns how many of them have `revents`, which are set for each; 0 after the time
 * @throws (the promise rejects) the signal's reason
 */
export async function rpoll(fds: readonly PollFd[], timeoutMs = -1, { signal }: RsocketWait = {}): Promise<number> {
  signal?.throwIfAborted();
  let found = look(fds);
  if (found > 0 || timeoutMs === 0) {
    await perhapsNextRound();
    return found;
  }
  const limit = new TimeLimit(fds, timeoutMs);
  try {
    do {
      await anyRung(fds, limit, signal);
      found = look(fds);
    } while (found === 0 && !limit.isOver);
    return found;
  } finally {
    limit.end();
  }
}

/**
 * The same with sets (`rselect`): those that are not ready are taken out of them.
 *
 * @param exceptfds finds what has failed
 * @returns how many are left in all sets together
 * @throws (the promise rejects) RsocketError EBADF for a socket that is closed; the signal's reason
 */
export async function rselect(
  readfds: FdSet | undefined,
  writefds?: FdSet,
  exceptfds?: FdSet,
  timeoutMs = -1,
  options: RsocketWait = {},
): Promise<number> {
  const sockets = new Set([...(readfds ?? []), ...(writefds ?? []), ...(exceptfds ?? [])]);
  const fds = [...sockets].map((fd): PollFd => {
    coreOf('rselect', fd);
    const events = (readfds?.has(fd) === true ? PollEvents.IN : 0) | (writefds?.has(fd) === true ? PollEvents.OUT : 0);
    return { fd, events, revents: 0 };
  });
  await rpoll(fds, timeoutMs, options);
  const { IN, OUT, ERR, HUP } = PollEvents;
  const kept: readonly (readonly [FdSet | undefined, number])[] = [
    [readfds, IN | HUP],
    [writefds, OUT],
    [exceptfds, ERR],
  ];
  let count = 0;
  for (const { fd, revents } of fds)
    for (const [set, events] of kept) {
      if (set?.has(fd) !== true) continue;
      if ((revents & events) === 0) set.delete(fd);
      else count += 1;
    }
  return count;
}

function found(fd: Rsocket): AnyCore | undefined {
  try {
    return coreOf('rpoll', fd);
  } catch {
    return undefined;
  }
}

function look(fds: readonly PollFd[]): number {
  let count = 0;
  for (const each of fds) {
    const core = found(each.fd);
    each.revents = core === undefined ? PollEvents.NVAL : core.readiness(each.events);
    if (each.revents !== 0) count += 1;
  }
  return count;
}

/** Until when `rpoll` waits. */
class TimeLimit {
  isOver = false;
  #onEnd: (() => void) | undefined;
  readonly #stop: (() => void) | undefined;

  constructor(fds: readonly PollFd[], timeoutMs: number) {
    if (timeoutMs < 0) return;
    const context = fds.map(({ fd }) => found(fd)?.device.context).find((one) => one !== undefined);
    this.#stop = after(context, timeoutMs, () => {
      this.isOver = true;
      this.#onEnd?.();
    });
  }

  /** Calls it when the time is over. */
  onEnd(action: () => void): void {
    this.#onEnd = action;
  }

  end(): void {
    this.#stop?.();
  }
}

/** Resolves when something changes at one of the sockets, or the time is over. */
function anyRung(fds: readonly PollFd[], limit: TimeLimit, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const takeBack: (() => void)[] = [];
    const settle = (done: () => void) => (): void => {
      for (const each of takeBack) each();
      done();
    };
    const wake = settle(resolve);
    for (const { fd } of fds) {
      const bell = found(fd)?.bell;
      if (bell !== undefined) takeBack.push(bell.onRing(wake));
    }
    limit.onEnd(wake);
    if (signal === undefined) return;
    const abort = settle(() => reject(reasonOf(signal)));
    signal.addEventListener('abort', abort, { once: true });
    takeBack.push(() => signal.removeEventListener('abort', abort));
  });
}
