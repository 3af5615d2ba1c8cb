import { CmEventType, CmOption, type ErrnoName, EventType, QpState } from '../../../../entry/index.js';
import type { Actor } from './actor.js';
import { familyOf, GROUPS, hasQp, here, type Stray } from './stray.js';

/** Ports that identifiers without a peer bind to. */
const LONE_PORTS = [7100, 7101] as const;

/** A port to bind to: any, one of our own, or one at which somebody listens. */
function portFor({ host, space }: Actor, choice: number): number {
  const listeners = [...host.listeners.values()].filter((one) => one.space === space).map(({ port }) => port);
  const ports = [0, ...LONE_PORTS, ...listeners];
  return ports[choice % ports.length];
}

/** @returns what the identifiers that have the port say of it */
function holdersOf({ host, space, id }: Actor, port: number): readonly { reuseAddr: boolean; listens: boolean }[] {
  const listeners = [...host.listeners.values()].filter((one) => one.space === space && one.port === port);
  const others = [...host.actors.values()].filter((one) => one.id !== id && one.space === space && one.port === port);
  return [
    ...listeners.map(() => ({ reuseAddr: false, listens: true })),
    ...others.map(({ reuseAddr, state }) => ({ reuseAddr, listens: state === 'listening' })),
  ];
}

/** A program that has closed its only device has none any more to bind an identifier to. */
const closedProblem = ({ host }: Actor): ErrnoName | undefined => (host.up ? undefined : 'EINVAL');

function bindProblem(actor: Actor, choice: number): ErrnoName | undefined {
  const port = portFor(actor, choice);
  const holders = port === 0 ? [] : holdersOf(actor, port);
  const shared = actor.reuseAddr && holders.every(({ reuseAddr, listens }) => reuseAddr && !listens);
  return closedProblem(actor) ?? (holders.length === 0 || shared ? undefined : 'EADDRINUSE');
}

/** Rightly, as far as the state allows it. */
export const rightCalls: readonly Stray[] = [
  {
    name: 'bindAddr',
    call: 'bindAddr',
    wrong: bindProblem,
    legal: 'lone',
    act: (actor, choice) => {
      const port = portFor(actor, choice);
      actor.id.bindAddr(here(actor, port));
      actor.port = port;
    },
  },
  {
    name: 'listen',
    call: 'listen',
    wrong: (actor) => {
      const isTaken = actor.port !== 0 && holdersOf(actor, actor.port).length > 0;
      return closedProblem(actor) ?? (isTaken ? 'EADDRINUSE' : undefined);
    },
    legal: 'lone',
    act: ({ id }, choice) => id.listen(choice % 3),
  },
  {
    name: 'resolveAddr',
    call: 'resolveAddr',
    wrong: closedProblem,
    legal: 'lone',
    act: (actor) => actor.id.resolveAddr(here(actor, 7000)),
  },
  { name: 'resolveRoute', call: 'resolveRoute', legal: 'everybody', act: ({ id }) => id.resolveRoute() },
  { name: 'connect', call: 'connect', legal: 'nobody', act: ({ id }) => id.connect({ qpNum: 77 }) },
  { name: 'accept', call: 'accept', legal: 'nobody', act: ({ id }) => id.accept({ qpNum: 77 }) },
  { name: 'reject', call: 'reject', legal: 'rough', act: ({ id }) => id.reject() },
  {
    name: 'establish',
    call: 'establish',
    wrong: (actor) => (hasQp(actor) ? 'EINVAL' : undefined),
    legal: 'nobody',
    act: ({ id }) => id.establish(),
  },
  {
    name: 'notify',
    call: 'notify',
    legal: 'rough',
    act: (actor) => {
      actor.id.notify(EventType.COMM_EST);
      actor.notified = true;
    },
  },
  {
    name: 'disconnect',
    call: 'disconnect',
    legal: 'rough',
    // Of a queue pair of the program's own the connection manager does not move.
    fits: ({ plan }) => !plan.external,
    act: ({ id }) => id.disconnect(),
  },
  {
    name: 'createQp',
    call: 'createQp',
    wrong: (actor) => (hasQp(actor) ? 'EINVAL' : undefined),
    legal: 'everybody',
    act: ({ id, host }) => {
      id.createQp(host.pd, host.qpInit);
      id.destroyQp();
    },
  },
  { name: 'initQpAttr', call: 'initQpAttr', legal: 'everybody', act: ({ id }) => void id.initQpAttr(QpState.INIT) },
  {
    name: 'initQpAttr for RTR or RTS',
    call: 'connectedQpAttr',
    legal: 'everybody',
    act: ({ id }, choice) => void id.initQpAttr(choice % 2 === 0 ? QpState.RTR : QpState.RTS),
  },
  {
    name: 'joinMulticast',
    call: 'joinMulticast',
    legal: 'nobody',
    act: (actor) => actor.id.joinMulticast({ host: GROUPS[familyOf(actor)] }),
  },
  {
    name: 'leaveMulticast',
    call: 'leaveMulticast',
    legal: 'nobody',
    act: (actor) => actor.id.leaveMulticast({ host: GROUPS[familyOf(actor)] }),
  },
  {
    name: 'setOption REUSEADDR',
    call: 'setReuseAddr',
    legal: 'lone',
    act: (actor) => {
      actor.id.setOption(CmOption.REUSEADDR, true);
      actor.reuseAddr = true;
    },
  },
  {
    name: 'setOption AFONLY',
    call: 'setFirstOption',
    legal: 'lone',
    act: ({ id }) => id.setOption(CmOption.AFONLY, true),
  },
  {
    name: 'setOption TOS',
    call: 'setOption',
    legal: 'everybody',
    // Of connections it is refused once it would have no effect.
    fits: ({ space }) => space === 'UDP',
    act: ({ id }) => id.setOption(CmOption.TOS, 0x20),
  },
  { name: 'queryAddrInfo', call: 'queryAddrInfo', legal: 'nobody', act: ({ id }) => void id.queryAddrInfo() },
  {
    name: 'writeCmEvent',
    call: 'writeCmEvent',
    legal: 'everybody',
    act: ({ id, notes }, choice) => {
      id.writeCmEvent(CmEventType.USER, choice, BigInt(choice));
      notes.push(choice);
    },
  },
  {
    name: 'migrate',
    call: 'migrate',
    legal: 'everybody',
    act: ({ id, host }) => id.migrate(host.otherChannel(id.channel)),
  },
  {
    name: 'destroy',
    call: 'destroy',
    legal: 'nobody',
    fits: ({ state }) => state === 'destroyed',
    act: ({ id }) => id.destroy(),
  },
  { name: 'getRequest', call: 'getRequest', legal: 'nobody', act: ({ id }) => void id.getRequest(0) },
];
