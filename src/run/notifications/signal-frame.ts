import { NativeBlock, readProcess, writeProcess } from '../../node/system/index.js';

/** Offsets in the `struct ucontext` that the kernel of x86-64 saves for a handler, at the stack pointer of `rt_sigreturn`. */
const Saved = { R8: 40, R10: 56, RDI: 104, RSI: 112, RDX: 136, RAX: 144, RIP: 168, BYTES: 176 } as const;
const EINTR = 4;
/** `syscall`. */
const SYSCALL_BYTES = 2;
const SYSCALL = 0x050f;
/** `mov $NUMBER, %eax` or `mov $NUMBER, %rax` before it: both end with the number. */
const CODE_BYTES = 9;
const MOV_EAX = 0xb8;
const MOV_RAX = 0xc0c748;

/** A call that a signal has interrupted, and that returns EINTR when the handler of the signal returns. */
export interface InterruptedCall {
  /** Undefined where the code before the instruction does not set it: the registers do not keep it. */
  readonly number: number | undefined;
  readonly args: readonly number[];
  readonly instruction: number;
}

/** What the kernel has saved of a thread while a handler ran. x86-64 only. */
export class SignalFrame {
  readonly #saved = new NativeBlock(Saved.BYTES);
  readonly #code = new NativeBlock(CODE_BYTES);
  #tid = 0;
  #address = 0;

  /** Reads the frame that a thread returns from. @returns the call that it has interrupted, or undefined */
  read(tid: number, address: number): InterruptedCall | undefined {
    const saved = this.#saved;
    if (readProcess(tid, address, saved.address, Saved.BYTES) !== Saved.BYTES) return undefined;
    if (saved.words[Saved.RAX >> 2] !== -EINTR || saved.words[(Saved.RAX >> 2) + 1] !== -1) return undefined;
    const instruction = saved.getPointer(Saved.RIP);
    const code = this.#code;
    if (readProcess(tid, instruction - CODE_BYTES, code.address, CODE_BYTES) !== CODE_BYTES) return undefined;
    const view = new DataView(code.bytes.buffer);
    if (view.getUint16(CODE_BYTES - SYSCALL_BYTES, true) !== SYSCALL) return undefined;
    this.#tid = tid;
    this.#address = address;
    const isSet = view.getUint8(2) === MOV_EAX || (view.getUint32(0, true) & 0xffffff) === MOV_RAX;
    return {
      number: isSet ? view.getUint32(3, true) : undefined,
      args: [Saved.RDI, Saved.RSI, Saved.RDX, Saved.R10, Saved.R8].map((at) => saved.getPointer(at)),
      instruction,
    };
  }

  /** Has the thread make the call again that {@link read} has found, as the kernel does for SA_RESTART. */
  restart(number: number, { instruction }: InterruptedCall): void {
    const saved = this.#saved;
    saved.putPointer(Saved.RAX, number);
    writeProcess(this.#tid, this.#address + Saved.RAX, saved.address + Saved.RAX, 8);
    saved.putPointer(Saved.RIP, instruction - SYSCALL_BYTES);
    writeProcess(this.#tid, this.#address + Saved.RIP, saved.address + Saved.RIP, 8);
  }
}
