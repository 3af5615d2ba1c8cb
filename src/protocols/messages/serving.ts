import { PrivateDataBytes } from '../../device/ibta/index.js';
import { type ConnectionRequest, isClientsDoing } from '../../api/rdmacm/index.js';
import { Callbacks, warnOf } from '../../api/runtime/index.js';
import { callback, type FieldsOf, fieldsProblem, invalid, refuse, show, VerbsError } from '../../api/verbs/index.js';
import type { MessageConnection } from './connection/message-connection.js';
import { isPeersDoing } from './errors.js';
import { encodeRefusal, RefusalCode } from './protocol/hello.js';

/** What `MessageListener.serve` takes. */
export interface MessageServeOptions {
  /**
   * Connections at a time; whoever comes beyond that is refused, and told so: EBUSY. A client that does not complete its connection
   * keeps nobody out. Default: no limit.
   */
  readonly maxConnections?: number | undefined;
  /**
   * Told what a handler throws, after which its connection is closed, and the client told that the program has failed. Default: a warning
   * of the process, but not for what clients do: one goes, or breaks the protocol, or the handler loses patience by a signal
   * or a time limit.
   */
  readonly onError?: ((error: unknown, connection: MessageConnection) => void) | undefined;
}

/** Does what is to be done with a connection, which is closed when it returns, or its promise settles. */
export type ConnectionHandler = (connection: MessageConnection) => unknown;

const SERVE_FIELDS: FieldsOf<MessageServeOptions> = {
  maxConnections: true,
  onError: callback('It takes what a handler throws, and its connection'),
};

/** @throws VerbsError EINVAL for wrong arguments */
export function checkServe(handler: unknown, options: MessageServeOptions): MessageServeOptions {
  if (typeof handler !== 'function')
    throw new VerbsError('serve', invalid('handler is not a function', 'It takes a connection'));
  refuse('serve', fieldsProblem('options', options, SERVE_FIELDS));
  const { maxConnections } = options;
  if (maxConnections !== undefined && !(typeof maxConnections === 'number' && maxConnections >= 1))
    throw new VerbsError('serve', invalid(`maxConnections is ${show(maxConnections)}`, 'It is a number from 1 on'));
  return options;
}

/** Calls the handlers of a program, each in a turn of the event loop of its own, and in the async context in which this was made. */
export class Handling {
  readonly #callbacks = new Callbacks();

  constructor(
    private readonly handler: ConnectionHandler,
    private readonly onError: (error: unknown, connection: MessageConnection) => void,
  ) {}

  /** Rejects only with what `onError` throws. */
  async handle(connection: MessageConnection): Promise<void> {
    try {
      await this.#callbacks.ask(() => this.handler(connection));
      await connection.close();
    } catch (error) {
      const abandoned = connection.abandon();
      await this.#callbacks.ask(() => this.onError(error, connection));
      await abandoned;
    }
  }
}

export function refuseBusy(request: ConnectionRequest, limit: number): void {
  const text =
    limit === Infinity ? 'too many clients come at once' : `it has ${limit} connections, as many as it takes`;
  request.reject(encodeRefusal({ code: RefusalCode.BUSY, text }, PrivateDataBytes.REJECT));
}

const IMPATIENCE: readonly string[] = ['AbortError', 'TimeoutError'];

/** What a handler throws that nobody else is told of. */
export function warn(error: unknown): void {
  if (isPeersDoing(error)) return;
  if (error instanceof VerbsError && error.errno === 'ETIMEDOUT') return;
  if (error instanceof DOMException && IMPATIENCE.includes(error.name)) return;
  warnOf(error);
}

export function warnOfRequest(error: unknown): void {
  if (!isClientsDoing(error)) warnOf(error);
}
