import { CmEventType, PortSpace, PrivateDataBytes } from '../spec/index.js';
import { type Context, invalid, objectProblem, type OpenOptions, refuse, VerbsError } from '../verbs/index.js';
import type { FullAddress } from './address.js';
import type { CmId } from './cm-id.js';
import { createId } from './create-id.js';
import { choiceOf, type ConnectionOptions, connParam, prepareQueuePair } from './connect.js';
import { Connection } from './connection.js';
import { privateDataProblem } from './connection-parameters.js';
import type { CmEvent } from './event.js';
import { eventError, unexpectedEvent } from './event-error.js';
import { createEventChannel, type EventChannel } from './event-channel.js';
import type { ConnParam, ConnParamReceived } from './parameters.js';
import { checkSignal, expectEvent, Patience } from './waiting.js';

const LISTEN = 'rdma_listen';
const ACCEPT = 'rdma_accept';
const REJECT = 'rdma_reject';

/** What {@link listen} takes. */
export interface ListenOptions {
  /** Default: any that is free. */
  readonly port?: number;
  /** An address of one's own. Default: that of the program's default device. */
  readonly host?: string;
  /** Requests that may wait for an answer; 0, the default, for as many as there may be. */
  readonly backlog?: number;
  /** Ends the listener. */
  readonly signal?: AbortSignal;
  /** The device. Default: the one that the address says, else the program's default device. */
  readonly context?: Context;
  /** How the device is opened where it is not there yet. */
  readonly open?: Omit<OpenOptions, 'address'>;
}

/**
 * Listens for connections, as Node's own `listen` does.
 *
 * @example
 * ```ts
 * for await (const request of listen({ port: 7174 })) {
 *   const connection = await request.accept();
 * }
 * ```
 * @throws VerbsError EADDRINUSE when another listens there; otherwise as `CmId.bindAddr` and `CmId.listen`
 */
export function listen(options: ListenOptions = {}): Listener {
  refuse(LISTEN, objectProblem('options', options));
  const { host, port, backlog, signal } = options;
  checkSignal(LISTEN, signal);
  signal?.throwIfAborted();
  const channel = createEventChannel(choiceOf(options));
  const id = createId(channel, PortSpace.TCP);
  try {
    id.bindAddr({ ...(host !== undefined && { host }), ...(port !== undefined && { port }) });
    id.listen(backlog);
  } catch (error) {
    id[Symbol.dispose]();
    channel[Symbol.dispose]();
    throw error;
  }
  return new Listener(id, channel, signal);
}

/** Requests for connections, one after the other. It ends when the loop over it does. */
export class Listener implements AsyncIterable<ConnectionRequest>, AsyncDisposable, Disposable {
  /** Where it listens. */
  readonly address: FullAddress;
  readonly #channel: EventChannel;
  readonly #stopListening: () => void;
  #closed = false;

  /** `listen` makes listeners for programs. */
  constructor(
    readonly id: CmId,
    channel: EventChannel,
    signal?: AbortSignal,
  ) {
    this.#channel = channel;
    this.address = id.localAddr ?? { host: '0.0.0.0', port: 0 };
    const close = (): void => this.close();
    signal?.addEventListener('abort', close, { once: true });
    this.#stopListening = () => signal?.removeEventListener('abort', close);
  }

