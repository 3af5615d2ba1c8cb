import { closeSync, openSync } from 'node:fs';
import type { NativeHost } from './native.js';
import { devNull } from 'node:os';

/** Makes sure that so many more files can be opened. @throws Node's error (EMFILE, ENFILE) when they cannot */
export function requireDescriptors(count: number): void {
  const fds: number[] = [];
  try {
    while (fds.length < count) fds.push(openSync(devNull, 'r'));
  } finally {
    for (const fd of fds) closeSync(fd);
  }
}

const O_CLOEXEC = 0x80000;

/**
 * A file descriptor made by a system call, which closes when its thread ends, at the latest. Of a thread that is terminated
 * (`Worker.terminate`) nothing runs any more, and what system calls have opened in it would stay open for as long as the process
 * lives, an address taken by a socket included. What `node:fs` has opened Node closes then: so that a number of Node's is taken.
 */
export class Descriptor {
  readonly fd: number;
  #open = true;

  /** @param fd what the system call gave; not to be used any more */
  constructor(native: NativeHost, fd: number) {
    this.fd = adopted(native, fd);
  }

  /** Idempotent. */
  close(): void {
    if (!this.#open) return;
    this.#open = false;
    closeSync(this.fd);
  }
}

/** @throws SystemCallError, or Node's error when there is no descriptor left; `fd` is closed then */
function adopted(native: NativeHost, fd: number): number {
  try {
    const own = openSync('/dev/null', 'r');
    if (native.libc.dup3(fd, own, O_CLOEXEC) >= 0) return own;
    const failure = native.failure('dup3');
    closeSync(own);
    throw failure;
  } finally {
    native.libc.close(fd);
  }
}
