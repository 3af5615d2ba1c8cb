/** Captures as files that Wireshark reads. */
import { closeSync, ftruncateSync, rmSync, writeSync } from 'node:fs';
import { LinkType, pcapngHeader, pcapngPacket } from '../wire/index.js';
import type { LinkError } from './link-error.js';
import { applicationName, captureError, openCapture } from './pcapng-file-name.js';
import type { PacketRecorder } from './tap.js';

const BUFFER_BYTES = 256 * 1024;
/** Longer than this nothing lies in memory only, as long as the thread's event loop runs. */
const HOLD_MS = 200;

export interface PcapngFileOptions {
  /** Told, in a sentence, when the file had to be named otherwise or cannot be written any further. */
  readonly warn?: ((text: string) => void) | undefined;
}

const openFiles = new Set<PcapngFile>();

/** One listener for all files, however many there are. */
function closeAll(): void {
  for (const file of openFiles) file.close();
}

/**
 * A pcapng file being written, packet by packet.
 *
 * When it cannot be written any further (a full disk), it is cut back to the last whole packet, {@link failure} says why,
 * `warn` is called once, and what follows is not recorded: the traffic goes on. What is still in memory is written when the
 * process exits, unless a signal kills it.
 */
export class PcapngFile implements PacketRecorder {
  /** Where it is really written. */
  readonly path: string;
  readonly #isFile: boolean;
  readonly #warn: (text: string) => void;
  readonly #buffer = new Uint8Array(BUFFER_BYTES);
  #used = 0;
  #writtenBytes = 0;
  #fd: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #failure: LinkError | undefined;

  /** @throws LinkError when the file cannot be made, or not even its header can be written */
  constructor(name: string, { warn }: PcapngFileOptions = {}) {
    this.#warn = warn ?? ((text) => process.emitWarning(text));
    const { fd, path, isFile, renamed } = openCapture(name);
    this.path = path;
    this.#isFile = isFile;
    this.#fd = fd;
    const header = pcapngHeader({ linkType: LinkType.RAW, appName: applicationName() });
    try {
      this.#write(header);
    } catch (error) {
      this.#fd = undefined;
      closeSync(fd);
      if (isFile) rmSync(path, { force: true });
      throw captureError(path, error);
    }
    if (openFiles.size === 0) process.on('exit', closeAll);
    openFiles.add(this);
    if (renamed) this.#warn(`${name} is in use by another capture: this program records into ${path}.`);
  }

  /** Why recording ended early; undefined when it did not. */
  get failure(): LinkError | undefined {
    return this.#failure;
  }

  /** @param comment shown by Wireshark beside the packet */
  record(timestampNs: bigint, ipPacket: Uint8Array, direction: 'in' | 'out', comment?: string): boolean {
    if (this.#isClosed()) return false;
    const block = pcapngPacket(timestampNs, ipPacket, { direction, ...(comment !== undefined && { comment }) });
    if (this.#used + block.length > BUFFER_BYTES) {
      this.sync();
      // Which may have been the end of it.
      if (this.#isClosed()) return false;
    }
    this.#buffer.set(block, this.#used);
    this.#used += block.length;
    this.#timer ??= setTimeout(() => this.sync(), HOLD_MS).unref();
    return true;
  }

  #isClosed(): boolean {
    return this.#fd === undefined;
  }

  sync(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#fd === undefined || this.#used === 0) return;
    const pending = this.#buffer.subarray(0, this.#used);
    const start = this.#writtenBytes;
    this.#used = 0;
    try {
      this.#write(pending);
    } catch (error) {
      this.#stop(error, pending, start);
    }
  }

  close(): void {
    this.sync();
    this.#closeFd();
  }

  /** Writes all of it; where that fails, #writtenBytes tells how far it came. */
  #write(bytes: Uint8Array): void {
    let done = 0;
    while (this.#fd !== undefined && done < bytes.length) {
      const count = writeSync(this.#fd, bytes, done, bytes.length - done);
      done += count;
      this.#writtenBytes += count;
    }
  }

  #stop(error: unknown, pending: Uint8Array, start: number): void {
    this.#failure = captureError(this.path, error);
    if (this.#isFile) this.#cutBack(pending, start);
    this.#closeFd();
    this.#warn(`${this.#failure.message} Recording ends here; the traffic goes on.`);
  }

  /** A reader would stumble over half a block at the end. */
  #cutBack(pending: Uint8Array, start: number): void {
    let end = start;
    for (const length of blockLengths(pending)) {
      if (end + length > this.#writtenBytes) break;
      end += length;
    }
    try {
      if (this.#fd !== undefined) ftruncateSync(this.#fd, end);
    } catch {
      // Then the file ends in the middle of a packet: a reader loses that packet alone.
    }
  }

  #closeFd(): void {
    const fd = this.#fd;
    if (fd === undefined) return;
    this.#fd = undefined;
    openFiles.delete(this);
    if (openFiles.size === 0) process.off('exit', closeAll);
    try {
      closeSync(fd);
    } catch {
      // Nothing is in memory any more that could still be saved.
    }
  }
}

/** The lengths of the blocks that lie one after the other. */
function* blockLengths(bytes: Uint8Array): Generator<number> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at < bytes.length;) {
    const length = view.getUint32(at + 4, true);
    yield length;
    at += length;
  }
}
