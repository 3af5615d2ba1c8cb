import { CmEventType, type ErrnoName, PortSpace, RejectReason } from '../../../device/ibta/index.js';
import { familyOf, isAddressText } from '../../../device/wire/index.js';
import { fieldsProblem, invalid, refuse, show, VerbsError } from '../../verbs/index.js';
import { knowsNames } from '../../provider/index.js';
import { addrInfoFrom } from '../addresses/addr-info.js';
import type { FullAddress } from '../addresses/address.js';
import { choiceHere, type DeviceChoice } from '../addresses/devices.js';
import { createEventChannel } from '../events/event-channel.js';
import { expectEvent, Patience, unlessAborted } from '../events/waiting.js';
import { resourcesOf } from '../identifiers/cm-id.js';
import { createId } from '../identifiers/create-id.js';
import { CmOption, type CmId, type EventChannel } from '../objects.js';
import type { ConnParam } from '../identifiers/parameters.js';
import { RefusedError } from '../events/event-error.js';
import { Connection } from './connection.js';
import { CONNECT_FIELDS, type ConnectionOptions, type ConnectOptions, type ListenOptions } from './options.js';

const CALL = 'rdma_connect';
/** What is set by `rdma_set_option`. */
type IdOptions = Pick<ConnectOptions, 'tos' | 'reuseAddr'> & Pick<ListenOptions, 'ipv6Only'>;

const MAX_PORT = 65_535;
const NOTHING = new Uint8Array(0);
const NOWHERE: readonly ErrnoName[] = ['ENODEV', 'EHOSTUNREACH', 'EADDRINUSE', 'EADDRNOTAVAIL'];

/**
 * Makes a connection, as Node's own `connect` does: finds the way, makes a queue pair, asks the peer. When it fails or is
 * aborted, nothing is left of it.
 *
 * @throws VerbsError (the promise rejects) ECONNREFUSED when the peer refuses, with the reason in words and `reason` and
 *   `privateData` on the error (`RefusedError`); ETIMEDOUT when it does not answer; ENOENT when nobody knows the name;
 *   otherwise as the calls of `CmId`
 */
export async function connect(options: ConnectOptions): Promise<Connection> {
  refuse(CALL, fieldsProblem('options', options, CONNECT_FIELDS));
  const { host, port, signal, timeoutMs, localAddress, localPort = 0, context } = options;
  if (!Number.isInteger(port) || port < 1 || port > MAX_PORT)
    throw new VerbsError(CALL, invalid(`port is ${show(port)}`, `It is a number from 1 to ${MAX_PORT}`));
  if (!Number.isInteger(localPort) || localPort < 0 || localPort > MAX_PORT)
    throw new VerbsError(CALL, invalid(`localPort is ${show(localPort)}`, `It is a number from 0 to ${MAX_PORT}`));
  if (localAddress !== undefined && (typeof localAddress !== 'string' || !isAddressText(localAddress)))
    throw new VerbsError(CALL, invalid(`localAddress is ${show(localAddress)}`, 'It is an IP address of this machine'));
  // The machine looks up a name in real time, in which all of a simulated device's time would pass.
  const clock = isAddressText(host) || knowsNames(context) ? { context } : {};
  const choice = choiceHere(choiceOf(options));
  using patience = new Patience(CALL, { signal, timeoutMs, host, port, ...clock });
  let failure: unknown;
  for (const destination of await unlessAborted(destinationsOf(options), patience.signal)) {
    try {
      return await tryOne(destination, choice, options, patience.signal);
    } catch (error) {
      if (patience.signal.aborted || !isNobodyThere(error)) throw error;
      failure ??= error;
    }
  }
  throw failure;
}

