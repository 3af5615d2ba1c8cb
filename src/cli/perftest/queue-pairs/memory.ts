import { randomFillSync } from 'node:crypto';
import { AccessFlags, alloc, type Mr, type Pd } from '../../../entry/index.js';
import type { GpuBuffer } from '../../../entry/gpu.js';
import { attempt } from '../../kit/errors.js';
import type { Agreement } from '../exchange/agreement.js';
import type { Settings } from '../settings.js';
import { Verb } from '../tests.js';

/** Bytes that the NIC puts before each datagram that comes in (protocol/packets.md 1.6). */
const GRH_BYTES = 40;
const NOISE_BYTES = 1 << 16;

const REMOTE_ACCESS: Readonly<Record<Verb, number>> = {
  [Verb.SEND]: 0,
  [Verb.WRITE]: AccessFlags.REMOTE_WRITE,
  [Verb.READ]: AccessFlags.REMOTE_READ,
  [Verb.ATOMIC]: AccessFlags.REMOTE_ATOMIC,
};

/** What the peer may do to the memory of a test, and over its queue pairs. */
export function accessOf(verb: Verb): number {
  return AccessFlags.LOCAL_WRITE | REMOTE_ACCESS[verb];
}

function roundUp(bytes: number, unit: number): number {
  return Math.ceil(bytes / unit) * unit;
}

/** Where the messages of one size lie in a slot: one beside the other as long as two fit into a page, and over again. */
export interface Places {
  readonly count: number;
  readonly stepBytes: number;
}

/** The memory of one side: a slot that messages leave from for each queue pair, and then one where they arrive. */
export class Memory {
  readonly mr: Mr;
  /** Before the message, where one arrives. */
  readonly headerBytes: number;
  readonly #agreement: Agreement;
  readonly #slotBytes: number;
  readonly #slots: number;
  readonly #buffer: GpuBuffer | undefined;

  /** @param slots how many queue pairs there are */
  constructor(pd: Pd, settings: Settings, agreement: Agreement, slots: number, odp: boolean) {
    const { test, connection, sizeBytes, gpu } = settings;
    this.headerBytes = connection === 'UD' ? GRH_BYTES : 0;
    this.#agreement = agreement;
    this.#slots = slots;
    const bytes = Math.max(sizeBytes + this.headerBytes, agreement.cycleBytes);
    this.#slotBytes = roundUp(bytes, agreement.cacheLineBytes);
    const allBytes = 2 * slots * this.#slotBytes;
    this.#buffer = gpu && attempt("Couldn't allocate memory of the device", () => gpu.alloc(allBytes));
    const memory = this.#buffer ?? attempt("Couldn't allocate work buf", () => alloc(allBytes));
    // A side that waits for a WRITE waits for a value to appear, so it must not be there before.
    if (!(test.verb === Verb.WRITE && test.measure === 'lat')) fillWithNoise(memory);
    const access = accessOf(test.verb) | (odp ? AccessFlags.ON_DEMAND : 0);
    this.mr = attempt("Couldn't allocate MR", () => pd.regMr(memory, access));
  }

  close(): void {
    this.mr.dereg();
    this.#buffer?.free();
  }

  places(sizeBytes: number): Places {
    const { cycleBytes, cacheLineBytes } = this.#agreement;
    const bytes = sizeBytes + this.headerBytes;
    if (bytes > cycleBytes / 2) return { count: 1, stepBytes: 0 };
    const stepBytes = roundUp(bytes, cacheLineBytes);
    return { count: Math.floor(cycleBytes / stepBytes), stepBytes };
  }

  /** Where messages leave from, as an offset in the region. */
  departures(slot: number): number {
    return slot * this.#slotBytes;
  }

  /** Where messages arrive, their header first. */
  arrivals(slot: number): number {
    return (this.#slots + slot) * this.#slotBytes;
  }

  /** The address of an offset. A number: no machine of today has an address that is none. */
  addressOf(offset: number): number {
    return Number(this.mr.iova) + offset;
  }
}

function fillWithNoise(memory: Uint8Array | GpuBuffer): void {
  const noise = randomFillSync(new Uint8Array(Math.min(NOISE_BYTES, memory.length)));
  for (let at = 0; at < memory.length; at += noise.length) {
    const part = noise.subarray(0, Math.min(noise.length, memory.length - at));
    if ('set' in memory) memory.set(part, at);
    else memory.writeSync(part, at);
  }
}
