import { type Gid, gidFromIp, type Mtu } from '../../../device/ibta/index.js';
import { isAddressText, isAny, plainAddress } from '../../../device/wire/index.js';
import {
  type FieldsOf,
  fieldsProblem,
  invalid,
  isObject,
  type Problem,
  refuse,
  show,
  VerbsError,
} from '../../verbs/index.js';

/** What is known of the way to the peer (`struct rdma_route`). */
export interface CmRoute {
  readonly localGid: Gid | undefined;
  readonly remoteGid: Gid | undefined;
  /** Once the route is resolved. */
  readonly pathMtu: Mtu | undefined;
}

/** How `resolveAddr` can be asked. */
export interface ResolveAddrOptions {
  /** An address of one's own to connect from. Default: that of the device which leads there. */
  readonly source?: SocketAddress | undefined;
  /** Taken as librdmacm takes it: here the way is known at once, or never. */
  readonly timeoutMs?: number | undefined;
}

/** How addresses are given: as in Node's `net`. */
export interface SocketAddress {
  /** An IP address, no name. `0.0.0.0`, `::` or nothing is any. */
  readonly host?: string;
  /** 0 to 65535; 0 or nothing is any. */
  readonly port?: number;
}

/** An address with all that it has. */
export type FullAddress = Required<SocketAddress>;

const FIELDS: FieldsOf<SocketAddress> = { host: true, port: true };
const MAX_PORT = 65535;

/** The GID of an address: the address itself, an IPv4 one as `::ffff:a.b.c.d`. */
export function gidOf(host: string): Gid {
  return gidFromIp(host);
}

function addressProblem(what: string, address: unknown): Problem | undefined {
  const unknown = fieldsProblem(what, address, FIELDS);
  if (unknown !== undefined || !isObject(address)) return unknown;
  const { host, port }: { host?: unknown; port?: unknown } = address;
  if (host !== undefined && (typeof host !== 'string' || !isAddressText(host)))
    return invalid(`${what}.host is ${show(host)}`, 'It is an IP address; getAddrInfo finds that of a name');
  if (port !== undefined && (typeof port !== 'number' || !Number.isInteger(port) || port < 0 || port > MAX_PORT))
    return invalid(`${what}.port is ${show(port)}`, 'It is a number from 0 to 65535');
  return undefined;
}

/**
 * An address as a program gave it, with all that it has.
 *
 * @param what names it in the sentence of an error
 * @throws VerbsError EINVAL when it is none
 */
export function completeAddress(call: string, what: string, address: SocketAddress): FullAddress {
  refuse(call, addressProblem(what, address));
  return { host: plainAddress(address.host ?? '0.0.0.0'), port: address.port ?? 0 };
}

/** The same, for an address that must be somebody's. @throws VerbsError EINVAL when it is none, or any */
export function completePeer(call: string, what: string, address: SocketAddress): FullAddress {
  const full = completeAddress(call, what, address);
  if (isAny(full.host)) throw new VerbsError(call, invalid(`${what}.host is missing`, 'Say who is meant'));
  return full;
}
