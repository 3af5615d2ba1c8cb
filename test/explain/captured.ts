import type { Cause } from '../../src/apps/cli/explain/verdicts/cause.js';
import { storiesOf } from '../../src/apps/cli/explain/read.js';
import { Sightings } from '../../src/apps/cli/explain/captures/sightings.js';
import type { Story } from '../../src/apps/cli/explain/story.js';
import { readCapture } from '../../src/device/wire/index.js';

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
