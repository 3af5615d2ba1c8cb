/** UDP sockets by system calls. Numbers are those of Linux. */
import { Descriptor } from '../descriptor.js';
import { NativeBlock } from '../memory/memory.js';
import { type NativeHost, requireNativeHost } from '../native.js';

const AF_INET = 2;
const AF_INET6 = 10;
const SOCK_DGRAM = 2;
const SOCK_NONBLOCK = 0x800;
const SOCK_CLOEXEC = 0x80000;

/** Bytes that hold either of `sockaddr_in` (16 used) and `sockaddr_in6` (28 used). */
export const SOCKADDR_BYTES = 32;

/** Bytes used of a {@link SOCKADDR_BYTES}. */
export function sockaddrLength(ipv6: boolean): number {
  return ipv6 ? 28 : 16;
}

export function sockaddrIpOffset(ipv6: boolean): number {
  return ipv6 ? 8 : 4;
}

/** An IP address as 16 bytes, an IPv4 one mapped into IPv6, and a port. */
export interface SocketAddress {
  readonly ip: Uint8Array;
  readonly port: number;
  /** Index of the interface that a link-local IPv6 address is meant on, else 0. */
  readonly scopeId?: number;
}

/** Where the flow information, four bytes of network order, begins within a `sockaddr_in6`. */
export const SOCKADDR_FLOW_OFFSET = 4;

/** Writes a `sockaddr_in` or `sockaddr_in6`. */
export function writeSockaddr(bytes: Uint8Array, offset: number, ipv6: boolean, address: SocketAddress): void {
  bytes.fill(0, offset, offset + SOCKADDR_BYTES);
  bytes[offset] = ipv6 ? AF_INET6 : AF_INET;
  bytes[offset + 2] = address.port >>> 8;
  bytes[offset + 3] = address.port & 0xff;
  bytes.set(ipv6 ? address.ip : address.ip.subarray(12), offset + sockaddrIpOffset(ipv6));
  if (ipv6) new DataView(bytes.buffer).setUint32(bytes.byteOffset + offset + 24, address.scopeId ?? 0, true);
}

export class UdpSocket {
  readonly fd: number;
  readonly native: NativeHost;
  readonly #descriptor: Descriptor | undefined;
  readonly #scratch = new NativeBlock(64);

  /**
   * @param borrowed the descriptor of a socket that another thread has opened, and closes
   * @throws SystemCallError (`EAFNOSUPPORT` where the machine has no IPv6)
   */
  constructor(
    readonly ipv6: boolean,
    borrowed?: number,
  ) {
    this.native = requireNativeHost();
    if (borrowed !== undefined) {
      this.fd = borrowed;
      return;
    }
    const domain = ipv6 ? AF_INET6 : AF_INET;
    const fd = this.native.libc.socket(domain, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) throw this.native.failure('socket');
    this.#descriptor = new Descriptor(this.native, fd);
    this.fd = this.#descriptor.fd;
  }

  /** @throws SystemCallError */
  bind(address: SocketAddress): void {
    writeSockaddr(this.#scratch.bytes, 0, this.ipv6, address);
    const result = this.native.libc.bind(this.fd, this.#scratch.address, sockaddrLength(this.ipv6));
    if (result < 0) throw this.native.failure('bind');
  }

  /** @throws SystemCallError (`ENETUNREACH` when no route leads there) */
  connect(address: SocketAddress): void {
    writeSockaddr(this.#scratch.bytes, 0, this.ipv6, address);
    const result = this.native.libc.connect(this.fd, this.#scratch.address, sockaddrLength(this.ipv6));
    if (result < 0) throw this.native.failure('connect');
  }

  localPort(): number {
    const { bytes, words, address } = this.#scratch;
    words[8] = SOCKADDR_BYTES;
    if (this.native.libc.getsockname(this.fd, address, address + 32) < 0) throw this.native.failure('getsockname');
    return (bytes[2] << 8) | bytes[3];
  }

  /** Sets an option whose value is an int. @returns whether the kernel accepted it */
  setOption(level: number, name: number, value: number): boolean {
    this.#scratch.words[0] = value;
    return this.native.libc.setsockopt(this.fd, level, name, this.#scratch.address, 4) === 0;
  }

  /** Sets an option whose value is a structure of up to 64 bytes. @returns whether the kernel accepted it */
  setOptionBytes(level: number, name: number, value: Uint8Array): boolean {
    this.#scratch.bytes.set(value);
    return this.native.libc.setsockopt(this.fd, level, name, this.#scratch.address, value.length) === 0;
  }

  /** Reads an option that is an int, or the `index`-th of several; undefined when there is no such thing. */
  getOption(level: number, name: number, index = 0): number | undefined {
    const { words, address } = this.#scratch;
    words[12] = 48;
    const result = this.native.libc.getsockopt(this.fd, level, name, address, address + 48);
    return result === 0 && words[12] >= 4 * (index + 1) ? words[index] : undefined;
  }

  /** Idempotent. */
  close(): void {
    this.#descriptor?.close();
  }
}
