import { AccessFlags } from '../../../device/ibta/index.js';
import { Microtask } from '../../../api/runtime/index.js';
import { VerbsError } from '../../../api/verbs/index.js';
import type { Engine } from '../../core/index.js';
import { EpochError, KvError, type Outcome } from '../errors.js';
import { ClientWindow } from '../protocol/index.js';
import { ValueMemory } from '../transport/value-memory.js';
import {
  encodeRequest,
  isSameSession,
  nextPart,
  Operation,
  Packer,
  partEnd,
  requestBytes,
  responseLength,
  ResponseView,
  Status,
  type Welcome,
} from '../wire/index.js';
import { type AnyCall, Call, type CancelHandler } from './call.js';
import { MAX_VALUE_BYTES } from './options.js';
import { connectServer, type ClientConnection, type ConnectTarget } from './establish.js';
import type { ClientTransport } from './transports.js';

/** A client that asks nothing says every so often that it is there, and hears whether the server is. */
const KEEP_ALIVE_MS = 10_000;
/** How long a server that was lost is looked for, and how long each try may take. */
const PATIENCE_MS = 10_000;
const TRY_MS = 2000;
const PAUSE_MS = 100;
/** How often a value is asked for that each time has become longer: a server that says so for ever lies. */
const MOST_ASKS = 16;
const VALUE_ACCESS = AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_READ | AccessFlags.REMOTE_WRITE;

export interface RequesterStatistics {
  /** How often a request was sent again. */
  readonly repeats: number;
  readonly unmatchedResponses: number;
  /** Messages that are no answers to this client. */
  readonly foreign: number;
  /** How often the session went on after the connection had been lost. */
  readonly resumptions: number;
}

/**
 * Sends the calls of a client and tells them what came of it: the window, bound to a way to the server. When that is lost it looks for another, on which
 * the session goes on; a server that does not know the session ends it.
 */
export class Requester implements CancelHandler {
  readonly engine: Engine;
  readonly welcome: Welcome;
  /** Resolves when it has ended. Never rejects. */
  readonly ended: Promise<void>;
  readonly #window: ClientWindow<AnyCall>;
  readonly #answer = new ResponseView();
  readonly #requests: Packer;
  /** What a program asks for in one go leaves in as few messages as can be. */
  readonly #soon = new Microtask(() => this.#pump());
  #way: ClientConnection | undefined;
  #failure: KvError | undefined;
  #tellEnded: () => void = () => undefined;
  #stopTimer: (() => void) | undefined;
  #timerUs = Infinity;
  #stopKeepingAlive: () => void;
  #heardUs: number;
  #resumptions = 0;
  #foreign = 0;

  readonly #where: ConnectTarget;
  /** Where the server reads long values from, and writes them to. */
  readonly #memory: ValueMemory;

