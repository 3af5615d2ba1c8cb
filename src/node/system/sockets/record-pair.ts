import { closeSync } from 'node:fs';
import { NativeBlock } from '../memory/memory.js';
import { type NativeHost, requireNativeHost } from '../native.js';
import { PollSet } from '../waiting/poll-set.js';

const AF_UNIX = 1;
const SOCK_SEQPACKET = 5;
const SOCK_CLOEXEC = 0x80000;
const MSG_DONTWAIT = 0x40;
const MSG_NOSIGNAL = 0x4000;
const SOL_SOCKET = 1;
const SO_SNDBUF = 7;
const F_GETFL = 3;
const F_SETFL = 4;
const F_SETOWN = 8;
const F_SETSIG = 10;
const O_ASYNC = 0o20000;
const O_NONBLOCK = 0o4000;

/**
 * Two ends of a connection that keeps records apart: what is {@link send sent} here is read from {@link farFd}, one record a
 * `read`. The far end is made to be given away; while we have it as well, records that nobody has read can be taken back.
 */
export class RecordPair {
  readonly nearFd: number;
  readonly farFd: number;
  readonly #native: NativeHost = requireNativeHost();
  readonly #buffer: NativeBlock;
  #open = true;
  #hasFar = true;
  #isFarFull = false;

  /** @throws SystemCallError when no descriptor is left */
  constructor(private readonly recordBytes: number) {
    const fds = new NativeBlock(8);
    if (this.#native.libc.socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds.address) < 0)
      throw this.#native.failure('socketpair');
    [this.nearFd, this.farFd] = fds.words;
    this.#buffer = new NativeBlock(recordBytes);
  }

  /** @returns false when there is no room: nobody has read for long */
  send(record: Uint8Array): boolean {
    this.#buffer.bytes.set(record);
    const sent = this.#native.libc.send(
      this.nearFd,
      this.#buffer.address,
      this.recordBytes,
      MSG_DONTWAIT | MSG_NOSIGNAL,
    );
    return sent === this.recordBytes;
  }

  /** Takes back the oldest record that nobody has read, or gives undefined. */
  takeBack(): Uint8Array | undefined {
    const got = this.#native.libc.recv(this.farFd, this.#buffer.address, this.recordBytes, MSG_DONTWAIT);
    return got === this.recordBytes ? this.#buffer.bytes.slice(0, got) : undefined;
  }

  /** Whether who has the far end does not want to wait for records. */
  get farIsNonBlocking(): boolean {
    return (this.#native.libc.fcntl(this.farFd, F_GETFL, 0) & O_NONBLOCK) !== 0;
  }

  /**
   * From now on a `write` to the far end blocks in the kernel until a signal interrupts it. With O_NONBLOCK it fails with
   * EAGAIN. Nothing is ever read here.
   */
  blockFar(): void {
    if (this.#isFarFull) return;
    this.#isFarFull = true;
    const { libc } = this.#native;
    const size = new NativeBlock(8);
    // The kernel raises it to the least that it allows, 4.5 KiB.
    libc.setsockopt(this.farFd, SOL_SOCKET, SO_SNDBUF, size.address, 4);
    while (libc.send(this.farFd, size.address, 1, MSG_DONTWAIT | MSG_NOSIGNAL) === 1);
  }

  /**
   * Has a process get a signal once this end is closed, as long as anybody has the far one; also at each record, so none is to be
   * sent then. With process 0 nobody gets any.
   */
  signalAtHangUp(pid: number, signal: number): void {
    const { libc } = this.#native;
    libc.fcntl(this.farFd, F_SETOWN, pid);
    libc.fcntl(this.farFd, F_SETSIG, signal);
    const flags = libc.fcntl(this.farFd, F_GETFL, 0);
    libc.fcntl(this.farFd, F_SETFL, pid === 0 ? flags & ~O_ASYNC : flags | O_ASYNC);
  }

  /** Closes our copy of the far end. To be called once, and {@link close} when the others are closed as well. */
  releaseFar(): void {
    closeSync(this.farFd);
    this.#hasFar = false;
  }

  /** Whether nobody has the far end any more. */
  get isFarClosed(): boolean {
    const set = new PollSet([this.nearFd]);
    set.wait(0);
    return set.isHungUp(0);
  }

  /** Idempotent. */
  close(): void {
    if (!this.#open) return;
    this.#open = false;
    closeSync(this.nearFd);
    if (this.#hasFar) closeSync(this.farFd);
  }
}
