/** The bytes of capture files, for the tools that read them. */
import { createReadStream } from 'node:fs';
import { createGunzip } from 'node:zlib';
import { pipeline } from 'node:stream/promises';
import { PassThrough } from 'node:stream';
import { CaptureError } from '../../device/wire/index.js';
import { fileFailure, ToolError } from '../kit/errors.js';
import type { StandardStreams } from '../kit/output.js';

const PIECE_BYTES = 1 << 20;
const EXIT_UNREADABLE = 2;
const GZIP_MAGIC = [0x1f, 0x8b] as const;

const isGzip = (piece: Uint8Array): boolean => piece[0] === GZIP_MAGIC[0] && piece[1] === GZIP_MAGIC[1];

/** What a message calls a file. */
export const captureName = (file: string): string => (file === '-' ? 'standard input' : file);

/** Which file, and why it could not be read. */
export function captureFailure(file: string, error: unknown): Error {
  const name = captureName(file);
  if (error instanceof CaptureError)
    return new ToolError(`${name}: ${error.message}`, EXIT_UNREADABLE, { cause: error });
  if (error instanceof Error && 'code' in error && String(error.code).startsWith('Z_'))
    return new ToolError(`${name}: the gzip data is damaged or ends too early`, EXIT_UNREADABLE, { cause: error });
  return fileFailure(name, 'read', error, EXIT_UNREADABLE);
}

async function* plain(file: string, streams: Pick<StandardStreams, 'input'>): AsyncGenerator<Uint8Array> {
  const stream: AsyncIterable<unknown> =
    file === '-' ? streams.input : createReadStream(file, { highWaterMark: PIECE_BYTES });
  for await (const piece of stream) {
    if (!(piece instanceof Uint8Array)) throw new TypeError('a file came as text');
    if (piece.length > 0) yield piece;
  }
}

async function* unzipped(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const out = new PassThrough({ highWaterMark: PIECE_BYTES });
  const done = pipeline(pieces, createGunzip({ chunkSize: PIECE_BYTES }), out);
  // The reader below learns of a failure from `out`.
  done.catch(() => undefined);
  for await (const piece of out) if (piece instanceof Uint8Array) yield piece;
  await done;
}

/** The pieces of a file as they come, so that a capture can be read while it is made. gzip is unpacked. */
export async function* capturePieces(
  file: string,
  streams: Pick<StandardStreams, 'input'>,
): AsyncGenerator<Uint8Array> {
  const pieces = plain(file, streams);
  const first = await pieces.next();
  if (first.done === true) return;
  async function* all(): AsyncGenerator<Uint8Array> {
    yield first.value;
    yield* pieces;
  }
  if (isGzip(first.value)) yield* unzipped(all());
  else yield* all();
}
