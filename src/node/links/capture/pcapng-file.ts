/** Captures as files that Wireshark reads. */
import { closeSync, ftruncateSync, rmSync, writeSync } from 'node:fs';
import { codeOf, type LinkError, type PacketRecorder } from '../../../device/link/index.js';
import { LinkType, pcapngHeader, pcapngPacket } from '../../../device/wire/index.js';
import { applicationName, captureError, openCapture } from './pcapng-file-name.js';

const BUFFER_BYTES = 256 * 1024;
/** What waits for the reader of a pipe; packets beyond that are left out. */
const PIPE_BUFFER_BYTES = 4 * 1024 * 1024;
/** Longer than this nothing lies in memory only, as long as the thread's event loop runs. */
const HOLD_MS = 200;
/** How long a reader that has taken nothing is left alone before it is offered more. */
const OFFER_MS = 10;
/** How long the end of a capture waits for a reader. */
const LAST_OFFER_MS = 200;

const idle = new Int32Array(new SharedArrayBuffer(4));

export interface PcapngFileOptions {
  /** Told, in a sentence, when the file had to be named otherwise, lacks packets, or cannot be written any further. */
  readonly warn?: ((text: string) => void) | undefined;
}

const openFiles = new Set<PcapngFile>();

function closeAll(): void {
  for (const file of openFiles) file.close();
}

/**
 * A pcapng file being written, packet by packet.
 *
 * When it cannot be written any further (a full disk), it is cut back to the last whole packet, {@link failure} says why,
 * `warn` is called once, and what follows is not recorded: the traffic goes on. What is still in memory is written when the
 * process exits, unless a signal kills it.
 *
 * The reader of a pipe is waited for at the end alone, and not for long. Before that, what it does not take in time is left
 * out, whole packets at a time; the next packet that is recorded says how many there were.
 */
export class PcapngFile implements PacketRecorder {
  readonly path: string;
  readonly #isFile: boolean;
  readonly #warn: (text: string) => void;
  readonly #buffer: Uint8Array;
  #used = 0;
  #writtenBytes = 0;
  #fd: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #failure: LinkError | undefined;
  /** When a reader that takes nothing is offered more. */
  #offerAtMs = 0;
  /** Packets left out, and how many of them were not told of yet by one that was recorded. */
  #missed = 0;
  #untold = 0;

  /** @throws LinkError when the file cannot be made, or not even its header can be written */
  constructor(name: string, { warn }: PcapngFileOptions = {}) {
    this.#warn = warn ?? ((text) => process.emitWarning(text));
    const { fd, path, isFile, renamed } = openCapture(name);
    this.path = path;
    this.#isFile = isFile;
    this.#fd = fd;
    this.#buffer = new Uint8Array(isFile ? BUFFER_BYTES : PIPE_BUFFER_BYTES);
    this.#append(pcapngHeader({ linkType: LinkType.RAW, appName: applicationName() }));
    try {
      this.#writeBuffer();
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
    if (this.#fd === undefined) return false;
    const options = { direction, droppedBefore: this.#untold, ...(comment !== undefined && { comment }) };
    const block = pcapngPacket(timestampNs, ipPacket, options);
    if (!this.#hasRoomFor(block.length)) return this.#leaveOut();
    this.#append(block);
    this.#untold = 0;
    this.#timer ??= setTimeout(() => this.sync(), HOLD_MS).unref();
    return true;
  }

  sync(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const start = this.#writtenBytes;
    const pending = this.#buffer.subarray(0, this.#used);
    try {
      this.#writeBuffer();
    } catch (error) {
      this.#stop(error, pending, start);
      return;
    }
    if (this.#used > 0) this.#timer = setTimeout(() => this.sync(), OFFER_MS).unref();
  }

  close(): void {
    if (this.#fd === undefined) return;
    for (let waitedMs = 0; ; waitedMs += OFFER_MS) {
      this.sync();
      if (this.#used === 0 || waitedMs >= LAST_OFFER_MS) break;
      Atomics.wait(idle, 0, 0, OFFER_MS);
    }
    const missed = this.#missed > 0 ? `${this.#missed} packets are left out of it` : 'its last packets are left out';
    if (this.#failure === undefined && (this.#missed > 0 || this.#used > 0))
      this.#warn(`the capture ${this.path} is not complete: ${missed}, since its reader did not take them in time.`);
    this.#closeFd();
  }

  #append(block: Uint8Array): void {
    this.#buffer.set(block, this.#used);
    this.#used += block.length;
  }

  /** Makes room by writing, when there is none. */
  #hasRoomFor(lengthBytes: number): boolean {
    const fits = (): boolean => this.#used + lengthBytes <= this.#buffer.length;
    if (fits()) return true;
    // To ask a pipe that is full costs more than a packet.
    if (!this.#isFile && performance.now() < this.#offerAtMs) return false;
    this.sync();
    // Which may have been the end of it.
    return this.#fd !== undefined && fits();
  }

  #leaveOut(): false {
    if (this.#fd === undefined) return false;
    this.#untold += 1;
    this.#missed += 1;
    if (this.#missed === 1)
      this.#warn(
        `the capture ${this.path} is not complete: packets are left out, since its reader takes them more slowly than they come.`,
      );
    return false;
  }

  /** Writes all of the buffer, or what a pipe takes; where that fails, #writtenBytes tells how far it came. */
  #writeBuffer(): void {
    let done = 0;
    try {
      while (this.#fd !== undefined && done < this.#used) {
        const count = writeSync(this.#fd, this.#buffer, done, this.#used - done);
        done += count;
        this.#writtenBytes += count;
      }
    } catch (error) {
      if (codeOf(error) !== 'EAGAIN') throw error;
      this.#offerAtMs = performance.now() + OFFER_MS;
    }
    this.#buffer.copyWithin(0, done, this.#used);
    this.#used -= done;
  }

  #stop(error: unknown, pending: Uint8Array, start: number): void {
    this.#failure = captureError(this.path, error);
    this.#used = 0;
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
    clearTimeout(this.#timer);
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
