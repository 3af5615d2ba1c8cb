/** A file in a {@link Folder}. What fails throws an Error with the system's name of what is wrong as its `code`. */
export interface FolderFile {
  /** Bytes that it has. */
  readonly byteLength: number;
  /** Reads from byte `at` on. @returns how many bytes there were: less than asked for only at the end */
  read(into: Uint8Array, at: number): number;
  /** Writes all of it from byte `at` on. Where that throws, a part of it may have been written. */
  write(bytes: Uint8Array, at: number): void;
  /** Cuts it off after so many bytes. */
  truncate(byteLength: number): void;
  /** What was written survives the machine when this has returned. Where it throws, nobody knows what does. */
  sync(): void;
  /** Idempotent. */
  close(): void;
}

/** A folder that nobody else uses meanwhile. What fails throws an Error with the system's name of what is wrong as its `code`. */
export interface Folder {
  readonly path: string;
  names(): readonly string[];
  open(name: string): FolderFile;
  /** Makes a file that there was not, and that no other user may read. */
  create(name: string): FolderFile;
  /** Gives a file another name, whose file ends. */
  rename(from: string, to: string): void;
  remove(name: string): void;
  /** The names survive the machine when this has returned. */
  sync(): void;
  /** Others may use it. Idempotent. */
  close(): void;
}
