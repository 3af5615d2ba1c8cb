import { CmEventType, RejectReason } from '../../../../device/ibta/index.js';
import type { ErrnoName } from '../../../../entry/index.js';
import { check } from '../../../../../test/sim/failure.js';

/** What a program may know of an identifier, from what it called and what it was told. */
export type IdState =
  | 'idle'
  | 'bound'
  | 'listening'
  /** We look for the device, have it, look for the way, have it. */
  | 'finding'
  | 'found'
  | 'routing'
  | 'routed'
  /** We asked, for a connection or for a datagram queue pair. */
  | 'asking'
  | 'asked'
  | 'accepted'
  /** We asked, the peer accepted, and the queue pair is ours to move. */
  | 'answered'
  | 'up'
  | 'leaving'
  /** The peer has parted. */
  | 'left'
  /** It is over, but for the time that is given to what is still under way. */
  | 'waning'
  | 'over'
  | 'removed'
  | 'destroyed';

/** What a program may call, with nothing wrong about how it does so. */
export type IdCall =
  | 'bindAddr'
  | 'listen'
  | 'resolveAddr'
  | 'resolveRoute'
  | 'connect'
  | 'accept'
  | 'reject'
  | 'establish'
  | 'notify'
  | 'disconnect'
  | 'createQp'
  | 'initQpAttr'
  | 'connectedQpAttr'
  | 'joinMulticast'
  /** Of a group that it has not joined, and of one that it has. */
  | 'leaveMulticast'
  | 'leaveGroup'
  /** An option that comes before the address, and any other. */
  | 'setFirstOption'
  | 'setOption'
  | 'setReuseAddr'
  | 'queryAddrInfo'
  | 'writeCmEvent'
  | 'migrate'
  | 'destroy'
  /** What no identifier can be asked for that has a channel. */
  | 'getRequest';

type Next = IdState | ((status: number) => IdState);
type Outcome = IdState | 'stays' | { readonly errno: ErrnoName };

/** What may come, and what may be called, in a state, and which state that makes. All else is wrong: calls are EINVAL. */
interface StateRules {
  readonly events?: Readonly<Partial<Record<CmEventType, Next>>>;
  readonly calls?: Readonly<Partial<Record<IdCall, Outcome>>>;
}

const { ADDR_RESOLVED, ADDR_ERROR, ROUTE_RESOLVED } = CmEventType;
const { ESTABLISHED, REJECTED, UNREACHABLE, CONNECT_ERROR, CONNECT_RESPONSE, DISCONNECTED, TIMEWAIT_EXIT } =
  CmEventType;

/** Who is refused for a connection that the peer takes for a living one has a queue pair with something under way. */
const refused = (status: number): IdState => (status === RejectReason.STALE_CONN ? 'waning' : 'over');

/** What can be called as long as there is an identifier, whatever becomes of its device. */
const alive = { writeCmEvent: 'stays', migrate: 'stays', destroy: 'destroyed' } as const;
/** As long as it has not lost its device. Nothing is asked about addresses by name, and groups are left as they were joined. */
const standing = {
  ...alive,
  setOption: 'stays',
  setReuseAddr: 'stays',
  queryAddrInfo: { errno: 'ENOENT' },
  leaveMulticast: { errno: 'EADDRNOTAVAIL' },
} as const;
const withDevice = { ...standing, createQp: 'stays', initQpAttr: 'stays', leaveGroup: 'stays' } as const;
/** It knows the peer that its queue pair is for. */
const withPeer = { ...withDevice, connectedQpAttr: 'stays' } as const;

/** How an identifier gets to where it can ask. */
const findingRules = {
  idle: {
    calls: { ...standing, bindAddr: 'bound', listen: 'listening', resolveAddr: 'finding', setFirstOption: 'stays' },
  },
  bound: { calls: { ...withDevice, listen: 'listening', resolveAddr: 'finding', setFirstOption: 'stays' } },
  // A listener shares its port with nobody.
  listening: { calls: { ...withDevice, setReuseAddr: { errno: 'EINVAL' } } },
  finding: { events: { [ADDR_RESOLVED]: 'found', [ADDR_ERROR]: 'idle' } },
  found: { calls: { ...withDevice, resolveRoute: 'routing' } },
  routing: { events: { [ROUTE_RESOLVED]: 'routed' } },
  routed: { calls: { ...withDevice, connect: 'asking' } },
  removed: { calls: alive },
  destroyed: {},
} as const;

