import { VerbsError } from '../../../../api/verbs/index.js';
import type { Hold, Lease, WaitOptions } from '../../../core/index.js';
import { WaitingLine } from '../../protocol/index.js';
import { saltOf, SipHash } from '../../store/index.js';
import { OWNER } from '../../transport/link.js';
import { decodeLayout, type Layout, Operation, Status } from '../../wire/index.js';
import { type AnyCall, Call, FAILURE, type ResponseDecoder } from '../call.js';
import type { ConnectTarget } from '../establish.js';
import type { Requester } from '../requester.js';
import { Lookup, type LookupCounters, MOST_BYTES, Step } from './lookup.js';
import { type Read, ReadConnection } from './read-connection.js';
import { ServerClock } from './server-clock.js';

/** What a client has counted that reads the server's memory by itself. */
export interface KvOneSidedStatistics extends Readonly<LookupCounters> {
  /** Calls that were served by READs alone. */
  readonly hits: number;
  /** Calls for which the server was asked after all: what is not there, what may have expired, what is long or changes all the time. */
  readonly fallbacks: number;
}

/** How long a way that was lost is not looked for again. */
const PAUSE_US = 1e6;
/** A clock that was looked at before is looked at again when an entry may have expired, so often at most. */
const CLOCK_US = 1e6;
/** Entries are likely to be as long as the last ones; the next READ brings so many bytes at least. */
const LEAST_LIKELY_BYTES = 128;

const layoutToldBy: ResponseDecoder<Layout> = ({ status, value }) =>
  (status === Status.OK ? decodeLayout(value) : undefined) ?? FAILURE;

/** One lookup at a time, and the memory where what it reads is put. */
interface Lane {
  readonly lease: Lease;
  readonly lookup: Lookup;
  call: AnyCall | undefined;
}

interface ReadWay {
  readonly connection: ReadConnection;
  readonly layout: Layout;
  readonly hash: SipHash;
  readonly salt: number;
  readonly free: Lane[];
  lanes: number;
}

/**
 * Serves GETs by RDMA READs of the server's memory, without its doing anything: first the bucket of the key, then the entry. What cannot be served so is asked of the server, by
 * the requester.
 */
export class OneSidedReader {
  readonly #clock = new ServerClock();
  readonly #hold: Hold;
  readonly #waiting = new WaitingLine<AnyCall>();
  readonly #counters = { reads: 0, torn: 0, hits: 0, fallbacks: 0 };
  #way: ReadWay | undefined;
  #likelyBytes = LEAST_LIKELY_BYTES;
  #retryUs = 0;
  #isOpening = false;
  #isAskingTime = false;
  #hasEnded = false;

  private constructor(
    private readonly requester: Requester,
    private readonly where: ConnectTarget,
  ) {
    this.#hold = requester.engine.hold();
    void requester.ended.then(() => this.#end());
  }

  /**
   * Begins to read on behalf of a client.
   *
   * @param where the server is, also for the next time
   * @param wait how long it may take this time
   * @throws (the promise rejects) VerbsError EOPNOTSUPP when the server has no memory to read; KvError; otherwise as `connect` of the root
   */
  static async open(requester: Requester, where: ConnectTarget, wait: WaitOptions): Promise<OneSidedReader> {
    const reader = new OneSidedReader(requester, where);
    try {
      reader.#way = await reader.#open({ ...where, ...wait });
      return reader;
    } catch (error) {
      reader.#end();
      throw error;
    }
  }

  get statistics(): KvOneSidedStatistics {
    return { ...this.#counters };
  }

  get(call: AnyCall): void {
    const way = this.#wayNow();
    if (way === undefined) this.#ask(call);
    else this.#begin(way, call);
  }

  /** The way to read; undefined while there is none. One that was lost is looked for again. */
  #wayNow(): ReadWay | undefined {
    const way = this.#way;
    if (way !== undefined && !way.connection.isLost) return way;
    if (way !== undefined) this.#lose(way);
    const { engine, failure } = this.requester;
    if (!this.#isOpening && !this.#hasEnded && failure === undefined && engine.nowUs() >= this.#retryUs)
      void this.#reopen();
    return undefined;
  }

  async #reopen(): Promise<void> {
    this.#isOpening = true;
    try {
      const way = await this.#open(this.where);
      if (this.#hasEnded) way.connection.end();
      else this.#way = way;
    } catch (error) {
      // The server is asked meanwhile, whatever it is.
      if (!(error instanceof VerbsError)) throw error;
    } finally {
      this.#isOpening = false;
      this.#retryUs = this.requester.engine.nowUs() + PAUSE_US;
    }
  }

  async #open(where: ConnectTarget): Promise<ReadWay> {
    const { engine, welcome } = this.requester;
    const { session, epoch, window } = welcome;
    const connection = await ReadConnection.open(engine, where, { session, epoch }, window);
    try {
      const layout = await this.#askLayout(where);
      const hash = new SipHash(layout.seed);
      return { connection, layout, hash, salt: saltOf(hash), free: [], lanes: 0 };
    } catch (error) {
      connection.end();
      throw error;
    }
  }

  async #askLayout({ signal, timeoutMs }: WaitOptions): Promise<Layout> {
    const { requester } = this;
    const { engine } = requester;
    const askedUs = engine.nowUs();
    const asked = { ...NOTHING, operation: Operation.LAYOUT };
    const layout = await new Promise<Layout>((resolve, reject) => {
      const call = new Call('connect', asked, layoutToldBy, requester, { resolve, reject });
      call.bindCancellation({ signal, timeoutMs }, engine);
      requester.post(call);
    });
    this.#clock.told(layout.nowMs, askedUs);
    return layout;
  }

