import { PrivateDataBytes } from '../../device/ibta/index.js';
import {
  type ConnectionRequest,
  type FullAddress,
  LISTEN_FIELDS as CM_LISTEN_FIELDS,
  listen as listenByCm,
  type Listener,
  type ListenOptions,
} from '../../api/rdmacm/index.js';
import { Waiters } from '../../api/runtime/index.js';
import { type FieldsOf, fieldsProblem, refuse } from '../../api/verbs/index.js';
import { Admission, checkWait, engineOf } from '../core/index.js';
import type { MessageConnection } from './connection/message-connection.js';
import { establishMessages } from './connect.js';
import { type ConnectionPolicy, EXCHANGE_FIELDS, type ExchangeOptions, policyOf } from './options.js';
import { decodeHello, encodeRefusal, RefusalCode } from './protocol/hello.js';
import {
  checkServe,
  type ConnectionHandler,
  Handling,
  type MessageServeOptions,
  refuseBusy,
  warn,
  warnOfRequest,
} from './serving.js';

const CALL = 'listen';

/** What {@link listen} takes. */
export interface MessageListenOptions extends ExchangeOptions, ListenOptions {}

const LISTEN_FIELDS: FieldsOf<MessageListenOptions> = {
  ...EXCHANGE_FIELDS,
  ...CM_LISTEN_FIELDS,
};

/** What {@link MessageListener.stop} takes. */
export interface StopOptions {
  /** Milliseconds until connections are closed whose handlers go on. Default 10 000; 0 for at once. */
  readonly timeoutMs?: number | undefined;
}

const STOP_FIELDS: FieldsOf<StopOptions> = { timeoutMs: true };
const STOP_MS = 10_000;

/**
 * Listens for connections of this package.
 *
 * @example
 * ```ts
 * const listener = listen({ port: 7174 });
 * await listener.serve(async (connection) => {
 *   for await (const message of connection.messages()) await connection.send(message);
 * });
 * ```
 * @throws VerbsError EADDRINUSE when another listens there; EINVAL for wrong arguments; otherwise as `listen` of the root
 */
export function listen(options: MessageListenOptions = {}): MessageListener {
  refuse(CALL, fieldsProblem('options', options, LISTEN_FIELDS));
  const { window, maxMessageBytes, keepAliveMs, ...where } = options;
  return new MessageListener(listenByCm(where), policyOf({ window, maxMessageBytes, keepAliveMs }));
}

/** Where connections come. It keeps the process alive until it is closed, a simulated one excepted. */
export class MessageListener implements AsyncIterable<MessageConnection>, AsyncDisposable, Disposable {
  readonly #listener: Listener;
  readonly #policy: ConnectionPolicy;
  readonly #connections = new Set<MessageConnection>();
  #isStopped = false;

  /** @internal {@link listen} makes listeners for programs. */
  constructor(listener: Listener, policy: ConnectionPolicy) {
    this.#listener = listener;
    this.#policy = policy;
  }

  /** Where it listens: the address of its device, and the port. */
  get address(): FullAddress {
    return this.#listener.address;
  }

  /**
   * Has a handler deal with each connection, all at the same time. Whatever a client does, or fails to do, ends its own connection
   * and nothing else; one that is slow, or never connects quite, holds up nobody.
   *
   * @returns a promise that resolves when the listener was closed, and every handler has ended
   * @throws VerbsError (the promise rejects) EINVAL for wrong arguments; when the device is lost
   */
  async serve(handler: ConnectionHandler, options: MessageServeOptions = {}): Promise<void> {
    const { maxConnections = Infinity, onError = warn } = checkServe(handler, options);
    const handling = new Handling(handler, onError);
    await this.#take(new Admission(maxConnections), (connection) => handling.handle(connection));
  }

  /**
   * The connections, until the listener is closed; whoever takes them closes them. Leaving the loop closes the listener. A client that
   * gives up before it is connected is never seen here.
   *
   * @throws VerbsError when the device is lost
   */
  async *[Symbol.asyncIterator](): AsyncGenerator<MessageConnection, void, undefined> {
    const ready: MessageConnection[] = [];
    const waiters = new Waiters<MessageConnection>({ take: () => ready.shift(), listen: () => {}, rest: () => {} });
    const offer = (connection: MessageConnection): void => {
      ready.push(connection);
      waiters.serve();
    };
    const served = this.#take(new Admission(Infinity), offer).then(
      () => waiters.close(),
      (error: unknown) => waiters.fail(error),
    );
    try {
      yield* waiters.iterate();
    } finally {
      this.close();
      await served;
      for (const connection of ready.splice(0)) connection[Symbol.dispose]();
    }
  }

  /** Has it keep the process alive again, after {@link unref}. Idempotent. */
  ref(): this {
    this.#listener.ref();
    return this;
  }

  /** Lets the process end while there is neither a connection nor a wait for one. Idempotent. */
  unref(): this {
    this.#listener.unref();
    return this;
  }

  /** Connections that there are. */
  get connections(): number {
    return this.#connections.size;
  }

  /** Ends it: no more connections come, and those that are there go on. {@link stop} ends those, too. Idempotent. */
  close(): void {
    this.#listener.close();
  }

  /**
   * Stops the server: no more connections come, and those that are there get no more messages: `receive` gives undefined, and loops over
   * `messages()` end. So handlers can finish what they are about, and answer. When a handler is done, its connection is closed in order; whose
   * handler goes on after the time limit is closed then, and what it sends fails.
   *
   * @returns a promise that resolves when all connections have ended: a second after the time limit at most. Where {@link serve} waits for
   *   no more than its handlers, it resolves then, too
   * @throws VerbsError (the promise rejects) EINVAL for wrong arguments
   */
  async stop(options: StopOptions = {}): Promise<void> {
    checkWait('stop', options, STOP_FIELDS);
    const { timeoutMs = STOP_MS } = options;
    this.#isStopped = true;
    this.close();
    await Promise.all([...this.#connections].map((connection) => connection.leave(timeoutMs)));
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

  /** Gives connections that were made to whoever has a use for them, as far as there is room. */
  #take(admission: Admission, use: (connection: MessageConnection) => unknown): Promise<void> {
    const answer = async (request: ConnectionRequest): Promise<void> => {
      using place = admission.enter(engineOf(request.id).nowUs());
      if (place === undefined) {
        refuseBusy(request, admission.limit);
        return;
      }
      const connection = await this.#accept(request, place.signal);
      if (connection === undefined) return;
      place.completed();
      this.#connections.add(connection);
      void connection.closed.then(() => this.#connections.delete(connection));
      if (this.#isStopped) await connection.leave(0);
      else await use(connection);
    };
    return this.#listener.serve(answer, { onError: warnOfRequest });
  }

  /** @returns undefined when the client speaks something else: it was told so */
  async #accept(request: ConnectionRequest, signal: AbortSignal): Promise<MessageConnection | undefined> {
    const peer = decodeHello(request.privateData);
    if (typeof peer === 'string') {
      const text = peer.replace('the peer', 'the client');
      request.reject(encodeRefusal({ code: RefusalCode.PROTOCOL, text }, PrivateDataBytes.REJECT));
      return undefined;
    }
    return establishMessages(this.#policy, (param) => request.accept({ ...param, signal }));
  }
}
