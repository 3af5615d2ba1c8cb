import { createReadStream } from 'node:fs';
import { CaptureError, CaptureReader } from '../../device/wire/index.js';
import { fileFailure, ToolError } from '../kit/errors.js';
import { processStreams, type StandardStreams } from '../kit/output.js';
import { agreementsOf } from './captures/agreements.js';
import { halvesOf } from './captures/halves.js';
import { Sightings } from './captures/sightings.js';
import { type Story, storyOf } from './story.js';
import { study } from './requests/study.js';

const EXIT_UNREADABLE = 2;
const PIECE_BYTES = 1 << 18;

/** Looks through captures of the same traffic, one or both sides'. @param streams have the input that is read for a file `-` */
export async function readCaptures(
  files: readonly string[],
  streams: Pick<StandardStreams, 'input'> = processStreams,
): Promise<Sightings> {
  const sightings = new Sightings();
  for (const file of files) {
    sightings.beginFile(file);
    const reader = new CaptureReader();
    try {
      const stream: AsyncIterable<unknown> =
        file === '-' ? streams.input : createReadStream(file, { highWaterMark: PIECE_BYTES });
      for await (const piece of stream) {
        if (!(piece instanceof Uint8Array)) throw new TypeError('a file came as text');
        for (const record of reader.push(piece)) sightings.add(record);
      }
      reader.end();
    } catch (error) {
      const name = file === '-' ? 'standard input' : file;
      if (error instanceof CaptureError)
        throw new ToolError(`${name}: ${error.message}`, EXIT_UNREADABLE, { cause: error });
      throw fileFailure(name, 'read', error, EXIT_UNREADABLE);
    }
  }
  sightings.end();
  return sightings;
}

/** The story of each half of a connection that captures show, in the order in which they began. */
export function storiesOf(sightings: Sightings): Story[] {
  return halvesOf(sightings.all, agreementsOf(sightings.all)).map((half) => storyOf(study(half, sightings)));
}
