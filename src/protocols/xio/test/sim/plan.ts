import { SeededRandom } from '../../../../device/link/index.js';
import type { Limits } from '../../wire/index.js';

/** What a program of a client's does. */
export interface CallPlan {
  readonly kind: 'request' | 'message';
  readonly atUs: number;
  readonly bytes: number;
  /** µs after which it is given up; Infinity for never. */
  readonly deadlineUs: number;
  readonly isIdempotent: boolean;
  readonly receipt: boolean;
  /** Whether it has its body, and the body of its answer, go apart from their heads. */
  readonly isApart: boolean;
}

/** Memory that one end of a client's session grants, and what the other does with it. */
export interface SharePlan {
  readonly by: 'client' | 'server';
  readonly client: number;
  readonly atUs: number;
  readonly revokedUs: number;
  readonly cells: number;
  readonly accesses: readonly { readonly isRead: boolean; readonly atUs: number; readonly deadlineUs: number }[];
}

export interface ClientPlan {
  readonly limits: Limits;
  readonly calls: readonly CallPlan[];
  readonly reconnectMs: number;
  readonly answerTimeoutMs: number;
  /** The servers that its addresses lead to, in its order; several may lead to the same. */
  readonly servers: readonly number[];
  /** The same for each further connection of its session: where it is sent, as to portals. */
  readonly further: readonly (readonly number[])[];
}

/** Something that goes wrong, or is done with sessions that are under way. */
export interface FaultPlan {
  readonly kind: 'cut' | 'down' | 'restart' | 'move';
  /** Of cut: whose link; else which server. */
  readonly who: number;
  readonly atUs: number;
  /** Of move: after how long links are cut besides, or 0. */
  readonly forUs: number;
  /** Of cut: which of the connections. */
  readonly connection: number;
  /** Of move: the server that its sessions are sent on to. */
  readonly to: number;
}

export interface ServerPlan {
  readonly limits: Limits;
  readonly redirectsTo: number | undefined;
  /** Which of the sessions that come it rejects: the first is 0. */
  readonly rejects: number | undefined;
}

export interface XioPlan {
  readonly seed: number;
  readonly clients: readonly ClientPlan[];
  readonly servers: readonly ServerPlan[];
  readonly faults: readonly FaultPlan[];
  /** Frames that a link takes at a time. */
  readonly room: number;
  readonly delayUs: number;
  readonly serviceUs: number;
  readonly serverReconnectMs: number;
  /** Requests that the server asks of its clients as well. */
  readonly bothWays: boolean;
  readonly shares: readonly SharePlan[];
  /** How many of the links can use memory of the peer's directly. */
  readonly directLinks: number;
}

/** Bodies of more bytes come apart from their heads. */
export const INLINE_BYTES = 20;
const SPAN_US = 100_000;
const CALM_MS = 60_000;
/** Connections of a session beside the first. */
const MOST_FURTHER = 3;

function limitsOf(random: SeededRandom): Limits {
  const maxBodyBytes = random.pick([16, 64, 256]);
  return {
    queueMessages: random.pick([4, 5, 8, 32]),
    queueBytes: maxBodyBytes * random.pick([1, 1.5, 2, 8]),
    maxBodyBytes,
    maxHeaderBytes: 16,
  };
}

export function planXio(seed: number): XioPlan {
  const random = new SeededRandom(seed);
  const serverCount = random.chance(0.5) ? 1 : 2;
  const servers = Array.from({ length: serverCount }, (_, index) => ({
    limits: limitsOf(random),
    redirectsTo: index === 1 && random.chance(0.3) ? 0 : undefined,
    rejects: random.chance(0.1) ? random.between(0, 2) : undefined,
  }));
  const mostBytes = Math.min(...servers.map(({ limits }) => limits.maxBodyBytes));
  // Most of what goes wrong goes wrong while something is said.
  const spanUs = random.pick([1000, 5000, 20_000, SPAN_US]);
  const plain = Array.from({ length: random.between(1, 2) }, () => planClient(random, serverCount, mostBytes, spanUs));
  // Half of the runs have nothing but what sessions have to have, so that chance plays more of that.
  const extra = new SeededRandom(Math.imul(seed, 0x9e37_79b1));
  const isPlain = extra.chance(0.5);
  const clients = plain.map((client) => ({
    ...client,
    calls: client.calls.map((call) => ({ ...call, isApart: !isPlain && extra.chance(0.2) })),
  }));
  const faults = Array.from({ length: random.between(0, 8) }, () =>
    planFault(random, clients.length, serverCount, spanUs),
  );
  const shares = isPlain ? [] : planShares(extra, clients.length, spanUs);
  const directLinks = extra.pick([0, 0.5, 1, 1]);
  const hasMany = extra.chance(0.4);
  const isRestless = extra.chance(0.2);
  const room = random.pick([1, 2, 4, 100]);
  const delayUs = random.pick([10, 100, 1000]);
  const faulty = isRestless ? planMoves(extra, serverCount, plain, delayUs) : faults;
  return {
    seed,
    clients: clients.map((client) => ({ ...client, further: hasMany ? planFurther(extra, serverCount) : [] })),
    servers,
    faults: faulty.map((fault) => ({ ...fault, connection: hasMany ? extra.between(0, MOST_FURTHER) : 0 })),
    room,
    delayUs,
    serviceUs: random.pick([0, 50, 2000]),
    serverReconnectMs: random.chance(0.85) ? CALM_MS : 5,
    bothWays: random.chance(0.3),
    shares,
    directLinks,
  };
}

