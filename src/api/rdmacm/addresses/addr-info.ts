import { isOneOf, PortSpace, QpType } from '../../../device/ibta/index.js';
import { familyOf, isAddressText, plainAddress } from '../../../device/wire/index.js';
import { lookUpFrom } from '../../provider/index.js';
import { type Context, type FieldsOf, fieldsProblem, invalid, refuse, show, VerbsError } from '../../verbs/index.js';
import { isDatagramSpace } from '../../../device/cm/index.js';
import { completeAddress, type FullAddress, type SocketAddress } from './address.js';

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
  /** Default: RC in the port spaces TCP and IB, UD in UDP and IPOIB. UD and the others do not mix. */
  readonly qpType?: QpType;
  /** Default TCP, for UD the port space UDP. */
  readonly portSpace?: PortSpace;
  /** An active side's own address. */
  readonly src?: SocketAddress;
  /** The peer's address, where `node` does not say it. */
  readonly dst?: SocketAddress;
}

const FIELDS: FieldsOf<AddrInfoHints> = {
  passive: true,
  numericHost: true,
  family: true,
  qpType: true,
  portSpace: true,
  src: true,
  dst: true,
};

interface AddrInfoFields {
  readonly family: 4 | 6;
  readonly qpType: QpType;
  readonly portSpace: PortSpace;
}

/** What an active side needs. */
export interface ActiveAddrInfo extends AddrInfoFields {
  readonly passive: false;
  /** Where to connect from, if that matters. */
  readonly src: FullAddress | undefined;
  /** The peer's address. */
  readonly dst: FullAddress;
}

/** What a passive side needs. */
export interface PassiveAddrInfo extends AddrInfoFields {
  readonly passive: true;
  /** Where to listen. */
  readonly src: FullAddress;
  readonly dst: undefined;
}

/** `struct rdma_addrinfo`: what `createEp` takes. */
export type AddrInfo = ActiveAddrInfo | PassiveAddrInfo;

/** The port that a service is. Names of services stand for ports of TCP and UDP, which rdma_cm does not have. */
function portOf(service: unknown): number {
  if (service === undefined) return 0;
  const port = typeof service === 'string' && /^\d+$/.test(service) ? Number(service) : service;
  if (typeof port === 'number' && Number.isInteger(port) && port >= 0 && port <= MAX_PORT) return port;
  throw new VerbsError(CALL, invalid(`service is ${show(service)}`, 'It is a port, 0 to 65535'));
}

export function defaultQpType(portSpace: PortSpace): QpType {
  return isDatagramSpace(portSpace) ? QpType.UD : QpType.RC;
}

function check(node: unknown, service: unknown, hints: AddrInfoHints): void {
  refuse(CALL, fieldsProblem('hints', hints, FIELDS));
  if (node === undefined && service === undefined && hints.src === undefined && hints.dst === undefined)
    throw new VerbsError(CALL, invalid('there is neither a node nor a service', 'Give one of them'));
  if (node !== undefined && (typeof node !== 'string' || node === ''))
    throw new VerbsError(CALL, invalid(`node is ${show(node)}`, 'It is a name or an address'));
  const { family, qpType, portSpace } = hints;
  if (family !== undefined && ![4, 6].includes(family))
    throw new VerbsError(CALL, invalid(`hints.family is ${show(family)}`, 'It is 4 or 6'));
  if (qpType !== undefined && !isOneOf(QpType, qpType))
    throw new VerbsError(CALL, invalid(`hints.qpType is ${show(qpType)}`, 'It is one of QpType'));
  if (portSpace !== undefined && !isOneOf(PortSpace, portSpace))
    throw new VerbsError(CALL, invalid(`hints.portSpace is ${show(portSpace)}`, 'It is one of PortSpace'));
  if (qpType === undefined || portSpace === undefined || isDatagramSpace(portSpace) === (qpType === QpType.UD)) return;
  throw new VerbsError(
    CALL,
    invalid('hints.qpType is of another port space than hints.portSpace', 'Leave one of them out'),
  );
}

function infoOf(host: string, port: number, hints: AddrInfoHints): AddrInfo {
  const portSpace = hints.portSpace ?? (hints.qpType === QpType.UD ? PortSpace.UDP : PortSpace.TCP);
  const address = { host: plainAddress(host), port };
  const fields = {
    family: familyOf(address.host),
    qpType: hints.qpType ?? defaultQpType(portSpace),
    portSpace,
  };
  if (hints.passive === true) return { passive: true, ...fields, src: address, dst: undefined };
  const src = hints.src && completeAddress(CALL, 'hints.src', hints.src);
  return { passive: false, ...fields, src, dst: address };
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
  const { passive = false, family = 4 } = hints;
  const told = hints.dst && completeAddress(CALL, 'hints.dst', hints.dst);
  const port = service === undefined && told !== undefined ? told.port : portOf(service);
  const host = node ?? (passive ? ANY[family] : (told?.host ?? LOOPBACK[family]));
  if (isAddressText(host)) {
    if (hints.family !== undefined && familyOf(plainAddress(host)) !== hints.family)
      throw new VerbsError(CALL, invalid(`${host} is not an IPv${hints.family} address`));
    return [infoOf(host, port, hints)];
  }
  if (hints.numericHost === true) throw new VerbsError(CALL, invalid(`${show(host)} is not an address`));
  return undefined;
}

/**
 * Finds the addresses of a host and service (`rdma_getaddrinfo`), as the system does.
 *
 * @param node a name or address; default any with `passive`, else loopback
 * @param service a port
 * @throws VerbsError (the promise rejects) EINVAL for neither node nor service, a service that is not a port, an address that
 *   is not of the version of IP that was asked for, or a type that the port space does not have; ENOENT when nobody knows
 *   the name; EAGAIN when those who may know it do not answer
 */
export function getAddrInfo(
  node: string | undefined,
  service: string | number | undefined,
  hints: AddrInfoHints & { readonly passive: true },
): Promise<PassiveAddrInfo[]>;
export function getAddrInfo(
  node?: string,
  service?: string | number,
  hints?: AddrInfoHints & { readonly passive?: false },
): Promise<ActiveAddrInfo[]>;
export function getAddrInfo(node?: string, service?: string | number, hints?: AddrInfoHints): Promise<AddrInfo[]>;
export function getAddrInfo(node?: string, service?: string | number, hints: AddrInfoHints = {}): Promise<AddrInfo[]> {
  return addrInfoFrom(undefined, node, service, hints);
}

/** As {@link getAddrInfo}, as the host of a device finds it, where that is a simulated one. */
export async function addrInfoFrom(
  context: Context | undefined,
  node: string | undefined,
  service: string | number | undefined,
  hints: AddrInfoHints,
): Promise<AddrInfo[]> {
  const known = numericAddrInfo(node, service, hints);
  if (known !== undefined || node === undefined) return known ?? [];
  const port = portOf(service);
  const found = await lookUpFrom(context, CALL, node, hints.family);
  return found.map((address) => infoOf(address, port, hints));
}
