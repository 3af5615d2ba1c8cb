/** Reading captures of the same traffic, and what they tell. */
import { freemem } from 'node:os';
import { CaptureError } from '../../device/wire/index.js';
import { captureFailure, captureName, capturePieces } from '../dump/capture-pieces.js';
import { ToolError } from '../kit/errors.js';
import { processStreams, type StandardStreams } from '../kit/output.js';
import type { CaptureFile } from './captures/capture-file.js';
import { halvesOf } from './captures/halves.js';
import { Sightings } from './captures/sightings.js';
import { study } from './requests/study.js';
import { type Story, storyOf } from './story.js';

const EXIT_UNREADABLE = 2;
/** Memory that the explanation of a packet takes at most. */
const BYTES_PER_PACKET = 200;
/** Of the memory that is free, what the tool takes. */
const SHARE = 0.8;
const MIB = 1 << 20;

/** Memory for packets, in bytes. */
function roomBytes(): number {
  const limit = process.constrainedMemory();
  // Without a limit of its own, a process is told a number beyond all memory, or 0.
  const allowed = limit > 0 ? limit - process.memoryUsage.rss() : Infinity;
  return SHARE * Math.min(freemem(), allowed);
}

/** More packets than memory. */
function tooMany(file: string, packets: number, bytes: number): ToolError {
  return new ToolError(
    `${captureName(file)}: more than ${packets} packets do not fit into memory: they need ${BYTES_PER_PACKET} bytes each, and ` +
      `${Math.floor(bytes / MIB)} MiB are free. Split the capture (editcap -c ${Math.max(1, packets)}) or filter it (tshark -Y).`,
    EXIT_UNREADABLE,
  );
}

async function readFile(
  file: string,
  into: CaptureFile,
  streams: Pick<StandardStreams, 'input'>,
  room: { packets: number; readonly bytes: number },
): Promise<void> {
  const before = room.packets;
  try {
    for await (const piece of capturePieces(file, streams)) {
      into.feed(piece);
      room.packets = before + into.table.packets;
      if (room.packets * BYTES_PER_PACKET > room.bytes) throw tooMany(file, room.packets, room.bytes);
    }
    into.cursor.end();
  } catch (error) {
    if (error instanceof ToolError) throw error;
    const failure = captureFailure(file, error);
    // A file that is cut off or damaged is used as far as it goes.
    const isPartial = error instanceof CaptureError || (failure instanceof ToolError && into.frames > 0);
    if (!isPartial || into.frames === 0) throw failure;
    into.failure = failure;
  }
}

/**
 * Looks through captures of the same traffic, one or both sides'.
 *
 * @param streams have the input that is read for a file `-`
 * @param bytes of memory for packets
 * @throws ToolError when a file cannot be read, or there are more packets than memory
 */
export async function readCaptures(
  files: readonly string[],
  streams: Pick<StandardStreams, 'input'> = processStreams,
  bytes = roomBytes(),
): Promise<Sightings> {
  const sightings = new Sightings();
  const room = { packets: 0, bytes };
  let last = '-';
  try {
    for (const file of files) {
      last = file;
      await readFile(file, sightings.beginFile(captureName(file)), streams, room);
    }
    sightings.end();
  } catch (error) {
    // So the engine refuses an array for which there is no memory.
    if (error instanceof RangeError) throw tooMany(last, room.packets, freemem());
    throw error;
  }
  return sightings;
}

/** The story of each half of a connection that captures show, in the order in which they began. */
export function* storiesOf(sightings: Sightings): Generator<Story, void, undefined> {
  for (const half of halvesOf(sightings)) yield storyOf(study(half, sightings));
}
