import type { Journal, Refusal } from '../persistence/index.js';
import {
  type Answered,
  encodeResponse,
  type Identity,
  nextPart,
  Packer,
  partEnd,
  copyInto,
  requestLength,
  RESPONSE_HEAD_BYTES,
  type RequestView,
  RequestView as View,
  isSameSession,
  rulesOf,
  Status,
} from '../wire/index.js';
import type { Executor, ServerCounters } from './executor.js';
import { Arrival } from './reply-cache.js';
import type { Session } from './sessions.js';
import { type TransferLimits, Transfers } from './transfers.js';
import { type ValueHost, ValueRequests } from './value-requests.js';

/** An answer that waits until what it tells of will last. */
interface Held {
  readonly session: Session;
  readonly slot: number;
  readonly sequence: number;
  readonly answer: Uint8Array;
  readonly isChange: boolean;
}

type Waiting = (isKept: boolean) => void;

const DISK: Readonly<Record<Refusal, Status>> = { full: Status.DISK_FULL, failed: Status.DISK_FAILED };
const NO_BYTES: Uint8Array = new Uint8Array(0);
const answerOf = (status: Status): Answered => ({ status, version: 0n, value: NO_BYTES, valueBytes: 0 });
const OTHER_EPOCH = answerOf(Status.EPOCH);
const ON_ITS_WAY = answerOf(Status.UNDER_WAY);
/** Of a server that moves no values. */
const NO_TRANSFERS: TransferLimits = { maxBytes: 0, maxClientBytes: 0 };

/**
 * The side of the server, as a machine without I/O and without a clock: told what has come from whom, it has the store carry out what is new, and
 * says what to answer. Whatever a client sends concerns its own session and no other.
 */
export class ServerMachine implements ValueHost {
  readonly counters: ServerCounters = {
    requests: 0,
    repeats: 0,
    old: 0,
    malformed: 0,
    forged: 0,
    epochs: 0,
    unlogged: 0,
    transfers: 0,
    brokenTransfers: 0,
  };
  readonly #request = new View();
  readonly #answer: Uint8Array;
  readonly #answers: Packer;
  readonly #held: (Held | Waiting)[] = [];
  readonly #values: ValueRequests;

  /**
   * @param journal keeps what is changed; undefined: it is in memory alone
   * @param transfers of values that do not fit a message; by default there is no memory for any
   */
  constructor(
    readonly epoch: number,
    readonly executor: Executor,
    slotBytes: number,
    private readonly journal?: Journal,
    transfers: Transfers = new Transfers(NO_TRANSFERS, () => undefined),
  ) {
    this.#answer = new Uint8Array(slotBytes);
    this.#answers = new Packer(slotBytes);
    this.#values = new ValueRequests(this, transfers);
  }

  /** Whether answers are held until {@link settle}. */
  get isHolding(): boolean {
    return this.#held.length > 0;
  }

  /** A message has come from the client of a session, with one request or several. What is answered at once goes in as few messages as can be. */
  onMessage(session: Session, bytes: Uint8Array, nowUs: number): void {
    let at = 0;
    do {
      const end = partEnd(at, requestLength(bytes, at), bytes.length);
      const answer = this.#onRequest(session, bytes, at, end, nowUs);
      if (answer !== undefined) this.#add(session, answer);
      at = nextPart(end);
    } while (at < bytes.length);
    this.#flush(session);
  }

  #add(session: Session, answer: Uint8Array): void {
    copyInto(answer, this.#answers.bytes, this.#placeFor(session, answer.length));
  }

  /** Where the next answer goes, of so many bytes. */
  #placeFor(session: Session, bytes: number): number {
    if (!this.#answers.fits(bytes, this.#roomFor(session))) this.#flush(session);
    return this.#answers.add(bytes);
  }

  /** Bytes of the longest message that the client can be sent. */
  #roomFor(session: Session): number {
    return Math.min(session.answerBytes, this.#answer.length);
  }

  #flush(session: Session): void {
    if (!this.#answers.isEmpty) this.#send(session, this.#answers.take());
  }

