import { type Answered, type RemoteValue, RequestView, rulesOf, Status } from '../wire/index.js';
import type { Executor, ServerCounters } from './executor.js';
import type { Session } from './sessions.js';
import type { Grant, Transfers } from './transfers.js';

const NO_BYTES: Uint8Array = new Uint8Array(0);
const TOO_LARGE: Answered = { status: Status.TOO_LARGE, version: 0n, value: NO_BYTES, valueBytes: 0 };

/** What requests with values elsewhere need of the machine that they came to. */
export interface ValueHost {
  readonly executor: Executor;
  readonly counters: ServerCounters;
  /** A value has come: the request is carried out with it, and answered. */
  fetched(session: Session, request: RequestView): void;
  /** A value is where the client wants it: the request is answered. */
  delivered(session: Session, request: RequestView, answer: Answered): void;
  /** Calls back once nothing that is read could still be taken back; with false when it was. */
  whenKept(then: (isKept: boolean) => void): void;
}

/**
 * Requests whose values do not fit a message (protocol/kv.md 6.7). A request is begun once, and carried out when its value has come; whatever fails on
 * the way, it was not carried out, and the client may ask again.
 */
export class ValueRequests {
  readonly #late = new RequestView();

  constructor(
    private readonly host: ValueHost,
    private readonly transfers: Transfers,
  ) {}

  /**
   * Begins a request that names memory of the client's.
   *
   * @param message that it is in, of which a copy is kept
   * @param roomBytes of a value that fits the answer
   * @returns what is answered at once; undefined for nothing yet
   */
  begin(session: Session, request: RequestView, message: Uint8Array, roomBytes: number): Answered | undefined {
    const { remote } = request;
    if (remote === undefined) throw new Error('verbena: internal error: a value that is nowhere else');
    return rulesOf(request.operation)?.value === 'to the client'
      ? this.#deliver(session, request, remote, message, roomBytes)
      : this.#fetch(session, request, remote, message);
  }

  #fetch(session: Session, request: RequestView, remote: RemoteValue, message: Uint8Array): Answered | undefined {
    const { length } = remote;
    if (length > this.host.executor.maxValueBytes) return TOO_LARGE;
    const copy = message.slice();
    this.#ask(session, request, length, (grant) => {
      this.#move(
        session,
        this.#look(copy),
        false,
        remote,
        length,
        grant,
        (late) => {
          late.setValue(grant.buffer.bytes.subarray(0, length));
          this.host.fetched(session, late);
        },
        copy,
      );
    });
    return undefined;
  }

  #deliver(
    session: Session,
    request: RequestView,
    remote: RemoteValue,
    message: Uint8Array,
    roomBytes: number,
  ): Answered | undefined {
    const found = this.#find(request, remote, roomBytes);
    if (isAnswer(found, roomBytes)) return found;
    const copy = message.slice();
    // What was found is true as long as nobody else was served.
    let fresh: Answered | undefined = found;
    this.#ask(session, request, found.value.length, (grant) =>
      this.host.whenKept((isKept) => {
        const late = this.#look(copy);
        if (!isKept) this.#abandon(session, late, grant);
        else this.#send(session, late, remote, roomBytes, fresh, grant, copy);
      }),
    );
    fresh = undefined;
    return undefined;
  }

  /** Writes the value into the client's memory. */
  #send(
    session: Session,
    request: RequestView,
    remote: RemoteValue,
    roomBytes: number,
    fresh: Answered | undefined,
    grant: Grant,
    copy: Uint8Array,
  ): void {
    const found = fresh ?? this.#find(request, remote, roomBytes);
    const { value } = found;
    const { buffer } = grant;
    if (isAnswer(found, roomBytes) || value.length > buffer.bytes.length) {
      const answer = isAnswer(found, roomBytes) ? found : elsewhere(value.length);
      if (session.slots.isUnderWay(request.slot, request.sequence)) this.host.delivered(session, request, answer);
      grant.release();
      return;
    }
    // The store may change it at any moment: what is sent is a copy.
    buffer.bytes.set(value);
    const answer = { ...found, value: NO_BYTES, valueBytes: value.length };
    this.#move(
      session,
      request,
      true,
      remote,
      value.length,
      grant,
      (late) => this.host.delivered(session, late, answer),
      copy,
    );
  }

  #find(request: RequestView, remote: RemoteValue, roomBytes: number): Answered {
    const found = this.host.executor.execute(request, roomBytes);
    const { length } = found.value;
    return length > roomBytes && length > remote.length ? elsewhere(length) : found;
  }

  #ask(session: Session, { slot, sequence }: RequestView, bytes: number, use: (grant: Grant) => void): void {
    const { slots } = session;
    slots.begin(slot, sequence);
    const isTaken = this.transfers.ask(session, bytes, (grant) => {
      if (grant === undefined) slots.abandon(slot, sequence);
      // A later request may have come meanwhile: nobody waits for this one.
      else if (slots.isUnderWay(slot, sequence)) use(grant);
      else grant.release();
    });
    if (!isTaken) slots.abandon(slot, sequence);
  }

  #move(
    session: Session,
    { slot, sequence }: RequestView,
    isWrite: boolean,
    remote: RemoteValue,
    length: number,
    grant: Grant,
    then: (request: RequestView) => void,
    copy: Uint8Array,
  ): void {
    const { slots } = session;
    const done = (isThere: boolean): void => {
      this.host.counters[isThere ? 'transfers' : 'brokenTransfers'] += 1;
      if (!isThere) slots.abandon(slot, sequence);
      else if (!session.hasEnded && slots.isUnderWay(slot, sequence)) then(this.#look(copy));
      grant.release();
    };
    const isMoving = session.way?.move({ isWrite, remote, buffer: grant.buffer, length, done }) === true;
    if (!isMoving) this.#abandon(session, { slot, sequence }, grant);
  }

  #abandon({ slots }: Session, { slot, sequence }: Pick<RequestView, 'slot' | 'sequence'>, grant: Grant): void {
    slots.abandon(slot, sequence);
    grant.release();
  }

  #look(copy: Uint8Array): RequestView {
    this.#late.look(copy);
    return this.#late;
  }
}

function isAnswer({ value }: Answered, roomBytes: number): boolean {
  return value.length <= roomBytes;
}

function elsewhere(valueBytes: number): Answered {
  return { status: Status.ELSEWHERE, version: 0n, value: NO_BYTES, valueBytes };
}
