import { Callbacks, Waiters, whenAborted } from '../../../api/runtime/index.js';
import { countProblem, invalid, refuse, show, VerbsError } from '../../../api/verbs/index.js';
import { checkWait } from '../../core/index.js';
import { hex, ServedSessions } from '../protocol/index.js';
import { type LinkListener, transportOf } from '../transport/index.js';
import { Action, EPOCH_BYTES, type SetupAnswer, type SetupRequest, XioStatus } from '../wire/index.js';
import type { XioListenOptions, XioServer, XioSession } from '../api.js';
import { LISTEN_FIELDS, type Settings, settingsOf } from '../options.js';
import { secretBytes } from '../../../api/provider/index.js';
import type { SessionConnection } from '../session/session-connection.js';
import { urlOf } from '../url.js';
import { type AcceptedClient, Acceptor } from './acceptor.js';
import { HeldClients } from './held-clients.js';
import { sayOnce } from './say-once.js';
import { answerOf, ServedSession, type SessionHost } from './served-session.js';

const CALL = 'listen';
const MAX_SESSIONS = 65_536;
const BACKLOG = 1024;
const ANSWER_MS = 60_000;
const STOP_MS = 10_000;

/**
 * Listens for sessions.
 *
 * @example
 * ```ts
 * const server = await listen({ port: 2061 });
 * for await (const session of server) session.on('request', ({ body }) => ({ body }));
 * ```
 * @throws XioError (the promise rejects) XIO_E_BIND_FAILED when another listens there; VerbsError EINVAL for wrong arguments
 */
export async function listen(options: XioListenOptions = {}): Promise<XioServer> {
  const settings = settingsOf(CALL, options, LISTEN_FIELDS, 'server');
  const { transport: scheme = 'rdma', maxSessions = MAX_SESSIONS, host, port, context, open, signal } = options;
  const { backlog = BACKLOG, answerTimeoutMs = ANSWER_MS } = options;
  refuse(CALL, countProblem('maxSessions', maxSessions, 1, 2 ** 24));
  refuse(CALL, countProblem('backlog', backlog, 1, 2 ** 24));
  const transport = transportOf(scheme);
  if (transport === undefined) throw new VerbsError(CALL, invalid(`nothing is known of transport ${show(scheme)}`));
  signal?.throwIfAborted();
  const server = new Server(settings, { maxSessions, backlog, answerTimeoutMs });
  const { inlineBytes, limits } = settings;
  const { maxBodyBytes } = limits;
  const place = { host, port, context, open, inlineBytes, maxBodyBytes };
  const listener = await transport.listen(place, (link) => server.onLink(link));
  server.begin(listener, urlOf(transport.scheme, listener.address.host, listener.address.port));
  if (signal !== undefined) server.heed(signal);
  return server;
}

/** How many sessions a server has, and how long they wait to be taken. */
interface Bounds {
  readonly maxSessions: number;
  readonly backlog: number;
  readonly answerTimeoutMs: number;
}

/** Where sessions come. */
class Server implements XioServer, SessionHost {
  readonly epoch = secretBytes(EPOCH_BYTES);
  readonly #served = new ServedSessions<ServedLane>(this.epoch);
  /** By the names of sessions, since those have several connections. */
  readonly #byId = new Map<string, ServedSession>();
  readonly #sessions = new Set<ServedSession>();
  /** Those that wait until the program takes them. */
  readonly #asking = new Set<ServedSession>();
  /** Clients beyond the backlog: with the sessions no more than there may be sessions. */
  readonly #held: HeldClients;
  readonly #acceptor = new Acceptor((greeted) => this.#onGreeted(greeted));
  readonly #ready: XioSession[] = [];
  /** Sessions belong to the async context of the call of {@link listen}. */
  readonly #callbacks = new Callbacks();
  readonly #waiters: Waiters<XioSession>;
  #listener: LinkListener | undefined;
  #url = '';
  #stopHeeding: (() => void) | undefined;
  #isClosed = false;

  constructor(
    private readonly settings: Settings,
    private readonly bounds: Bounds,
  ) {
    const refuseLate = (greeted: AcceptedClient): void => this.#refuse(greeted, 'the server has had no room');
    this.#held = new HeldClients(bounds.answerTimeoutMs, refuseLate);
    this.#waiters = new Waiters<XioSession>({ take: () => this.#ready.shift(), listen: () => {}, rest: () => {} });
  }

  begin(listener: LinkListener, url: string): void {
    this.#listener = listener;
    this.#url = url;
    listener.closed.then(
      () => this.close(),
      (error: unknown) => {
        this.close();
        this.#waiters.fail(error);
      },
    );
  }

