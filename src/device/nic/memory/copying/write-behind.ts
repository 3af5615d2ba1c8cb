import { isOfDevice, type Permission, type RegionMemory } from '../region-memory.js';
import { BUFFER_BYTES, type CopyEngine, PendingCopy } from './copy-engine.js';
import { type AtomicOperation, LATER, CopyStatus } from './foreign-memory.js';
import { ParkedPackets } from './parked-packets.js';

const NO_BYTES = new Uint8Array(0);
/** Packets of that length are parts of messages that are longer. */
const LONG_BYTES = 16 * 1024;

/** Bytes that lie side by side in the buffer and in a region. */
interface Run {
  readonly region: RegionMemory;
  /** What the region was when they came. */
  readonly epoch: number;
  readonly permission: Permission | undefined;
  readonly offset: number;
  readonly at: number;
  lengthBytes: number;
}

class Batch {
  buffer: Uint8Array = NO_BYTES;
  fill = 0;
  runs: Run[] = [];
}

/**
 * What the packets of one half of a queue pair bring for foreign memory: gathered, and written by one copy for as many as came
 * in a turn, in their order. Before anybody is told of a message, {@link settle} has all of it written. While that
 * takes longer, the packet that needs it waits, and what comes behind it, so that each half goes on with one packet after the other.
 */
export class WriteBehind {
  /** The packet that came last has to come again, and what comes now behind it. */
  waiting = false;
  readonly parked: ParkedPackets;
  /** What the last atomic has found, as it lay in memory. */
  readonly found = new Uint8Array(8);
  /** The bytes of the packet that has to come again are gathered. */
  #stored = false;
  /** Something could not be written, and nobody knows yet. */
  #failed = false;
  #faultRegion: RegionMemory | undefined;
  #faultOffset = 0;
  #faultIsOfDevice = false;
  #gathered = new Batch();
  #flight = new Batch();
  #run = 0;
  #copy: PendingCopy | undefined;
  /** What is being written belongs to a message that is of no use any more: that it fails concerns nobody. */
  #orphaned = false;
  /** An atomic that is under way or has ended. */
  #atomic: CopyStatus | undefined;
  #ofAtomic: () => boolean = () => false;

  /** @param resume called when what {@link waiting} stands for is over */
  constructor(
    private readonly engine: CopyEngine,
    private readonly resume: () => void,
  ) {
    this.parked = new ParkedPackets(engine);
  }

  /** Of what has {@link CopyStatus.FAILED}: the region, and where in it the byte is that is not there. */
  get faultRegion(): RegionMemory | undefined {
    return this.#faultRegion;
  }

  get faultOffset(): number {
    return this.#faultOffset;
  }

  /** Whether a device has failed there, rather than that a byte is not there or may not be touched any more. */
  get faultIsOfDevice(): boolean {
    return this.#faultIsOfDevice;
  }

