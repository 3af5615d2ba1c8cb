import type { Folder, FolderFile } from '../../../api/runtime/index.js';
import { runtime } from '../../../api/runtime/index.js';
import { VerbsError } from '../../../api/verbs/index.js';

// What the files of a folder are called, and how each begins (protocol/kv.md 6.8): 32 bytes, little-endian.
//
//    0  "VBKV"
//    4  kind: 1 a log, 2 a snapshot
//    5  format: 1
//    8  generation, 4 bytes
//   12  salt, 4 bytes: what the checks of its records begin with, so that no value can look like a record
//   16  sequence, 8 bytes: of a log that of its first record
//   28  check: CRC-32 of what comes before

export const HEADER_BYTES = 32;
const MAGIC = 0x56424b56;
const FORMAT = 1;
const CHECK_AT = 28;
/** A file is written under such a name, and has its own once all of it is on the disk. */
const UNFINISHED = '.new';

export const FileKind = { LOG: 1, SNAPSHOT: 2 } as const;
export type FileKind = (typeof FileKind)[keyof typeof FileKind];

const PREFIX: Readonly<Record<FileKind, string>> = { [FileKind.LOG]: 'log-', [FileKind.SNAPSHOT]: 'snapshot-' };
const NAME = /^(?<prefix>log-|snapshot-)(?<generation>\d{8})(?<unfinished>\.new)?$/;

export interface FileHeader {
  readonly kind: FileKind;
  readonly generation: number;
  readonly salt: number;
  readonly sequence: number;
}

export interface FileName {
  readonly name: string;
  readonly kind: FileKind;
  readonly generation: number;
  readonly isUnfinished: boolean;
}

const LAST_GENERATION = 99_999_999;

export function fileName(kind: FileKind, generation: number): string {
  return `${PREFIX[kind]}${String(generation).padStart(8, '0')}`;
}

/** Which of our files has that name; undefined for one that is not ours. */
export function parseName(name: string): FileName | undefined {
  const groups = NAME.exec(name)?.groups;
  if (groups === undefined) return undefined;
  const kind = groups['prefix'] === PREFIX[FileKind.LOG] ? FileKind.LOG : FileKind.SNAPSHOT;
  const isUnfinished = (groups['unfinished'] as string | undefined) !== undefined;
  return { name, kind, generation: Number(groups['generation']), isUnfinished };
}

function encodeHeader({ kind, generation, salt, sequence }: FileHeader): Uint8Array {
  const bytes = new Uint8Array(HEADER_BYTES);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, MAGIC);
  view.setUint8(4, kind);
  view.setUint8(5, FORMAT);
  view.setUint32(8, generation, true);
  view.setInt32(12, salt, true);
  view.setBigUint64(16, BigInt(sequence), true);
  view.setInt32(CHECK_AT, runtime().crc32(bytes, 0, CHECK_AT, 0), true);
  return bytes;
}

/** How a file begins; otherwise what is wrong with it. */
export function readHeader(file: FolderFile, { kind, generation }: FileName): FileHeader | string {
  const bytes = new Uint8Array(HEADER_BYTES);
  const length = file.read(bytes, 0);
  if (length < HEADER_BYTES) return `it has ${length} bytes`;
  const view = new DataView(bytes.buffer);
  if (view.getUint32(0) !== MAGIC) return 'it does not begin as ours do';
  if (view.getUint8(5) !== FORMAT) return `it has the format ${view.getUint8(5)}, and this program reads ${FORMAT}`;
  if (view.getInt32(CHECK_AT, true) !== runtime().crc32(bytes, 0, CHECK_AT, 0)) return 'its first 32 bytes are damaged';
  if (view.getUint8(4) !== kind || view.getUint32(8, true) !== generation) return 'it was another file before';
  return { kind, generation, salt: view.getInt32(12, true), sequence: Number(view.getBigUint64(16, true)) };
}

/**
 * Begins a file, under a name that says that it is not complete.
 *
 * @throws VerbsError EOVERFLOW when there is no name left; what the folder throws
 */
export function beginFile(folder: Folder, header: FileHeader): FolderFile {
  if (header.generation > LAST_GENERATION)
    throw new VerbsError('openPersistence', {
      errno: 'EOVERFLOW',
      message: `${folder.path} has a file with the last number that names have room for, ${LAST_GENERATION}`,
      advice: 'Read all keys by a client, and set them in a store with a new folder',
    });
  const name = fileName(header.kind, header.generation) + UNFINISHED;
  // Left over from when the disk failed.
  if (folder.names().includes(name)) folder.remove(name);
  const file = folder.create(name);
  try {
    file.write(encodeHeader(header), 0);
    return file;
  } catch (error) {
    abandonFile(folder, file, header);
    throw error;
  }
}

/** All of a file was written: it is put on the disk, and has its own name then. */
export function finishFile(folder: Folder, file: FolderFile, { kind, generation }: FileHeader): void {
  const name = fileName(kind, generation);
  file.sync();
  folder.rename(name + UNFINISHED, name);
  folder.sync();
}

/** Takes a file away that was begun, as far as that goes: what is left is removed when the folder is opened. */
export function abandonFile(folder: Folder, file: FolderFile, { kind, generation }: FileHeader): void {
  try {
    file.close();
    folder.remove(fileName(kind, generation) + UNFINISHED);
  } catch {
    // There is none, or the disk fails.
  }
}