  #begin(way: ReadWay, call: AnyCall): void {
    const lane = way.free.pop() ?? this.#newLane(way);
    if (lane === undefined) {
      if (way.lanes > 0) this.#waiting.add(call);
      else this.#ask(call);
      return;
    }
    lane.call = call;
    lane.lookup.begin(call.asked.key);
    this.#read(way, lane);
  }

  /** @returns undefined when there are as many as there may be, or no memory */
  #newLane(way: ReadWay): Lane | undefined {
    const { engine, welcome } = this.requester;
    if (way.lanes >= welcome.window) return undefined;
    const lease = engine.pool.tryLease(MOST_BYTES, OWNER);
    if (lease === undefined) return undefined;
    way.lanes += 1;
    const lookup = new Lookup(way.layout, way.hash, way.salt, lease.bytes, this.#counters);
    return { lease, lookup, call: undefined };
  }

  #read(way: ReadWay, lane: Lane): void {
    const { from, offset, length } = lane.lookup;
    const read: Read = {
      rkey: from.rkey,
      addr: from.addr + BigInt(offset),
      done: (isThere) => this.#take(way, lane, isThere),
    };
    if (!way.connection.read(read, lane.lease, length)) this.#leave(way, lane, false);
  }

  #take(way: ReadWay, lane: Lane, isThere: boolean): void {
    const { call, lookup } = lane;
    if (!isThere || call === undefined || call.isSettled) {
      this.#leave(way, lane, false);
      return;
    }
    const nowUs = this.requester.engine.nowUs();
    const step = lookup.take(this.#clock.latestMs(nowUs), this.#likelyBytes);
    if (step === Step.READ) this.#read(way, lane);
    else {
      if (lookup.entry.expiresAtMs !== 0 && step === Step.ASK) this.#askTime(nowUs);
      this.#leave(way, lane, step === Step.FOUND);
    }
  }

  /** A lookup has ended. @param isFound whether it has what was looked for; otherwise the server is asked */
  #leave(way: ReadWay, lane: Lane, isFound: boolean): void {
    const { call, lookup } = lane;
    lane.call = undefined;
    if (call !== undefined && isFound) this.#settle(call, lookup);
    else if (call !== undefined) this.#ask(call);
    if (way.connection.isLost) this.#lose(way, lane);
    else {
      way.free.push(lane);
      const next = this.#waiting.shift();
      if (next !== undefined) this.#begin(way, next);
    }
  }

  #settle(call: AnyCall, { entry }: Lookup): void {
    const { byteLength, valueLength } = entry;
    const likely = this.#likelyBytes;
    this.#likelyBytes = Math.max(LEAST_LIKELY_BYTES, byteLength, likely - ((likely - byteLength) >> 4));
    this.#counters.hits += 1;
    call.settle({ status: Status.OK, version: entry.version, value: entry.value(), valueBytes: valueLength });
  }

  #ask(call: AnyCall): void {
    if (call.isSettled) return;
    this.#counters.fallbacks += 1;
    this.requester.post(call);
  }

  /** An entry may have expired or not: it pays to know better what time it is. */
  #askTime(nowUs: number): void {
    if (this.#isAskingTime || this.#clock.ageUs(nowUs) < CLOCK_US) return;
    this.#isAskingTime = true;
    const done = (): void => {
      this.#isAskingTime = false;
    };
    this.#askLayout(this.where).then(done, done);
  }

  /** A way is lost: its lanes end with their READs. @param lane one that has none on its way */
  #lose(way: ReadWay, lane?: Lane): void {
    lane?.lease.release();
    for (const { lease } of way.free.splice(0)) lease.release();
    if (this.#way !== way) return;
    this.#way = undefined;
    this.#retryUs = Math.max(this.#retryUs, this.requester.engine.nowUs() + PAUSE_US);
    way.connection.end();
    for (const call of this.#waiting.drain()) this.#ask(call);
  }

  #end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    if (this.#way !== undefined) this.#lose(this.#way);
    this.#hold.release();
  }
}

const NO_BYTES = new Uint8Array(0);
const NOTHING = { key: NO_BYTES, value: NO_BYTES, remote: undefined, ttlMs: 0, operand: 0n };
