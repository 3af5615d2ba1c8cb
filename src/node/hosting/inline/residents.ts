import { nowUs, PollSet } from '../../system/index.js';

/** A NIC in this thread, as whoever has a moment moves it on. */
export interface Resident {
  /** One of them is readable when packets have arrived. The same array for as long as they are the same. */
  readonly pollFds: readonly number[];
  /** @returns whether there was anything to do */
  turn(nowUs: number): boolean;
  /** When it wants a turn though nothing happens. */
  nextTurnUs(): number;
  /** To be called before a sleep. */
  pause(): void;
  /** Has whatever arrives make one of {@link pollFds} readable. @returns false when something is there already */
  fallAsleep(): boolean;
  wakeUp(): void;
}

/**
 * The NICs of this thread. Whoever has a moment moves all of them on: two devices in one program that talk to each
 * other would otherwise wait for each other.
 */
const residents: Resident[] = [];
let fds: PollSet | undefined;
let fdLists: readonly (readonly number[])[] = [];

export function moveIn(resident: Resident): void {
  residents.push(resident);
  fds = undefined;
}

/** It is turned no more. Repeating it changes nothing. */
export function moveOut(resident: Resident): void {
  const at = residents.indexOf(resident);
  if (at >= 0) residents.splice(at, 1);
  fds = undefined;
}

/** Has all NICs of this thread take a turn. @returns whether there was anything to do */
export function turnAll(now: number): boolean {
  let busy = false;
  for (let i = 0; i < residents.length; i += 1) if (residents[i].turn(now)) busy = true;
  return busy;
}

/** Sleeps until a packet arrives, a NIC of this thread wants a turn, or that time has come. */
export function sleepUntil(deadlineUs: number): void {
  sleepAll(deadlineUs, (timeoutUs) => poll().wait(timeoutUs));
}

/**
 * Has all NICs of this thread say that they are to be woken by {@link residentPollFds}, and then `sleep`, unless one of them has
 * something to do.
 *
 * @param sleep is given the µs until that time, or until a NIC wants a turn
 */
export function sleepAll(deadlineUs: number, sleep: (timeoutUs: number) => void): void {
  let wakeUs = deadlineUs;
  for (const resident of residents) {
    resident.pause();
    wakeUs = Math.min(wakeUs, resident.nextTurnUs());
  }
  // All of them, also when one has something: each says for itself that it is to be woken.
  const quiet = residents.filter((resident) => resident.fallAsleep()).length === residents.length;
  if (quiet) sleep(wakeUs - nowUs());
  for (const resident of residents) resident.wakeUp();
}

/** What becomes readable for NICs of this thread: a list each, which stays the same array while it is the same. */
export function residentPollFds(): readonly (readonly number[])[] {
  return residents.map(({ pollFds }) => pollFds);
}

function poll(): PollSet {
  const lists = residentPollFds();
  if (fds === undefined || lists.some((list, i) => list !== fdLists[i])) {
    fdLists = lists;
    fds = new PollSet(lists.flat());
  }
  return fds;
}
