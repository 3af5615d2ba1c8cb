import type { SlotWrite } from './herd.js';

// The slots of HERD in rdma_bench, 2016 (protocol/kv.md 6.4): one cache line, the operation behind the key.

export const BENCH_SLOT_BYTES = 64;
export const BENCH_MAX_VALUE_BYTES = 46;
const KEY_BYTES = 16;
const OPCODE_AT = 16;
const LENGTH_AT = 17;
const VALUE_AT = 18;

/** MICA's operations. */
export const BenchOperation = { GET: 111, PUT: 112 } as const;
export type BenchOperation = (typeof BenchOperation)[keyof typeof BenchOperation];
/** What is added to them on the wire, so that the store's own are never taken for requests. */
const ON_WIRE = 10;

/** A GET, or with a value a PUT. */
export interface BenchRequest {
  /** 16 bytes. */
  readonly key: Uint8Array;
  /** Up to 46 bytes. */
  readonly value?: Uint8Array | undefined;
}

export function benchWriteOf({ key, value }: BenchRequest): SlotWrite {
  const bytes = new Uint8Array(value === undefined ? LENGTH_AT : VALUE_AT + value.length);
  bytes.set(key);
  bytes[OPCODE_AT] = ON_WIRE + (value === undefined ? BenchOperation.GET : BenchOperation.PUT);
  if (value !== undefined) {
    bytes[LENGTH_AT] = value.length;
    bytes.set(value, VALUE_AT);
  }
  return { offset: 0, bytes };
}

/** What is in a slot; undefined where no request is, or one that makes no sense. */
export function benchRequestIn(slot: Uint8Array): BenchRequest | undefined {
  if (slot.length !== BENCH_SLOT_BYTES) return undefined;
  const key = slot.slice(0, KEY_BYTES);
  const operation = slot[OPCODE_AT] - ON_WIRE;
  if (operation === BenchOperation.GET) return { key };
  const length = slot[LENGTH_AT];
  if (operation !== BenchOperation.PUT || length > BENCH_MAX_VALUE_BYTES) return undefined;
  return { key, value: slot.slice(VALUE_AT, VALUE_AT + length) };
}

/** The server has seen to it. */
export function clearBenchSlot(slot: Uint8Array): void {
  slot[OPCODE_AT] = 0;
}

/** Clients that a region is laid out for, and slots that each has with each worker. */
const CLIENTS = 70;
const WINDOW = 32;

/** Which slot of the region that is. */
export function benchSlotOf(worker: number, client: number, slot: number): number {
  return (worker * CLIENTS + client) * WINDOW + slot;
}
