/** Somebody else's inbox, and the slot of it that packets to its owner go through. */
import { closeSync, constants, fstatSync, openSync } from 'node:fs';
import type { Gid } from '../../../device/ibta/index.js';
import { allocateFile, isLocked, lockByte, SharedMapping, unlockByte } from '../../system/index.js';
import { type InboxDirectory, inboxPath, isPrivate } from './local-directory.js';
import {
  CONTROL_BYTES,
  ENOUGH_ROOM_BYTES,
  Entry,
  entryBytes,
  Header,
  INBOX_BYTES,
  INBOX_MAGIC,
  INBOX_VERSION,
  InboxState,
  RING_BYTES,
  ringOffset,
  Slot,
  SLOTS,
  SlotState,
  slotWord,
} from './local-layout.js';

/**
 * Whether a plain read is made after the atomic exchange before it, as on this processor; `Atomics.load`, of which that cannot
 * be said elsewhere, takes 35 ns.
 */
const STRONGLY_ORDERED = process.arch === 'x64';

/** A neighbour that takes nothing for so long stands still, and packets to it are lost as on a wire that leads nowhere. */
const STANDSTILL_US = 500_000;
const MAX_WAY = 2 ** 30;

const NO_BYTES = new Uint8Array(0);
const NO_WORDS = new Int32Array(0);

/** Tells a NIC from its predecessors at the same address. */
export interface LocalIdentity {
  readonly gidWords: Int32Array;
  readonly nonce: readonly [number, number];
}

function sameWords(words: Int32Array, at: number, expected: ArrayLike<number>): boolean {
  for (let i = 0; i < expected.length; i += 1) if (words[at + i] !== expected[i]) return false;
  return true;
}

export function gidWordsOf(gid: Gid): Int32Array {
  return new Int32Array(Uint8Array.from(gid).buffer);
}

/** Whether a file is an inbox as we make them, so that nothing in it is beyond its end. */
function isInbox(fd: number): boolean {
  const found = fstatSync(fd);
  return found.isFile() && isPrivate(found) && found.size === INBOX_BYTES;
}

let lastWay = 0;

function nextWay(): number {
  lastWay = (lastWay % MAX_WAY) + 1;
  return lastWay;
}

const SHORT_BYTES = 128;
/**
 * Room that only short packets take. Data waits for room and is sent then; of a queue pair that its program destroys when its last message
 * has come, the acknowledgement of that is the last word, and cannot wait.
 */
const KEPT_BYTES = 32 * 1024;

/** The NIC at another address of this machine. */
export class Neighbour {
  readonly gid: Gid;
  readonly nonce: readonly [number, number];
  /** The ring that is written to; empty while there is none. */
  bytes: Uint8Array = NO_BYTES;
  control: Int32Array;
  sentPackets = 0;

  #words: Int32Array = NO_WORDS;
  #ring: SharedMapping | undefined;
  #slot = -1;
  #at = 0;
  #state = 0;
  /** Bytes committed, published, and known to be taken, running free. */
  #producer = 0;
  #published = 0;
  #consumer = 0;
  #reservedEnd = 0;
  /** What was known to be taken when the ring was found full, and when that was. */
  #fullAt = NaN;
  #fullSinceUs = 0;
  /** Somebody was told to wait for room, and there was none yet. */
  isAwaited = false;

  private constructor(
    /** By which it is told from all others, those before and after it at the same address among them. */
    readonly way: number,
    readonly fd: number,
    private readonly mapping: SharedMapping,
    gid: Gid,
  ) {
    this.gid = Uint8Array.from(gid);
    this.control = mapping.words;
    this.nonce = [this.control[Header.NONCE], this.control[Header.NONCE + 1]];
  }

