import { CmEventType, RejectReason } from '../../../src/spec/index.js';
import { check } from '../failure.js';

/** What a program may know of an identifier, from what it called and what it was told. */
export type IdState =
  /** It has asked for nothing. */
  | 'idle'
  /** We look for the device, have it, look for the way, have it. */
  | 'finding'
  | 'found'
  | 'routing'
  | 'routed'
  /** We asked, for a connection or for a datagram queue pair. */
  | 'asking'
  /** We were asked. */
  | 'asked'
  /** We accepted. */
  | 'accepted'
  /** We asked, the peer accepted, and the queue pair is ours to move. */
  | 'answered'
  | 'up'
  /** We part. */
  | 'leaving'
  /** The peer has parted. */
  | 'left'
  /** It is over, but for the time that is given to what is still under way. */
  | 'waning'
  | 'over'
  /** The device is gone. */
  | 'removed'
  | 'destroyed';

export type IdCall = 'resolveAddr' | 'resolveRoute' | 'connect' | 'accept' | 'reject' | 'establish' | 'disconnect';

type Next = IdState | ((status: number) => IdState);

/** What may come, and what may be called, in a state, and which state that makes. All else is wrong. */
interface StateRules {
  readonly events?: Readonly<Partial<Record<CmEventType, Next>>>;
  readonly calls?: Readonly<Partial<Record<IdCall, IdState>>>;
}

const { ADDR_RESOLVED, ADDR_ERROR, ROUTE_RESOLVED } = CmEventType;
const { ESTABLISHED, REJECTED, UNREACHABLE, CONNECT_ERROR, CONNECT_RESPONSE, DISCONNECTED, TIMEWAIT_EXIT } =
  CmEventType;

/** Who is refused for a connection that the peer takes for a living one has a queue pair with something under way. */
const refused = (status: number): IdState => (status === RejectReason.STALE_CONN ? 'waning' : 'over');
/** Of a connection that the program moves itself, whoever has lost it may still say that it parts. */
const parted: StateRules = { calls: { disconnect: 'over' } };

/** How an identifier gets to where it can ask. */
const findingRules = {
  idle: { calls: { resolveAddr: 'finding' } },
  finding: { events: { [ADDR_RESOLVED]: 'found', [ADDR_ERROR]: 'idle' } },
  found: { calls: { resolveRoute: 'routing' } },
  routing: { events: { [ROUTE_RESOLVED]: 'routed' } },
  routed: { calls: { connect: 'asking' } },
} as const;

/** How connections go (PROTOCOL.md 4.4, 4.7). */
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
  },
  asked: { events: { [REJECTED]: 'over' }, calls: { accept: 'accepted', reject: 'over' } },
  accepted: {
    events: { [ESTABLISHED]: 'up', [REJECTED]: refused, [UNREACHABLE]: 'over', [DISCONNECTED]: 'left' },
    calls: { disconnect: 'leaving' },
  },
  answered: { events: { [REJECTED]: 'over' }, calls: { establish: 'up', reject: 'over', disconnect: 'leaving' } },
  up: { events: { [DISCONNECTED]: 'left', [REJECTED]: 'waning' }, calls: { disconnect: 'leaving' } },
  leaving: { events: { [DISCONNECTED]: 'waning' }, calls: { disconnect: 'leaving' } },
  left: { calls: { disconnect: 'waning' } },
  waning: { events: { [TIMEWAIT_EXIT]: 'over' }, calls: { disconnect: 'waning' } },
  over: parted,
  removed: {},
  destroyed: {},
};

/** How questions for datagram queue pairs go. */
export const resolutionRules: Readonly<Record<IdState, StateRules>> = {
  ...findingRules,
  asking: { events: { [ESTABLISHED]: 'up', [UNREACHABLE]: 'over' } },
  asked: { calls: { accept: 'over', reject: 'over' } },
  accepted: {},
  answered: {},
  up: {},
  leaving: {},
  left: {},
  waning: {},
  over: {},
  removed: {},
  destroyed: {},
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

/** The state after a call, or undefined when the call is to be refused. */
export function afterCall(rules: IdRules, state: IdState, call: IdCall): IdState | undefined {
  return rules[state].calls?.[call];
}
