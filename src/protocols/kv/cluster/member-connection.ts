import { VerbsError } from '../../../api/verbs/index.js';
import { type Timers, unlessAborted } from '../../core/index.js';
import { endFor, type KvClient, type KvClientStatistics } from '../client/kv-client.js';
import { KvError, KvManyError } from '../errors.js';
import { NO_COUNTS, sumOf } from './counts.js';
import type { NamedMember } from './member.js';

export interface MemberConnectionParts extends Timers {
  /** Gives up when the signal comes. */
  readonly connect: (member: NamedMember, signal: AbortSignal) => Promise<KvClient>;
}

export type Use<T> = (client: KvClient) => Promise<T>;

/** Whether a call may be made once more when nobody knows whether it was carried out. */
export type Repetition = 'harmless' | 'unwise';

/** Nobody is asked again sooner after he was not there: calls fail meanwhile. */
export const REST_MS = 100;

/** The connection to one server of a cluster: a client, made on demand, and again after it has ended. */
export class MemberConnection {
  #member: NamedMember;
  #client: KvClient | undefined;
  #connecting: Promise<KvClient> | undefined;
  /** Why calls fail without a try. */
  #refusal: KvError | undefined;
  #trying = new AbortController();
  #counted: KvClientStatistics = NO_COUNTS;

  constructor(
    member: NamedMember,
    private readonly terms: MemberConnectionParts,
  ) {
    this.#member = member;
    this.update(member);
  }

  get name(): string {
    return this.#member.name;
  }

  get member(): NamedMember {
    return this.#member;
  }

  /** That of the server's life that the client knows, or of which was heard. */
  get epoch(): number | undefined {
    return this.isConnected ? this.#client?.epoch : this.#member.epoch;
  }

  get isConnected(): boolean {
    return this.#client !== undefined && this.#client.failure === undefined;
  }

  get statistics(): KvClientStatistics {
    return sumOf(this.#counted, this.#client?.statistics ?? NO_COUNTS);
  }

  update(member: NamedMember): void {
    const before = this.#member;
    this.#member = member;
    const { host, port, epoch, isUp, name } = member;
    const isElsewhere = host !== before.host || port !== before.port;
    const isOther = epoch !== undefined && epoch !== before.epoch && epoch !== this.#client?.epoch;
    if (!isUp) this.end(new KvError('kv', 'ECONNRESET', `the server ${name} is away`, 'unknown'));
    else if (isElsewhere || isOther)
      this.end(new KvError('kv', 'ECONNRESET', `the server ${name} began anew`, 'unknown'));
    if (isUp) this.#refusal = undefined;
  }

  /** Calls fail, those under way as well, until {@link update} says that the server is there. */
  end(reason: KvError): void {
    this.#refusal = reason;
    this.#trying.abort(reason);
    this.#trying = new AbortController();
    this.#connecting = undefined;
    this.#drop(reason);
  }

  /** A client, so that the first call need not wait for one. */
  async connected(): Promise<KvClient> {
    if (this.#client !== undefined && this.isConnected) return this.#client;
    if (this.#refusal !== undefined) throw this.#refusal;
    this.#connecting ??= this.#connect(this.#trying.signal);
    return this.#connecting;
  }

  /**
   * Makes a call, at once where there is a client. One that was not carried out, or may be repeated, is made once more when its client has ended.
   *
   * @param signal of the program: it has given up
   * @throws (the promise rejects) as the call; KvError `not sent` where nobody is there; the signal's reason
   */
  async run<T>(call: string, use: Use<T>, signal: AbortSignal | undefined, repetition: Repetition): Promise<T> {
    const client = this.#client;
    if (client === undefined || !this.isConnected) return this.#runAnew(call, use, signal);
    try {
      return await use(client);
    } catch (error) {
      const isOver = client.failure !== undefined && this.#refusal === undefined && signal?.aborted !== true;
      if (!isOver || !mayRepeat(error, repetition)) throw error;
    }
    return this.#runAnew(call, use, signal);
  }

  async #runAnew<T>(call: string, use: Use<T>, signal: AbortSignal | undefined): Promise<T> {
    signal?.throwIfAborted();
    const client = await unlessAborted(this.connected(), signal).catch((error: unknown) => {
      throw signal?.aborted === true ? error : this.#absence(call, error);
    });
    return use(client);
  }

  async #connect(signal: AbortSignal): Promise<KvClient> {
    try {
      this.#drop();
      const client = await this.terms.connect(this.#member, signal);
      if (signal.aborted) {
        client.close();
        throw signal.reason;
      }
      return (this.#client = client);
    } catch (error) {
      if (!signal.aborted) this.#rest(error);
      // Meanwhile it was heard that the server is elsewhere, or another: whoever waits for it waits for that.
      else if (this.#refusal === undefined) return await this.connected();
      throw error;
    } finally {
      if (!signal.aborted) this.#connecting = undefined;
    }
  }

  #rest(cause: unknown): void {
    const refusal = this.#absence('kv', cause);
    this.#refusal = refusal;
    this.terms.timer(REST_MS, () => {
      if (this.#refusal === refusal) this.#refusal = undefined;
    });
  }

  #drop(reason?: KvError): void {
    const client = this.#client;
    if (client === undefined) return;
    this.#client = undefined;
    client[endFor](reason ?? new KvError('kv', 'ECONNRESET', 'the server is gone', 'unknown'));
    this.#counted = sumOf(this.#counted, client.statistics);
  }

  /** Why a call was not sent. */
  #absence(call: string, cause: unknown): KvError {
    if (cause instanceof KvError) return new KvError(call, cause.errno, cause.reason, 'not sent', { cause });
    const { name, host, port } = this.#member;
    const at = name === `${host}:${port}` ? name : `${name} at ${host}, port ${port},`;
    const errno = cause instanceof VerbsError ? cause.errno : 'EIO';
    return new KvError(call, errno, `the server ${at} cannot be reached`, 'not sent', { cause });
  }
}

/** Whether a call may be made again that has failed. */
export function mayRepeat(error: unknown, repetition: Repetition): boolean {
  if (!(error instanceof KvError) || error.outcome === 'refused') return false;
  // Of several some were carried out.
  return repetition === 'harmless' || (error.outcome === 'not sent' && !(error instanceof KvManyError));
}
