import type { CmQp } from '../cm/index.js';
import { CommandError } from '../nic/index.js';
import type { Argument, EndVerb, Value, Verb } from './command.js';

/** Kinds of objects that commands make, and how errors name one. */
const kinds = {
  pd: 'PD',
  mr: 'memory region',
  mw: 'memory window',
  channel: 'completion channel',
  counter: 'completion counter',
  cq: 'CQ',
  xrcd: 'XRC domain',
  srq: 'SRQ',
  ah: 'address handle',
  qp: 'QP',
} as const;
export type Kind = keyof typeof kinds;

/** How many objects of each kind somebody may have. */
export type MostOf = Partial<Record<Kind, number>>;

type Name = readonly [kind: Kind, number: number | undefined];

/** What a command has to do with objects: which it names, and whether it makes or ends one. */
interface Role<V extends Verb> {
  readonly names?: (argument: Argument<V>) => readonly Name[];
  readonly makes?: readonly [kind: Kind, number: (value: Value<V>) => number];
  readonly ends?: Kind;
}

const itself = (number: number): number => number;
const ofHandle = ({ handle }: { readonly handle: number }): number => handle;
const ofPd = ({ pd }: { readonly pd: number }): readonly Name[] => [['pd', pd]];
const ofCq = ({ cqn }: { readonly cqn: number }): readonly Name[] => [['cq', cqn]];
const ofQp = ({ qpn }: { readonly qpn: number }): readonly Name[] => [['qp', qpn]];
/** The number of a queue pair that the connection manager does not move is told to the peer, and means nothing here. */
const managedQp = (qp: CmQp | undefined): readonly Name[] => (qp?.managed === true ? [['qp', qp.qpNum]] : []);
const itselfAs =
  (kind: Kind) =>
  (number: number): readonly Name[] => [[kind, number]];

/** Commands that name, make or end objects. Identifiers of the connection manager are its own affair. */
const roles: { readonly [V in Verb]?: Role<V> } = {
  allocPd: { makes: ['pd', itself] },
  deallocPd: { ends: 'pd' },
  regMr: { names: ofPd, makes: ['mr', ofHandle] },
  allocNullMr: { names: itselfAs('pd'), makes: ['mr', ofHandle] },
  reregMr: {
    names: ({ handle, pd }) => [
      ['mr', handle],
      ['pd', pd],
    ],
  },
  deregMr: { ends: 'mr' },
  allocMw: { names: ofPd, makes: ['mw', ofHandle] },
  deallocMw: { ends: 'mw' },
  createCompChannel: { makes: ['channel', itself] },
  destroyCompChannel: { ends: 'channel' },
  createCompCntr: { makes: ['counter', itself] },
  destroyCompCntr: { ends: 'counter' },
  attachCompCntr: {
    names: ({ qpn, handle }) => [
      ['qp', qpn],
      ['counter', handle],
    ],
  },
  createCq: { names: ({ channel }) => [['channel', channel]], makes: ['cq', itself] },
  resizeCq: { names: ofCq },
  modifyCq: { names: ofCq },
  destroyCq: { ends: 'cq' },
  openXrcd: { makes: ['xrcd', itself] },
  closeXrcd: { ends: 'xrcd' },
  createSrq: {
    names: ({ pd, xrcd, cq }) => [
      ['pd', pd],
      ['xrcd', xrcd],
      ['cq', cq],
    ],
    makes: ['srq', ({ srqn }) => srqn],
  },
  modifySrq: { names: ({ srqn }) => [['srq', srqn]] },
  querySrq: { names: itselfAs('srq') },
  destroySrq: { ends: 'srq' },
  createAh: { names: ofPd, makes: ['ah', itself] },
  destroyAh: { ends: 'ah' },
  createQp: {
    names: ({ pd, xrcd, srq, sendCq, recvCq }) => [
      ['pd', pd],
      ['xrcd', xrcd],
      ['srq', srq],
      ['cq', sendCq],
      ['cq', recvCq],
    ],
    makes: ['qp', ({ qpn }) => qpn],
  },
  modifyQp: { names: ofQp },
  modifyRateLimit: { names: ofQp },
  queryQp: { names: itselfAs('qp') },
  qpCounters: { names: itselfAs('qp') },
  destroyQp: { ends: 'qp' },
  attachMcast: { names: ofQp },
  detachMcast: { names: ofQp },
  watchQp: { names: ofQp },
  watchCq: { names: ofCq },
  watchSrq: { names: ({ srqn }) => [['srq', srqn]] },
  cmConnect: { names: ({ qp }) => managedQp(qp) },
  cmAccept: { names: ({ qp }) => managedQp(qp) },
};

