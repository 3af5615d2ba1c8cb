import type { Connection, FullAddress } from '../../../api/rdmacm/index.js';
import { bytesProblem, type FieldsOf, invalid, refuse, show, VerbsError } from '../../../api/verbs/index.js';
import { checkWait, type Engine, WAIT_FIELDS, type WaitOptions, waitUnlessLate } from '../../core/index.js';
import { ClosedError } from '../errors.js';
import { checkPiece, type RemoteBuffer } from '../memory/remote-buffer.js';
import { SharedMemory, type ShareOptions } from '../memory/shared-memory.js';
import { CloseReason } from '../protocol/farewell.js';
import type { Hello } from '../protocol/hello.js';
import { Borrowed } from './borrowed.js';
import type { Endpoint } from './endpoint.js';
import { leaseOf, type MessageLease, MessagesIterator, ownBytes } from './taking.js';
import { MessageOperation } from './operation.js';
import {
  type Atomic,
  ATOMIC_BYTES,
  AtomicTransfer,
  type QueuedTransfer,
  ReadTransfer,
  type Transfer,
  WriteTransfer,
} from './transfer.js';

/** How long `close` waits for what is under way, where nobody says otherwise. */
const CLOSE_MS = 10_000;

/** How long what was said last may take to be heard. */
const FAREWELL_MS = 1000;

/** What {@link MessageConnection.write}, `read` and the atomics take. */
export interface RemoteOptions extends WaitOptions {
  /** Bytes from the beginning of the remote buffer; default 0. */
  readonly offset?: number | undefined;
}
const REMOTE_FIELDS: FieldsOf<RemoteOptions> = { ...WAIT_FIELDS, offset: true };

/** What {@link MessageConnection.close} takes. */
export interface CloseOptions {
  /** Milliseconds for what is under way; after that it is given up. Default 10 000. */
  readonly timeoutMs?: number | undefined;
}

const CLOSE_FIELDS: FieldsOf<CloseOptions> = { timeoutMs: true };

/** What a connection has done, and how it stands. */
export interface MessageStatistics {
  readonly messagesSent: number;
  readonly messagesReceived: number;
  /** Of messages. */
  readonly bytesSent: number;
  /** Of messages, those included that their sender took back in the midst. */
  readonly bytesReceived: number;
  /** Messages, reads, writes and atomics that are not done. */
  readonly pending: number;
  /** Messages, and fragments of one, that have come and were not taken. */
  readonly waiting: number;
  /** Buffers that the peer may fill before this program takes anything: few, and more once the peer needs them. */
  readonly window: number;
}

/**
 * A connection that carries messages, and gives both ends access to memory that the other shares: what `connect` and
 * `MessageListener` give. It keeps the process alive until it has ended.
 *
 * Messages arrive whole, once and in order. A program that takes none stalls its peer's sends, and nobody else's. Reads, writes and
 * atomics need nothing of the peer's program. What was called earlier takes effect earlier, but for messages that wait until the
 * peer has room: reads, writes and atomics pass those.
 *
 * When a promise rejects because of a signal or a time limit, the memory that was named is the program's own again: nobody
 * reads or writes it from then on. The connection lives on.
 */
export class MessageConnection implements AsyncDisposable, Disposable {
  /** This end's. */
  readonly localAddress: FullAddress;
  /** The peer's. */
  readonly remoteAddress: FullAddress;
  /** Resolves once the connection has ended, on whatever side and in whatever way: {@link failure} says why. Never rejects. */
  readonly closed: Promise<void>;
  readonly #connection: Connection;
  readonly #endpoint: Endpoint;
  readonly #engine: Engine;
  #resolveClosed: (() => void) | undefined;
  #closing: Promise<void> | undefined;
  #parting: Promise<void> | undefined;

