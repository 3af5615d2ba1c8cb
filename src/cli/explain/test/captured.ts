import type { Cause } from '../verdicts/cause.js';
import { storiesOf } from '../read.js';
import { Sightings } from '../captures/sightings.js';
import type { Story } from '../story.js';
import { readCapture } from '../../../device/wire/index.js';

export type Stories = readonly Story[];

/** What captures of the same traffic tell. */
export function storiesIn(...captures: readonly Uint8Array[]): Stories {
  const sightings = new Sightings();
  for (const capture of captures) {
    sightings.beginFile();
    for (const record of readCapture(capture)) sightings.add(record);
  }
  sightings.end();
  return storiesOf(sightings);
}

export const causesOf = (stories: Stories): Cause[] => stories.map(({ verdict }) => verdict.cause);
