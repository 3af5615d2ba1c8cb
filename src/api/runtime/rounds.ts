import { runtime } from './current.js';

let heldTurns = 0;
let yields = 0;

/**
 * Counts work of this package that waits for a turn of the event loop. A simulation lets no virtual time pass until
 * {@link releaseTime} was called as often.
 */
export function holdTime(): void {
  heldTurns += 1;
}

export function releaseTime(): void {
  heldTurns -= 1;
}

/** As `Runtime.nextRound`; a simulation lets no virtual time pass before `action` is called. */
export function nextHeldRound(action: () => void): void {
  holdTime();
  runtime().nextRound(() => {
    releaseTime();
    action();
  });
}

/**
 * As {@link nextHeldRound}, for a loop of the program that yields to the event loop now and then. The loop may poll for an event that
 * only time brings, so a simulation lets time pass after some rounds.
 */
export function yieldRound(action: () => void): void {
  yields += 1;
  runtime().nextRound(() => {
    yields -= 1;
    action();
  });
}

/** Whether work counted by {@link holdTime} waits for a turn of the event loop. */
export function isTimeHeld(): boolean {
  return heldTurns > 0;
}

/** Whether a loop of the program waits for a round of the event loop: see {@link yieldRound}. */
export function isYielding(): boolean {
  return yields > 0;
}