/** The addresses of a host, those of IPv4 first: that of IPv6 loopback is one only, which somebody may have already. */
async function destinationsOf({ host, port, localAddress, context }: ConnectOptions): Promise<FullAddress[]> {
  const family = localAddress === undefined ? undefined : familyOf(localAddress);
  const found = await addrInfoFrom(context, host, port, family && !isAddressText(host) ? { family } : {});
  const destinations = found.flatMap(({ dst }) => dst ?? []);
  return destinations.sort((a, b) => familyOf(a.host) - familyOf(b.host));
}

/** Whether another address of the same host may lead to somebody. */
function isNobodyThere(error: unknown): boolean {
  if (error instanceof RefusedError) return error.reason === RejectReason.INVALID_SERVICE_ID;
  return error instanceof VerbsError && NOWHERE.includes(error.errno);
}

async function tryOne(
  destination: FullAddress,
  choice: DeviceChoice,
  options: ConnectOptions,
  signal: AbortSignal,
): Promise<Connection> {
  const channel = createEventChannel(choice);
  const id = createId(channel, PortSpace.TCP);
  try {
    setOptions(id, options);
    return await setUp(id, channel, destination, options, signal);
  } catch (error) {
    id[Symbol.dispose]();
    channel[Symbol.dispose]();
    throw error;
  }
}

async function setUp(
  id: CmId,
  channel: EventChannel,
  destination: FullAddress,
  options: ConnectOptions,
  signal: AbortSignal,
): Promise<Connection> {
  const { localAddress, localPort } = options;
  const source = {
    ...(localAddress !== undefined && { host: localAddress }),
    ...(localPort !== undefined && { port: localPort }),
  };
  id.resolveAddr(destination, { source });
  await expectEvent('rdma_resolve_addr', channel, CmEventType.ADDR_RESOLVED, signal);
  id.resolveRoute();
  await expectEvent('rdma_resolve_route', channel, CmEventType.ROUTE_RESOLVED, signal);
  await prepareQueuePair(CALL, id, options, signal);
  id.connect(connParam(options));
  const established = await expectEvent(CALL, channel, CmEventType.ESTABLISHED, signal);
  return new Connection(id, channel, established.param.conn?.privateData ?? NOTHING);
}

export function choiceOf({ context, open }: Pick<ConnectOptions, 'context' | 'open'>): DeviceChoice {
  return { ...(context && { contexts: [context] }), ...(open && { open }) };
}

/** @throws VerbsError EINVAL for values that there are not */
export function setOptions(id: CmId, { tos, reuseAddr, ipv6Only }: IdOptions): void {
  if (tos !== undefined) id.setOption(CmOption.TOS, tos);
  if (reuseAddr !== undefined) id.setOption(CmOption.REUSEADDR, reuseAddr);
  if (ipv6Only !== undefined) id.setOption(CmOption.AFONLY, ipv6Only);
}

/** Makes the queue pair of either end. @throws the signal's reason; VerbsError as `CmId.createQp`; what `prepare` throws */
export async function prepareQueuePair(
  call: string,
  id: CmId,
  { pd, qp, createQp, prepare }: ConnectionOptions,
  signal: AbortSignal,
): Promise<void> {
  if (prepare !== undefined && typeof prepare !== 'function')
    throw new VerbsError(call, invalid('prepare is not a function', 'It takes the identifier, and posts on it'));
  if (createQp !== undefined && typeof createQp !== 'function')
    throw new VerbsError(
      call,
      invalid('createQp is not a function', 'It takes the identifier, and calls its createQp'),
    );
  resourcesOf(id).sharesChannel = true;
  if (createQp === undefined) id.createQp(pd, qp);
  else createQp(id);
  const result = prepare?.(id);
  if (result instanceof Promise) await unlessAborted(result, signal);
}

export function connParam(options: ConnectionOptions & Partial<ConnectOptions>): ConnParam {
  const { qp, pd, createQp, prepare, signal, timeoutMs, ...rest } = options;
  const { host, port, localAddress, localPort, tos, reuseAddr, context, open, ...param } = rest;
  return param;
}
