import { type AtomicOperation, atomicResult } from '../../src/device/nic/index.js';
import {
  BatchState,
  type GpuBatch,
  GpuFailure,
  type GpuHandle,
  type GpuQueue,
  type GpuStaging,
} from '../../src/node/gpu/index.js';
import { asFailure, COMPARE_PARTS } from '../../src/node/gpu/driver/gpu-driver.js';

export interface FakeClock {
  readonly nowUs: number;
  at(timeUs: number, action: () => void): void;
}

export type Misfortune = 'call' | 'result' | 'submit' | 'command' | 'staging' | 'queue' | 'drain';

/** How a device behaves. What is absent does not happen. */
export interface GpuManner {
  /** µs until the commands that were submitted together are done, once those before them are; asked for at each batch. */
  readonly delayUs?: () => number;
  /** Whether it tells when a batch has ended, in place of being asked again and again. */
  readonly tells?: boolean;
  readonly fails?: (where: Misfortune) => boolean;
}

export interface Touch {
  readonly buffer: GpuHandle;
  readonly offset: number;
  readonly lengthBytes: number;
}

export class FakeStaging implements GpuStaging {
  readonly bytes: Uint8Array;
  isFreed = false;

  constructor(
    readonly handle: GpuHandle,
    lengthBytes: number,
  ) {
    this.bytes = new Uint8Array(lengthBytes);
  }
}

/** A range of staging memory, and whether the device writes to it. */
interface StagingUse {
  readonly staging: FakeStaging;
  readonly at: number;
  readonly lengthBytes: number;
  readonly isWritten: boolean;
}

export interface FakeCommand {
  readonly touch: Touch;
  readonly use: StagingUse | undefined;
  /** What the processor has put there for the device, as it was when the command was submitted. */
  given: Uint8Array | undefined;
  /** Carries out so many bytes of it. */
  readonly act: (lengthBytes: number) => void;
}

export interface FakeDevice {
  readonly clock: FakeClock;
  readonly manner: GpuManner;
  readonly failed: Touch[];
  readonly buffers: ReadonlyMap<GpuHandle, Uint8Array>;
  /** Nobody knows what one of its queues still does. */
  isLost: boolean;
  /** Something was done that may not be done. */
  fault(what: string): void;
  /** @throws GpuFailure when it fails here */
  maybeFail(where: Misfortune, call: string): void;
  /** A command takes effect. @returns whether it can */
  touched(touch: Touch): boolean;
  underWay(): Iterable<FakeCommand>;
}

interface Owner {
  readonly device: FakeDevice;
  readonly staging: ReadonlySet<FakeStaging>;
  readonly batches: Set<GpuBatch>;
  readonly queues: Set<FakeQueue>;
  /** What makes atomics possible, once it was asked for. */
  readonly atomics: GpuHandle | undefined;
}

const GARBAGE = 0xee;
/** How much later than it would have a queue does things of which nobody knows what it does. */
const LOST_US = 10_000;
const FAILURE = -9999;

/** What a call of the device throws that fails, and what a batch has failed for. */
export function misfortune(call: string): GpuFailure {
  return new GpuFailure(call, FAILURE, 'FAKE_MISFORTUNE');
}

export function overlap(aFrom: number, aLength: number, bFrom: number, bLength: number): boolean {
  return aFrom < bFrom + bLength && bFrom < aFrom + aLength;
}

class FakeBatch implements GpuBatch {
  failure: GpuFailure | undefined;
  /** Commands that were carried out. */
  done = 0;
  hasEnded = false;

  constructor(
    private readonly queue: FakeQueue,
    readonly commands: readonly FakeCommand[],
    /** Which of its commands fails; behind all of them where none does. */
    readonly failsAt: number,
  ) {}

  state(): BatchState {
    this.queue.noticeLoss(this);
    if (!this.hasEnded) return BatchState.RUNNING;
    return this.failure === undefined ? BatchState.DONE : BatchState.FAILED;
  }

  wait(): void {
    this.queue.finish(this);
  }

  release(): void {
    this.queue.owner.batches.delete(this);
  }
}

/** Commands of a device in virtual time: those of one queue take effect in their order, those of several in any. */
export class FakeQueue implements GpuQueue {
  #added: FakeCommand[] = [];
  /** Batches that have not ended, in their order. */
  readonly #running: FakeBatch[] = [];
  /** Batches of which nobody knows whether they have ended: they have not. */
  readonly #lost = new Set<FakeBatch>();
  #busyUntilUs = 0;
  /** Why what an atomic finds is not fetched: that was refused when the atomic had been added. */
  #unfetched: GpuFailure | undefined;
  #ended: (() => void) | undefined;
  #isClosed = false;
  /** Nobody knows what it still does. */
  #isLost = false;

  constructor(readonly owner: Owner) {}

