import { SharedMapping } from '../../node/system/index.js';
import type { RingFile } from '../rings/ring-file.js';

/** Bytes of the file before its queues. */
export const LOG_BYTES = 1 << 20;
const REWIND_BYTES = LOG_BYTES / 2;
const ENTRY_WORDS = 8;
/** Words of POST_SEND with its header (`struct ib_uverbs_post_send`). */
const COMMAND = 0;
const QP_HANDLE = 4;
const POST_SEND = 28;

/**
 * Doorbells that programs have rung by a `write` that went to the kernel, which appends it to the file of the device: at the
 * position of the file, that all who have it from here have in common.
 */
export class DoorbellLog {
  readonly #mapping: SharedMapping;
  #at = 0;
  #isUsed = false;

  constructor(private readonly rings: RingFile) {
    this.#mapping = new SharedMapping(rings.file.fd, 0, LOG_BYTES);
  }

  /** Calls `ring` for each doorbell that was not taken. @returns whether there was one */
  take(ring: (qpHandle: number) => void): boolean {
    if (!this.#drain(ring)) return false;
    this.#isUsed = true;
    if (this.#at * 4 >= REWIND_BYTES) this.#rewind(ring);
    return true;
  }

  /**
   * Whether doorbells come this way: nobody tells of the next. Where they are to come as calls, those do not that a program rings by a copy
   * of its descriptor (dup(2)), or in a process that was handed one, for a call is known by the number of its descriptor.
   */
  get isUsed(): boolean {
    return this.#isUsed;
  }

  close(): void {
    this.#mapping.close();
  }

  #drain(ring: (qpHandle: number) => void): boolean {
    const { words } = this.#mapping;
    const begun = this.#at;
    while (this.#at + ENTRY_WORDS <= words.length && Atomics.load(words, this.#at + COMMAND) === POST_SEND) {
      const handle = words[this.#at + QP_HANDLE];
      words[this.#at + COMMAND] = 0;
      this.#at += ENTRY_WORDS;
      ring(handle);
    }
    return this.#at !== begun;
  }

  /** What is written while the position is set back lands on either side of that. */
  #rewind(ring: (qpHandle: number) => void): void {
    this.rings.file.position = 0;
    this.#drain(ring);
    this.#at = 0;
    this.#drain(ring);
  }
}
