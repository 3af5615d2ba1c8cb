import type { Step, Walk } from './steps.js';

/** What a run came to, for whoever looks for a shorter one: undefined when it went well, else what was wrong. */
export type Play = (walk: Walk) => string | undefined;

/** How long it may take, and how many runs. */
export interface Bounds {
  readonly maxRuns: number;
  readonly maxMs: number;
}

export interface Shrunk {
  readonly walk: Walk;
  readonly message: string;
  readonly runs: number;
}

/** The invariant that a message is about: what it says, without the numbers and names of this run. */
export function invariantOf(message: string): string {
  return message
    .split('\n')[0]
    .replace(/\([^)]*\)/g, '')
    .replace(/0x[0-9a-f]+|\d+/g, '#');
}

/**
 * Leaves out steps, in ever smaller pieces, as long as the same is wrong (delta debugging). Faults and hosts are steps as
 * well. What stays is the least that was found within the bounds, not the least there is.
 */
export function shrink(walk: Walk, message: string, play: Play, { maxRuns, maxMs }: Bounds): Shrunk {
  const wanted = invariantOf(message);
  const endMs = performance.now() + maxMs;
  let runs = 0;
  let best = { walk, message };
  const fails = (steps: readonly Step[]): boolean => {
    runs += 1;
    const candidate = { ...walk, steps };
    const said = play(candidate);
    if (said === undefined || invariantOf(said) !== wanted) return false;
    best = { walk: candidate, message: said };
    return true;
  };
  const goesOn = (): boolean => runs < maxRuns && performance.now() < endMs;
  for (let size = Math.ceil(walk.steps.length / 2); size >= 1 && goesOn();) {
    let left = false;
    for (let at = best.walk.steps.length - size; at > -size && goesOn(); at -= size) {
      const begin = Math.max(0, at);
      const { steps } = best.walk;
      if (fails([...steps.slice(0, begin), ...steps.slice(begin + size)])) left = true;
    }
    if (size > 1) size = Math.ceil(size / 2);
    else if (!left) break;
  }
  return { ...best, runs };
}