  constructor(
    way: ClientConnection,
    private readonly transport: ClientTransport,
  ) {
    this.engine = way.link.engine;
    this.#where = { ...way.connection.remoteAddress, context: this.engine.context, timeoutMs: TRY_MS };
    this.welcome = way.welcome;
    this.#memory = new ValueMemory(this.engine.pd, VALUE_ACCESS);
    this.#window = new ClientWindow(way.welcome.window, transport.repeats);
    this.#requests = new Packer(way.welcome.slotBytes);
    this.ended = new Promise((resolve) => (this.#tellEnded = resolve));
    this.#heardUs = this.engine.nowUs();
    this.#stopKeepingAlive = this.#keepAlive();
    this.#use(way);
  }

  /** Why it has ended; undefined while it has not. */
  get failure(): KvError | undefined {
    return this.#failure;
  }

  /** Whether requests about a key are carried out in the order in which they were posted. */
  get keepsOrder(): boolean {
    return this.transport.keepsOrder;
  }

  get statistics(): RequesterStatistics {
    const { repeats, unmatchedResponses } = this.#window;
    return { repeats, unmatchedResponses, foreign: this.#foreign, resumptions: this.#resumptions };
  }

  post(call: AnyCall): void {
    const failure = this.#failure;
    if (failure !== undefined) {
      call.reject(failureFor(call, failure, 'not sent'));
      return;
    }
    if (!this.#nameValue(call)) return;
    this.#window.add(call);
    this.#soon.queue();
  }

  giveUp(call: AnyCall): void {
    this.#window.giveUp(call);
    if (call.slot < 0) call.takeBack();
    this.#pump();
  }

  /** A value that does not fit a request is copied to where the server reads it. @returns whether that could be done */
  #nameValue(call: AnyCall): boolean {
    const { asked } = call;
    if (requestBytes(asked) <= this.welcome.slotBytes) return true;
    return this.#name(call, asked.value.length, asked.value);
  }

  /** A value does not fit the answer: asks the server again, and names memory for it. @returns false when the call has ended instead */
  #askElsewhere(call: AnyCall, valueBytes: number): boolean {
    if (call.isSettled) return false;
    if (valueBytes > MAX_VALUE_BYTES) call.reject(tooLong(call, valueBytes));
    else if (call.timesNamed >= MOST_ASKS) call.reject(elusive(call));
    else if (this.#name(call, valueBytes)) {
      this.#window.add(call);
      return true;
    }
    return false;
  }

  #name(call: AnyCall, length: number, value?: Uint8Array): boolean {
    try {
      const memory = this.#memory.lease(length);
      if (value !== undefined) memory.bytes.set(value);
      call.name(memory, length);
      return true;
    } catch (error) {
      if (!(error instanceof VerbsError)) throw error;
      call.takeBack();
      const reason = `there is no memory for a value of ${length} bytes`;
      call.reject(new KvError(call.call, error.errno, reason, 'not sent', { cause: error }));
      return false;
    }
  }

  /** Ends it: whoever waits is told why. Idempotent. */
  end(failure: KvError): void {
    if (this.#failure !== undefined) return;
    this.#failure = failure;
    this.#stopTimer?.();
    this.#stopKeepingAlive();
    const wasSent = (call: AnyCall): Outcome => (call.sentUs < 0 ? 'not sent' : 'unknown');
    const calls = this.#window.drain();
    for (const call of calls) call.reject(failureFor(call, failure, wasSent(call)));
    const way = this.#way;
    this.#way = undefined;
    if (way !== undefined) drop(way);
    // The server cannot use it any more.
    for (const call of calls) call.takeBack();
    this.#memory.end();
    this.#tellEnded();
  }

  #use(way: ClientConnection): void {
    this.#way = way;
    this.#heardUs = this.engine.nowUs();
    way.link.listen({
      onMessage: (bytes) => this.#onMessage(bytes),
      onRoom: () => this.#pump(),
      onLost: (error) => this.#lose(way, error),
    });
    void way.connection.closed.then(() => {
      this.#readAll();
      const error = new VerbsError('kv', { errno: 'ECONNRESET', message: 'the server has gone', advice: '' });
      this.#lose(way, error);
    });
  }

  #onMessage(bytes: Uint8Array): void {
    const nowUs = this.engine.nowUs();
    let at = 0;
    do {
      const end = partEnd(at, responseLength(bytes, at), bytes.length);
      this.#onAnswer(bytes, at, end, nowUs);
      at = nextPart(end);
    } while (at < bytes.length && this.#failure === undefined);
    this.#pump();
  }

  #onAnswer(bytes: Uint8Array, at: number, end: number, nowUs: number): void {
    const answer = this.#answer;
    // Anybody can send datagrams, but nobody else knows the session.
    if (answer.look(bytes, at, end) !== undefined || !isSameSession(answer.session, this.welcome.session)) {
      this.#foreign += 1;
      return;
    }
    this.#heardUs = nowUs;
    if (answer.status === Status.UNDER_WAY) {
      this.#window.isUnderWay(answer.slot, answer.sequence, nowUs);
      return;
    }
    const call = this.#window.answered(answer.slot, answer.sequence, nowUs);
    if (call === undefined) return;
    if (answer.status === Status.EPOCH) {
      const failure = this.#otherEpoch(answer.epoch);
      call.reject(failureFor(call, failure, 'not sent'));
      this.end(failure);
    } else if (answer.status === Status.ELSEWHERE && call.asked.operation === Operation.GET) {
      if (this.#askElsewhere(call, answer.valueBytes)) return;
    } else call.settle(answer);
    // The window has forgotten it, so nothing else returns its memory.
    call.takeBack();
  }

  /** Sends what can be sent, in as few messages as can be. */
  #pump(): void {
    const link = this.#way?.link;
    if (link === undefined) return;
    const { epoch, session, slotBytes } = this.welcome;
    const requests = this.#requests;
    const nowUs = this.engine.nowUs();
    const { mostRequests } = this.transport;
    // Of the message: the slot of its first request, and how many it has.
    let firstSlot = 0;
    let count = 0;
    while (link.room > (count > 0 ? 1 : 0)) {
      const call = this.#window.next(nowUs);
      if (call === undefined) break;
      const { slot, sequence, asked } = call;
      const length = requestBytes(asked);
      if (count === mostRequests || !requests.fits(length, slotBytes)) {
        link.send(requests.take(), firstSlot);
        count = 0;
      }
      if (count === 0) firstSlot = slot;
      count += 1;
      encodeRequest(requests.bytes, { session, epoch, slot, sequence }, asked, requests.add(length));
    }
    if (count > 0) link.send(requests.take(), firstSlot);
    // Without room nothing can be repeated, whenever it is due; but it may be that there is never any again.
    this.#wakeAt(Math.max(this.#window.dueUs, link.room > 0 ? 0 : nowUs + PAUSE_MS * 1000));
  }