  /** Closes when the signal is aborted, and forgets the signal once it is closed. */
  heed(signal: AbortSignal): void {
    this.#stopHeeding = whenAborted(signal, () => this.close());
    if (signal.aborted) this.close();
  }

  onLink(link: Parameters<Acceptor['add']>[0]): void {
    // Sessions that there are go on by new links.
    if (this.#isClosed && this.#sessions.size === 0) link.abort();
    else this.#acceptor.add(link);
  }

  get address() {
    if (this.#listener === undefined) throw new Error('verbena: internal error: a server that does not listen');
    return this.#listener.address;
  }

  get url(): string {
    return this.#url;
  }

  get sessions(): number {
    return this.#sessions.size;
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#stopHeeding?.();
    this.#listener?.close();
    this.#acceptor.end();
    this.#waiters.close();
    for (const session of this.#ready.splice(0)) session.reject('the server is being closed');
    this.#admit();
  }

  async stop(options: { readonly timeoutMs?: number | undefined } = {}): Promise<void> {
    checkWait('stop', options, { timeoutMs: true });
    const { timeoutMs = STOP_MS } = options;
    this.close();
    const ended = [...this.#sessions].map((session) => session.close({ timeoutMs }).catch(() => undefined));
    await Promise.all(ended);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<XioSession, void, undefined> {
    try {
      yield* this.#waiters.iterate();
    } finally {
      this.close();
    }
  }

  ref(): this {
    this.#listener?.ref();
    return this;
  }

  unref(): this {
    this.#listener?.unref();
    return this;
  }

  onAnswered(session: ServedSession): void {
    this.#asking.delete(session);
    this.#admit();
  }

  onLaneEnded(session: ServedSession, request: SetupRequest, lane: SessionConnection): void {
    this.#served.removeIf(request, (end) => end.lane === lane);
    if (session.wasMoved && lane.channel.isParting) this.#served.part(request, lane.channel.received);
    const key = hex(request.sessionId);
    if (this.#byId.get(key) === session) this.#byId.delete(key);
  }

  onSessionEnded(session: ServedSession): void {
    this.#sessions.delete(session);
    const index = this.#ready.indexOf(session);
    if (index >= 0) this.#ready.splice(index, 1);
    this.#admit();
  }

  #onGreeted(greeted: AcceptedClient): void {
    const { request, received, end } = greeted;
    const verdict = this.#served.decide(request, received);
    switch (verdict.action) {
      case 'begin':
        this.#begin(greeted);
        return;
      case 'resume': {
        const { session, lane } = verdict.end;
        const lie = session.resume(lane, greeted);
        if (lie !== undefined) session.onProtocolViolation(lane, lie);
        return;
      }
      case Action.UNKNOWN:
        sayOnce(
          end,
          answerOf(this.epoch, { action: Action.UNKNOWN }),
          () => this.#acceptor.again(end),
          verdict.received,
        );
        return;
      case 'distrust':
        end.link.abort();
    }
  }

  #begin(greeted: AcceptedClient): void {
    const { request } = greeted;
    const key = hex(request.sessionId);
    // Connections that go on elsewhere come in any order.
    const known = this.#byId.get(key);
    if (known !== undefined) {
      this.#served.add(request, new ServedLane(known, known.join(greeted)));
      return;
    }
    const { maxSessions, backlog } = this.bounds;
    if (this.#isClosed || this.#sessions.size + this.#held.size >= maxSessions) {
      this.#refuse(greeted, 'the server has no room');
      return;
    }
    if (this.#asking.size >= backlog) {
      this.#held.hold(greeted);
      return;
    }
    const session = this.#callbacks.run(() => new ServedSession(this.settings, this, request));
    this.#sessions.add(session);
    this.#asking.add(session);
    this.#byId.set(key, session);
    this.#served.add(request, new ServedLane(session, session.join(greeted)));
    this.#ready.push(session);
    this.#waiters.serve();
    if (this.#asking.has(session)) session.waitFor(this.bounds.answerTimeoutMs);
  }

  #refuse({ end }: AcceptedClient, words: string): void {
    const answer: Partial<SetupAnswer> = { status: XioStatus.XIO_E_SESSION_REFUSED, words };
    sayOnce(end, answerOf(this.epoch, { action: Action.REJECT, ...answer }), () => end.link.close());
  }

  /** Clients that wait for room get it; of a server that is closed they are refused. */
  #admit(): void {
    while (this.#isClosed || this.#asking.size < this.bounds.backlog) {
      const greeted = this.#held.take();
      if (greeted === undefined) return;
      this.#begin(greeted);
    }
  }
}

class ServedLane {
  constructor(
    readonly session: ServedSession,
    readonly lane: SessionConnection,
  ) {}

  get received(): number {
    return this.lane.channel.received;
  }
}
