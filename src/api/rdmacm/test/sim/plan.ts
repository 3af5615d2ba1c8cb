import { PrivateDataBytes } from '../../../../device/ibta/index.js';
import { type LinkConditions, SeededRandom } from '../../../../device/link/index.js';
import { type MemberPlan, planMember } from './member-plan.js';

/** What one seed stands for: hosts, who listens and who asks there, over what kind of network, and what goes wrong. */

export type Space = 'TCP' | 'UDP';

/** How a program goes on once its connection is up, or the peer has parted. */
export interface EndPlan {
  /** `stay` leaves it to the peer. */
  readonly how: 'stay' | 'disconnect' | 'destroy';
  readonly afterUs: number;
  readonly answer: 'disconnect' | 'destroy' | 'ignore';
  readonly answerAfterUs: number;
}

/** A call that nothing asks for: which one of those that there are (`strays.ts`), and when. */
export interface StrayPlan {
  /** Counted from the events and calls of the identifier before. */
  readonly after: number;
  readonly delayUs: number;
  /** 32 bits that choose the call. */
  readonly which: number;
}

/** What both sides of a conversation have in common. */
export interface SidePlan {
  /** The program has a queue pair of its own, and moves it itself. */
  readonly external: boolean;
  readonly privateData: Uint8Array;
  readonly responderResources: number;
  readonly initiatorDepth: number;
  /** Messages to send as soon as the connection is up. */
  readonly messages: number;
  /** When it destroys its identifier whatever has happened, counted from its beginning; Infinity is never. */
  readonly destroyAfterUs: number;
  /** Whether the queue pair goes before the identifier does. */
  readonly queuePairFirst: boolean;
  readonly end: EndPlan;
  readonly strays: readonly StrayPlan[];
  /** Which of its events it acknowledges only after calls that have to wait for that; Infinity is none. */
  readonly lateAck: number;
}

export interface ClientPlan extends SidePlan {
  readonly host: number;
  readonly space: Space;
  /** Number of a host, or an address where there is none. */
  readonly target: number | 'nowhere';
  readonly port: number;
  readonly startUs: number;
  /** Between an event and the next call. */
  readonly paceUs: number;
  /** With a queue pair of its own: how it takes the answer. */
  readonly confirm: 'establish' | 'reject' | 'disconnect' | 'never';
}

/** An identifier that is for nothing but stray calls. */
export interface LoneActorPlan extends SidePlan {
  readonly host: number;
  readonly space: Space;
  readonly startUs: number;
  /** The names of those that it begins with, and what chooses the port. */
  readonly first: readonly string[];
  readonly port: number;
}

export interface AnswerPlan extends SidePlan {
  readonly answer: 'accept' | 'reject' | 'destroy' | 'never';
  readonly afterUs: number;
  /** It parts before it knows that the connection is up. */
  readonly partsAtOnce: boolean;
}

export interface ListenerPlan {
  readonly host: number;
  readonly space: Space;
  readonly port: number;
  readonly backlog: number;
  readonly fromUs: number;
  readonly untilUs: number;
  /** Whether it acknowledges requests only after calls that have to wait for that. */
  readonly lateAck: boolean;
}

export type DisasterPlan =
  | {
      readonly kind: 'partition';
      readonly hosts: readonly [number, number];
      readonly fromUs: number;
      readonly untilUs: number;
    }
  | { readonly kind: 'close'; readonly host: number; readonly atUs: number }
  /** The host is gone without a word, and perhaps comes back. */
  | { readonly kind: 'death'; readonly host: number; readonly atUs: number; readonly backUs: number };

export interface Plan {
  readonly seed: number;
  readonly hosts: number;
  readonly ipv6: boolean;
  /** No message is lost or late, and no host ends before its time: everything must come out as both sides want it. */
  readonly calm: boolean;
  readonly conditions: Partial<LinkConditions>;
  /** When loss, duplication and reordering stop. */
  readonly faultsEndUs: number;
  readonly listeners: readonly ListenerPlan[];
  readonly clients: readonly ClientPlan[];
  readonly loneActors: readonly LoneActorPlan[];
  readonly members: readonly MemberPlan[];
  readonly disasters: readonly DisasterPlan[];
}

const SECOND = 1e6;
/** Within this time programs begin what they do. */
const BUSY_US = 30 * SECOND;
const FIRST_PORT = 7000;
/** Ports that clients ask for; nobody listens at the last. */
const PORTS = 4;

