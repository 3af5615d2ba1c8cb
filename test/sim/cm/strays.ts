import {
  CmEventType,
  CmOption,
  createEventChannel,
  type ErrnoName,
  EventType,
  McJoinFlag,
  QpState,
  QpType,
} from '../../../src/index.js';
import { PrivateDataBytes } from '../../../src/spec/index.js';
import type { Actor } from './actor.js';
import type { IdCall } from './automaton.js';

/** A call that a program has no reason for. */
export interface Stray {
  readonly name: string;
  readonly call: IdCall;
  /** What is to be refused about it in a state that allows the call. */
  readonly wrong?: (actor: Actor, choice: number) => ErrnoName | undefined;
  /** Who makes it where it is not refused: nobody; who has no peer; everybody where peers may come to grief; everybody. */
  readonly legal: 'nobody' | 'dabbler' | 'rough' | 'everybody';
  /** Where it makes sense to try. */
  readonly fits?: (actor: Actor) => boolean;
  readonly act: (actor: Actor, choice: number) => void;
}

const goneChannel = createEventChannel();
goneChannel.destroy();

const INVALID = () => 'EINVAL' as const;
const NO_SUCH_PORT = 65536;
const GROUPS = { 4: '239.7.7.7', 6: 'ff15::7' } as const;
/** Ports that identifiers without a peer bind to. */
const DABBLED_PORTS = [7100, 7101] as const;

const isConnected = ({ space }: Actor): boolean => space === 'TCP';
const hasNoQp = ({ id }: Actor): boolean => id.qp === undefined;
const hasQp = ({ id }: Actor): boolean => id.qp !== undefined;
const tooLong = (most: number): Uint8Array => new Uint8Array(most + 1);
const familyOf = ({ host }: Actor): 4 | 6 => (host.address.includes(':') ? 6 : 4);
const here = ({ host: { address } }: Actor, port = 0) => ({ host: address, port });

