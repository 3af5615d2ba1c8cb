/** The own inbox: the file that neighbours put packets into. */
import { closeSync, constants, ftruncateSync, openSync, renameSync, rmSync, statSync, fstatSync } from 'node:fs';
import type { Gid } from '../../../device/ibta/index.js';
import { allocateFile, lockByte, lockFile, randomU32, SharedMapping, unlockByte } from '../../system/index.js';
import { type InboxDirectory, inboxPath, scratchPath, sweep } from './local-directory.js';
import {
  CONTROL_BYTES,
  Header,
  INBOX_BYTES,
  INBOX_MAGIC,
  INBOX_VERSION,
  InboxState,
  RING_BYTES,
  Slot,
  SLOTS,
  SlotState,
  slotWord,
} from './local-layout.js';
import { gidWordsOf, type LocalIdentity } from './local-neighbour.js';

/** A slot whose sender has said something new. */
export interface SlotChange {
  readonly slot: number;
  /** The whole word, the claim's number included. */
  readonly state: number;
  readonly gid: Gid;
  readonly nonce: readonly [number, number];
}

/** Files that somebody who sweeps may take for left behind before they are locked: that many in a row are too many. */
const ATTEMPTS = 3;

const NO_WORDS = new Int32Array(0);

let swept = false;

export class Inbox implements LocalIdentity {
  readonly gidWords: Int32Array;
  readonly nonce: readonly [number, number];
  /** Empty after {@link close}. */
  control: Int32Array;
  readonly fd: number;
  readonly #path: string;
  readonly #mapping: SharedMapping;
  #seen = 0;

  private constructor(fd: number, mapping: SharedMapping, path: string, gid: Gid) {
    this.fd = fd;
    this.#mapping = mapping;
    this.#path = path;
    this.gidWords = gidWordsOf(gid);
    this.nonce = [randomU32() | 0, randomU32() | 0];
    const { words } = mapping;
    this.control = words;
    words[Header.MAGIC] = INBOX_MAGIC;
    words[Header.VERSION] = INBOX_VERSION;
    words.set(this.nonce, Header.NONCE);
    words.set(this.gidWords, Header.GID);
    words[Header.SLOTS] = SLOTS;
    words[Header.RING_BYTES] = RING_BYTES;
    // Another number than that of an earlier inbox at the address.
    words[Header.BEAT] = randomU32() & 0x7fffffff;
    Atomics.store(words, Header.STATE, InboxState.OPEN);
  }

  /**
   * Makes the inbox of an address, which the caller has to itself: it takes the place of whatever was left there.
   *
   * @returns why it cannot be had, as half a sentence, when that is so
   */
  static create(directory: InboxDirectory, gid: Gid): Inbox | string {
    if (!swept) sweep(directory);
    swept = true;
    let made: Inbox | string = '';
    for (let attempt = 0; typeof made === 'string' && attempt < ATTEMPTS; attempt += 1)
      made = Inbox.#make(directory, gid);
    return made;
  }

  static #make(directory: InboxDirectory, gid: Gid): Inbox | string {
    const scratch = scratchPath(directory, randomU32());
    const path = inboxPath(directory, gid);
    let fd: number | undefined;
    let mapping: SharedMapping | undefined;
    try {
      const { O_RDWR, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
      fd = openSync(scratch, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
      if (!lockFile(fd)) throw new Error('files there cannot be locked');
      ftruncateSync(fd, INBOX_BYTES);
      if (!allocateFile(fd, 0, CONTROL_BYTES)) throw new Error('there is no memory left there');
      mapping = new SharedMapping(fd, 0, CONTROL_BYTES);
      const inbox = new Inbox(fd, mapping, path, gid);
      renameSync(scratch, path);
      return inbox;
    } catch (error) {
      mapping?.close();
      if (fd !== undefined) {
        rmSync(scratch, { force: true });
        closeSync(fd);
      }
      const why = error instanceof Error ? error.message : String(error);
      return `no file for it can be made in ${directory.path}: ${why}`;
    }
  }

  /**
   * Whether senders have come or gone since the last {@link changes}: a plain look at one word, for whoever looks again and
   * again.
   */
  get changed(): boolean {
    return this.control[Header.CLAIMS] !== this.#seen;
  }

  /** The same, in order with what was said before. */
  hasChanged(): boolean {
    return Atomics.load(this.control, Header.CLAIMS) !== this.#seen;
  }

  /** The slots that senders have, or had and gave back. */
  changes(): SlotChange[] {
    this.#seen = Atomics.load(this.control, Header.CLAIMS);
    const changes: SlotChange[] = [];
    for (let slot = 0; slot < SLOTS; slot += 1) {
      const at = slotWord(slot);
      const state = Atomics.load(this.control, at + Slot.STATE);
      const kind = state & SlotState.MASK;
      if (kind !== SlotState.OPEN && kind !== SlotState.CLOSED) continue;
      const gid = new Uint8Array(this.control.slice(at + Slot.GID, at + Slot.GID + 4).buffer);
      const nonce = [this.control[at + Slot.NONCE], this.control[at + Slot.NONCE + 1]] as const;
      changes.push({ slot, state, gid, nonce });
    }
    return changes;
  }

  /** Has {@link changed} say yes once more: something was not finished. */
  lookAgain(): void {
    this.#seen = (this.#seen - 1) | 0;
  }

  /** Frees a slot that nobody has taken anything from. */
  free(slot: number, state: number): void {
    Atomics.compareExchange(this.control, slotWord(slot) + Slot.STATE, state, SlotState.FREE);
  }

  /** Takes back slots whose sender died between claiming and opening. To be called now and then. */
  freeStuck(): void {
    for (let slot = 0; slot < SLOTS; slot += 1) {
      const state = Atomics.load(this.control, slotWord(slot) + Slot.STATE);
      if ((state & SlotState.MASK) !== SlotState.CLAIMED || !lockByte(this.fd, slot)) continue;
      this.free(slot, state);
      unlockByte(this.fd, slot);
    }
  }

  /** The owner takes a turn: senders that wait for an answer see that it runs. */
  beat(): void {
    this.control[Header.BEAT] = (this.control[Header.BEAT] + 1) & 0x7fffffff;
  }

  get asleep(): boolean {
    return Atomics.load(this.control, Header.ASLEEP) !== 0;
  }

  /** Says whether somebody who puts something in has to wake us. */
  set asleep(asleep: boolean) {
    Atomics.store(this.control, Header.ASLEEP, asleep ? 1 : 0);
  }

  /** Nobody takes anything any more; others see that at once. */
  forsake(): void {
    if (this.control.length > 0) Atomics.store(this.control, Header.STATE, InboxState.CLOSED);
  }

  /** Nobody sends any more; others see that at once. */
  close(): void {
    if (this.control.length === 0) return;
    Atomics.store(this.control, Header.STATE, InboxState.CLOSED);
    try {
      if (statSync(this.#path).ino === fstatSync(this.fd).ino) rmSync(this.#path);
    } catch {
      // Gone already.
    }
    this.control = NO_WORDS;
    this.#mapping.close();
    closeSync(this.fd);
  }
}
