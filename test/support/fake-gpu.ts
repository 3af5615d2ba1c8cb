import {
  type GpuBatch,
  type GpuDeviceFacts,
  type GpuDriver,
  type GpuHandle,
  GpuKind,
  type GpuQueue,
  type GpuSession,
  type GpuStaging,
} from '../../src/node/gpu/index.js';
import {
  type FakeClock,
  type FakeCommand,
  type FakeDevice,
  FakeQueue,
  FakeStaging,
  type GpuManner,
  type Misfortune,
  misfortune,
  overlap,
  thatIsAsked,
  type Touch,
} from './fake-gpu-queue.js';

/**
 * A third kind of GPU, in virtual time: a device whose batches end late and, from one queue to another, out of order, which fails
 * where it is told to, and which notices what no program may do while it works. It keeps that in {@link faults}.
 */
export class FakeGpu implements GpuDriver, FakeDevice {
  /** A name that there is; nobody asks for it by that. */
  readonly kind = GpuKind.OPENCL;
  readonly remedy = '';
  readonly faults: string[] = [];
  readonly failed: Touch[] = [];
  readonly buffers = new Map<GpuHandle, Uint8Array>();
  isLost = false;
  readonly #sessions: FakeSession[] = [];
  /** What no command may touch any more. */
  readonly #closed: Touch[] = [];
  #nextHandle = 1;

  constructor(
    readonly clock: FakeClock,
    readonly manner: GpuManner = {},
  ) {}

  devices(): readonly GpuDeviceFacts[] {
    return [{ index: 0, name: 'a device of virtual time', vendor: 'none', memoryBytes: 2 ** 30, hasAtomics: true }];
  }

  open(): GpuSession {
    return this.join();
  }

  join(): GpuSession {
    const session = new FakeSession(this);
    this.#sessions.push(session);
    return session;
  }

  nextHandle(): GpuHandle {
    return this.#nextHandle++;
  }

  fault(what: string): void {
    this.faults.push(`at ${this.clock.nowUs.toFixed(1)} us: ${what}`);
  }

  maybeFail(where: Misfortune, call: string): void {
    if (this.manner.fails?.(where) === true) throw misfortune(call);
  }

  /** From now on no command may touch a range: it is the program's alone. */
  closeRange(touch: Touch): void {
    this.#closed.push(touch);
  }

  touched({ buffer, offset, lengthBytes }: Touch): boolean {
    const bytes = this.buffers.get(buffer);
    // What a lost device does, nobody can help.
    if (this.isLost) return bytes !== undefined;
    if (bytes === undefined) {
      this.fault(`buffer ${buffer} is touched, which was freed`);
      return false;
    }
    const isInside = offset >= 0 && lengthBytes > 0 && offset + lengthBytes <= bytes.length;
    if (!isInside) this.fault(`${lengthBytes} bytes at ${offset} are not inside of ${bytes.length}`);
    for (const closed of this.#closed)
      if (closed.buffer === buffer && overlap(closed.offset, closed.lengthBytes, offset, lengthBytes))
        this.fault(`${lengthBytes} bytes at ${offset} of buffer ${buffer} are touched after deregistration`);
    return isInside;
  }

  *underWay(): Iterable<FakeCommand> {
    for (const { queues } of this.#sessions) for (const queue of queues) yield* queue.unfinished();
  }

  /** What is left when nobody should have anything any more. */
  leftovers(): string[] {
    const left: string[] = [];
    for (const { queues, staging, batches } of this.#sessions) {
      if (queues.size > 0) left.push(`${queues.size} queues`);
      if (staging.size > 0) left.push(`${staging.size} pieces of staging memory`);
      if (batches.size > 0) left.push(`${batches.size} batches`);
    }
    return left;
  }
}

class FakeSession implements GpuSession {
  readonly facts: GpuDeviceFacts;
  readonly context: GpuHandle;
  readonly queues = new Set<FakeQueue>();
  readonly staging = new Set<FakeStaging>();
  readonly batches = new Set<GpuBatch>();
  atomics: GpuHandle | undefined;

  constructor(readonly device: FakeGpu) {
    [this.facts] = device.devices();
    this.context = device.nextHandle();
  }

  alloc(lengthBytes: number): GpuHandle {
    const handle = this.device.nextHandle();
    this.device.buffers.set(handle, new Uint8Array(lengthBytes));
    return handle;
  }

  free(buffer: GpuHandle): void {
    const { device } = this;
    for (const { touch } of device.underWay())
      if (touch.buffer === buffer && !device.isLost) device.fault(`buffer ${buffer} is freed while a command names it`);
    if (!device.buffers.delete(buffer)) device.fault(`buffer ${buffer} is freed that is none`);
  }

  addressOf(): number | undefined {
    return undefined;
  }

  allocStaging(lengthBytes: number): GpuStaging {
    this.device.maybeFail('staging', 'allocStaging');
    const staging = new FakeStaging(this.device.nextHandle(), lengthBytes);
    this.staging.add(staging);
    return staging;
  }

  freeStaging(staging: GpuStaging): void {
    for (const { use } of this.device.underWay())
      if (use?.staging === staging) this.device.fault('staging memory is freed while a command names it');
    for (const own of this.staging) {
      if (own !== staging) continue;
      own.isFreed = true;
      this.staging.delete(own);
      return;
    }
    this.device.fault('staging memory is freed that is none');
  }

  prepareAtomics(): GpuHandle {
    this.atomics ??= this.device.nextHandle();
    return this.atomics;
  }

  openQueue(): GpuQueue {
    this.device.maybeFail('queue', 'openQueue');
    const queue = new FakeQueue(this);
    this.queues.add(queue);
    return this.device.manner.tells === true ? queue : thatIsAsked(queue);
  }

  close(): void {
    if (this.queues.size > 0 || this.staging.size > 0)
      this.device.fault('a session is closed that has queues or staging memory');
  }
}
