import { fieldsProblem, invalid, refuse, show, VerbsError } from '../../../api/verbs/index.js';
import { type KvMember, nameProblem } from '../cluster/member.js';
import type { KvServer } from '../server/kv-server.js';
import { type EtcdEntry, type EtcdKeys, entriesIn, keysOf, serverText, toBase64 } from './entries.js';
import { type Answer, ANSWER_MS, EtcdClient, isObject } from './etcd-client.js';
import { ETCD_FIELDS, type EtcdOptions, settingsOf } from './options.js';
import { sleep } from './limit.js';

/** What `registerInEtcd` takes. */
export interface EtcdRegistrationOptions extends EtcdOptions {
  /** Of the server, as of {@link KvMember}: whoever begins it anew gives it the same name. Default: where it listens, `127.0.0.1:7175`. */
  readonly name?: string | undefined;
  /**
   * What becomes of the server's keys when it is lost. `move`: the other servers have them, until it returns; for a cache. `stay`: calls about them fail until it returns, and nothing
   * is looked for where it was never set; for a store. Default: `stay` for a store, `move` for a cache.
   */
  readonly keys?: 'move' | 'stay' | undefined;
  /** Milliseconds after which a server that was lost is taken for lost: 2000 to 3 600 000; default 5000. In whole seconds, which are rounded up. */
  readonly ttlMs?: number | undefined;
  /** Gives up registering. What is registered ends by `close`. */
  readonly signal?: AbortSignal | undefined;
}

/** A server's name in etcd, kept until it is closed. It does not keep the process alive. */
export interface EtcdRegistration extends AsyncDisposable {
  readonly name: string;
  readonly keys: 'move' | 'stay';
  /** What is wrong now, and is tried again; undefined when nothing is. */
  readonly problem: Error | undefined;
  /** Tells etcd that the server is gone: keys that stay wait for it, others move at once. Never rejects: where etcd cannot be told, it notices by itself. Idempotent. */
  close(): Promise<void>;
}

const CALL = 'registerInEtcd';
const FIELDS = { ...ETCD_FIELDS, name: true, keys: true, ttlMs: true, signal: true } as const;
const TTL_MS = 5000;
const LEAST_TTL_MS = 2000;
const MOST_TTL_MS = 3_600_000;
/** A lease is renewed so often in its time; an answer may take as long as lies between. */
const RENEWALS = 3;
/** So often in its time it is tried when that has failed: once at least before it has run out. */
const RETRIES = 12;
/** Others may change our entry at the same moment, but not each time. */
const MOST_CHANGES = 16;
const LEASE = /^\d{1,20}$/;
/** How often it is looked whether another server of that name has gone. */
const LOOK_MS = 250;
/** How much longer than it says a server may live that is lost. */
const GRACE_MS = 1500;

/**
 * Has clients find a server by etcd, from when the promise resolves until the registration is closed or the server is lost. One whose name is taken by a server that is
 * not there any more waits until etcd has noticed.
 *
 * @example
 * ```ts
 * const server = serve({ host: '10.0.0.1', port: 7175 });
 * await using registration = await registerInEtcd(server, { endpoints: 'http://10.0.0.9:2379', name: 'red' });
 * ```
 * @throws VerbsError (the promise rejects) EBUSY when another server has that name; ECONNREFUSED when no etcd answers, EPROTO when that is not etcd; the signal's reason; EINVAL for wrong arguments
 */