/** Mostly at once, else soon, else so late that messages are repeated, or that only the patient still wait. */
function anyDelay(random: SeededRandom): number {
  const kind = random.fraction();
  if (kind < 0.4) return 0;
  if (kind < 0.7) return random.below(2000);
  if (kind < 0.95) return random.below(20 * SECOND);
  return random.between(80, 200) * SECOND;
}

function rarely(random: SeededRandom, probability: number, longest: number): number {
  return random.chance(probability) ? random.below(longest) : Infinity;
}

function words(random: SeededRandom, most: number): Uint8Array {
  const length = random.pick([0, 1, most, random.between(0, most)]);
  return Uint8Array.from({ length }, () => random.below(256));
}

function planEnd(random: SeededRandom): EndPlan {
  return {
    how: random.pick(['stay', 'stay', 'disconnect', 'disconnect', 'destroy'] as const),
    afterUs: anyDelay(random),
    answer: random.pick(['disconnect', 'disconnect', 'disconnect', 'destroy', 'ignore'] as const),
    answerAfterUs: anyDelay(random),
  };
}

/** Most calls come right after another, or an event, or a while later. */
function planStrays(random: SeededRandom, most: number, last: number): StrayPlan[] {
  return Array.from({ length: random.between(0, most) }, () => ({
    after: random.between(0, last),
    delayUs: random.chance(0.5) ? random.below(50) : anyDelay(random),
    which: random.u32(),
  }));
}

function planSide(random: SeededRandom, space: Space, mostWords: number, lastStray: number): SidePlan {
  return {
    external: space === 'TCP' && random.chance(0.2),
    privateData: words(random, mostWords),
    responderResources: random.below(5),
    initiatorDepth: random.below(5),
    messages: random.below(5),
    destroyAfterUs: rarely(random, 0.15, BUSY_US),
    queuePairFirst: random.chance(0.5),
    end: planEnd(random),
    strays: planStrays(random, 2, lastStray),
    lateAck: random.chance(0.3) ? random.below(4) : Infinity,
  };
}

/** What a server does with a request, decided when that comes. */
export function planAnswer(random: SeededRandom, space: Space): AnswerPlan {
  const answer = random.pick(['accept', 'accept', 'accept', 'accept', 'accept', 'reject', 'destroy', 'never'] as const);
  const { ACCEPT, RESOLVED, REJECT } = PrivateDataBytes;
  const room = answer === 'reject' ? (space === 'TCP' ? REJECT : RESOLVED) : space === 'TCP' ? ACCEPT : RESOLVED;
  return {
    ...planSide(random, space, room, 4),
    answer,
    afterUs: anyDelay(random),
    partsAtOnce: random.chance(0.05),
  };
}

const NOTHING = new Uint8Array(0);
/** Both sides of a conversation that has no reason not to succeed. */
const WILLING_SIDE: SidePlan = {
  external: false,
  privateData: NOTHING,
  responderResources: 1,
  initiatorDepth: 1,
  messages: 1,
  destroyAfterUs: Infinity,
  queuePairFirst: true,
  end: { how: 'stay', afterUs: 0, answer: 'ignore', answerAfterUs: 0 },
  strays: [],
  lateAck: Infinity,
};
export const WILLING: AnswerPlan = { ...WILLING_SIDE, answer: 'accept', afterUs: 0, partsAtOnce: false };
export const WILLING_CLIENT: Omit<ClientPlan, 'host' | 'target' | 'port'> = {
  ...WILLING_SIDE,
  space: 'TCP',
  startUs: 0,
  paceUs: 0,
  confirm: 'establish',
};

function planClient(random: SeededRandom, hosts: number): ClientPlan {
  const space = random.chance(0.75) ? 'TCP' : 'UDP';
  return {
    ...planSide(random, space, space === 'TCP' ? PrivateDataBytes.CONNECT : PrivateDataBytes.RESOLVE, 8),
    host: random.below(hosts),
    space,
    target: random.chance(0.03) ? 'nowhere' : random.below(hosts),
    port: FIRST_PORT + random.below(PORTS),
    startUs: random.chance(0.5) ? random.below(2000) : random.below(BUSY_US),
    paceUs: random.chance(0.7) ? 0 : random.below(SECOND),
    confirm: random.pick([
      'establish',
      'establish',
      'establish',
      'establish',
      'reject',
      'disconnect',
      'never',
    ] as const),
  };
}