function planClient(random: SeededRandom, servers: number, mostBytes: number, spanUs: number): ClientPlan {
  const first = random.between(0, servers - 1);
  const count = random.between(1, 40);
  const calls = Array.from({ length: count }, () => planCall(random, spanUs, mostBytes));
  calls.sort((a, b) => a.atUs - b.atUs);
  const order = Array.from({ length: 2 }, (_, index) => (first + index) % servers);
  return {
    limits: limitsOf(random),
    calls,
    reconnectMs: random.chance(0.9) ? CALM_MS : 10,
    answerTimeoutMs: random.chance(0.7) ? Infinity : random.pick([0.02, 0.2, 2]),
    servers: random.chance(0.7) ? order : order.slice(0, 1),
    further: [],
  };
}

/**
 * Sessions that are sent on just when something is asked, and lose their links while they are about to go. Nothing else goes wrong, so that nobody may say that
 * something was forgotten.
 */
function planMoves(
  random: SeededRandom,
  servers: number,
  clients: readonly ClientPlan[],
  delayUs: number,
): readonly FaultPlan[] {
  return Array.from({ length: random.between(1, 4) }, (): FaultPlan => {
    const who = random.between(0, servers - 1);
    const to = random.between(0, servers - 1);
    const { atUs } = random.pick(random.pick(clients).calls);
    const forUs = random.between(delayUs >> 1, 2 * delayUs);
    return {
      kind: 'move',
      who,
      atUs: Math.max(0, atUs + random.between(-delayUs, delayUs >> 1)),
      forUs,
      connection: 0,
      to,
    };
  });
}

function planFurther(random: SeededRandom, servers: number): ClientPlan['further'] {
  return Array.from({ length: random.between(1, MOST_FURTHER) }, () => {
    const first = random.between(0, servers - 1);
    return Array.from({ length: random.between(1, 2) }, (_, index) => (first + index) % servers);
  });
}

function planCall(random: SeededRandom, spanUs: number, mostBytes: number): CallPlan {
  const isRequest = random.chance(0.7);
  return {
    kind: isRequest ? 'request' : 'message',
    atUs: random.between(0, spanUs),
    bytes: random.chance(0.2) ? mostBytes : random.between(0, mostBytes),
    deadlineUs: random.chance(0.3) ? random.between(1, 20_000) : Infinity,
    isIdempotent: isRequest && random.chance(0.2),
    receipt: !isRequest && random.chance(0.6),
    isApart: false,
  };
}

function planShares(random: SeededRandom, clients: number, spanUs: number): readonly SharePlan[] {
  return Array.from({ length: random.between(1, 4) }, (): SharePlan => {
    const atUs = random.between(0, spanUs);
    const cells = random.between(1, 12);
    const count = random.between(1, 12);
    return {
      by: random.chance(0.5) ? 'client' : 'server',
      client: random.between(0, clients - 1),
      atUs,
      revokedUs: random.chance(0.7) ? atUs + random.between(0, spanUs) : Infinity,
      cells,
      accesses: Array.from({ length: count }, () => ({
        isRead: random.chance(0.5),
        atUs: atUs + random.between(0, spanUs),
        deadlineUs: random.chance(0.2) ? random.between(1, 5000) : Infinity,
      })),
    };
  });
}

function planFault(random: SeededRandom, clients: number, servers: number, spanUs: number): FaultPlan {
  const kind = random.chance(0.6) ? 'cut' : random.pick(['down', 'restart', 'move'] as const);
  return {
    kind,
    who: random.between(0, (kind === 'cut' ? clients : servers) - 1),
    atUs: random.between(0, 2 * spanUs),
    forUs: kind === 'cut' ? 0 : kind === 'move' ? random.pick([0, 30, 300, 3000]) : random.between(100, 30_000),
    connection: 0,
    to: random.between(0, servers - 1),
  };
}

export function describeXio({ seed, clients, servers, faults, room, delayUs, bothWays }: XioPlan): string {
  const calls = clients.map((client) => `${client.calls.length} calls`).join(', ');
  const what = faults.map(({ kind, who, atUs }) => `${kind} ${who} at ${atUs} µs`).join(', ');
  return `seed ${seed}: ${servers.length} servers, clients with ${calls}, room ${room}, delay ${delayUs} µs${bothWays ? ', both ways' : ''}; ${what}`;
}