/** By which commands objects end, in an order in which nothing is in use any more when its turn comes. */
export const endings: readonly (readonly [Kind, EndVerb])[] = [
  ['qp', 'destroyQp'],
  ['mw', 'deallocMw'],
  ['mr', 'deregMr'],
  ['ah', 'destroyAh'],
  ['srq', 'destroySrq'],
  ['cq', 'destroyCq'],
  ['channel', 'destroyCompChannel'],
  ['counter', 'destroyCompCntr'],
  ['xrcd', 'closeXrcd'],
  ['pd', 'deallocPd'],
];

/**
 * Whose the objects of an adapter are. A client can name its own in commands, and no others: those of somebody else are to it
 * as if they were not there. What work requests name needs no look here: keys and address handles are good for queue pairs of
 * their protection domain, shared receive queues for those of their XRC domain, and domains are one client's.
 */
export class Ownership<Client> {
  readonly #owners = new Map<Kind, Map<number, Client>>();
  /** By client; what {@link #owners} says, the other way round. */
  readonly #owned = new Map<Client, Map<Kind, Set<number>>>();

  ownerOf(kind: Kind, number: number): Client | undefined {
    return this.#owners.get(kind)?.get(number);
  }

  ownedBy(client: Client, kind: Kind): readonly number[] {
    return [...(this.#owned.get(client)?.get(kind) ?? [])];
  }

  /** Executes a command for a client, and notes what it makes and ends. @throws CommandError EINVAL for what is not the client's */
  execute<V extends Verb>(
    client: Client,
    most: MostOf,
    verb: V,
    argument: Argument<V>,
    action: (argument: Argument<V>) => Value<V>,
  ): Value<V> {
    const role = roleOf(verb);
    if (role === undefined) return action(argument);
    const { names, makes, ends } = role;
    for (const [kind, number] of names?.(argument) ?? []) this.require(client, kind, number);
    if (makes !== undefined) this.#requireRoom(client, makes[0], most);
    // Whoever ends an object says its number, and no more.
    const ended = argument as number;
    if (ends !== undefined) this.require(client, ends, ended);
    const value = action(argument);
    if (makes !== undefined) this.#note(client, makes[0], makes[1](value));
    if (ends !== undefined) this.#remove(client, ends, ended);
    return value;
  }

  /** @throws CommandError EINVAL when that is no object of the client */
  require(client: Client, kind: Kind, number: number | undefined): void {
    if (number !== undefined && this.ownerOf(kind, number) !== client)
      throw new CommandError('EINVAL', `there is no ${kinds[kind]} ${number}`);
  }

  #requireRoom(client: Client, kind: Kind, most: MostOf): void {
    const count = this.#owned.get(client)?.get(kind)?.size ?? 0;
    const limit = most[kind] ?? Infinity;
    if (count >= limit) throw new CommandError('ENOMEM', `no more than ${limit} ${kinds[kind]}s for each client`);
  }

  #note(client: Client, kind: Kind, number: number): void {
    entry(this.#owners, kind, () => new Map<number, Client>()).set(number, client);
    const owned = entry(this.#owned, client, () => new Map<Kind, Set<number>>());
    entry(owned, kind, () => new Set<number>()).add(number);
  }

  #remove(client: Client, kind: Kind, number: number): void {
    this.#owners.get(kind)?.delete(number);
    this.#owned.get(client)?.get(kind)?.delete(number);
  }

  forget(client: Client): void {
    this.#owned.delete(client);
  }
}

function roleOf<V extends Verb>(verb: V): Role<V> | undefined {
  return roles[verb];
}

function entry<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}
