/** What the machine knows of its network interfaces by their name. */
import { readFileSync } from 'node:fs';
import { NativeBlock } from '../memory/memory.js';
import { type NativeHost, nativeHost } from '../native.js';

/** A network interface, Linux's `lo` or `eth0`. */
export interface InterfaceFacts {
  /** Its number, from 1. */
  readonly index: number;
  /** Largest IP packet that it carries, headers included. */
  readonly mtuBytes: number;
  /** Switched on, and with a carrier as far as it has such a thing. */
  readonly up: boolean;
  /** Six bytes, all 0 where there is no such thing, as on `lo`. */
  readonly mac: Uint8Array;
}

const AF_UNIX = 1;
const SOCK_DGRAM = 2;
const SOCK_CLOEXEC = 0x80000;
const SIOCGIFFLAGS = 0x8913;
const SIOCGIFMTU = 0x8921;
const SIOCGIFHWADDR = 0x8927;
const SIOCGIFINDEX = 0x8933;
const IFF_UP_AND_RUNNING = 0x41;

/** `struct ifreq`: a name, then what is asked for. */
const IFREQ_BYTES = 40;
const NAME_BYTES = 16;
const VALUE = NAME_BYTES;
const MAC_BYTES = 6;
const NO_MAC = new Uint8Array(MAC_BYTES);

/** By system calls: also right in a network namespace whose `/sys` is that of another. */
function askKernel({ libc }: NativeHost, name: string): InterfaceFacts | undefined {
  const nameBytes = new TextEncoder().encode(name);
  if (nameBytes.length >= NAME_BYTES) return undefined;
  // Any kind of socket answers these; this one is there even where IP is not.
  const fd = libc.socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return undefined;
  try {
    const request = new NativeBlock(IFREQ_BYTES);
    request.bytes.set(nameBytes);
    const value = (what: number): number | undefined => {
      request.words[VALUE >> 2] = 0;
      return libc.ioctl(fd, what, request.address) < 0 ? undefined : request.words[VALUE >> 2];
    };
    const index = value(SIOCGIFINDEX);
    const mtuBytes = value(SIOCGIFMTU);
    const flags = value(SIOCGIFFLAGS);
    if (index === undefined || mtuBytes === undefined || flags === undefined) return undefined;
    const up = (flags & IFF_UP_AND_RUNNING) === IFF_UP_AND_RUNNING;
    const hasMac = value(SIOCGIFHWADDR) !== undefined;
    // A sockaddr: the family, then the address.
    const mac = hasMac ? request.bytes.slice(VALUE + 2, VALUE + 2 + MAC_BYTES) : NO_MAC;
    return { index, mtuBytes, up, mac };
  } finally {
    libc.close(fd);
  }
}

function readSysfs(name: string): InterfaceFacts | undefined {
  const read = (file: string): string => readFileSync(`/sys/class/net/${name}/${file}`, 'utf8').trim();
  try {
    const mac = Uint8Array.from(read('address').split(':'), (byte) => parseInt(byte, 16));
    return {
      index: Number(read('ifindex')),
      mtuBytes: Number(read('mtu')),
      up: ['up', 'unknown'].includes(read('operstate')),
      mac: mac.length === MAC_BYTES ? mac : NO_MAC,
    };
  } catch {
    // No such interface, not Linux, or a sandbox without sysfs.
    return undefined;
  }
}

/** What is known of an interface; undefined when there is none of that name, or nobody to ask. */
export function interfaceFacts(name: string): InterfaceFacts | undefined {
  const native = nativeHost();
  return native === undefined ? readSysfs(name) : askKernel(native, name);
}