  /** @internal `connect` and `MessageListener` make connections for programs. */
  constructor(connection: Connection, endpoint: Endpoint, peer: Hello) {
    this.#connection = connection;
    this.#endpoint = endpoint;
    this.#engine = endpoint.engine;
    this.localAddress = connection.localAddress;
    this.remoteAddress = connection.remoteAddress;
    this.closed = new Promise((resolve) => {
      this.#resolveClosed = resolve;
    });
    endpoint.listener = { onEnd: () => this.#onEnd() };
    endpoint.begin(peer, connection);
  }

  /** Why it has ended: `ClosedError`, `RequestError` or `ProtocolError`. Undefined while it has not, and when an end closed it in order. */
  get failure(): Error | undefined {
    return this.#endpoint.failure;
  }

  get statistics(): MessageStatistics {
    const { traffic, outbox, inbox, window } = this.#endpoint;
    return { ...traffic, pending: outbox.pending, waiting: inbox.length, window };
  }

  /** The longest message that the peer takes, in bytes. */
  get maxMessageBytes(): number {
    return this.#endpoint.peer?.maxMessageBytes ?? 0;
  }

  /**
   * Sends a message. Many may be under way; they arrive in the order of the calls. Where the peer has no room, they wait in memory:
   * await them, or limit how many there are.
   *
   * @param bytes any number of bytes up to {@link maxMessageBytes}, and 0; to be left as they are until the promise settles
   * @returns a promise that resolves when the peer's adapter has all of it. That its program has taken it, only that program can say
   * @throws VerbsError (the promise rejects) the signal's reason or ETIMEDOUT when the program gives up: the peer has all of the message,
   *   or nothing of it; EMSGSIZE for more than the peer takes; EINVAL for wrong arguments. RequestError when the peer's adapter did not answer, or refused; ClosedError
   *   when the connection has ended
   */
  async send(bytes: Uint8Array, options: WaitOptions = {}): Promise<void> {
    const call = 'send';
    this.#check(call, options);
    requireBytes(call, 'bytes', bytes);
    if (bytes.length > this.maxMessageBytes)
      throw new VerbsError(call, {
        errno: 'EMSGSIZE',
        message: `a message of ${bytes.length} bytes is longer than the peer takes: ${this.maxMessageBytes} bytes`,
        advice: 'Divide it, or have the peer be made with a larger maxMessageBytes',
      });
    const { outbox } = this.#endpoint;
    const message = new MessageOperation(call, outbox.nextOrder(), bytes, this.#withdraw);
    message.bindCancellation(options, this.#engine);
    outbox.send(message);
    return message.promise;
  }

  /**
   * Takes the next message.
   *
   * @returns its bytes, which are the program's own; undefined once the peer has closed the connection, or this end has
   * @throws (the promise rejects) the signal's reason, or VerbsError ETIMEDOUT; {@link failure} when the connection was lost, after the messages that came before
   */
  async receive(options: WaitOptions = {}): Promise<Uint8Array | undefined> {
    const call = 'receive';
    checkWait(call, options);
    options.signal?.throwIfAborted();
    const endpoint = this.#endpoint;
    const received = await waitUnlessLate(call, options, this.#engine, (signal) => endpoint.inbox.next(signal));
    return received && ownBytes(received, endpoint);
  }

  /**
   * The messages, one after the other, until the connection ends. Leaving the loop changes nothing: what comes later can be taken
   * later.
   *
   * @param options - `lease`: gives each message where it lies, without a copy, until the next step of the loop, or until it is
   *   released; the peer has less room until then
   * @throws {@link failure} (the loop throws) when the connection was lost; when it was closed in order, the loop ends
   */
  messages(options: { readonly lease: true }): AsyncIterableIterator<MessageLease, void, undefined>;
  messages(options?: { readonly lease?: false }): AsyncIterableIterator<Uint8Array, void, undefined>;
  messages({ lease = false }: { readonly lease?: boolean } = {}): AsyncIterableIterator<
    Uint8Array | MessageLease,
    void,
    undefined
  > {
    return new MessagesIterator<Uint8Array | MessageLease>(
      this.#endpoint.inbox.iterate(),
      this.#endpoint,
      lease ? leaseOf : ownBytes,
    );
  }

  /**
   * Shares memory with peers: whoever is told of {@link SharedMemory.remote} can read it, until it is disposed of. Over this connection, and
   * over all others of this package on the device.
   *
   * @param bytes exactly these, not all of their buffer. Best from `alloc()` of the root; which others do, `Pd.regMr` says
   * @throws VerbsError as `Pd.regMr`; EINVAL for wrong arguments
   */
  share(bytes: Uint8Array, options: ShareOptions = {}): SharedMemory {
    return new SharedMemory(this.#engine.pd, bytes, options);
  }

  /**
   * Writes into memory that the peer shares (RDMA WRITE). Its program is not told; a message that is sent afterwards arrives
   * afterwards.
   *
   * @param remote what the peer told; shared with `write`
   * @param bytes to be left as they are until the promise settles
   * @returns a promise that resolves when all is in the peer's memory
   * @throws VerbsError (the promise rejects) the signal's reason or ETIMEDOUT when the program gives up: a part may have been
   *   written; EINVAL for what does not lie within the remote buffer. RequestError with REM_ACCESS_ERR when the peer does not share it so, which
   *   ends the connection; ClosedError when it has ended
   */
  async write(remote: RemoteBuffer, bytes: Uint8Array, options: RemoteOptions = {}): Promise<void> {
    const call = 'write';
    this.#check(call, options, REMOTE_FIELDS);
    requireBytes(call, 'bytes', bytes);
    const { offset = 0 } = options;
    checkPiece(call, remote, offset, bytes.length);
    if (bytes.length === 0) return;
    const piece = { remote, offset, byteLength: bytes.length };
    const borrowed = Borrowed.from(this.#engine.registrations, bytes, false);
    const order = this.#endpoint.outbox.nextOrder();
    await this.#begin(new WriteTransfer(call, order, piece, bytes, this.#drop, borrowed), options);
  }

  /**
   * Reads memory that the peer shares (RDMA READ).
   *
   * @param remote what the peer told
   * @param target how many bytes, or where to put them: then that is filled, and left alone until the promise settles
   * @returns the bytes
   * @throws VerbsError (the promise rejects) as {@link write}. When the program gives up, `target` may be filled in part, and is
   *   not touched any more
   */
  async read(remote: RemoteBuffer, target: number | Uint8Array, options: RemoteOptions = {}): Promise<Uint8Array> {
    const call = 'read';
    this.#check(call, options, REMOTE_FIELDS);
    if (typeof target === 'number') {
      if (!Number.isSafeInteger(target) || target < 0)
        throw new VerbsError(call, invalid(`target is ${show(target)}`, 'It is a number of bytes, or a Uint8Array'));
    } else requireBytes(call, 'target', target);
    const { offset = 0 } = options;
    checkPiece(call, remote, offset, typeof target === 'number' ? target : target.length);
    const into = typeof target === 'number' ? new Uint8Array(target) : target;
    if (into.length === 0) return into;
    const piece = { remote, offset, byteLength: into.length };
    const borrowed = Borrowed.from(this.#engine.registrations, into, into !== target);
    const order = this.#endpoint.outbox.nextOrder();
    return this.#begin(new ReadTransfer(call, order, piece, into, this.#drop, borrowed), options);
  }

  /**
   * Adds to 8 bytes of memory that the peer shares with `atomic`, at once, modulo 2^64.
   *
   * @param options - `offset`: where; `address` of the remote buffer and it make a multiple of 8
   * @returns what was there before. The 8 bytes are a number in the byte order of the peer's machine: a `BigUint64Array` there shows it
   * @throws VerbsError (the promise rejects) as {@link write}. When the program gives up, it may have been added or not
   */
  async fetchAdd(remote: RemoteBuffer, add: bigint | number, options: RemoteOptions = {}): Promise<bigint> {
    return this.#atomic('fetchAdd', remote, { does: 'add', add: wordOf('fetchAdd', 'add', add) }, options);
  }

  /**
   * Puts `swap` in place of 8 bytes that hold `compare`, at once; otherwise changes nothing.
   *
   * @returns what was there before: `compare` when it was swapped. Otherwise as {@link fetchAdd}
   * @throws VerbsError (the promise rejects) as {@link fetchAdd}
   */
  async compareAndSwap(
    remote: RemoteBuffer,
    compare: bigint | number,
    swap: bigint | number,
    options: RemoteOptions = {},
  ): Promise<bigint> {
    const call = 'compareAndSwap';
    const atomic = {
      does: 'swap',
      compare: wordOf(call, 'compare', compare),
      swap: wordOf(call, 'swap', swap),
    } as const;
    return this.#atomic(call, remote, atomic, options);
  }

  /**
   * Ends the connection in order: waits for what is under way, says farewell, and disconnects. Messages that have come and were not
   * taken are dropped, and those that still come. Idempotent.
   *
   * @throws VerbsError (the promise rejects) EINVAL for wrong arguments
   */
  async close(options: CloseOptions = {}): Promise<void> {
    checkWait('close', options, CLOSE_FIELDS);
    await (this.#closing ??= this.#close(options.timeoutMs ?? CLOSE_MS));
  }

  /** {@link close}. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Ends it at once: what is under way rejects with ECANCELED. The peer learns no more than that the connection is gone. */
  [Symbol.dispose](): void {
    this.#endpoint.end(undefined, canceled());
    this.#endpoint.inbox.clear();
    this.#release();
  }

  /** @internal The program that has it has failed, and the peer is told so. */
  async abandon(): Promise<void> {
    if (!this.#endpoint.hasEnded) this.#endpoint.close({ reason: CloseReason.FAILED, text: '' }, canceled());
    await this.close();
  }

  /** @internal The program gets no more messages, and is left so long to finish; then the connection is closed. */
  async leave(timeoutMs: number): Promise<void> {
    const endpoint = this.#endpoint;
    endpoint.inbox.clear();
    if (!endpoint.hasEnded) await this.#ended(timeoutMs);
    if (!endpoint.hasEnded && !endpoint.isClosing) endpoint.close({ reason: CloseReason.DONE, text: '' }, canceled());
    endpoint.end(undefined, canceled());
    await this.#parting;
  }

  readonly #withdraw = (message: MessageOperation): void => {
    this.#endpoint.outbox.withdraw(message);
    this.#endpoint.gaveUp();
  };

  readonly #drop = (transfer: QueuedTransfer): void => {
    this.#endpoint.outbox.drop(transfer);
    this.#endpoint.gaveUp();
  };

  #begin<T>(transfer: Transfer<T>, options: WaitOptions): Promise<T> {
    transfer.bindCancellation(options, this.#engine);
    this.#endpoint.outbox.transfer(transfer);
    return transfer.promise;
  }

  async #atomic(call: string, remote: RemoteBuffer, atomic: Atomic, options: RemoteOptions): Promise<bigint> {
    this.#check(call, options, REMOTE_FIELDS);
    const { offset = 0 } = options;
    checkPiece(call, remote, offset, ATOMIC_BYTES);
    if ((remote.address + BigInt(offset)) % BigInt(ATOMIC_BYTES) !== 0n)
      throw new VerbsError(
        call,
        invalid(`offset ${offset} of that remote buffer is at no multiple of 8`, 'Atomics work on aligned 8 bytes'),
      );
    const piece = { remote, offset, byteLength: ATOMIC_BYTES };
    const order = this.#endpoint.outbox.nextOrder();
    return this.#begin(new AtomicTransfer(call, order, piece, atomic, this.#drop), options);
  }

  /** @throws VerbsError EINVAL for options that are none, ENOTCONN or the like when it has ended; the signal's reason */
  #check(call: string, options: WaitOptions, fields: FieldsOf<WaitOptions> = WAIT_FIELDS): void {
    checkWait(call, options, fields);
    options.signal?.throwIfAborted();
    const { failure, hasEnded, isClosing } = this.#endpoint;
    if (!hasEnded && !isClosing && this.#closing === undefined) return;
    const cause = failure === undefined ? {} : { cause: failure };
    const why = failure === undefined ? '' : `: ${failure.message}`;
    throw new ClosedError(call, 'ENOTCONN', `the connection has ended${why}`, cause);
  }

  async #close(timeoutMs: number): Promise<void> {
    const endpoint = this.#endpoint;
    endpoint.inbox.clear();
    if (!endpoint.hasEnded && !endpoint.isClosing) await this.#idle(timeoutMs);
    if (!endpoint.hasEnded && !endpoint.isClosing) endpoint.close({ reason: CloseReason.DONE, text: '' }, canceled());
    // The peer answers once it knows what of its own has arrived; disconnected before, it would never know.
    if (!endpoint.hasEnded) await this.#ended(timeoutMs);
    endpoint.end(undefined, canceled());
    await this.#parting;
  }

  #onEnd(): void {
    this.#resolveClosed?.();
    this.#parting ??= this.#part();
  }

  /** Disconnects, once what was said last has been heard, and ends what the connection consists of. */
  async #part(): Promise<void> {
    try {
      await this.#idle(FAREWELL_MS);
      await this.#connection.close();
    } catch (error) {
      // A device that is gone has nobody to part from.
      if (!(error instanceof VerbsError)) throw error;
    }
    this.#release();
  }

  #release(): void {
    this.#connection[Symbol.dispose]();
    this.#endpoint.destroyed();
  }

  /** Resolves once the peer has said farewell, too, or is gone, or after so long. */
  #ended(timeoutMs: number): Promise<void> {
    return new Promise((resolve) => {
      const stopTimer = timeoutMs === Infinity ? undefined : this.#engine.timer(timeoutMs, resolve);
      void this.closed.then(() => {
        stopTimer?.();
        resolve();
      });
    });
  }

  /** Resolves once nothing is under way, or after so long. */
  #idle(timeoutMs: number): Promise<void> {
    return new Promise((resolve) => {
      const stopTimer = timeoutMs === Infinity ? undefined : this.#engine.timer(timeoutMs, resolve);
      this.#endpoint.whenIdle(() => {
        stopTimer?.();
        resolve();
      });
    });
  }
}

function canceled(): ClosedError {
  return new ClosedError('messages', 'ECANCELED', 'this end has closed the connection');
}

function requireBytes(call: string, what: string, bytes: unknown): void {
  refuse(call, bytesProblem(what, bytes));
}

const MAX_WORD = 2n ** 64n - 1n;

/** @throws VerbsError EINVAL for what is not a number of 64 bits */
function wordOf(call: string, what: string, value: unknown): bigint {
  const word = typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : value;
  if (typeof word === 'bigint' && word >= 0n && word <= MAX_WORD) return word;
  const advice = 'It is a bigint or a safe integer, from 0 to 2^64 - 1; to subtract n, add BigInt.asUintN(64, -n)';
  throw new VerbsError(call, invalid(`${what} is ${show(value)}`, advice));
}
