import { CmEventType, gidFromIp, type Gid, type Mtu, PortState } from '../spec/index.js';
import { type Context, invalid, show, VerbsError } from '../verbs/index.js';
import { completeAddress, completePeer, type Family, familyOf, isAny, type SocketAddress } from './address.js';
import { defaultDevice, deviceToward, deviceWithAddress } from './devices.js';
import type { Identity } from './identity.js';
import { IdState } from './states.js';

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

function checkTimeout(call: string, timeoutMs: unknown): void {
  if (timeoutMs === undefined || (typeof timeoutMs === 'number' && timeoutMs >= 0)) return;
  throw new VerbsError(call, invalid(`timeoutMs is ${show(timeoutMs)}`, 'It is a number of milliseconds'));
}

/** The IP version that a wildcard stands for; undefined for either. */
function familyOfAny(identity: Identity, host: string, given: boolean): Family | undefined {
  if (familyOf(host) === 6) return identity.options.afOnly ? 6 : undefined;
  return given ? 4 : undefined;
}

/** Where `rdma_bind_addr` goes. */
export function bindAddr(identity: Identity, address: SocketAddress): void {
  const call = 'rdma_bind_addr';
  identity.require('bindAddr');
  const { host, port } = completeAddress(call, 'address', address);
  const family = familyOfAny(identity, host, address.host !== undefined);
  const context = isAny(host)
    ? defaultDevice(call, identity.contexts, family)
    : deviceWithAddress(call, identity.contexts, host);
  identity.bindTo(call, context, port);
  identity.boundToAny = isAny(host);
  identity.state = IdState.ADDR_BOUND;
}

/** Where `rdma_resolve_addr` goes. */
export function resolveAddr(identity: Identity, destination: SocketAddress, options: ResolveAddrOptions): void {
  const call = 'rdma_resolve_addr';
  identity.require('resolveAddr');
  const peer = completePeer(call, 'destination', destination);
  const source = options.source && completeAddress(call, 'source', options.source);
  checkTimeout(call, options.timeoutMs);
  if (source !== undefined && !isAny(source.host) && familyOf(source.host) !== familyOf(peer.host))
    throw new VerbsError(call, invalid(`${source.host} and ${peer.host} are of different versions of IP`));
  if (source !== undefined && identity.state === IdState.IDLE) bindToSource(call, identity, source);
  try {
    setOut(call, identity, peer.host, source?.port ?? 0);
  } catch (error) {
    if (!(error instanceof VerbsError)) throw error;
    identity.raiseError(CmEventType.ADDR_ERROR, error);
    identity.complete(call);
    return;
  }
  identity.peer = peer;
  identity.state = IdState.ADDR_RESOLVED;
  identity.raise({ event: CmEventType.ADDR_RESOLVED });
  identity.complete(call);
}

function bindToSource(call: string, identity: Identity, { host, port }: Required<SocketAddress>): void {
  if (isAny(host)) return;
  identity.bindTo(call, deviceWithAddress(call, identity.contexts, host), port);
  identity.state = IdState.ADDR_BOUND;
}

/** Finds the device, unless the identifier has one already that is to be used. */
function setOut(call: string, identity: Identity, destination: string, port: number): void {
  const { context, local } = identity;
  if (context === undefined || local === undefined) {
    identity.bindTo(call, deviceToward(call, identity.contexts, destination), port);
    return;
  }
  if (identity.boundToAny) {
    moveTo(call, identity, deviceToward(call, identity.contexts, destination), local.port);
    return;
  }
  // It is bound to an address of its own; whether that leads there is for the device to say.
  deviceToward(call, [context], destination);
}

/** Any address may turn out to be that of another device. */
function moveTo(call: string, identity: Identity, context: Context, port: number): void {
  if (context === identity.context) return;
  identity.unbind();
  identity.state = IdState.IDLE;
  identity.bindTo(call, context, port);
}

/** Where `rdma_resolve_route` goes. */
export function resolveRoute(identity: Identity, timeoutMs: number | undefined): void {
  const call = 'rdma_resolve_route';
  const context = identity.requireContext('resolveRoute');
  checkTimeout(call, timeoutMs);
  const { state } = context.queryPort();
  if (state === PortState.ACTIVE) {
    identity.state = IdState.ROUTE_RESOLVED;
    identity.raise({ event: CmEventType.ROUTE_RESOLVED });
  } else {
    const message = `the port of the device at ${context.address} is down`;
    identity.raiseError(CmEventType.ROUTE_ERROR, new VerbsError(call, { errno: 'ENETDOWN', message, advice: '' }));
  }
  identity.complete(call);
}

/** What is known of the way. */
export function routeOf({ local, peer, state, context }: Identity): CmRoute {
  const resolved = state === IdState.ROUTE_RESOLVED || state === IdState.CONNECT || state === IdState.DISCONNECT;
  return {
    localGid: local && gidFromIp(local.host),
    remoteGid: peer && gidFromIp(peer.host),
    pathMtu: resolved ? context?.queryPort().activeMtu : undefined,
  };
}