  /** The inbox of an address; undefined when there is none, or none that lives, or it is of another making. */
  static open(directory: InboxDirectory, gid: Gid): Neighbour | undefined {
    let fd: number;
    try {
      fd = openSync(inboxPath(directory, gid), constants.O_RDWR | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    } catch {
      return undefined;
    }
    let mapping: SharedMapping | undefined;
    try {
      if (isInbox(fd) && isLocked(fd)) {
        mapping = new SharedMapping(fd, 0, CONTROL_BYTES);
        const { words } = mapping;
        const expected = [INBOX_MAGIC, INBOX_VERSION, InboxState.OPEN];
        const fits = words[Header.SLOTS] === SLOTS && words[Header.RING_BYTES] === RING_BYTES;
        if (fits && sameWords(words, Header.MAGIC, expected) && sameWords(words, Header.GID, gidWordsOf(gid)))
          return new Neighbour(nextWay(), fd, mapping, gid);
      }
    } catch {
      // No memory for it.
    }
    mapping?.close();
    closeSync(fd);
    return undefined;
  }

  is([lo, hi]: readonly [number, number]): boolean {
    return this.nonce[0] === lo && this.nonce[1] === hi;
  }

  /** Whether it takes packets of ours, as far as it says itself. */
  get isOpen(): boolean {
    const { control } = this;
    return control[Header.STATE] === InboxState.OPEN && control[this.#at + Slot.STATE] === this.#state;
  }

  /** Whether its process is there: a system call. */
  isAlive(): boolean {
    return this.control[Header.STATE] === InboxState.OPEN && isLocked(this.fd);
  }

  /** Another number after each turn of its NIC. */
  get beat(): number {
    return Atomics.load(this.control, Header.BEAT) & 0x7fffffff;
  }

  /** Whether {@link close} was called. */
  get isClosed(): boolean {
    return this.control.length === 0;
  }

  get isConnected(): boolean {
    return this.#slot >= 0;
  }

  /** Whether it sleeps, and nobody has sent for it: who gets true has to. */
  takeSleep(): boolean {
    const { control } = this;
    if ((STRONGLY_ORDERED ? control[Header.ASLEEP] : Atomics.load(control, Header.ASLEEP)) === 0) return false;
    return Atomics.compareExchange(control, Header.ASLEEP, 1, 0) === 1;
  }

  /** Takes a slot. @returns false when none is free, or memory is short */
  connect(self: LocalIdentity, token: number): boolean {
    if (this.isConnected) return true;
    const { control } = this;
    const number = (token & 0x0fffffff) << SlotState.BITS;
    for (let slot = 0; slot < SLOTS; slot += 1) {
      const at = slotWord(slot);
      const claimed = number | SlotState.CLAIMED;
      const free = Atomics.load(control, at + Slot.STATE);
      if ((free & SlotState.MASK) !== SlotState.FREE) continue;
      // For as long as that is held nobody else takes the slot, however long this process may be stopped in the midst of it.
      if (!lockByte(this.fd, slot)) continue;
      try {
        if (Atomics.compareExchange(control, at + Slot.STATE, free, claimed) === free)
          return this.#fill(slot, at, claimed, self);
      } finally {
        unlockByte(this.fd, slot);
      }
    }
    return false;
  }

  #fill(slot: number, at: number, claimed: number, self: LocalIdentity): boolean {
    const { control } = this;
    try {
      if (!allocateFile(this.fd, ringOffset(slot), RING_BYTES)) throw new Error('no memory');
      this.#ring = new SharedMapping(this.fd, ringOffset(slot), RING_BYTES);
    } catch {
      Atomics.compareExchange(control, at + Slot.STATE, claimed, SlotState.FREE);
      return false;
    }
    control.set(self.nonce, at + Slot.NONCE);
    control.set(self.gidWords, at + Slot.GID);
    control[at + Slot.PRODUCER] = 0;
    control[at + Slot.CONSUMER] = 0;
    control[at + Slot.WAITING] = 0;
    const open = (claimed & ~SlotState.MASK) | SlotState.OPEN;
    if (Atomics.compareExchange(control, at + Slot.STATE, claimed, open) !== claimed) {
      // Somebody who does not keep to the rules has taken it away.
      this.#ring.close();
      this.#ring = undefined;
      return false;
    }
    Atomics.add(control, Header.CLAIMS, 1);
    this.bytes = this.#ring.bytes;
    this.#words = this.#ring.words;
    this.#slot = slot;
    this.#at = at;
    this.#state = open;
    this.#producer = 0;
    this.#published = 0;
    this.#consumer = 0;
    return true;
  }

  /** Makes room for a packet. @returns where in {@link bytes} it goes, or -1 when the ring is full */
  reserve(packetBytes: number, fields: number, flowLabel: number): number {
    const size = entryBytes(packetBytes);
    const words = this.#words;
    const place = this.#producer & (RING_BYTES - 1);
    const rest = place + size > RING_BYTES ? RING_BYTES - place : 0;
    const end = (this.#producer + rest + size) | 0;
    const kept = packetBytes > SHORT_BYTES ? KEPT_BYTES : 0;
    if (((end - this.#consumer) | 0) > RING_BYTES - kept && !this.#refill((end + kept) | 0)) return -1;
    if (rest > 0) words[(place >> 2) + Entry.LENGTH] = Entry.REST;
    const entry = rest > 0 ? 0 : place;
    const word = entry >> 2;
    words[word + Entry.LENGTH] = packetBytes;
    words[word + Entry.FIELDS] = fields;
    words[word + Entry.FLOW_LABEL] = flowLabel;
    this.#reservedEnd = end;
    return entry + Entry.BYTES;
  }

  /** Looks how much was taken meanwhile. @returns whether there is room up to `end` now */
  #refill(end: number): boolean {
    const consumer = Atomics.load(this.control, this.#at + Slot.CONSUMER);
    // What it says is believed as far as it can be true.
    const taken = (consumer - this.#consumer) | 0;
    if (taken < 0 || taken > ((this.#published - this.#consumer) | 0)) return false;
    this.#consumer = consumer;
    return ((end - consumer) | 0) <= RING_BYTES;
  }

  /**
   * Bytes that there is room for, for who waits for some; 0 until it is worth while to go on, upon which the owner wakes us.
   * Infinity when nothing was taken for so long that nobody is to wait any longer.
   */
  awaitRoom(nowUs: number): number {
    const { control } = this;
    const waiting = this.#at + Slot.WAITING;
    let room = this.#room();
    if (room < ENOUGH_ROOM_BYTES && control[waiting] === 0) {
      // Said first, then looked once more: who takes something afterwards finds us waiting.
      Atomics.store(control, waiting, 1);
      room = this.#room();
    }
    if (this.#fullAt !== this.#consumer) {
      this.#fullAt = this.#consumer;
      this.#fullSinceUs = nowUs;
    }
    const standsStill = nowUs >= this.standstillUs;
    this.isAwaited = room < ENOUGH_ROOM_BYTES && !standsStill;
    return this.isAwaited ? 0 : standsStill ? Infinity : room;
  }

  get hasAwaitedRoom(): boolean {
    return this.isAwaited && this.#room() >= ENOUGH_ROOM_BYTES;
  }

  /** When it is no longer waited for, unless something is taken before. */
  get standstillUs(): number {
    return this.#fullSinceUs + STANDSTILL_US;
  }

  #room(): number {
    this.#refill(this.#producer);
    return RING_BYTES - ((this.#producer - this.#consumer) | 0);
  }

  /** The packet last reserved is complete. */
  commit(): void {
    this.#producer = this.#reservedEnd;
    this.sentPackets += 1;
  }

  /** Room in the ring that packets take which the owner does not see yet. */
  get unpublishedBytes(): number {
    return (this.#producer - this.#published) | 0;
  }

  /** Shows what was committed to the owner. @returns whether there was anything */
  publish(): boolean {
    if (this.#producer === this.#published) return false;
    this.#published = this.#producer;
    // As `Atomics.store`, which takes twice as long.
    Atomics.exchange(this.control, this.#at + Slot.PRODUCER, this.#producer);
    return true;
  }

  /** Lets go of everything. Idempotent. */
  close(): void {
    const { control } = this;
    if (control.length === 0) return;
    if (this.isConnected) {
      const closed = (this.#state & ~SlotState.MASK) | SlotState.CLOSED;
      Atomics.compareExchange(control, this.#at + Slot.STATE, this.#state, closed);
      Atomics.add(control, Header.CLAIMS, 1);
    }
    this.#slot = -1;
    this.bytes = NO_BYTES;
    this.#words = NO_WORDS;
    this.control = NO_WORDS;
    this.#ring?.close();
    this.mapping.close();
    closeSync(this.fd);
  }
}
