import { after } from '../../../api/provider/index.js';
import { runtime, warnOf } from '../../../api/runtime/index.js';
import {
  type FieldsOf,
  fieldsProblem,
  invalid,
  isList,
  type Problem,
  refuse,
  show,
  VerbsError,
} from '../../../api/verbs/index.js';
import { checkWait, unlessAborted, waitUnlessLate } from '../../core/index.js';
import { connect } from '../client/connect.js';
import { CLIENT_FIELDS, type KvConnectOptions } from '../client/options.js';
import { KvCluster } from './kv-cluster.js';
import { type KvMember, type KvMembership, type NamedMember, namedMembers } from './member.js';
import { REST_MS, type MemberConnectionParts } from './member-connection.js';

/** What `connectCluster` takes. `window` is that of each server. */
export interface KvClusterOptions extends Omit<KvConnectOptions, 'host' | 'port'> {
  /** The servers: a list, or who tells which there are. */
  readonly members: readonly KvMember[] | KvMembership;
}

const CALL = 'connectCluster';
const FIELDS: FieldsOf<KvClusterOptions> = { ...CLIENT_FIELDS, members: true };
const TIMEOUT_MS = 10_000;
/** How long a try to connect to one of the servers may take. */
const TRY_MS = 2000;

/**
 * Connects to several key-value servers, among which keys are divided. It is done when the first of them has answered; the others are connected to meanwhile.
 *
 * @example
 * ```ts
 * using cache = await connectCluster({ members: [{ host: '10.0.0.1', port: 7175 }, { host: '10.0.0.2', port: 7175 }] });
 * await cache.set('greeting', 'hello');
 * ```
 * @throws VerbsError (the promise rejects) ENOENT when there is no server; what `connect` says when all of them refuse; the signal's reason; ETIMEDOUT;
 *   what the membership throws; EINVAL for wrong arguments
 */
export async function connectCluster(options: KvClusterOptions): Promise<KvCluster> {
  refuse(CALL, fieldsProblem('options', options, FIELDS));
  const { members, signal, timeoutMs = TIMEOUT_MS, ...how } = options;
  checkWait(CALL, { signal, timeoutMs });
  const membership = membershipOf(members);
  signal?.throwIfAborted();
  const terms = termsFor(how);
  const stop = new AbortController();
  try {
    return await waitUnlessLate(CALL, { signal, timeoutMs }, terms, (late) => begin(membership, terms, stop, late));
  } catch (error) {
    stop.abort(error);
    throw error;
  }
}

/** @throws VerbsError EINVAL for what is none */
function membershipOf(members: KvClusterOptions['members']): KvMembership {
  if (isMembership(members)) return members;
  if (!isList(members))
    throw new VerbsError(CALL, invalid(`members is ${show(members)}`, 'It is a list of servers, or has watch'));
  const named = namedMembers(members);
  if (!isList(named)) throw new VerbsError(CALL, named);
  if (named.length === 0) throw new VerbsError(CALL, invalid('there is no member', 'Name at least one server'));
  return {
    // eslint-disable-next-line @typescript-eslint/require-await -- others have to wait for news
    async *watch() {
      yield named;
    },
  };
}

function isMembership(members: unknown): members is KvMembership {
  return typeof members === 'object' && members !== null && 'watch' in members && typeof members.watch === 'function';
}

type How = Omit<KvClusterOptions, 'members' | 'signal' | 'timeoutMs'>;

function termsFor(how: How): MemberConnectionParts {
  // Whoever makes the call that needs a connection, it is made where the program has asked for the cluster.
  const ambient = runtime().ambient<undefined>();
  return {
    timer: ambient.bind((delayMs: number, action: () => void) => after(how.context, delayMs, action)),
    connect: ambient.bind(({ host, port }: NamedMember, signal: AbortSignal) =>
      connect({ ...how, host, port, signal, timeoutMs: TRY_MS }),
    ),
  };
}

type Lists = AsyncIterator<readonly KvMember[], unknown>;

async function begin(
  membership: KvMembership,
  terms: MemberConnectionParts,
  stop: AbortController,
  late: AbortSignal | undefined,
): Promise<KvCluster> {
  const abort = (): void => stop.abort(late?.reason);
  late?.addEventListener('abort', abort, { once: true });
  const lists = membership.watch(stop.signal)[Symbol.asyncIterator]();
  let cluster: KvCluster | undefined;
  try {
    const first = await unlessAborted(firstOf(lists), stop.signal);
    cluster = new KvCluster(first, terms, stop);
    await unlessAborted(anyOf(cluster, first, terms, stop.signal), stop.signal);
  } catch (error) {
    cluster?.close();
    throw error;
  } finally {
    late?.removeEventListener('abort', abort);
  }
  void follow(lists, cluster, stop.signal);
  return cluster;
}

async function firstOf(lists: Lists): Promise<readonly NamedMember[]> {
  for (;;) {
    const next = await lists.next();
    if (next.done === true)
      throw new VerbsError(CALL, { errno: 'ENOENT', message: 'there is no server', advice: 'Begin one' });
    const named = sensible(next.value);
    if (named !== undefined) return named;
  }
}

/** A list that makes sense, and has anybody. */
function sensible(members: readonly KvMember[]): readonly NamedMember[] | undefined {
  const named = namedMembers(members);
  if (isList(named)) return named.length === 0 ? undefined : named;
  warn(named);
  return undefined;
}

function warn({ message, advice }: Problem): void {
  runtime().warn(`a list of servers changes nothing: ${message}. ${advice}`);
}

/**
 * Resolves when one of the servers has answered. A server that is silent may be slow: it is tried until the caller's time is over.
 *
 * @throws the error of the first server
 */
async function anyOf(
  cluster: KvCluster,
  members: readonly NamedMember[],
  terms: MemberConnectionParts,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    const tries = cluster.connectAll();
    void Promise.allSettled(tries);
    try {
      await Promise.any(tries);
      return;
    } catch (error) {
      if (signal.aborted || !(error instanceof AggregateError) || !error.errors.some(isSilence)) {
        await tries[0];
        const names = members.map(({ name }) => name).join(', ');
        const message = `no server is up, of ${names}`;
        throw new VerbsError(CALL, { errno: 'ECONNREFUSED', message, advice: 'Begin one' });
      }
    }
    // For the seats to try again.
    await new Promise<void>((resolve) => terms.timer(REST_MS, resolve));
  }
}

const isSilence = (error: unknown): boolean => error instanceof VerbsError && error.errno === 'ETIMEDOUT';

/** Tells a client of each list that comes. */
async function follow(lists: Lists, cluster: KvCluster, signal: AbortSignal): Promise<void> {
  try {
    while (!signal.aborted) {
      const next = await lists.next();
      if (next.done === true) return;
      const named = sensible(next.value);
      if (named !== undefined) cluster.update(named);
    }
  } catch (error) {
    if (!signal.aborted) warnOf(error);
  }
}
