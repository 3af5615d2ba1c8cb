import type { Change } from './operation.js';

/** Memory that a peer WRITEs to by packets of which any may be lost: each byte is as it was, or as a WRITE made it. */
export class LossyTarget {
  readonly #initial: Uint8Array;
  readonly #changes: Change[] = [];
  /** Those that need no receive request. */
  readonly #unconditional: Change[] = [];
  /** Of each byte, the last WRITE that is known to have reached it, or -1. */
  readonly #known: Int32Array;

  constructor(private readonly bytes: Uint8Array) {
    this.#initial = bytes.slice();
    this.#known = new Int32Array(bytes.length).fill(-1);
  }

  post(change: Change, needsReceive: boolean): void {
    this.#changes.push(change);
    if (!needsReceive) this.#unconditional.push(change);
  }

  /** All of a WRITE is in memory: from now on what came before it is not, where packets keep their order. */
  arrived(change: Change): void {
    const index = this.#changes.indexOf(change);
    const { offset, bytes } = change;
    for (let at = offset; at < offset + bytes.length; at += 1) this.#known[at] = Math.max(this.#known[at], index);
  }

  /** The network lost nothing: all is in memory but what may have found no receive request. */
  allArrived(): void {
    for (const change of this.#unconditional) this.arrived(change);
  }

  /** Offset of the first byte that it cannot hold, or -1. */
  firstWrong(): number {
    const explained = Uint8Array.from(this.bytes, (byte, at) =>
      this.#known[at] < 0 && byte === this.#initial[at] ? 1 : 0,
    );
    this.#changes.forEach(({ offset, bytes }, index) => {
      for (let i = 0, at = offset; i < bytes.length; i += 1, at += 1)
        if (index >= this.#known[at] && bytes[i] === this.bytes[at]) explained[at] = 1;
    });
    return explained.indexOf(0);
  }
}
