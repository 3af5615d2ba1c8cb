/** The addresses that rdma_cm puts before the private data of REQ and SIDR_REQ (protocol/connections.md 4.5). */
import { type Gid, isIpv4Gid, PortSpace } from '../../ibta/index.js';
import { viewOf } from '../bytes.js';
import { be16, bits, gid, struct, u8 } from '../struct.js';

/** The service IDs of rdma_cm: a port space and a port within it (protocol/connections.md 4.5). */

const PORT_BITS = 16n;
const MAX_PORT = 0xffff;

/** A service ID in its two parts. */
export interface RdmaService {
  readonly portSpace: PortSpace;
  /** 0 to 65535. */
  readonly port: number;
}

/**
 * The service ID of a port.
 *
 * @throws RangeError when the port has more than 16 bits
 */
export function serviceId(portSpace: PortSpace, port: number): bigint {
  if (!Number.isInteger(port) || port < 0 || port > MAX_PORT) throw new RangeError(`${port} is not a port: 0 to 65535`);
  return (BigInt(portSpace) << PORT_BITS) | BigInt(port);
}

/** The port space and the port of a service ID; `undefined` when it is none of rdma_cm's. */
export function splitServiceId(id: bigint): RdmaService | undefined {
  const portSpace = Object.values(PortSpace).find((known) => BigInt(known) === id >> PORT_BITS);
  return portSpace && { portSpace, port: Number(id) & MAX_PORT };
}

export const CMA_HEADER_BYTES = 36;
const VERSION = 0;

/** The IP addresses of both ends of a connection. The destination's port is in the service ID. */
export interface CmaHeader {
  readonly ipVersion: 4 | 6;
  readonly sourcePort: number;
  /** An IPv4 address is a GID ::ffff:a.b.c.d, as everywhere. */
  readonly source: Gid;
  readonly destination: Gid;
}

const HEADER = struct({
  version: u8(0),
  ipVersion: bits(1, 7, 4),
  sourcePort: be16(2),
  source: gid(4),
  destination: gid(20),
});

/** The last four of 16 bytes, as an IPv4 GID: what comes before them has no meaning. */
function mapped(address: Gid): Gid {
  return address.fill(0, 0, 10).fill(0xff, 10, 12);
}

/** The last four bytes of an IPv4 GID after twelve zeros. */
function unmapped(address: Gid): Gid {
  if (!isIpv4Gid(address)) throw new RangeError('a header of IP version 4 needs IPv4 addresses');
  return new Uint8Array(address).fill(0, 0, 12);
}

/**
 * The header at the beginning of private data.
 *
 * @returns a copy; `undefined` when it has another version than 0, an IP version other than 4 and 6, or too few bytes
 */
export function readCmaHeader(privateData: Uint8Array): CmaHeader | undefined {
  if (privateData.length < CMA_HEADER_BYTES) return undefined;
  const { version, ipVersion, sourcePort, source, destination } = HEADER.read(viewOf(privateData), 0);
  if (version !== VERSION) return undefined;
  if (ipVersion === 4) return { ipVersion, sourcePort, source: mapped(source), destination: mapped(destination) };
  return ipVersion === 6 ? { ipVersion, sourcePort, source, destination } : undefined;
}

/**
 * The header's {@link CMA_HEADER_BYTES} bytes; the program's private data comes after them.
 *
 * @throws RangeError when the port has more than 16 bits, or an address is not of the IP version
 */
export function writeCmaHeader({ ipVersion, sourcePort, source, destination }: CmaHeader): Uint8Array {
  const address = ipVersion === 4 ? unmapped : (gid: Gid): Gid => gid;
  const fields = {
    version: VERSION,
    ipVersion,
    sourcePort,
    source: address(source),
    destination: address(destination),
  };
  HEADER.check(fields, '');
  return HEADER.encode(fields);
}
