import { assert } from '../../../ibta/index.js';
import { isOfDevice, type Permission, type RegionMemory } from '../region-memory.js';
import { BUFFER_BYTES, type CopyEngine, PendingCopy } from './copy-engine.js';
import { LATER, CopyStatus } from './foreign-memory.js';

const NO_BYTES = new Uint8Array(0);
const FIRST_WINDOW_BYTES = 16 * 1024;

/** A piece of a region whose bytes come next in the message. */
interface Piece {
  readonly region: RegionMemory;
  readonly epoch: number;
  readonly permission: Permission | undefined;
  readonly offset: number;
  readonly lengthBytes: number;
}

/**
 * What one half of a queue pair is about to send, read out of foreign memory by one copy for several packets. Each byte is
 * handed out once, to the packet that it was read for or to the next of the same message, and never in a later turn, unless
 * the copy itself took longer: a program may change memory as soon as the NIC has told it that it may.
 */
export class ReadAhead {
  #pieces: Piece[] = [];
  #buffer: Uint8Array = NO_BYTES;
  #copy: PendingCopy | undefined;
  /** Which message, and what of it the buffer holds: from where on, what is handed out next, what was read, what was asked for. */
  #message = 0;
  #from = 0;
  #next = 0;
  #read = 0;
  #end = 0;
  /** The piece that is read, and how much of the buffer those before it fill. */
  #piece = 0;
  #filled = 0;
  #faulted = false;
  /** How much is read at once: as far as it was made use of. */
  #windowBytes = FIRST_WINDOW_BYTES;

  /** @param ready called when a copy that took longer has ended */
  constructor(
    private readonly engine: CopyEngine,
    private readonly ready: () => void,
  ) {}

  /** Of what has {@link CopyStatus.FAILED}: the region, and where in it the byte is that is not there. */
  get faultRegion(): RegionMemory {
    return this.#pieces[this.#piece].region;
  }

  get faultOffset(): number {
    const before = this.#pieces.slice(0, this.#piece).reduce((sum, { lengthBytes }) => sum + lengthBytes, 0);
    return this.#pieces[this.#piece].offset + this.#filled - before;
  }

  get faultIsOfDevice(): boolean {
    const { region, epoch, permission } = this.#pieces[this.#piece];
    return isOfDevice(region, epoch, permission);
  }

  /** Whether somebody steps aside until a copy has ended. */
  get pending(): boolean {
    return this.#copy !== undefined;
  }

  /** How much of a message is worth reading from here on, at least `lengthBytes`. */
  window(lengthBytes: number): number {
    return Math.min(BUFFER_BYTES, Math.max(lengthBytes, this.#windowBytes));
  }

  /**
   * How it stands with `lengthBytes` of a message from `messageOffset` on; undefined when nothing was asked for them, and
   * {@link begin} has to.
   */
  state(message: number, messageOffset: number, lengthBytes: number): CopyStatus | undefined {
    if (this.#end === 0 || message !== this.#message || messageOffset !== this.#next) return undefined;
    if (this.#pieces.some(({ region, epoch }) => region.epoch !== epoch)) return undefined;
    if (messageOffset + lengthBytes <= this.#read) return CopyStatus.READY;
    if (this.#copy !== undefined) return CopyStatus.LATER;
    return this.#faulted && messageOffset + lengthBytes <= this.#end ? CopyStatus.FAILED : undefined;
  }

  /** Begins anew; {@link add} says what is read, and {@link start} reads it. */
  begin(message: number, messageOffset: number): void {
    this.drop();
    this.#message = message;
    this.#from = messageOffset;
    this.#next = messageOffset;
    this.#read = messageOffset;
    this.#end = messageOffset;
  }

  add(region: RegionMemory, permission: Permission | undefined, offset: number, lengthBytes: number): void {
    this.#pieces.push({ region, epoch: region.epoch, permission, offset, lengthBytes });
    this.#end += lengthBytes;
  }

  start(): void {
    this.#buffer = this.engine.take(this.#end - this.#from);
    this.engine.stage(this);
    this.#go();
  }

  /** Hands out the next `lengthBytes`, which are {@link CopyStatus.READY}. */
  take(target: Uint8Array, targetOffset: number, lengthBytes: number): void {
    const at = this.#next - this.#from;
    assert(this.#next + lengthBytes <= this.#read, 'bytes are handed out that were not read');
    target.set(this.#buffer.subarray(at, at + lengthBytes), targetOffset);
    this.#next += lengthBytes;
    if (this.#next < this.#end) return;
    this.#windowBytes = Math.min(BUFFER_BYTES, 2 * this.#windowBytes);
    this.#release();
  }

  /** What was read is of no use any more. */
  drop(): void {
    this.#copy?.abandon();
    this.#copy = undefined;
    // What was made use of to its end has been taken account of.
    const cutShort = this.#end > 0 && this.#next > this.#from;
    if (cutShort) this.#windowBytes = Math.max(FIRST_WINDOW_BYTES, this.#next - this.#from);
    this.#release();
  }

  onTurnEnd(): void {
    if (this.#copy === undefined) this.drop();
  }

  onCopied(copiedBytes: number): void {
    this.#copy = undefined;
    this.#account(copiedBytes);
    this.#go();
    if (!this.pending) this.ready();
  }

  /** Reads piece after piece, as long as none takes longer or fails. */
  #go(): void {
    while (!this.#faulted && this.#piece < this.#pieces.length) {
      const { region, epoch, permission, offset, lengthBytes } = this.#pieces[this.#piece];
      const { foreign } = region;
      if (region.epoch !== epoch) {
        this.#faulted = true;
      } else if (foreign !== undefined) {
        const copy = new PendingCopy(this.engine, this, permission);
        const copied = foreign.read(offset, this.#buffer, this.#filled, lengthBytes, copy);
        if (copied === LATER) {
          copy.started(region, foreign);
          this.#copy = copy;
          // What took so long is kept until it is sent.
          this.engine.unstage(this);
          return;
        }
        this.#account(copied);
      } else {
        const target = this.#buffer.subarray(this.#filled, this.#filled + lengthBytes);
        if (region.isNull) target.fill(0);
        else target.set(region.part(offset, lengthBytes));
        this.#account(lengthBytes);
      }
    }
  }

  #account(copiedBytes: number): void {
    const { lengthBytes } = this.#pieces[this.#piece];
    this.#filled += copiedBytes;
    this.#read = this.#from + this.#filled;
    if (copiedBytes === lengthBytes) this.#piece += 1;
    else this.#faulted = true;
  }

  #release(): void {
    if (this.#end === 0) return;
    this.engine.unstage(this);
    if (this.#buffer.length > 0) this.engine.give(this.#buffer);
    this.#buffer = NO_BYTES;
    this.#pieces = [];
    this.#piece = 0;
    this.#filled = 0;
    this.#faulted = false;
    this.#end = 0;
  }
}
