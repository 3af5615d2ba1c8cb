// The slots of HERD as it was published in 2014 (protocol/kv.md 6.4). The key lies last: its last byte, which is never 0,
// shows that all of the slot was written.

export const HERD_SLOT_BYTES = 50;
export const HERD_KEY_BYTES = 16;
export const HERD_VALUE_BYTES = 32;
const LENGTH_BYTES = 2;
const KEY_AT = LENGTH_BYTES + HERD_VALUE_BYTES;

/** A GET, or with a value a PUT. */
export interface HerdRequest {
  /** 16 bytes, the last of which is not 0. */
  readonly key: Uint8Array;
  /** 1 to 32 bytes. */
  readonly value?: Uint8Array | undefined;
}

/** What a client writes, and where in the slot: of a GET no more than the key. */
export interface SlotWrite {
  readonly offset: number;
  readonly bytes: Uint8Array;
}

export function herdWriteOf({ key, value }: HerdRequest): SlotWrite {
  if (value === undefined) return { offset: KEY_AT, bytes: key.slice() };
  const bytes = new Uint8Array(HERD_SLOT_BYTES);
  new DataView(bytes.buffer).setUint16(0, value.length, true);
  bytes.set(value, LENGTH_BYTES);
  bytes.set(key, KEY_AT);
  return { offset: 0, bytes };
}

/** What is in a slot; undefined where no request is, or one that makes no sense. */
export function herdRequestIn(slot: Uint8Array): HerdRequest | undefined {
  if (slot.length !== HERD_SLOT_BYTES || slot[HERD_SLOT_BYTES - 1] === 0) return undefined;
  const length = new DataView(slot.buffer, slot.byteOffset).getUint16(0, true);
  if (length > HERD_VALUE_BYTES) return undefined;
  const key = slot.slice(KEY_AT);
  return length === 0 ? { key } : { key, value: slot.slice(LENGTH_BYTES, LENGTH_BYTES + length) };
}

/** The server has seen to it. */
export function clearHerdSlot(slot: Uint8Array): void {
  slot.fill(0, 0, LENGTH_BYTES);
  slot.fill(0, KEY_AT, HERD_SLOT_BYTES);
}

export interface HerdPlace {
  readonly server: number;
  readonly client: number;
  readonly clients: number;
  readonly window: number;
}

/** Which slot of the region the client's request of that number goes to. */
export function herdSlotOf({ server, client, clients, window }: HerdPlace, number: number): number {
  return server * window * clients + client * window + (number % window);
}