  /**
   * The next request, for servers that take one or a few. The listener goes on.
   *
   * @param signal ends the wait; the promise then rejects with the signal's reason
   * @throws VerbsError (the promise rejects) ECANCELED when the listener has ended
   */
  async next(signal?: AbortSignal): Promise<ConnectionRequest> {
    checkSignal(LISTEN, signal);
    signal?.throwIfAborted();
    if (this.#closed) throw ended();
    const events = this.#channel[Symbol.asyncIterator]();
    const stop = (): void => void events.return?.();
    signal?.addEventListener('abort', stop, { once: true });
    try {
      const { value: event } = await events.next();
      if (event !== undefined) return requestOf(event);
      signal?.throwIfAborted();
      throw ended();
    } finally {
      signal?.removeEventListener('abort', stop);
    }
  }

  /**
   * The requests, until the listener ends. Leaving the loop ends it, and refuses what is still waiting.
   *
   * @throws VerbsError when the device is lost
   */
  async *[Symbol.asyncIterator](): AsyncGenerator<ConnectionRequest, void, undefined> {
    if (this.#closed) return;
    try {
      for await (const event of this.#channel) yield requestOf(event);
    } finally {
      this.close();
    }
  }

  /** Ends it: requests that nobody took are refused, and loops over it end. Idempotent. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#stopListening();
    this.id[Symbol.dispose]();
    this.#channel[Symbol.dispose]();
  }

  /** {@link close}. */
  [Symbol.dispose](): void {
    this.close();
  }

  /** {@link close}. */
  [Symbol.asyncDispose](): Promise<void> {
    this.close();
    return Promise.resolve();
  }
}

function ended(): VerbsError {
  return new VerbsError(LISTEN, { errno: 'ECANCELED', message: 'the listener has ended', advice: '' });
}

/** @throws VerbsError when the event is none of a request, but the end of the device */
function requestOf(event: CmEvent): ConnectionRequest {
  event.ack();
  const { conn } = event.param;
  if (event.event === CmEventType.CONNECT_REQUEST && conn !== undefined) return new ConnectionRequest(event.id, conn);
  throw unexpectedEvent(LISTEN, event);
}

/** Somebody asks for a connection. It is to be accepted or rejected; disposing of it rejects it, unless it was answered. */
export class ConnectionRequest implements Disposable {
  /** The peer's. */
  readonly remoteAddress: FullAddress;
  readonly #channel = createEventChannel();
  #answered = false;

  /** Listeners make requests for programs. */
  constructor(
    readonly id: CmId,
    /** What the peer asks for. */
    readonly param: ConnParamReceived,
  ) {
    this.remoteAddress = id.peerAddr ?? { host: '0.0.0.0', port: 0 };
    // It outlives its listener, if need be.
    id.migrate(this.#channel);
  }

  /** What the peer said, with zeros at its end. */
  get privateData(): Uint8Array {
    return this.param.privateData;
  }

  /**
   * Accepts it, with a queue pair made for it. When that fails or is aborted, nothing is left of it, and the peer is refused.
   *
   * @throws VerbsError (the promise rejects) ETIMEDOUT when the peer says nothing more; EINVAL when it was answered before;
   *   ECONNREFUSED or ETIMEDOUT when the peer has given up; ECONNRESET when it came and went at once; otherwise as `CmId.createQp` and `CmId.accept`
   */
  async accept(options: ConnectionOptions = {}): Promise<Connection> {
    refuse(ACCEPT, objectProblem('options', options));
    this.#answer(ACCEPT);
    const { signal, timeoutMs } = options;
    try {
      using patience = new Patience(ACCEPT, { signal, timeoutMs, ...this.remoteAddress, context: this.id.verbs });
      this.#requireStanding();
      await prepareQueuePair(ACCEPT, this.id, options, patience.signal);
      this.#accept(connParam(options));
      await expectEvent(ACCEPT, this.#channel, CmEventType.ESTABLISHED, patience.signal);
      return new Connection(this.id, this.#channel, this.privateData);
    } catch (error) {
      this.#end();
      throw error;
    }
  }

  /** Refuses it. @throws VerbsError EINVAL when it was answered before, or for more than `PrivateDataBytes.REJECT` bytes */
  reject(privateData?: Uint8Array): void {
    refuse(REJECT, privateDataProblem(privateData, PrivateDataBytes.REJECT));
    this.#answer(REJECT);
    try {
      this.id.reject(privateData);
    } catch (error) {
      // Whoever has given up need not be refused.
      if (!(error instanceof VerbsError)) throw error;
    } finally {
      this.#end();
    }
  }

  /** {@link reject}, unless it was answered. */
  [Symbol.dispose](): void {
    if (!this.#answered) this.reject();
  }

  #answer(call: string): void {
    if (this.#answered)
      throw new VerbsError(call, invalid('the request was answered before', 'A request is accepted or rejected once'));
    this.#answered = true;
  }

  #accept(param: ConnParam): void {
    try {
      this.id.accept(param);
    } catch (error) {
      // That the peer has given up says more than that there is nothing to accept any more.
      this.#requireStanding();
      throw error;
    }
  }

  /** @throws VerbsError when the peer has given up meanwhile */
  #requireStanding(): void {
    const event = this.#channel.tryGetCmEvent();
    event?.ack();
    const error = event && eventError(ACCEPT, event);
    if (error !== undefined) throw error;
  }

  #end(): void {
    this.id[Symbol.dispose]();
    this.#channel[Symbol.dispose]();
  }
}
