import { type RepeatRules, RttEstimator } from './repeats.js';
import { type Placed, WaitingLine } from './waiting-line.js';

/** A request on its way through a window. Whoever makes one leaves these fields to the window. */
export interface Outstanding extends Placed {
  /** Which slot it has; -1 for none: it waits for one, or has ended. */
  slot: number;
  sequence: number;
  sentUs: number;
  dueUs: number;
  repeats: number;
  /** The server may use memory that it names, until it is answered. */
  readonly namesMemory: boolean;
}

export const NOT_SENT: Readonly<Outstanding> = {
  slot: -1,
  sequence: 0,
  sentUs: 0,
  dueUs: 0,
  repeats: 0,
  namesMemory: false,
  place: 0,
};

/**
 * The requests of one client, as a machine without I/O and without a clock: says what is to be sent, and which answer is whose. A
 * slot has one request at a time, whose number is one more than that of the request before.
 */
export class ClientWindow<R extends Outstanding> {
  readonly roundTrips: RttEstimator;
  readonly #slots: (R | undefined)[];
  readonly #sequences: Int32Array;
  /** The how manieth request each slot has. */
  readonly #turns: Float64Array;
  #turn = 0;
  readonly #free: number[] = [];
  readonly #waiting = new WaitingLine<R>();
  /** No request is to be repeated before. */
  #dueUs = Infinity;
  #repeats = 0;
  #unmatchedResponses = 0;

  /** @param before the number before the first of each slot */
  constructor(
    readonly size: number,
    private readonly rules: RepeatRules,
    before = 0,
  ) {
    this.roundTrips = new RttEstimator(rules);
    this.#slots = Array.from({ length: size }, () => undefined);
    this.#sequences = new Int32Array(size).fill(before);
    this.#turns = new Float64Array(size);
    for (let slot = size - 1; slot >= 0; slot -= 1) this.#free.push(slot);
  }

  get busy(): number {
    return this.size - this.#free.length;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** How often a request was sent again. */
  get repeats(): number {
    return this.#repeats;
  }

  /** Answers to requests that nobody waits for: they came twice, or too late. */
  get unmatchedResponses(): number {
    return this.#unmatchedResponses;
  }

  /** Until when there is nothing to do unless something comes: Infinity for ever. */
  get dueUs(): number {
    return this.#dueUs;
  }

  add(request: R): void {
    this.#waiting.add(request);
  }

  /** What is to be sent now, once or again; undefined when there is nothing. */
  next(nowUs: number): R | undefined {
    return this.#nextRepeat(nowUs) ?? this.#nextNew(nowUs);
  }

  /** An answer has come. @returns whose it is; undefined when nobody waits for it */
  answered(slot: number, sequence: number, nowUs: number): R | undefined {
    const request = slot < this.size ? this.#slots[slot] : undefined;
    if (request === undefined || ((request.sequence ^ sequence) | 0) !== 0) {
      this.#unmatchedResponses += 1;
      return undefined;
    }
    if (request.repeats === 0) this.roundTrips.measured(nowUs - request.sentUs);
    this.#leave(request);
    return request;
  }

  /** The server has said that it is about a request: it is waited for as if it had just been sent. */
  isUnderWay(slot: number, sequence: number, nowUs: number): void {
    const request = slot < this.size ? this.#slots[slot] : undefined;
    if (request === undefined || ((request.sequence ^ sequence) | 0) !== 0) return;
    request.sentUs = nowUs;
    // No time is learned from it.
    request.repeats = Math.max(1, request.repeats);
  }

  /**
   * Nobody waits for a request any more. Its slot is another's at once, since the server drops it, should it come after that one; or, where slots are memory, or it names
   * some, once it is answered.
   */
  giveUp(request: R): void {
    if (request.slot < 0) this.#waiting.remove(request);
    else if (!this.rules.slotsAreMemory && !request.namesMemory) this.#leave(request);
  }

  /** A request that the server has not answered for longer than anybody would wait. */
  lost(nowUs: number): R | undefined {
    return this.#unanswered(nowUs - this.rules.patienceUs);
  }

  /** Whether a request is not answered, and nothing else was, for so long that the way to the server may be gone. */
  isSilent(heardUs: number, nowUs: number): boolean {
    const sinceUs = nowUs - this.rules.silenceUs;
    return heardUs <= sinceUs && this.#unanswered(sinceUs) !== undefined;
  }

  /** There is a new way to the server: all that was sent is sent again, as soon as {@link next} is asked. */
  resend(): void {
    for (const request of this.#slots) if (request !== undefined) request.dueUs = 0;
    this.#dueUs = 0;
  }

  /** Ends all requests. @returns those that were sent first, then those that were not */
  drain(): R[] {
    const sent = this.#slots.filter((request) => request !== undefined);
    const requests = [...sent, ...this.#waiting.drain()];
    for (const request of sent) this.#leave(request);
    return requests;
  }

  #unanswered(sinceUs: number): R | undefined {
    return this.#slots.find((request) => request !== undefined && request.sentUs <= sinceUs);
  }

  #nextRepeat(nowUs: number): R | undefined {
    if (nowUs < this.#dueUs) return undefined;
    let dueUs = Infinity;
    let first: R | undefined;
    for (const request of this.#slots) {
      if (request === undefined) continue;
      // Where the way keeps the order, repeats keep it, too.
      if (request.dueUs > nowUs) dueUs = Math.min(dueUs, request.dueUs);
      else if (first === undefined || this.#turns[request.slot] < this.#turns[first.slot]) first = request;
    }
    if (first === undefined) {
      this.#dueUs = dueUs;
      return undefined;
    }
    first.repeats += 1;
    this.#repeats += 1;
    first.dueUs = nowUs + this.roundTrips.repeated(first.repeats);
    return first;
  }

  #nextNew(nowUs: number): R | undefined {
    if (this.#waiting.length === 0) return undefined;
    const slot = this.#free.pop();
    if (slot === undefined) return undefined;
    const request = this.#waiting.shift();
    if (request === undefined) return undefined;
    this.#sequences[slot] += 1;
    this.#slots[slot] = request;
    this.#turns[slot] = this.#turn += 1;
    request.slot = slot;
    request.sequence = this.#sequences[slot] >>> 0;
    request.sentUs = nowUs;
    request.dueUs = nowUs + this.roundTrips.waitUs;
    this.#dueUs = Math.min(this.#dueUs, request.dueUs);
    return request;
  }

  #leave(request: R): void {
    this.#slots[request.slot] = undefined;
    this.#free.push(request.slot);
    request.slot = -1;
    if (this.busy === 0) this.#dueUs = Infinity;
  }
}
