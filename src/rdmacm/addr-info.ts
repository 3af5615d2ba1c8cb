import { lookup } from 'node:dns/promises';
import { PortSpace, QpType } from '../spec/index.js';
import { invalid, objectProblem, refuse, show, VerbsError } from '../verbs/index.js';
import {
  completeAddress,
  type Family,
  familyOf,
  type FullAddress,
  isAddressText,
  plainAddress,
  type SocketAddress,
} from './address.js';
import { isDatagram } from './identity.js';

const CALL = 'rdma_getaddrinfo';
const MAX_PORT = 65535;
const LOOPBACK = { 4: '127.0.0.1', 6: '::1' } as const;
const ANY = { 4: '0.0.0.0', 6: '::' } as const;

/** What `getAddrInfo` can be asked for (`struct rdma_addrinfo` as hints). */
export interface AddrInfoHints {
  /** The address is one's own, to listen on (RAI_PASSIVE). Default false. */
  readonly passive?: boolean;
  /** `node` is an address, no name (RAI_NUMERICHOST). Default false. */
  readonly numericHost?: boolean;
  /** Default: both. */
  readonly family?: 4 | 6;
  /** Default: RC in the port spaces TCP and IB, UD in UDP and IPOIB. */
  readonly qpType?: QpType;
  /** Default TCP, for UD the port space UDP. */
  readonly portSpace?: PortSpace;
  /** An active side's own address. */
  readonly src?: SocketAddress;
}

/** `struct rdma_addrinfo`: what `createEp` takes. */
export interface AddrInfo {
  readonly passive: boolean;
  readonly family: 4 | 6;
  readonly qpType: QpType;
  readonly portSpace: PortSpace;
  /** One's own address: where to listen, or where to connect from. */
  readonly src: FullAddress | undefined;
  /** The peer's. */
  readonly dst: FullAddress | undefined;
}

/** The port that a service is. Names of services stand for ports of TCP and UDP, which rdma_cm does not have. */
function portOf(service: unknown): number {
  if (service === undefined) return 0;
  const port = typeof service === 'string' && /^\d+$/.test(service) ? Number(service) : service;
  if (typeof port === 'number' && Number.isInteger(port) && port >= 0 && port <= MAX_PORT) return port;
  throw new VerbsError(CALL, invalid(`service is ${show(service)}`, 'It is a port, 0 to 65535'));
}

/** The type of queue pairs in a port space. */
export function defaultQpType(portSpace: PortSpace): QpType {
  return isDatagram(portSpace) ? QpType.UD : QpType.RC;
}

function check(node: unknown, service: unknown, hints: AddrInfoHints): void {
  refuse(CALL, objectProblem('hints', hints));
  if (node === undefined && service === undefined && hints.src === undefined)
    throw new VerbsError(CALL, invalid('there is neither a node nor a service', 'Give one of them'));
  if (node !== undefined && typeof node !== 'string')
    throw new VerbsError(CALL, invalid(`node is ${show(node)}`, 'It is a name or an address'));
}

function infoOf(host: string, port: number, hints: AddrInfoHints): AddrInfo {
  const { passive = false } = hints;
  const portSpace = hints.portSpace ?? (hints.qpType === QpType.UD ? PortSpace.UDP : PortSpace.TCP);
  const address = { host: plainAddress(host), port };
  const own = hints.src && completeAddress(CALL, 'hints.src', hints.src);
  return {
    passive,
    family: familyOf(address.host),
    qpType: hints.qpType ?? defaultQpType(portSpace),
    portSpace,
    src: passive ? address : own,
    dst: passive ? undefined : address,
  };
}

/**
 * As {@link getAddrInfo}, for addresses, of which nobody has to be asked; undefined for a name.
 *
 * @throws VerbsError as there
 */
export function numericAddrInfo(
  node: string | undefined,
  service: string | number | undefined,
  hints: AddrInfoHints,
): AddrInfo[] | undefined {
  check(node, service, hints);
  const port = portOf(service);
  const { passive = false, family = 4 } = hints;
  const host = node ?? (passive ? ANY : LOOPBACK)[family];
  if (isAddressText(host)) {
    if (hints.family !== undefined && familyOf(plainAddress(host)) !== hints.family)
      throw new VerbsError(CALL, invalid(`${host} is no IPv${hints.family} address`));
    return [infoOf(host, port, hints)];
  }
  if (hints.numericHost === true) throw new VerbsError(CALL, invalid(`'${host}' is no address`));
  return undefined;
}

/**
 * Finds the addresses of a host and service (`rdma_getaddrinfo`), by `node:dns`, which asks the system as `getaddrinfo`
 * does.
 *
 * @param node a name or address; default any with `passive`, else loopback
 * @param service a port
 * @throws VerbsError (the promise rejects) EINVAL for neither node nor service, or a service that is no port; ENOENT when
 *   nobody knows the name
 */
export async function getAddrInfo(
  node?: string,
  service?: string | number,
  hints: AddrInfoHints = {},
): Promise<AddrInfo[]> {
  const known = numericAddrInfo(node, service, hints);
  if (known !== undefined || node === undefined) return known ?? [];
  const family: Family | 0 = hints.family ?? 0;
  let found;
  try {
    found = await lookup(node, { all: true, family });
  } catch (error) {
    const message = `nobody knows the name ${node}`;
    throw new VerbsError(CALL, { errno: 'ENOENT', message, advice: '' }, { cause: error });
  }
  const port = portOf(service);
  return found.map(({ address }) => infoOf(address, port, hints));
}