  write(buffer: GpuHandle, offset: number, staging: GpuStaging, at: number, lengthBytes: number): void {
    const use = this.#use(staging, at, lengthBytes, false);
    this.#add('write', { buffer, offset, lengthBytes }, use, (whole) =>
      this.#bytes(buffer).set(staging.bytes.subarray(at, at + whole), offset),
    );
  }

  read(buffer: GpuHandle, offset: number, staging: GpuStaging, at: number, lengthBytes: number): void {
    const use = this.#use(staging, at, lengthBytes, true);
    this.#add('read', { buffer, offset, lengthBytes }, use, (whole) =>
      staging.bytes.set(this.#bytes(buffer).subarray(offset, offset + whole), at),
    );
  }

  atomic(
    atomics: GpuHandle,
    buffer: GpuHandle,
    offset: number,
    operation: AtomicOperation,
    staging: GpuStaging,
    at: number,
  ): void {
    if (atomics !== this.owner.atomics) this.owner.device.fault('an atomic is none that this device has got ready');
    const use = this.#use(staging, at, 8, true);
    let isFetched = true;
    this.#add('atomic', { buffer, offset, lengthBytes: 8 }, use, (whole) => {
      if (whole < 8) return;
      const bytes = this.#bytes(buffer);
      const view = new DataView(bytes.buffer, bytes.byteOffset + offset, 8);
      if (isFetched) staging.bytes.set(bytes.subarray(offset, offset + 8), at);
      view.setBigUint64(0, atomicResult(operation, view.getBigUint64(0, true)), true);
    });
    try {
      this.#maybeFail('result', 'read');
    } catch (error) {
      this.#unfetched = asFailure(error);
      isFetched = false;
    }
  }

  fill(buffer: GpuHandle, offset: number, lengthBytes: number, value: number): void {
    this.#add('fill', { buffer, offset, lengthBytes }, undefined, (whole) =>
      this.#bytes(buffer).fill(value, offset, offset + whole),
    );
  }

  compare(
    a: GpuHandle,
    aOffset: number,
    b: GpuHandle,
    bOffset: number,
    lengthBytes: number,
    staging: GpuStaging,
    at: number,
  ): void {
    const use = this.#use(staging, at, 8 * COMPARE_PARTS, true);
    this.#add('compare', { buffer: a, offset: aOffset, lengthBytes }, use, () => {
      const [one, other] = [this.#bytes(a).subarray(aOffset), this.#bytes(b).subarray(bOffset)];
      let first = 0;
      while (first < lengthBytes && one[first] === other[first]) first += 1;
      const view = new DataView(staging.bytes.buffer, staging.bytes.byteOffset + at);
      for (let i = 0; i < COMPARE_PARTS; i += 1) view.setBigUint64(8 * i, BigInt(first), true);
    });
  }

  submit(): GpuBatch {
    const { device, batches } = this.owner;
    const commands = this.#added;
    this.#added = [];
    if (this.#isClosed) device.fault('commands are submitted to a queue that is closed');
    const refusal = this.#refusal();
    if (refusal !== undefined) for (const { touch } of commands) device.failed.push(touch);
    if (refusal !== undefined && this.#isLost) throw refusal;
    for (const command of commands) {
      const { use } = command;
      if (use?.isWritten === false) command.given = use.staging.bytes.slice(use.at, use.at + use.lengthBytes);
      else if (use !== undefined) use.staging.bytes.fill(GARBAGE, use.at, use.at + use.lengthBytes);
    }
    const failsAt = commands.findIndex(() => device.manner.fails?.('command') === true);
    const batch = new FakeBatch(this, commands, failsAt < 0 ? commands.length : failsAt);
    this.#running.push(batch);
    this.#plan(batch, refusal === undefined);
    // What was added has begun, although nobody will tell when it ends.
    if (refusal !== undefined) throw refusal;
    batches.add(batch);
    return batch;
  }

  drain(): boolean {
    const { device } = this.owner;
    if (device.manner.fails?.('drain') === true) {
      this.#isLost = true;
      device.isLost = true;
    }
    for (const batch of [...this.#running]) this.finish(batch);
    return !this.#isLost;
  }

  listen(ended: () => void): void {
    this.#ended = ended;
  }

  close(): void {
    const { device, queues } = this.owner;
    if (this.#running.length > 0) device.fault('a queue is closed while commands are under way');
    this.#isClosed = true;
    queues.delete(this);
  }

  *unfinished(): Iterable<FakeCommand> {
    yield* this.#added;
    for (const { commands, done, failsAt } of [...this.#running, ...this.#lost])
      yield* commands.slice(done, failsAt + 1);
  }

  /** Carries out a batch, and those before it; of a device that is lost nobody knows whether. */
  finish(batch: FakeBatch): void {
    this.noticeLoss(batch);
    while (!batch.hasEnded) {
      const [first] = this.#running;
      this.#advance(first, first.commands.length);
      this.#running.shift();
      first.hasEnded = true;
      if (first.failsAt < first.commands.length) first.failure = misfortune('command');
    }
  }

  noticeLoss(batch: FakeBatch): void {
    if (batch.hasEnded || !this.#isLost) return;
    batch.hasEnded = true;
    batch.failure = misfortune('device');
    const at = this.#running.indexOf(batch);
    if (at >= 0) this.#running.splice(at, 1);
    this.#lost.add(batch);
  }

  /** When a batch takes effect: half of it while whoever looks finds it running. */
  #plan(batch: FakeBatch, isTold: boolean): void {
    const { clock, manner } = this.owner.device;
    const delayUs = manner.delayUs?.() ?? 0;
    const beginUs = Math.max(clock.nowUs, this.#busyUntilUs);
    this.#busyUntilUs = beginUs + delayUs;
    clock.at(beginUs + delayUs / 2, () => {
      if (this.#running[0] === batch) this.#advance(batch, batch.commands.length >> 1);
    });
    clock.at(this.#busyUntilUs, () => {
      if (!this.#isLost) this.finish(batch);
      if (isTold) this.#ended?.();
    });
    // What a lost queue does in the end, it does late and without a word.
    clock.at(this.#busyUntilUs + LOST_US, () => {
      this.noticeLoss(batch);
      if (this.#lost.delete(batch)) this.#advance(batch, batch.commands.length);
    });
  }

  /** Carries out the first commands of a batch. */
  #advance(batch: FakeBatch, count: number): void {
    const { commands, failsAt } = batch;
    for (; batch.done < Math.min(count, failsAt); batch.done += 1) this.#carryOut(commands[batch.done], Infinity);
    if (count < commands.length || failsAt >= commands.length || batch.failure !== undefined) return;
    const { touch } = commands[failsAt];
    this.owner.device.failed.push(touch);
    this.#carryOut(commands[failsAt], touch.lengthBytes >> 1);
  }

  #carryOut({ touch, use, given, act }: FakeCommand, most: number): void {
    const { device } = this.owner;
    const whole = Math.min(most, touch.lengthBytes);
    if (whole === 0) return;
    if (use !== undefined) {
      const { staging, at, lengthBytes, isWritten } = use;
      const now = staging.bytes.subarray(at, at + lengthBytes);
      if (staging.isFreed) device.fault('a command uses staging memory that was freed');
      const isAsBefore = isWritten ? now.every((byte) => byte === GARBAGE) : Buffer.compare(now, given ?? now) === 0;
      if (!isAsBefore) device.fault('staging memory was used again before the command that names it had ended');
    }
    if (device.touched(touch)) act(whole);
  }

  /** Why what was added cannot be submitted as it has to be. */
  #refusal(): GpuFailure | undefined {
    const unfetched = this.#unfetched;
    this.#unfetched = undefined;
    try {
      this.#maybeFail('submit');
    } catch (error) {
      return asFailure(error);
    }
    return unfetched;
  }

  #maybeFail(where: Misfortune, call: string = where): void {
    if (this.#isLost) throw misfortune(call);
    this.owner.device.maybeFail(where, call);
  }

  #bytes(buffer: GpuHandle): Uint8Array {
    return this.owner.device.buffers.get(buffer) ?? new Uint8Array(0);
  }

  #use(staging: GpuStaging, at: number, lengthBytes: number, isWritten: boolean): StagingUse {
    for (const own of this.owner.staging) if (own === staging) return { staging: own, at, lengthBytes, isWritten };
    throw new Error('a command names staging memory that is none of its session');
  }

  #add(call: string, touch: Touch, use: StagingUse | undefined, act: (whole: number) => void): void {
    const { device } = this.owner;
    try {
      this.#maybeFail('call', call);
    } catch (error) {
      device.failed.push(touch);
      throw error;
    }
    if (!device.buffers.has(touch.buffer)) device.fault(`${call} names buffer ${touch.buffer}, which is none`);
    if (use !== undefined)
      for (const { use: other } of device.underWay())
        if (other?.staging === use.staging && overlap(other.at, other.lengthBytes, use.at, use.lengthBytes))
          device.fault('staging memory is given to two commands at once');
    this.#added.push({ touch, use, given: undefined, act });
  }
}

/** The same queue, of a kind that has to be asked. */
export function thatIsAsked(queue: FakeQueue): GpuQueue {
  return {
    write: (...args) => queue.write(...args),
    read: (...args) => queue.read(...args),
    atomic: (...args) => queue.atomic(...args),
    fill: (...args) => queue.fill(...args),
    compare: (...args) => queue.compare(...args),
    submit: () => queue.submit(),
    drain: () => queue.drain(),
    close: () => queue.close(),
  };
}
