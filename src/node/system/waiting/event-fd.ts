import { Descriptor } from '../descriptor.js';
import { NativeBlock } from '../memory/memory.js';
import { type NativeHost, requireNativeHost } from '../native.js';

const EFD_NONBLOCK = 0x800;
const EFD_CLOEXEC = 0x80000;

/** A doorbell for a thread that sleeps in `poll`: ringing it makes {@link fd} readable until it is drained. */
export class EventFd {
  readonly fd: number;
  readonly #native: NativeHost;
  readonly #descriptor: Descriptor;
  readonly #value = new NativeBlock(8);
  #open = true;

  /** @throws SystemCallError when the process has no file descriptor left */
  constructor() {
    this.#native = requireNativeHost();
    const fd = this.#native.libc.eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (fd < 0) throw this.#native.failure('eventfd');
    this.#descriptor = new Descriptor(this.#native, fd);
    this.fd = this.#descriptor.fd;
  }

  /** Any thread may ring another thread's doorbell by its number. */
  static ring(fd: number): void {
    requireNativeHost().libc.eventfdWrite(fd, 1);
  }

  ring(): void {
    if (this.#open) this.#native.libc.eventfdWrite(this.fd, 1);
  }

  drain(): void {
    if (this.#open) this.#native.libc.eventfdRead(this.fd, this.#value.address);
  }

  /** Idempotent. Nobody may still be polling it: the number is soon another file's. */
  close(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#descriptor.close();
  }
}