  /** Looks again at that time, at the latest. */
  #wakeAt(dueUs: number): void {
    if (dueUs >= this.#timerUs || this.#failure !== undefined) return;
    this.#stopTimer?.();
    this.#timerUs = dueUs;
    this.#stopTimer = this.engine.timer(Math.max(0, dueUs - this.engine.nowUs()) / 1000, () => {
      this.#timerUs = Infinity;
      this.#stopTimer = undefined;
      this.#onTime();
    });
  }

  #onTime(): void {
    const nowUs = this.engine.nowUs();
    const message = 'the server does not answer any more';
    if (this.#window.lost(nowUs) !== undefined) this.end(new KvError('kv', 'ETIMEDOUT', message, 'unknown'));
    else if (this.#way !== undefined && this.#window.isSilent(this.#heardUs, nowUs))
      this.#lose(this.#way, new VerbsError('kv', { errno: 'ETIMEDOUT', message, advice: '' }));
    else this.#pump();
  }

  #keepAlive(): () => void {
    const silentMs = (this.engine.nowUs() - this.#heardUs) / 1000;
    const isSilent = silentMs >= KEEP_ALIVE_MS;
    if (isSilent && this.#window.busy === 0) {
      this.#window.add(noop(this));
      this.#pump();
    }
    // A remainder that is too short to be added to the time would never pass.
    return this.engine.chore(isSilent ? KEEP_ALIVE_MS : Math.max(1, KEEP_ALIVE_MS - silentMs), () => {
      this.#stopKeepingAlive = this.#keepAlive();
    });
  }

  #lose(way: ClientConnection, error: Error): void {
    if (this.#way !== way) return;
    this.#way = undefined;
    void this.#resume(way, error);
  }

  /** Looks for another way to the server, on which the session goes on. */
  async #resume(lost: ClientConnection, cause: Error): Promise<void> {
    const untilUs = this.engine.nowUs() + PATIENCE_MS * 1000;
    const { session, epoch, window } = this.welcome;
    let failure = new KvError('kv', 'ECONNRESET', 'the server is gone', 'unknown', { cause });
    // The old way is left alone until there is another: to end it would tell the server that the session is over.
    while (this.#failure === undefined && this.engine.failure === undefined && this.engine.nowUs() < untilUs) {
      try {
        const way = await connectServer(this.#where, { session, epoch, window }, this.transport);
        drop(lost);
        const { window: slots, slotBytes } = way.welcome;
        if (slots < window || slotBytes < this.welcome.slotBytes)
          this.end(new KvError('kv', 'ECONNRESET', 'the way to the server has become too narrow', 'unknown'));
        if (this.failure === undefined) {
          this.#resumptions += 1;
          this.#window.resend();
          this.#use(way);
          this.#pump();
        } else drop(way);
        return;
      } catch (error) {
        if (error instanceof KvError) {
          failure = error;
          break;
        }
        await new Promise<void>((resolve) => this.engine.timer(PAUSE_MS, resolve));
      }
    }
    this.#readAll();
    drop(lost);
    this.end(failure);
  }

  /** Answers that have come are handed over before a failure is. */
  #readAll(): void {
    this.engine.readAll(() => this.#failure === undefined);
  }

  #otherEpoch(epoch: number): EpochError {
    return new EpochError('kv', this.welcome.epoch, epoch, 'unknown');
  }
}

function drop({ connection, link }: ClientConnection): void {
  connection[Symbol.dispose]();
  link.destroyed();
}

const NO_BYTES = new Uint8Array(0);

function noop(desk: CancelHandler): AnyCall {
  const asked = { operation: Operation.NOOP, key: NO_BYTES, value: NO_BYTES, remote: undefined, ttlMs: 0, operand: 0n };
  return new Call('kv', asked, () => undefined, desk, { resolve: () => undefined, reject: () => undefined });
}

function failureFor(call: AnyCall, failure: KvError, outcome: Outcome): KvError {
  if (failure instanceof EpochError) return new EpochError(call.call, failure.before, failure.epoch, outcome);
  return new KvError(call.call, failure.code, failure.reason, outcome, { cause: failure });
}

function tooLong(call: AnyCall, valueBytes: number): KvError {
  return new KvError(call.call, 'EMSGSIZE', `the value has ${valueBytes} bytes, which no client takes`, 'refused');
}

function elusive(call: AnyCall): KvError {
  return new KvError(call.call, 'EPROTO', 'the server has a longer value whenever it is asked', 'refused');
}
