/** The addresses of the machine. */
import { NativeBlock } from '../memory/memory.js';
import { type LibC, nativeHost } from '../native.js';
import { sockaddrIpOffset, sockaddrLength } from '../sockets/socket.js';

export interface InterfaceAddress {
  /** The interface, `eth0`. */
  readonly name: string;
  /** 16 bytes; an IPv4 address is mapped into IPv6. */
  readonly ip: Uint8Array;
  /** Bits of {@link ip} that all of its network have in common, 0 to 128. */
  readonly prefixBits: number;
  /** Number of the interface, for a link-local IPv6 address, else 0. */
  readonly scopeId: number;
  readonly loopback: boolean;
}

const AF_INET = 2;
const AF_INET6 = 10;
const IFF_LOOPBACK = 8;
const NAME_BYTES = 16;

/** `struct ifaddrs` as far as it is needed. */
const ENTRY_BYTES = 40;
const NEXT = 0;
const NAME = 8;
const FLAGS = 16;
const ADDRESS = 24;
const NETMASK = 32;
/** Where a `sockaddr_in6` has the number of the interface. */
const SCOPE_AT = 24;

const IPV4_IN_IPV6 = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff] as const;

function leadingOnes(bytes: Uint8Array): number {
  const firstOther = bytes.findIndex((byte) => byte !== 0xff);
  if (firstOther < 0) return 8 * bytes.length;
  return 8 * firstOther + Math.clz32(~(bytes[firstOther] << 24));
}

/** What the library's list looks like, entry by entry. */
class AddressList {
  readonly #entry = new NativeBlock(ENTRY_BYTES);
  readonly #scratch = new NativeBlock(32);

  constructor(
    private readonly libc: LibC,
    private readonly first: number,
  ) {}

  *addresses(): Generator<InterfaceAddress> {
    for (let at = this.first; at !== 0; at = this.#entry.getPointer(NEXT)) {
      this.libc.memcpy(this.#entry.address, at, ENTRY_BYTES);
      const address = this.#address();
      if (address !== undefined) yield address;
    }
  }

  #copy(from: number, length: number): Uint8Array {
    this.libc.memcpy(this.#scratch.address, from, length);
    return this.#scratch.bytes.slice(0, length);
  }

  /** Of the entry; undefined when it is of another family. */
  #address(): InterfaceAddress | undefined {
    const entry = this.#entry;
    const [address, netmask, text] = [entry.getPointer(ADDRESS), entry.getPointer(NETMASK), entry.getPointer(NAME)];
    if (address === 0 || netmask === 0) return undefined;
    const [family] = this.#copy(address, 2);
    if (family !== AF_INET && family !== AF_INET6) return undefined;
    const ipv6 = family === AF_INET6;
    const ipOf = (sockaddr: Uint8Array): Uint8Array => {
      const ip = sockaddr.subarray(sockaddrIpOffset(ipv6));
      return ipv6 ? ip.subarray(0, 16) : ip.subarray(0, 4);
    };
    const sockaddr = this.#copy(address, sockaddrLength(ipv6));
    const maskBits = leadingOnes(ipOf(this.#copy(netmask, sockaddrLength(ipv6))));
    return {
      name: new TextDecoder().decode(this.#copy(text, this.libc.strnlen(text, NAME_BYTES))),
      ip: Uint8Array.from([...(ipv6 ? [] : IPV4_IN_IPV6), ...ipOf(sockaddr)]),
      prefixBits: ipv6 ? maskBits : maskBits + 8 * IPV4_IN_IPV6.length,
      scopeId: ipv6 ? new DataView(sockaddr.buffer).getUint32(SCOPE_AT, true) : 0,
      loopback: (entry.words[FLAGS >> 2] & IFF_LOOPBACK) !== 0,
    };
  }
}

/**
 * All addresses, by getifaddrs(3): those of interfaces without a carrier as well, which Node does not tell.
 *
 * @returns undefined when there are no native calls
 */
export function interfaceAddresses(): InterfaceAddress[] | undefined {
  const native = nativeHost();
  if (native === undefined) return undefined;
  const { libc } = native;
  const list = new NativeBlock(8);
  if (libc.getifaddrs(list.address) < 0) return undefined;
  const first = list.getPointer(0);
  try {
    return [...new AddressList(libc, first).addresses()];
  } finally {
    libc.freeifaddrs(first);
  }
}
