/** Programs for the kernel's classic packet filter, which seccomp runs on each system call: an assembler with labels. */

/** `struct sock_filter`. */
const INSTRUCTION_BYTES = 8;
const MAX_JUMP = 255;

const LD_ABSOLUTE = 0x20;
const JUMP_EQUAL = 0x15;
const JUMP_GREATER_OR_EQUAL = 0x35;
const JUMP_ANY_BIT = 0x45;
const RETURN = 0x06;

/** Where a jump goes: the label of an instruction further down. Without one, to the next instruction. */
export interface Jumps {
  readonly yes?: string;
  readonly no?: string;
}

interface Instruction {
  readonly code: number;
  readonly value: number;
  readonly jumps: Jumps;
}

/** A program as it is written. Each call adds an instruction; `build` gives the bytes. */
export class BpfProgram {
  readonly #instructions: Instruction[] = [];
  readonly #labels = new Map<string, number>();

  /** Instructions so far. */
  get length(): number {
    return this.#instructions.length;
  }

  label(name: string): this {
    this.#labels.set(name, this.length);
    return this;
  }

  /** Loads a 32-bit word of what the filter looks at. */
  load(offset: number): this {
    return this.#add(LD_ABSOLUTE, offset);
  }

  ifEqual(value: number, jumps: Jumps): this {
    return this.#add(JUMP_EQUAL, value, jumps);
  }

  ifAtLeast(value: number, jumps: Jumps): this {
    return this.#add(JUMP_GREATER_OR_EQUAL, value, jumps);
  }

  ifAnyBit(bits: number, jumps: Jumps): this {
    return this.#add(JUMP_ANY_BIT, bits, jumps);
  }

  give(verdict: number): this {
    return this.#add(RETURN, verdict);
  }

  /** @throws RangeError for a jump that goes nowhere, backwards or too far */
  build(): Uint8Array {
    const bytes = new Uint8Array(this.length * INSTRUCTION_BYTES);
    const view = new DataView(bytes.buffer);
    this.#instructions.forEach(({ code, value, jumps }, at) => {
      view.setUint16(at * INSTRUCTION_BYTES, code, true);
      bytes[at * INSTRUCTION_BYTES + 2] = this.#distance(at, jumps.yes);
      bytes[at * INSTRUCTION_BYTES + 3] = this.#distance(at, jumps.no);
      view.setUint32(at * INSTRUCTION_BYTES + 4, value, true);
    });
    return bytes;
  }

  #add(code: number, value: number, jumps: Jumps = {}): this {
    this.#instructions.push({ code, value: value >>> 0, jumps });
    return this;
  }

  #distance(from: number, label: string | undefined): number {
    if (label === undefined) return 0;
    const distance = (this.#labels.get(label) ?? -1) - from - 1;
    if (distance < 0 || distance > MAX_JUMP) throw new RangeError(`no jump from ${from} to '${label}'`);
    return distance;
  }
}
