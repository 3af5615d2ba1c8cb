import { CmEventType, gidFromIp, PortState } from '../../../device/ibta/index.js';
import { familyOf, plainAddress } from '../../../device/wire/index.js';
import { type Context, type FieldsOf, fieldsProblem, invalid, refuse, show, VerbsError } from '../../verbs/index.js';
import type { Identity } from '../identifiers/identity.js';
import { IdState } from '../identifiers/states.js';
import type { CmRoute, ResolveAddrOptions } from './route.js';
import { completeAddress, completePeer, type SocketAddress } from './address.js';
import {
  defaultDevice,
  type DeviceChoice,
  deviceToward,
  deviceWithAddress,
  isWildcard,
  type Wildcard,
} from './devices.js';

const FIELDS: FieldsOf<ResolveAddrOptions> = { source: true, timeoutMs: true };

function checkTimeout(call: string, timeoutMs: unknown): void {
  if (timeoutMs === undefined || (typeof timeoutMs === 'number' && timeoutMs >= 0)) return;
  throw new VerbsError(call, invalid(`timeoutMs is ${show(timeoutMs)}`, 'It is a number of milliseconds'));
}

/** What any address means, written so or left out. */
function wildcardOf(identity: Identity, host: string | undefined): Wildcard {
  if (host === undefined) return 'any';
  if (familyOf(plainAddress(host)) === 4) return 'IPv4';
  return identity.options.afOnly ? 'IPv6' : 'IPv6 or IPv4';
}

/** Implements `rdma_bind_addr`. */
export function bindAddr(identity: Identity, address: SocketAddress): void {
  const call = 'rdma_bind_addr';
  identity.require('bindAddr');
  const { host, port } = completeAddress(call, 'address', address);
  const { devices } = identity;
  const isForAny = isWildcard(devices, host);
  const context = isForAny
    ? defaultDevice(call, devices, wildcardOf(identity, address.host))
    : deviceWithAddress(call, devices, host);
  identity.bindTo(call, context, port);
  identity.boundToAny = isForAny;
  identity.state = IdState.ADDR_BOUND;
}

/** Implements `rdma_resolve_addr`. */
export function resolveAddr(identity: Identity, destination: SocketAddress, options: ResolveAddrOptions): void {
  const call = 'rdma_resolve_addr';
  identity.require('resolveAddr');
  const peer = completePeer(call, 'destination', destination);
  refuse(call, fieldsProblem('options', options, FIELDS));
  const source = options.source === undefined ? undefined : completeAddress(call, 'source', options.source);
  checkTimeout(call, options.timeoutMs);
  const isFromAny = source === undefined || isWildcard(identity.devices, source.host);
  if (!isFromAny && familyOf(source.host) !== familyOf(peer.host))
    throw new VerbsError(call, invalid(`${source.host} and ${peer.host} are of different versions of IP`));
  if (!isFromAny && identity.state === IdState.IDLE) {
    identity.bindTo(call, deviceWithAddress(call, identity.devices, source.host), source.port);
    identity.state = IdState.ADDR_BOUND;
  }
  let context: Context;
  try {
    context = deviceToward(call, choiceOf(identity), peer.host);
  } catch (error) {
    if (!(error instanceof VerbsError)) throw error;
    identity.raiseError(CmEventType.ADDR_ERROR, error);
    identity.complete(call);
    return;
  }
  moveTo(call, identity, context, identity.local?.port ?? source?.port ?? 0);
  identity.peer = peer;
  identity.state = IdState.ADDR_RESOLVED;
  identity.raise({ event: CmEventType.ADDR_RESOLVED });
  identity.complete(call);
}

/** One that is bound to an address of its own has its device, which may lead there or not. */
function choiceOf({ context, boundToAny, devices }: Identity): DeviceChoice {
  return context === undefined || boundToAny ? devices : { contexts: [context] };
}

/** Gives it that device; any address may turn out to be another device's than was thought. */
function moveTo(call: string, identity: Identity, context: Context, port: number): void {
  if (context === identity.context) return;
  identity.unbind();
  identity.state = IdState.IDLE;
  identity.bindTo(call, context, port);
}

/** Implements `rdma_resolve_route`. */
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