  /** @returns what is to be answered, true until the next request; undefined for nothing, or nothing yet */
  #onRequest(session: Session, bytes: Uint8Array, at: number, end: number, nowUs: number): Uint8Array | undefined {
    const request = this.#request;
    if (request.look(bytes, at, end) !== undefined) {
      this.counters.malformed += 1;
      return undefined;
    }
    if (!isSameSession(request.session, session.id) || request.slot >= session.slots.size) {
      this.counters.forged += 1;
      return undefined;
    }
    session.heardUs = nowUs;
    session.hasAsked = true;
    if (request.epoch !== this.epoch) {
      this.counters.epochs += 1;
      return this.#encode(request, OTHER_EPOCH);
    }
    return this.#serve(session, request, request.remote === undefined ? undefined : bytes.subarray(at, end));
  }

  /** A message has come of which nobody is known to be the sender. */
  onStranger(bytes: Uint8Array): void {
    if (this.#request.look(bytes) === undefined) this.counters.forged += 1;
    else this.counters.malformed += 1;
  }

  fetched(session: Session, request: RequestView): void {
    this.#send(session, this.#carryOut(session, request));
  }

  delivered(session: Session, request: RequestView, answer: Answered): void {
    this.#send(session, this.#conclude(session, request, answer, false));
  }

  whenKept(then: Waiting): void {
    if (this.journal?.hasChanges === true) this.#held.push(then);
    else then(true);
  }

  /** @param named the request's bytes, where it names memory */
  #serve(session: Session, request: RequestView, named: Uint8Array | undefined): Uint8Array | undefined {
    const { slots } = session;
    const { slot, sequence } = request;
    const arrival = slots.arrival(slot, sequence);
    if (arrival === Arrival.OLD) {
      this.counters.old += 1;
      return undefined;
    }
    if (arrival === Arrival.NEW) this.counters.requests += 1;
    else {
      this.counters.repeats += 1;
      if (arrival === Arrival.UNDER_WAY) return this.#encode(request, ON_ITS_WAY);
      const before = slots.answer(slot);
      // What changes nothing is carried out again rather than remembered: a value may be long.
      if (before !== undefined) return this.#isHeld(slots, slot) ? undefined : before;
    }
    return this.#carryOut(session, request, named);
  }

  #carryOut(session: Session, request: RequestView, named?: Uint8Array): Uint8Array | undefined {
    const isChange = rulesOf(request.operation)?.changes === true;
    const refusal = isChange ? this.journal?.refusal : undefined;
    if (refusal !== undefined) {
      this.counters.unlogged += 1;
      return this.#conclude(session, request, answerOf(DISK[refusal]), isChange);
    }
    const roomBytes = this.#roomFor(session) - RESPONSE_HEAD_BYTES;
    const answered =
      named === undefined ? this.#execute(request, roomBytes) : this.#values.begin(session, request, named, roomBytes);
    return answered && this.#conclude(session, request, answered, isChange);
  }

  /** A request was carried out. @returns its answer; undefined while that is held, or where it is among those to the message already */
  #conclude(session: Session, request: RequestView, answered: Answered, isChange: boolean): Uint8Array | undefined {
    const { slot, sequence, remote } = request;
    // The memory that a request has named is another's as soon as it is answered.
    const kept = isChange || remote !== undefined ? this.#encode(request, answered).slice() : undefined;
    session.slots.served(slot, sequence, kept);
    if (this.journal?.hasChanges !== true) {
      if (kept === undefined) this.#pack(session, request, answered);
      return kept;
    }
    // It may tell of what is not kept yet.
    this.#held.push({ session, slot, sequence, answer: kept ?? this.#encode(request, answered).slice(), isChange });
    return undefined;
  }

  /** Puts an answer among those to the message that is looked at. Of a request whose value was on its way the answer is kept, so that it never comes here. */
  #pack(session: Session, request: RequestView, answered: Answered): void {
    const at = this.#placeFor(session, RESPONSE_HEAD_BYTES + answered.value.length);
    encodeResponse(this.#answers.bytes, this.#identityOf(request), answered, at);
  }

  #send({ way }: Session, answer: Uint8Array | undefined): void {
    if (answer !== undefined) way?.send(answer);
  }

  #isHeld(slots: Session['slots'], slot: number): boolean {
    return this.#held.some((held) => typeof held === 'object' && held.session.slots === slots && held.slot === slot);
  }

  /** Has what was changed since the last time be kept, and hands over what is answered then. */
  settle(send: (session: Session, answer: Uint8Array) => void): void {
    const refusal = this.journal?.commit();
    for (const held of this.#held.splice(0)) {
      if (typeof held === 'function') held(refusal === undefined);
      else if (refusal === undefined) send(held.session, held.answer);
      else if (held.isChange) send(held.session, this.#takeBack(held, refusal));
      // What was read may have been taken back: the client asks again.
      else this.#forget(held);
    }
  }

  #takeBack({ session: { id, slots }, slot, sequence }: Held, refusal: Refusal): Uint8Array {
    const identity = { session: id, epoch: this.epoch, slot, sequence };
    const answer = new Uint8Array(RESPONSE_HEAD_BYTES);
    encodeResponse(answer, identity, answerOf(DISK[refusal]));
    if (slots.arrival(slot, sequence) === Arrival.REPEAT) slots.served(slot, sequence, answer);
    this.counters.unlogged += 1;
    return answer;
  }

  #forget({ session: { slots }, slot, sequence }: Held): void {
    if (slots.arrival(slot, sequence) === Arrival.REPEAT) slots.served(slot, sequence, undefined);
  }

  #execute(request: RequestView, roomBytes: number): Answered {
    const answer = this.executor.execute(request, roomBytes);
    if (answer.value.length <= roomBytes) return answer;
    return { ...answerOf(Status.ELSEWHERE), valueBytes: answer.value.length };
  }

  #encode(request: RequestView, answer: Answered): Uint8Array {
    return this.#answer.subarray(0, encodeResponse(this.#answer, this.#identityOf(request), answer));
  }

  #identityOf({ session, slot, sequence }: RequestView): Identity {
    return { session, epoch: this.epoch, slot, sequence };
  }
}