function planLoneActor(random: SeededRandom, hosts: number): LoneActorPlan {
  return {
    ...WILLING_SIDE,
    // Where there are several they are to meet at times.
    host: random.chance(0.5) ? 0 : random.below(hosts),
    space: random.pick(['TCP', 'TCP', 'UDP'] as const),
    startUs: random.chance(0.5) ? random.below(2000) : random.below(BUSY_US),
    first: random.pick([[], ['bindAddr'], ['setOption REUSEADDR', 'bindAddr']]),
    port: random.below(1000),
    strays: Array.from({ length: 6 }, (_, after) => ({ after, delayUs: random.below(2000), which: random.u32() })),
    lateAck: random.below(4),
  };
}

function planListeners(random: SeededRandom, hosts: number): ListenerPlan[] {
  const spaces: readonly Space[] = ['TCP', 'UDP'];
  return Array.from({ length: hosts }, (_, host) =>
    spaces.flatMap((space) =>
      Array.from({ length: random.between(1, PORTS - 1) }, (_, i) => ({
        host,
        space,
        port: FIRST_PORT + i,
        backlog: random.pick([0, 0, 0, 1, 3]),
        fromUs: random.chance(0.8) ? 0 : random.below(SECOND),
        untilUs: rarely(random, 0.1, BUSY_US),
        lateAck: random.chance(0.1),
      })),
    ),
  ).flat();
}

function planConditions(random: SeededRandom, calm: boolean): Partial<LinkConditions> {
  const rough = (most: number): number => (!calm && random.chance(0.6) ? random.fraction() * most : 0);
  return {
    delayUs: random.pick(calm ? [5, 100, 5000] : [5, 100, 5000, 200_000]),
    jitterUs: random.chance(0.5) ? random.below(calm ? 5000 : 100_000) : 0,
    loss: rough(0.4),
    duplication: rough(0.4),
    reordering: rough(0.4),
    reorderDelayUs: random.pick([100, 100_000, SECOND, 8 * SECOND]),
  };
}

function planDisaster(random: SeededRandom, hosts: number): DisasterPlan {
  const host = random.below(hosts);
  const fromUs = random.below(BUSY_US);
  switch (random.pick(['partition', 'partition', 'close', 'death'] as const)) {
    case 'partition': {
      const other = (host + random.between(1, hosts - 1)) % hosts;
      return { kind: 'partition', hosts: [host, other], fromUs, untilUs: fromUs + random.below(60 * SECOND) };
    }
    case 'close':
      return { kind: 'close', host, atUs: fromUs };
    case 'death':
      return {
        kind: 'death',
        host,
        atUs: fromUs,
        backUs: random.chance(0.7) ? fromUs + anyDelay(random) + 1 : Infinity,
      };
  }
}

export function planCm(seed: number): Plan {
  const random = new SeededRandom(seed ^ 0xc0de);
  const hosts = random.between(2, 6);
  const calm = random.chance(0.3);
  return {
    seed,
    hosts,
    ipv6: random.chance(0.25),
    calm,
    conditions: planConditions(random, calm),
    faultsEndUs: random.below(90 * SECOND),
    listeners: planListeners(random, hosts),
    clients: Array.from({ length: random.between(1, 10) }, () => planClient(random, hosts)),
    loneActors: Array.from({ length: random.pick([0, 0, 1, 2]) }, () => planLoneActor(random, hosts)),
    members: random.chance(0.25)
      ? Array.from({ length: random.between(2, 5) }, () => planMember(random, hosts, planSide(random, 'UDP', 0, 6)))
      : [],
    disasters: calm ? [] : Array.from({ length: random.pick([0, 0, 1, 2]) }, () => planDisaster(random, hosts)),
  };
}

export function describePlan({ seed, hosts, ipv6, calm, conditions, faultsEndUs, clients, disasters }: Plan): string {
  const percent = (value = 0): string => `${(100 * value).toFixed(0)} %`;
  const seconds = (us: number): string => `${(us / SECOND).toFixed(1)} s`;
  return [
    `seed ${seed}: ${hosts} hosts over ${ipv6 ? 'IPv6' : 'IPv4'}, ${clients.length} clients`,
    calm
      ? 'calm'
      : `loss ${percent(conditions.loss)}, duplication ${percent(conditions.duplication)}, reordering ${percent(conditions.reordering)} by up to ${seconds(conditions.reorderDelayUs ?? 0)}, until ${seconds(faultsEndUs)}`,
    ...disasters.map((one) =>
      one.kind === 'partition'
        ? `hosts ${one.hosts.join(' and ')} apart from ${seconds(one.fromUs)} to ${seconds(one.untilUs)}`
        : `${one.kind} of host ${one.host} at ${seconds(one.atUs)}`,
    ),
  ].join('; ');
}
