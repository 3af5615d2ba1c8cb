import assert from 'node:assert/strict';
import { type Cause, MAX_VERDICT_CHARACTERS, type Verdict } from '../verdicts/cause.js';
import { Sightings } from '../captures/sightings.js';
import { storiesOf } from '../read.js';
import type { Story } from '../story.js';

export type Stories = readonly Story[];

/** The packets of captures of the same traffic. */
export function sightingsIn(...captures: readonly Uint8Array[]): Sightings {
  const sightings = new Sightings();
  for (const [i, capture] of captures.entries()) {
    const file = sightings.beginFile(`capture ${i + 1}`);
    file.feed(capture.slice());
    file.cursor.end();
  }
  sightings.end();
  return sightings;
}

/** What captures of the same traffic tell. */
export function storiesIn(...captures: readonly Uint8Array[]): Stories {
  const stories = [...storiesOf(sightingsIn(...captures))];
  for (const { verdict } of stories) wordsOf(verdict);
  return stories;
}

export const causesOf = (stories: Stories): Cause[] => stories.map(({ verdict }) => verdict.cause);

/** A verdict with its evidence. */
export function wordsOf({ text, evidence }: Verdict): string {
  assert.ok(text.length <= MAX_VERDICT_CHARACTERS, `${text.length} characters: ${text}`);
  return [text, ...evidence].join('; ');
}
