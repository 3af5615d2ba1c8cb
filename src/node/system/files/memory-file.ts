import { closeSync, ftruncateSync } from 'node:fs';
import { requireNativeHost } from '../native.js';

const MFD_CLOEXEC = 1;
const MFD_ALLOW_SEALING = 2;
const F_ADD_SEALS = 1033;
const F_SEAL_SEAL = 1;
const F_SEAL_SHRINK = 2;
const SEEK_SET = 0;
const SEEK_CUR = 1;

/**
 * A file that is nowhere but in memory, and goes with its last descriptor or mapping. Nobody who has it can make it smaller: what one
 * process has mapped, another could take away otherwise.
 */
export class MemoryFile {
  readonly fd: number;
  #open = true;

  /**
   * @param name as `/proc/PID/fd` shows it, after `/memfd:`
   * @throws SystemCallError when there is no descriptor or no memory left
   */
  constructor(name: string, lengthBytes = 0) {
    const native = requireNativeHost();
    this.fd = native.libc.memfdCreate(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (this.fd < 0) throw native.failure('memfd_create');
    native.libc.fcntl(this.fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_SEAL);
    if (lengthBytes > 0) this.grow(lengthBytes);
  }

  grow(lengthBytes: number): void {
    ftruncateSync(this.fd, lengthBytes);
  }

  /** Where whoever writes next writes, in whatever process: the position belongs to all who have the file from here. */
  get position(): number {
    return requireNativeHost().libc.lseek(this.fd, 0, SEEK_CUR);
  }

  set position(offset: number) {
    requireNativeHost().libc.lseek(this.fd, offset, SEEK_SET);
  }

  /** Idempotent. */
  close(): void {
    if (!this.#open) return;
    this.#open = false;
    closeSync(this.fd);
  }
}