export async function registerInEtcd(
  server: Pick<KvServer, 'address' | 'epoch' | 'mode'> & Partial<Pick<KvServer, 'closed'>>,
  options: EtcdRegistrationOptions,
): Promise<EtcdRegistration> {
  refuse(CALL, fieldsProblem('options', options, FIELDS));
  const { endpoints, cluster, onProblem } = settingsOf(CALL, options);
  const { host, port } = server.address;
  const { name = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}` } = options;
  const { keys = server.mode === 'store' ? 'stay' : 'move', ttlMs = TTL_MS, signal } = options;
  refuse(CALL, nameProblem(name));
  if (!['stay', 'move'].includes(keys))
    throw new VerbsError(CALL, invalid(`keys is ${show(keys)}`, 'It is move or stay'));
  if (typeof ttlMs !== 'number' || !(ttlMs >= LEAST_TTL_MS && ttlMs <= MOST_TTL_MS))
    throw new VerbsError(CALL, invalid(`ttlMs is ${show(ttlMs)}`, `It is ${LEAST_TTL_MS} to ${MOST_TTL_MS}`));
  signal?.throwIfAborted();
  const registrar = new Registrar(
    new EtcdClient(CALL, endpoints),
    keysOf(cluster),
    { name, keys, place: { host, port, epoch: server.epoch }, ttlSeconds: Math.ceil(ttlMs / 1000) },
    onProblem,
  );
  await registrar.begin(signal);
  // Nobody is to look for a server that has ended.
  const close = (): void => void registrar.close();
  server.closed?.then(close, close);
  return registrar;
}

interface Wish {
  readonly name: string;
  readonly keys: 'move' | 'stay';
  readonly place: KvMember;
  readonly ttlSeconds: number;
}

class Registrar implements EtcdRegistration {
  problem: Error | undefined;
  readonly #stop = new AbortController();
  #lease = '0';
  #answerMs = ANSWER_MS;
  #closing: Promise<void> | undefined;
  #renewing: Promise<void> = Promise.resolve();

  constructor(
    private readonly etcd: EtcdClient,
    private readonly at: EtcdKeys,
    private readonly wish: Wish,
    private readonly onProblem: (problem: Error) => void,
  ) {}

  get name(): string {
    return this.wish.name;
  }

  get keys(): 'move' | 'stay' {
    return this.wish.keys;
  }

  async begin(signal: AbortSignal | undefined): Promise<void> {
    const abort = (): void => this.#stop.abort(signal?.reason);
    signal?.addEventListener('abort', abort, { once: true });
    try {
      await this.#grant();
      await this.#enterInTime();
    } catch (error) {
      await this.close();
      throw error;
    } finally {
      signal?.removeEventListener('abort', abort);
    }
    this.#renewing = this.#renew();
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#leave());
  }

  async #leave(): Promise<void> {
    this.#stop.abort(new VerbsError(CALL, { errno: 'ECANCELED', message: 'the registration was closed', advice: '' }));
    await this.#renewing;
    const lease = this.#lease;
    if (lease === '0') return;
    // With the lease all ends that is under it.
    await this.etcd.ask('lease/revoke', { ID: lease }, AbortSignal.timeout(LEAST_TTL_MS)).catch(() => undefined);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #renew(): Promise<void> {
    const { signal } = this.#stop;
    const isOver = (): boolean => signal.aborted;
    const ttlMs = this.wish.ttlSeconds * 1000;
    this.#answerMs = Math.min(ANSWER_MS, ttlMs / RENEWALS);
    for (;;) {
      await sleep(ttlMs / (this.problem === undefined ? RENEWALS : RETRIES), signal);
      if (isOver()) return;
      try {
        if (!(await this.#isAlive())) await this.#grant();
        const other = await this.#enter(false);
        if (other !== undefined) throw this.#taken(other);
        this.problem = undefined;
      } catch (error) {
        if (isOver()) return;
        this.#tell(error instanceof Error ? error : new Error(String(error)));
      }
    }
  }

  #tell(problem: Error): void {
    const isNews = kindOf(this.problem) !== kindOf(problem);
    this.problem = problem;
    if (isNews) this.onProblem(problem);
  }

  async #grant(): Promise<void> {
    const { ID: lease } = await this.#ask('lease/grant', { TTL: String(this.wish.ttlSeconds) });
    if (typeof lease !== 'string' || !LEASE.test(lease)) throw foreign('grants no lease');
    this.#lease = lease;
  }

  /** Renews the lease. @returns whether there was one to renew */
  async #isAlive(): Promise<boolean> {
    const { result } = await this.#ask('lease/keepalive', { ID: this.#lease });
    return isObject(result) && Number(result['TTL'] ?? 0) > 0;
  }

  /**
   * Writes down where the server is, unless that is written, or another server of its name is.
   *
   * @param isNew whether what is at our own address, where nobody else can be, is of a life before
   * @returns the other one
   */
  async #enter(isNew: boolean): Promise<EtcdEntry | undefined> {
    for (let turn = 0; turn < MOST_CHANGES; turn += 1) {
      const entries = entriesIn(await this.#ask('kv/range', { key: toBase64(this.at.server(this.wish.name)) }));
      const present = entries.at(0);
      if (present?.lease === this.#lease) return undefined;
      if (present?.server !== undefined && !(isNew && this.#isBefore(present.server))) return present;
      const { succeeded } = await this.#ask('kv/txn', this.#entry(present?.revision));
      if (succeeded === true) return undefined;
    }
    throw foreign('refuses each change');
  }

  /** Whether that was this server, in a life that has ended. */
  #isBefore(server: KvMember): boolean {
    const { host, port, epoch } = this.wish.place;
    return server.host === host && server.port === port && server.epoch !== epoch;
  }

  /** The change that enters the server where nobody has changed its entry since that revision. */
  #entry(revision = '0'): object {
    const { name, keys, place } = this.wish;
    const [key, home, value] = [this.at.server(name), this.at.home(name), serverText(place)].map(toBase64);
    const put = { request_put: { key, value, lease: this.#lease } };
    const forHome = keys === 'stay' ? { request_put: { key: home, value } } : { request_delete_range: { key: home } };
    return {
      compare: [{ key, target: 'MOD', result: 'EQUAL', mod_revision: revision }],
      success: [put, forHome],
    };
  }

  /** The same, and waits for another one of that name to be taken for lost. @throws VerbsError EBUSY when it lives */
  async #enterInTime(): Promise<void> {
    let other = await this.#enter(true);
    if (other === undefined) return;
    const { lease } = other;
    let leftMs = await this.#leftMs(lease);
    let renewals = 0;
    const patienceMs = leftMs + GRACE_MS;
    // Once it may be etcd that has prolonged it, when another of its members took the lead.
    for (let ms = 0; other?.lease === lease && renewals < 2 && ms < patienceMs; ms += LOOK_MS) {
      await sleep(LOOK_MS, this.#stop.signal);
      const before = leftMs;
      leftMs = await this.#leftMs(lease);
      if (leftMs > before) renewals += 1;
      if (!(await this.#isAlive())) await this.#grant();
      other = await this.#enter(true);
    }
    if (other !== undefined) throw this.#taken(other);
  }

  /** What a lease has to live, in ms; 0 where there is none. */
  async #leftMs(lease: string): Promise<number> {
    const { TTL: seconds } = lease === '0' ? {} : await this.#ask('lease/timetolive', { ID: lease });
    const leftMs = Number(seconds) * 1000;
    return leftMs > 0 ? Math.min(leftMs, MOST_TTL_MS) : 0;
  }

  #taken({ server, key }: EtcdEntry): VerbsError {
    const { epoch } = this.wish.place;
    if (server?.epoch === epoch) {
      const advice = 'Close that registration first';
      return new VerbsError(CALL, {
        errno: 'EBUSY',
        message: `the server is registered as ${this.name} already`,
        advice,
      });
    }
    const where = server === undefined ? '' : `, at ${server.host}, port ${server.port}`;
    const message = `another server has the name ${this.wish.name}${where}`;
    const advice = `Give this one another, or end that; etcd has it at ${key}`;
    return new VerbsError(CALL, { errno: 'EBUSY', message, advice });
  }

  #ask(path: string, body: object): Promise<Answer> {
    return this.etcd.ask(path, body, this.#stop.signal, this.#answerMs);
  }
}

/** What etcd says may be in other words each time. */
function kindOf(problem: Error | undefined): string | undefined {
  return problem instanceof VerbsError ? problem.errno : problem?.message;
}

function foreign(what: string): VerbsError {
  const message = `what answers as etcd ${what}`;
  return new VerbsError(CALL, { errno: 'EPROTO', message, advice: 'Give the client URL of an etcd 3.4 or newer' });
}
