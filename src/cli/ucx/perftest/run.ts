import type { Meter } from './meter.js';
import { type Play, turn } from './plays/play.js';

/** After so long others of the event loop have a turn, even where a side never waits: for Ctrl-C, for one. */
const TURN_MS = 20;

export interface Watch {
  readonly meter: Meter;
  readonly onStage: () => void;
}

/**
 * Plays messages, as many of them at a time as there may be.
 *
 * @param count Infinity for no end
 * @param watch for what is measured
 * @throws what a message fails with
 */
export async function playAll(play: Play, count: number, outstanding: number, watch?: Watch): Promise<void> {
  const underWay: Promise<unknown>[] = [];
  let turnAt = performance.now();
  watch?.meter.begin(turnAt);
  for (let i = 0; i < count; i += 1) {
    if (outstanding === 1) await play();
    else {
      await underWay[i % outstanding];
      const one = play();
      // It is waited for in its time; until then nobody hears of it.
      one.catch(() => undefined);
      underWay[i % outstanding] = one;
    }
    const now = performance.now();
    if (watch?.meter.tick(now) === true) watch.onStage();
    if (now - turnAt < TURN_MS) continue;
    turnAt = now;
    await turn();
  }
  await Promise.all(underWay);
}
