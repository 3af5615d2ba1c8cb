import { SeededRandom, type SimulatedNetwork } from '../../../src/device/link/index.js';
import {
  CopyMachine,
  type GpuFailure,
  type GpuHandle,
  type GpuSession,
  GpuMemory,
} from '../../../src/node/gpu/index.js';
import type { MrKeys } from '../../../src/device/nic/index.js';
import { TestHost } from '../../../src/device/nic/test/host.js';
import { ALL_ACCESS, hi32, lo32, type Sge } from '../../../src/device/nic/test/rings.js';
import { FakeGpu } from '../../support/fake-gpu.js';
import type { Misfortune } from '../../support/fake-gpu-queue.js';
import { check } from '../failure.js';
import type { DevicePlan } from './plan.js';
import type { Request } from './slot.js';

const NO_BYTES = new Uint8Array(0);
const REGION_SPACE = 2n ** 24n;
/** How often whoever has to ask for the end of copies does. */
const POLL_EVERY_US = 0.5;
const FIRST_IOVA = 0x7100_0000_0038n;

export class Area {
  isRegistered = true;
  readonly #keys: MrKeys;

  /** @param buffer its device's; undefined for memory of the program */
  constructor(
    private readonly owner: DeviceHost,
    /** What is in it now, as the program sees it when it asks the device. */
    public bytes: Uint8Array,
    public buffer: GpuHandle | undefined,
    private readonly iova: bigint,
  ) {
    const { host } = owner;
    this.#keys = host.nic.control.regMr({
      pd: host.pd,
      bytes: buffer === undefined ? bytes : NO_BYTES,
      foreign: buffer === undefined ? undefined : owner.memoryOf(buffer, bytes.length),
      iovaHi: hi32(iova),
      iovaLo: lo32(iova),
      access: ALL_ACCESS,
    });
  }

  sge(offset: number, length: number): Sge {
    return { addr: this.iova + BigInt(offset), length, lkey: this.#keys.lkey };
  }

  /** A part of it by its address, as a peer names it. */
  at(offset: number): { remoteAddr: bigint; rkey: number } {
    return { remoteAddr: this.iova + BigInt(offset), rkey: this.#keys.rkey };
  }

  /** Has the region lie in another buffer of the device, with the same content, and gives the one back that it was in. */
  move(): void {
    const { owner, buffer } = this;
    if (buffer === undefined || !this.isRegistered) return;
    const moved = owner.session.alloc(this.bytes.length);
    const foreign = owner.memoryOf(moved, this.bytes.length);
    owner.host.nic.control.reregMr({ handle: this.#keys.handle, bytes: NO_BYTES, foreign });
    // What is on its way into the old one has come, or never will.
    owner.bytesOf(moved).set(this.bytes);
    this.#close();
    this.free();
    this.buffer = moved;
    this.bytes = owner.bytesOf(moved);
  }

  deregister(): void {
    if (!this.isRegistered) return;
    this.isRegistered = false;
    this.owner.host.nic.control.deregMr(this.#keys.handle);
    this.#close();
  }

  /** Gives the memory back to the device. Its bytes are as they were then. */
  free(): void {
    const { buffer } = this;
    if (buffer === undefined) return;
    this.owner.session.free(buffer);
    this.buffer = undefined;
  }

  /** From now on the range is the program's alone. */
  #close(): void {
    const { buffer, owner, bytes } = this;
    if (buffer !== undefined) owner.gpu.closeRange({ buffer, offset: 0, lengthBytes: bytes.length });
  }
}

/** A host of the game: a NIC, and a device whose memory it reaches by copies. */
export class DeviceHost {
  readonly host: TestHost;
  readonly gpu: FakeGpu;
  readonly session: GpuSession;
  readonly machine: CopyMachine;
  readonly failures: GpuFailure[] = [];
  /** Regions of device memory that the NIC holds on to. */
  openMemories = 0;
  /** Misfortunes that are of no command, and the requests that have ended for them: one for each at most. */
  unspecificFailures = 0;
  readonly unspecific = new Set<Request>();
  isDirty = false;
  readonly counts: Partial<Record<Misfortune, number>> = {};
  #nextIova = FIRST_IOVA;
  #turnedUs = 0;

  constructor(network: SimulatedNetwork, number: number, plan: DevicePlan, seed: number) {
    const random = new SeededRandom(seed ^ (0xd37 * (number + 1)));
    this.host = new TestHost(network, `10.0.0.${number + 1}`, {
      seed: seed + 7919 * (number + 1),
      memory: () => undefined,
    });
    this.gpu = new FakeGpu(network, {
      delayUs: () => plan.delayUs * random.fraction(),
      tells: plan.tells,
      fails: (where) => {
        const fails = random.chance(plan.chances[where] ?? 0);
        if (fails) this.counts[where] = (this.counts[where] ?? 0) + 1;
        if (fails && (where === 'staging' || where === 'queue')) this.unspecificFailures += 1;
        return fails;
      },
    });
    this.session = this.gpu.open();
    this.machine = new CopyMachine(this.session, (failure) => this.failures.push(failure), plan.maxSlots);
  }

  /** Makes and registers memory, of the device or of the program. */
  area(lengthBytes: number, onDevice: boolean): Area {
    const iova = this.#nextIova;
    this.#nextIova += REGION_SPACE;
    if (!onDevice) return new Area(this, new Uint8Array(lengthBytes), undefined, iova);
    const buffer = this.session.alloc(lengthBytes);
    return new Area(this, this.bytesOf(buffer), buffer, iova);
  }

  bytesOf(buffer: GpuHandle): Uint8Array {
    const bytes = this.gpu.buffers.get(buffer);
    check(bytes !== undefined, () => `there is no buffer ${buffer}`);
    return bytes;
  }

  memoryOf(buffer: GpuHandle, lengthBytes: number): GpuMemory {
    this.openMemories += 1;
    const place = { buffer, lengthBytes, atomics: this.session.prepareAtomics() };
    return new GpuMemory(this.machine, place, () => (this.openMemories -= 1));
  }

  /** When the NIC has something to do; whoever has to ask its device again and again does that now and then. */
  dueUs(nowUs: number): number {
    const { nic, link } = this.host;
    if (this.isDirty || link.waiting > 0) return nowUs;
    const dueUs = nic.nextWakeupUs();
    return nic.copyEngine.isPolling ? Math.max(dueUs, this.#turnedUs + POLL_EVERY_US) : dueUs;
  }

  turn(nowUs: number): void {
    this.isDirty = false;
    this.#turnedUs = nowUs;
    this.host.turn(nowUs);
  }
}
