import { CmEventType, gidFromIp, PortState } from '../../../device/ibta/index.js';
import { familyOf, isAny, plainAddress } from '../../../device/wire/index.js';
import { type Context, type FieldsOf, fieldsProblem, invalid, refuse, show, VerbsError } from '../../verbs/index.js';
import type { Identity } from '../identifiers/identity.js';
import { IdState } from '../identifiers/states.js';
import {
  type CmRoute,
  completeAddress,
  type FullAddress,
  type ResolveAddrOptions,
  type SocketAddress,
} from './address.js';
import { defaultDevice, deviceToward, deviceWithAddress, standsForAny } from './devices.js';
import { wildcardOf } from './wildcard.js';

const FIELDS: FieldsOf<ResolveAddrOptions> = { source: true, timeoutMs: true };

function checkTimeout(call: string, timeoutMs: unknown): void {
  if (timeoutMs === undefined || (typeof timeoutMs === 'number' && timeoutMs >= 0)) return;
  throw new VerbsError(call, invalid(`timeoutMs is ${show(timeoutMs)}`, 'It is a number of milliseconds'));
}

/** Implements `rdma_bind_addr`. */
export function bindAddr(identity: Identity, address: SocketAddress): void {
  const call = 'rdma_bind_addr';
  identity.require('bindAddr');
  const { host, port } = completeAddress(call, 'address', address);
  if (isAny(host)) {
    const given = address.host === undefined ? undefined : host;
    identity.bindEverywhere(call, wildcardOf(given, identity.options.afOnly), port);
  } else if (standsForAny(identity.devices, host)) {
    const any = familyOf(host) === 4 ? '0.0.0.0' : '::';
    identity.bindEverywhere(call, wildcardOf(any, identity.options.afOnly), port);
  } else identity.bindTo(call, deviceWithAddress(call, identity.devices, host), port);
  identity.state = IdState.ADDR_BOUND;
}

/** Implements `rdma_resolve_addr`. A wildcard as the destination is the program itself, as in Linux. */
export function resolveAddr(identity: Identity, destination: SocketAddress, options: ResolveAddrOptions): void {
  const call = 'rdma_resolve_addr';
  identity.require('resolveAddr');
  const asked = completeAddress(call, 'destination', destination);
  if (destination.host === undefined)
    throw new VerbsError(call, invalid('destination.host is missing', 'Name the address of the peer'));
  refuse(call, fieldsProblem('options', options, FIELDS));
  const source = options.source === undefined ? undefined : completeAddress(call, 'source', options.source);
  checkTimeout(call, options.timeoutMs);
  const isFromAny = source === undefined || isAny(source.host) || standsForAny(identity.devices, source.host);
  const from = isFromAny ? identity.local?.host : source.host;
  const canTalk = identity.binding?.families.includes(familyOf(asked.host)) ?? true;
  if (from !== undefined && (isAny(from) ? !canTalk : familyOf(from) !== familyOf(asked.host)))
    throw new VerbsError(call, invalid(`${from} and ${asked.host} are of different versions of IP`));
  if (!isFromAny && identity.state === IdState.IDLE) {
    identity.bindTo(call, deviceWithAddress(call, identity.devices, source.host), source.port);
    identity.state = IdState.ADDR_BOUND;
  }
  let context: Context;
  try {
    context = deviceFor(call, identity, asked);
  } catch (error) {
    if (!(error instanceof VerbsError)) throw error;
    identity.raiseError(CmEventType.ADDR_ERROR, error);
    identity.complete(call);
    return;
  }
  if (identity.binding !== undefined) identity.settleOn(call, context);
  else if (context !== identity.context) identity.bindTo(call, context, source?.port ?? 0);
  identity.peer = isAny(asked.host) ? { ...asked, host: plainAddress(context.address) } : asked;
  identity.state = IdState.ADDR_RESOLVED;
  identity.raise({ event: CmEventType.ADDR_RESOLVED });
  identity.complete(call);
}

/** The device toward a peer. An identifier that is bound to an address of its own has its device, which may lead there or not. */
function deviceFor(call: string, { context, binding, devices }: Identity, { host }: FullAddress): Context {
  if (isAny(host)) return context ?? binding?.preferred?.context ?? defaultDevice(call, devices, familyOf(host));
  return deviceToward(call, context === undefined ? devices : { contexts: [context] }, host);
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

export function routeOf({ local, peer, state, context }: Identity): CmRoute {
  const resolved = state === IdState.ROUTE_RESOLVED || state === IdState.CONNECT || state === IdState.DISCONNECT;
  return {
    localGid: local && gidFromIp(local.host),
    remoteGid: peer && gidFromIp(peer.host),
    pathMtu: resolved ? context?.queryPort().activeMtu : undefined,
  };
}
