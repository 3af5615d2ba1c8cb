import type { Crc32 } from '../../device/wire/index.js';
import type { Folder } from './folder.js';

/** A value that goes with a program through all that it awaits. */
export interface Ambient<T> {
  /** Calls `program`, which finds `value`, and so does all that it begins. */
  run<R>(value: T, program: () => R): R;
  /** The caller's value. */
  get(): T | undefined;
  /** Binds a function to the current value, whoever calls it later. */
  bind<Arguments extends unknown[], R>(action: (...args: Arguments) => R): (...args: Arguments) => R;
}

/** The async context of a caller: what `AsyncLocalStorage` of Node holds for it, and all {@link Ambient} values. */
export interface AsyncContext {
  /** Calls `action` in that context. */
  run<R>(action: () => R): R;
}

/** A pcapng file that is being written. */
export interface CaptureFile {
  /** Where it lies: elsewhere than was asked for, when another capture is being written there. */
  readonly path: string;
  /** Why something could not be written, or undefined. */
  readonly failure: Error | undefined;
  /** Writes an IP packet. */
  record(timestampNs: bigint, ipPacket: Uint8Array, direction: 'in' | 'out', comment: string): void;
  close(): void;
}

/** What keeps a program running, as long as it is referenced: it is, to begin with. Every method is idempotent. */
export interface Life {
  ref(): void;
  unref(): void;
  end(): void;
}

/** A UDP port beside RDMA, and how it is opened. */
export interface DatagramPortOptions {
  /** An address of the machine's own. */
  readonly host: string;
  /** 0 is one that is free. */
  readonly port: number;
  /** Is called from the event loop with what has come, which is the receiver's to keep. */
  readonly onDatagram: (bytes: Uint8Array, host: string, port: number) => void;
}

/** An open UDP port. It keeps the process running. */
export interface DatagramPort {
  readonly port: number;
  /** Sends a datagram, which may get lost, here as well as on its way. */
  send(bytes: Uint8Array, host: string, port: number): void;
  /** Idempotent. */
  close(): void;
}

/** What the API asks of what it runs in. */
export interface Runtime {
  /** The version of this package. */
  readonly packageVersion: string;
  /** The quickest CRC-32 of zlib's kind that there is. */
  readonly crc32: Crc32;
  /** Where that comes from: a library's name, or `javascript`. */
  readonly crc32Source: string;
  /** A setting by its name; undefined when it is not set. */
  environment(name: string): string | undefined;
  /** The names of all settings. */
  environmentNames(): readonly string[];
  /** Says what does not work as it should, where programs look for such. */
  warn(problem: string | Error): void;
  /** Calls `action` when the program gives way: as far as it can be told, once those have gone on who waited for a promise. */
  afterMicrotasks(action: () => void): void;
  /**
   * Opens a log for people. @param where `stdout`, `stderr`, or the path of a file, to which lines are added; `%p` in it is the process, `%h` the host
   *
   * @returns writes a line, which comes without an end. Throws an Error where that cannot be
   * @throws Error with the system's name of what is wrong as its `code`
   */
  openLog(where: string): (line: string) => void;
  /**
   * Calls `action` when everybody else in the event loop has had a turn. Each action has its own turn: ticks and microtasks run between two
   * of them. Like all timers of a runtime, it runs in no caller's async context, and holds none.
   */
  nextRound(action: () => void): void;
  /** Calls `action` in so many real ms, and keeps the program running until then. The function returned takes it back. */
  timer(delayMs: number, action: () => void): () => void;
  /** As {@link timer}, but the program may end before. */
  chore(delayMs: number, action: () => void): () => void;
  /** Keeps the program running until that ends. */
  keepAlive(): Life;
  ambient<T>(): Ambient<T>;
  /** The caller's async context. */
  asyncContext(): AsyncContext;
  /** Memory that nothing takes away from those who have it, as far as there is such. @throws RangeError when there is no room */
  memory(bytes: number): ArrayBufferLike;
  /** Where a buffer begins in memory; undefined where nobody tells. */
  addressOf(buffer: ArrayBufferLike): number | undefined;
  /** What tells the file of a descriptor from any other. @throws Error when the descriptor is not open */
  identityOfFile(fd: number): string;
  /** Opens a UDP port. @throws Error with the system's name of what is wrong as its `code` */
  openDatagramPort(options: DatagramPortOptions): DatagramPort;
  /** Opens a folder for this program alone, and makes it where there is none. @throws Error with a `code`: EBUSY while another has it open */
  openFolder(path: string): Folder;
  /** Begins a capture. @throws Error when there can be no such file */
  openCapture(path: string): CaptureFile;
}