/** How connections go (protocol/connections.md 4.4, 4.7). */
export const connectionRules: Readonly<Record<IdState, StateRules>> = {
  ...findingRules,
  asking: {
    events: {
      [ESTABLISHED]: 'up',
      [CONNECT_RESPONSE]: 'answered',
      [REJECTED]: refused,
      [UNREACHABLE]: 'over',
      [CONNECT_ERROR]: 'over',
    },
    calls: withDevice,
  },
  asked: { events: { [REJECTED]: 'over' }, calls: { ...withPeer, accept: 'accepted', reject: 'over' } },
  accepted: {
    events: { [ESTABLISHED]: 'up', [REJECTED]: refused, [UNREACHABLE]: 'over', [DISCONNECTED]: 'left' },
    // Who is told that the peer is ready says so as an event.
    calls: { ...withPeer, notify: 'stays', disconnect: 'leaving' },
  },
  answered: {
    events: { [REJECTED]: 'over' },
    calls: { ...withPeer, establish: 'up', reject: 'over', disconnect: 'leaving' },
  },
  up: {
    events: { [DISCONNECTED]: 'left', [REJECTED]: 'waning' },
    calls: { ...withPeer, notify: { errno: 'EISCONN' }, disconnect: 'leaving' },
  },
  leaving: { events: { [DISCONNECTED]: 'waning' }, calls: { ...withDevice, disconnect: 'leaving' } },
  left: { calls: { ...withDevice, disconnect: 'waning' } },
  waning: { events: { [TIMEWAIT_EXIT]: 'over' }, calls: { ...withDevice, disconnect: 'waning' } },
  // Of a connection that the program moves itself, whoever has lost it may still say that it parts.
  over: { calls: { ...withDevice, disconnect: 'over' } },
};

/** How questions for datagram queue pairs go. */
export const resolutionRules: Readonly<Record<IdState, StateRules>> = {
  ...findingRules,
  bound: { calls: { ...findingRules.bound.calls, joinMulticast: 'stays' } },
  found: { calls: { ...findingRules.found.calls, joinMulticast: 'stays' } },
  asking: { events: { [ESTABLISHED]: 'up', [UNREACHABLE]: 'over' }, calls: withDevice },
  asked: { calls: { ...withDevice, accept: 'over', reject: 'over' } },
  up: { calls: withDevice },
  over: { calls: withDevice },
  accepted: {},
  answered: {},
  leaving: {},
  left: {},
  waning: {},
};

export type IdRules = typeof connectionRules;

export const eventNames: Readonly<Record<number, string>> = Object.fromEntries(
  Object.entries(CmEventType).map(([name, value]) => [value, name]),
);

/** The state after an event. @throws SimulationFailure for one that must not come */
export function afterEvent(rules: IdRules, state: IdState, type: CmEventType, status: number): IdState {
  const next = rules[state].events?.[type];
  check(next !== undefined, () => `${eventNames[type]} (${status}) for an identifier that is ${state}`);
  return typeof next === 'function' ? next(status) : next;
}

/**
 * What a call is refused with, or undefined when it is not.
 *
 * @param wrong what is to be refused about the call itself, which is looked at where the state allows the call
 */
export function refusalIn(rules: IdRules, state: IdState, call: IdCall, wrong?: ErrnoName): ErrnoName | undefined {
  const outcome = rules[state].calls?.[call];
  if (outcome === undefined) return 'EINVAL';
  return wrong ?? (typeof outcome === 'object' ? outcome.errno : undefined);
}

/** The state after a call that was not refused. */
export function afterCall(rules: IdRules, state: IdState, call: IdCall): IdState {
  const outcome = rules[state].calls?.[call];
  return typeof outcome === 'string' && outcome !== 'stays' ? outcome : state;
}