  /** Whether the next `lengthBytes` of a packet can be gathered. */
  admit(lengthBytes: number): CopyStatus {
    if (this.#stored) return CopyStatus.READY;
    if (!this.#failed && this.#gathered.fill + lengthBytes > BUFFER_BYTES) this.#write();
    if (this.#failed) return this.#fail();
    if (this.#gathered.fill + lengthBytes <= BUFFER_BYTES) return CopyStatus.READY;
    this.waiting = true;
    return CopyStatus.LATER;
  }

  /** Gathers bytes for `offset` of a region, for which {@link admit} has found room. */
  store(
    region: RegionMemory,
    permission: Permission | undefined,
    offset: number,
    source: Uint8Array,
    sourceOffset: number,
    lengthBytes: number,
  ): void {
    if (this.#stored) return;
    const batch = this.#gathered;
    if (batch.buffer.length < batch.fill + lengthBytes) this.#grow(batch, batch.fill + lengthBytes);
    batch.buffer.set(source.subarray(sourceOffset, sourceOffset + lengthBytes), batch.fill);
    const last = batch.runs.at(-1);
    if (
      last?.region === region &&
      last.epoch === region.epoch &&
      last.permission === permission &&
      last.offset + last.lengthBytes === offset
    ) {
      last.lengthBytes += lengthBytes;
    } else {
      batch.runs.push({ region, epoch: region.epoch, permission, offset, at: batch.fill, lengthBytes });
    }
    batch.fill += lengthBytes;
    this.engine.stage(this);
  }

  settle(): CopyStatus {
    this.#write();
    if (this.#copy !== undefined) {
      this.#stored = true;
      this.waiting = true;
      return CopyStatus.LATER;
    }
    this.#stored = false;
    return this.#failed ? this.#fail() : CopyStatus.READY;
  }

  /** Executes an atomic; once that is done, it is {@link CopyStatus.READY} for the packet that comes again, and {@link found} is. */
  atomic(region: RegionMemory, permission: Permission, offset: number, operation: AtomicOperation): CopyStatus {
    const { foreign, epoch } = region;
    let state = this.#atomic;
    this.#atomic = undefined;
    if (state === undefined && foreign !== undefined) {
      const copy = new PendingCopy(this.engine, this, permission);
      const copied = foreign.atomic(offset, operation, this.found, copy);
      if (copied === LATER) {
        copy.started(region, foreign);
        this.#copy = copy;
        this.#atomic = CopyStatus.LATER;
        this.#ofAtomic = () => isOfDevice(region, epoch, permission);
        this.waiting = true;
        return CopyStatus.LATER;
      }
      state = copied === 8 ? CopyStatus.READY : CopyStatus.FAILED;
      this.#faultIsOfDevice = isOfDevice(region, epoch, permission);
    }
    return state ?? CopyStatus.FAILED;
  }

  /** The message that was being received is of no use any more; what of it is being written may go on. */
  forget(): void {
    this.#empty(this.#gathered);
    this.engine.unstage(this);
    this.#failed = false;
    this.#stored = false;
    this.#orphaned = this.#copy !== undefined;
  }

  /** Nothing more is written. @returns how many packets waited */
  drop(): number {
    this.#copy?.abandon();
    this.#copy = undefined;
    this.#atomic = undefined;
    this.waiting = false;
    this.#empty(this.#flight);
    this.forget();
    return this.parked.clear();
  }

  onTurnEnd(): void {
    this.#write();
  }

  onCopied(copiedBytes: number): void {
    this.#copy = undefined;
    if (this.#atomic === CopyStatus.LATER) {
      this.#atomic = copiedBytes === 8 ? CopyStatus.READY : CopyStatus.FAILED;
      this.#faultIsOfDevice = this.#ofAtomic();
    } else {
      if (this.#account(copiedBytes)) this.#go();
      this.#write();
    }
    // Who waits for room only has it now.
    if (!this.waiting || (this.#isWriting && this.#stored)) return;
    this.waiting = false;
    this.resume();
  }

  get #isWriting(): boolean {
    return this.#copy !== undefined;
  }

  /** Writes what was gathered, unless something is being written. */
  #write(): void {
    if (this.#copy !== undefined || this.#gathered.runs.length === 0) return;
    [this.#gathered, this.#flight] = [this.#flight, this.#gathered];
    this.engine.unstage(this);
    this.#go();
  }

  /** Writes run after run, as long as none takes longer or fails. */
  #go(): void {
    const { runs, buffer } = this.#flight;
    while (this.#run < runs.length) {
      const { region, epoch, permission, offset, at, lengthBytes } = runs[this.#run];
      const { foreign } = region;
      // Keys that were closed meanwhile open nothing any more.
      const open = region.epoch === epoch && permission?.open !== false;
      if (foreign === undefined || !open) {
        this.#account(0);
        return;
      }
      const copy = new PendingCopy(this.engine, this, permission);
      const copied = foreign.write(offset, buffer, at, lengthBytes, copy);
      if (copied === LATER) {
        copy.started(region, foreign);
        this.#copy = copy;
        return;
      }
      if (!this.#account(copied)) return;
    }
    this.#empty(this.#flight);
    this.#orphaned = false;
  }

  /**
   * A run has ended.
   *
   * @returns false when not all of it was written: nothing behind it is, for the message has failed
   */
  #account(copiedBytes: number): boolean {
    const { region, epoch, permission, offset, lengthBytes } = this.#flight.runs[this.#run];
    if (copiedBytes === lengthBytes) {
      this.#run += 1;
      return true;
    }
    this.#empty(this.#flight);
    if (!this.#orphaned) {
      this.#failed = true;
      this.#faultRegion = region;
      this.#faultOffset = offset + copiedBytes;
      this.#faultIsOfDevice = isOfDevice(region, epoch, permission);
      this.#empty(this.#gathered);
      this.engine.unstage(this);
    }
    this.#orphaned = false;
    return false;
  }

  #fail(): CopyStatus {
    this.#failed = false;
    this.#stored = false;
    return CopyStatus.FAILED;
  }

  #grow(batch: Batch, lengthBytes: number): void {
    const old = batch.buffer;
    // What has more than one packet, or a long one, may get more still, which is not to be copied for that.
    batch.buffer = this.engine.take(old.length > 0 || lengthBytes >= LONG_BYTES ? BUFFER_BYTES : lengthBytes);
    batch.buffer.set(old.subarray(0, batch.fill));
    if (old.length > 0) this.engine.give(old);
  }

  #empty(batch: Batch): void {
    if (batch.buffer.length > 0) this.engine.give(batch.buffer);
    batch.buffer = NO_BYTES;
    batch.fill = 0;
    batch.runs = [];
    if (batch === this.#flight) this.#run = 0;
  }
}