/** A port to bind to: any, one of our own, or one at which somebody listens. */
function portFor({ host, space }: Actor, choice: number): number {
  const listeners = [...host.listeners.values()].filter((one) => one.space === space).map(({ port }) => port);
  const ports = [0, ...DABBLED_PORTS, ...listeners];
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

function bindProblem(actor: Actor, choice: number): ErrnoName | undefined {
  const port = portFor(actor, choice);
  const holders = port === 0 ? [] : holdersOf(actor, port);
  const shared = actor.reuseAddr && holders.every(({ reuseAddr, listens }) => reuseAddr && !listens);
  return holders.length === 0 || shared ? undefined : 'EADDRINUSE';
}

/** Rightly, as far as the state allows it. */
const right: readonly Stray[] = [
  {
    name: 'bindAddr',
    call: 'bindAddr',
    wrong: bindProblem,
    legal: 'dabbler',
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
      const isTaken = actor.port !== 0 && holdersOf(actor, actor.port).some(({ listens }) => listens);
      return isTaken ? 'EADDRINUSE' : undefined;
    },
    legal: 'dabbler',
    act: ({ id }, choice) => id.listen(choice % 3),
  },
  {
    name: 'resolveAddr',
    call: 'resolveAddr',
    legal: 'dabbler',
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
    call: 'setFirstOption',
    legal: 'dabbler',
    act: (actor) => {
      actor.id.setOption(CmOption.REUSEADDR, true);
      actor.reuseAddr = true;
    },
  },
  {
    name: 'setOption AFONLY',
    call: 'setFirstOption',
    legal: 'dabbler',
    act: ({ id }) => id.setOption(CmOption.AFONLY, true),
  },
  { name: 'setOption TOS', call: 'setOption', legal: 'everybody', act: ({ id }) => id.setOption(CmOption.TOS, 0x20) },
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

/** What is wrong about these is so in every state. */
type WrongStray = Omit<Stray, 'wrong' | 'legal'>;

const wrong: readonly WrongStray[] = [
  { name: 'bindAddr to no address', call: 'bindAddr', act: ({ id }) => id.bindAddr({ host: 'nonsense' }) },
  { name: 'bindAddr to no port', call: 'bindAddr', act: (actor) => actor.id.bindAddr(here(actor, NO_SUCH_PORT)) },
  { name: 'listen with no backlog', call: 'listen', act: ({ id }) => id.listen(-1) },
  { name: 'resolveAddr of any', call: 'resolveAddr', act: ({ id }) => id.resolveAddr({ host: '::', port: 7000 }) },
  {
    name: 'resolveAddr of no port',
    call: 'resolveAddr',
    act: (actor) => actor.id.resolveAddr(here(actor, NO_SUCH_PORT)),
  },
  {
    name: 'resolveAddr in no time',
    call: 'resolveAddr',
    act: (actor) => actor.id.resolveAddr(here(actor, 7000), { timeoutMs: NaN }),
  },
  { name: 'resolveRoute in no time', call: 'resolveRoute', act: ({ id }) => id.resolveRoute(-1) },
  {
    name: 'connect with too much to say',
    call: 'connect',
    act: ({ id, space }) =>
      id.connect({
        privateData: tooLong(space === 'TCP' ? PrivateDataBytes.CONNECT : PrivateDataBytes.RESOLVE),
        qpNum: 77,
      }),
  },
  {
    name: 'connect with more READs than there can be',
    call: 'connect',
    act: ({ id, host }) => id.connect({ responderResources: host.mostReads + 1, qpNum: 77 }),
  },
  {
    name: 'connect with too many retries',
    call: 'connect',
    act: ({ id }) => id.connect({ retryCount: 8, qpNum: 77 }),
  },
  {
    name: 'connect without a queue pair',
    call: 'connect',
    fits: (actor) => isConnected(actor) && hasNoQp(actor),
    act: ({ id }) => id.connect(),
  },
  {
    name: 'connect with a queue pair for datagrams',
    call: 'connect',
    fits: (actor) => isConnected(actor) && hasNoQp(actor),
    act: ({ id }) => id.connect({ qpNum: 77, qpType: QpType.RAW_PACKET }),
  },
  {
    name: 'accept with too much to say',
    call: 'accept',
    act: ({ id, space }) =>
      id.accept({
        privateData: tooLong(space === 'TCP' ? PrivateDataBytes.ACCEPT : PrivateDataBytes.RESOLVED),
        qpNum: 77,
      }),
  },
  {
    name: 'accept with more READs than there can be',
    call: 'accept',
    act: ({ id, host }) => id.accept({ initiatorDepth: host.mostReads + 1, qpNum: 77 }),
  },
  { name: 'accept without a queue pair', call: 'accept', fits: hasNoQp, act: ({ id }) => id.accept() },
  {
    name: 'accept with a queue pair of another type',
    call: 'accept',
    fits: hasNoQp,
    act: ({ id, space }) => id.accept({ qpNum: 77, qpType: space === 'TCP' ? QpType.UC : QpType.RC }),
  },
  {
    name: 'reject with too much to say',
    call: 'reject',
    act: ({ id, space }) => id.reject(tooLong(space === 'TCP' ? PrivateDataBytes.REJECT : PrivateDataBytes.RESOLVED)),
  },
  { name: 'notify of something else', call: 'notify', act: ({ id }) => id.notify(EventType.SQ_DRAINED) },
  {
    name: 'createQp in a domain of another device',
    call: 'createQp',
    act: ({ id, host, world }) => void id.createQp(world.foreignPd(host), host.qpInit),
  },
  {
    name: 'createQp of another type',
    call: 'createQp',
    act: ({ id, host, space }) =>
      void id.createQp(host.pd, { ...host.qpInit, qpType: space === 'TCP' ? QpType.UD : QpType.RC }),
  },
  { name: 'createTargetQp', call: 'createQp', act: ({ id }) => void id.createTargetQp() },
  { name: 'destroyQp without one', call: 'createQp', fits: hasNoQp, act: ({ id }) => id.destroyQp() },
  { name: 'destroySrq without one', call: 'createQp', act: ({ id }) => id.destroySrq() },
  { name: 'initQpAttr for ERR', call: 'initQpAttr', act: ({ id }) => void id.initQpAttr(QpState.ERR) },
  {
    name: 'joinMulticast of no group',
    call: 'joinMulticast',
    act: (actor) => actor.id.joinMulticast(here(actor)),
  },
  {
    name: 'joinMulticast of the other version of IP',
    call: 'joinMulticast',
    act: (actor) => actor.id.joinMulticast({ host: GROUPS[familyOf(actor) === 4 ? 6 : 4] }),
  },
  {
    name: 'joinMulticast of any',
    call: 'joinMulticast',
    act: ({ id }) => id.joinMulticastEx({ addr: {}, joinFlags: McJoinFlag.FULLMEMBER }),
  },
  { name: 'leaveMulticast of nothing', call: 'leaveMulticast', act: ({ id }) => id.leaveMulticast({}) },
  { name: 'setOption TOS to nonsense', call: 'setOption', act: ({ id }) => id.setOption(CmOption.TOS, 0x100) },
  {
    name: 'setOption ACK_TIMEOUT to nonsense',
    call: 'setOption',
    act: ({ id }) => id.setOption(CmOption.ACK_TIMEOUT, 32),
  },
  {
    name: 'setOption ACK_TIMEOUT where nothing is acknowledged',
    call: 'setOption',
    fits: (actor) => !isConnected(actor),
    act: ({ id }) => id.setOption(CmOption.ACK_TIMEOUT, 14),
  },
  {
    name: 'writeCmEvent of another event',
    call: 'writeCmEvent',
    act: ({ id }) => id.writeCmEvent(CmEventType.ESTABLISHED, 0, 0n),
  },
  {
    name: 'writeCmEvent of less than nothing',
    call: 'writeCmEvent',
    act: ({ id }) => id.writeCmEvent(CmEventType.USER, 0, -1n),
  },
  {
    name: 'migrate to a channel that is gone',
    call: 'migrate',
    act: ({ id }) => id.migrate(goneChannel),
  },
];

/** No device of this program has that address. */
const elsewhere: readonly Stray[] = [
  {
    name: 'bindAddr to an address of nobody here',
    call: 'bindAddr',
    wrong: () => 'ENODEV',
    legal: 'nobody',
    act: ({ id, world }) => id.bindAddr({ host: world.addressOf('nowhere') }),
  },
  {
    name: 'resolveAddr from an address of nobody here',
    call: 'resolveAddr',
    wrong: () => 'ENODEV',
    legal: 'nobody',
    // One that is bound is not asked where from.
    fits: ({ state }) => state !== 'bound',
    act: (actor) => actor.id.resolveAddr(here(actor, 7000), { source: { host: actor.world.addressOf('nowhere') } }),
  },
];

const strays: readonly Stray[] = [
  ...right,
  ...wrong.map((one) => ({ ...one, wrong: INVALID, legal: 'nobody' as const })),
  ...elsewhere,
];
/** What gets an identifier somewhere. */
const steps = strays.filter(({ legal }) => legal === 'dabbler' || legal === 'everybody');

function isPlayed(stray: Stray, actor: Actor, choice: number): boolean {
  if (stray.fits?.(actor) === false) return false;
  if (actor.refusal(stray.call, stray.wrong?.(actor, choice)) !== undefined) return true;
  if (stray.legal === 'dabbler') return actor.role === 'dabbler';
  return stray.legal === 'everybody' || (stray.legal === 'rough' && !actor.world.calm);
}

/**
 * The stray call that 32 bits of a plan stand for. Every other of them is one that may be right, or for who has no peer one
 * that gets it on.
 */
export function strayFor(actor: Actor, which: number): Stray {
  const choice = choiceOf(which);
  const sensible = actor.role === 'dabbler' ? steps : right;
  const list = which % 2 === 0 ? sensible : strays;
  const first = (which >>> 1) % list.length;
  for (let i = 0; i < list.length; i += 1) {
    const stray = list[(first + i) % list.length];
    if (isPlayed(stray, actor, choice)) return stray;
  }
  throw new Error(`no stray call for ${actor.toString()}`);
}

/** @throws Error when there is none of that name */
export function strayNamed(name: string): Stray {
  const stray = strays.find((one) => one.name === name);
  if (stray === undefined) throw new Error(`no stray call is named ${name}`);
  return stray;
}

/** What more there is to choose about it. */
export function choiceOf(which: number): number {
  return which >>> 16;
}
