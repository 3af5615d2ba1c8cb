/** The longest that a timer of JavaScript's waits: one that is to wait longer fires at once. */
export const LONGEST_MS = 2 ** 31 - 1;

/** Calls `action` in so many ms. @returns takes it back */
export type StartTimer = (delayMs: number, action: () => void) => () => void;

/** Timers that wait for as long as they are told, of such that cannot: one after the other. */
export function inPieces(start: StartTimer): StartTimer {
  return (delayMs, action) => {
    let stop = (): void => undefined;
    const wait = (leftMs: number): void => {
      const isLast = leftMs <= LONGEST_MS;
      stop = isLast ? start(leftMs, action) : start(LONGEST_MS, () => wait(leftMs - LONGEST_MS));
    };
    wait(delayMs);
    return () => stop();
  };
}
