import { invalid, refuse, show } from '../../../api/verbs/index.js';
import { checkWait, type Timers, type WaitOptions } from '../../core/index.js';
import type { AmEnd, AmSendOptions } from '../am/am-end.js';
import type { AtomicName, AtomicOptions, RmaEnd } from '../rma/rma-end.js';
import type { UcpRkey } from '../rma/rkey.js';
import type { StreamEnd, StreamReceiveOptions } from '../stream/stream-end.js';
import { UcsStatus } from '../wire/index.js';
import type { TagValue, UcpData } from './pieces.js';
import { attributesOf, type UcpEndpointAttributes } from './endpoint-attributes.js';
import type { EndpointParts } from './endpoint-parts.js';
import { UcpError, UcpPending } from './errors.js';
import type { TagEnd } from './tag-end.js';

/** A flush that a program may give up. */
class Flushing extends UcpPending<void> {
  protected onGivenUp(): void {
    // The flush goes on, and nobody is told.
  }
}

/** The same promise, which rejects as well when the program gives up. */
function patiently(call: string, flush: Promise<void>, options: WaitOptions, timers: Timers): Promise<void> {
  const flushing = new Flushing(call);
  flushing.bindCancellation(options, timers);
  flush.then(
    () => flushing.resolve(),
    (error: unknown) => flushing.reject(error),
  );
  return flushing.promise;
}

export interface EndpointFamilies {
  readonly tags: TagEnd;
  readonly rma: RmaEnd;
  readonly ams: AmEnd<UcpEndpoint>;
  readonly stream: StreamEnd;
}

/** A way to another worker, or to oneself. */
export class UcpEndpoint implements AsyncDisposable, Disposable {
  readonly #parts: EndpointParts;
  readonly #tags: TagEnd;
  readonly #rma: RmaEnd;
  readonly #ams: AmEnd<UcpEndpoint>;
  readonly #stream: StreamEnd;

  /** @internal {@link UcpWorker} makes endpoints for programs. */
  constructor(parts: EndpointParts, { tags, rma, ams, stream }: EndpointFamilies) {
    this.#parts = parts;
    this.#tags = tags;
    this.#rma = rma;
    this.#ams = ams;
    this.#stream = stream;
  }

  /** Why nothing goes or comes any more; undefined while it does. */
  get failure(): UcpError | undefined {
    return this.#parts.failureOf('endpoint');
  }

  /**
   * Sends a message to whoever receives its tag. Messages match in the order of the calls.
   *
   * @param data several pieces are copied into one, and what is of a {@link UcpDatatype} is packed now. It must not change before the promise settles; then nobody reads it any more. A message that was handed over may not have arrived, unless it goes by
   *   rendezvous ({@link explain})
   * @param tag 0 to 2^64 - 1
   * @throws UcpError (the promise rejects) UCS_ERR_CONNECTION_RESET and the like when the endpoint has failed, UCS_ERR_CANCELED when the receiver has given up in the
   *   midst of it; what packing it throws; the signal's reason; UCS_ERR_TIMED_OUT; VerbsError EINVAL for wrong arguments. A message that was given up may still arrive, and as a whole then
   */
  tagSend(data: UcpData, tag: TagValue, options?: WaitOptions): Promise<void> {
    return this.#tags.send('tagSend', data, tag, options);
  }

  /** The same, and resolves once a receive was found for it. */
  tagSendSync(data: UcpData, tag: TagValue, options?: WaitOptions): Promise<void> {
    return this.#tags.send('tagSendSync', data, tag, options);
  }

  /** Bytes that the longest header of {@link amSend} may have. */
  get maxAmHeader(): number {
    return this.#ams.maxHeader;
  }

  /**
   * Sends an active message to whoever handles its id ({@link UcpWorker.setAmHandler}). Those of an endpoint are handled in the order of the calls.
   *
   * @param id 0 to 65535
   * @param header up to {@link maxAmHeader} bytes, which the handler is given with the message, whatever way the data goes
   * @param data several pieces are copied into one, and what is of a {@link UcpDatatype} is packed now. It must not change before the promise settles, nor the header; then nobody reads them any more. A message that was
   *   handed over may not have arrived; one whose data is fetched was received, or was not wanted
   * @throws UcpError (the promise rejects) when the endpoint has failed; what packing it throws; the signal's reason; UCS_ERR_TIMED_OUT; VerbsError EINVAL for wrong arguments. A message that was given
   *   up may still arrive, and as a whole then
   */
  amSend(id: number, header: Uint8Array, data: UcpData, options: AmSendOptions = {}): Promise<void> {
    return this.#ams.send(id, header, data, options);
  }

  /**
   * Sends bytes of the stream to the peer, behind those of the calls before.
   *
   * @param data several pieces are copied into one, and what is of a {@link UcpDatatype} is packed now. It must not change before the promise settles; then nobody reads it any more. What was handed over may not have arrived
   * @throws UcpError (the promise rejects) when the endpoint has failed; what packing it throws; the signal's reason; UCS_ERR_TIMED_OUT; VerbsError EINVAL for wrong arguments. Data that was given up
   *   arrives as a whole, or not at all
   */
  streamSend(data: UcpData, options: WaitOptions = {}): Promise<void> {
    return this.#stream.send(data, options);
  }

  /**
   * Receives bytes of the peer's stream, behind those of the calls before. Nothing slows the peer down: when more lies here than is kept
   * ({@link UcpWorkerOptions.streamBytes}), the endpoint fails.
   *
   * @param buffer several pieces are written to once all has come, and what is of a {@link UcpDatatype} is unpacked then, as much as there is. It is written to until the promise settles, and never after; what has come for one
   *   that was given up is for the next, but not what unpacking has failed of
   * @returns how many bytes were received: whole elements, 1 or more; 0 for a buffer of no bytes
   * @throws UcpError (the promise rejects) why the endpoint has failed, once what has come is too little; what unpacking it throws; the signal's reason; UCS_ERR_TIMED_OUT; VerbsError EINVAL for wrong arguments
   */
  streamReceive(buffer: UcpData, options: StreamReceiveOptions = {}): Promise<number> {
    return this.#stream.receive(buffer, options);
  }

  /** A key of the peer's, to be used by this endpoint. @param bytes what its `packRkey` gave. @throws VerbsError EINVAL for bytes that are no key */
  unpackRkey(bytes: Uint8Array): UcpRkey {
    return this.#rma.unpackRkey(bytes);
  }

  /**
   * Writes into the peer's memory. Puts, gets and atomics are in no order, but as {@link UcpWorker.fence} and flushes put them.
   *
   * @param data must not change before the promise settles. Then it was handed over, and after a {@link flush} it is there; one that was aborted may be
   *   there in part, or as it was when it was aborted
   * @param address at the peer, from `rkey.address` on
   * @throws UcpError (the promise rejects) when the endpoint has failed, as it does where the memory is no longer mapped; the signal's reason; UCS_ERR_TIMED_OUT;
   *   VerbsError EINVAL for wrong arguments and for what is not within the key's memory, EACCES for a key without that right
   */
  put(data: Uint8Array, address: bigint, rkey: UcpRkey, options: WaitOptions = {}): Promise<void> {
    return this.#rma.put(data, address, rkey, options);
  }

  /**
   * Reads out of the peer's memory.
   *
   * @param buffer is written to until the promise settles, and never after: then all of it was read
   * @param address at the peer, from `rkey.address` on
   * @throws as {@link put}
   */
  get(buffer: Uint8Array, address: bigint, rkey: UcpRkey, options: WaitOptions = {}): Promise<void> {
    return this.#rma.get(buffer, address, rkey, options);
  }

  /**
   * Changes a word of the peer's at once. Resolves when it was handed over; after a {@link flush} it is done.
   *
   * @param value its low bits are used, so that negative ones can be added
   * @param address at the peer, a multiple of the word's bytes
   * @throws as {@link put}; VerbsError EOPNOTSUPP for what the adapter cannot do, with a key for its atomics. One that was aborted may be done
   */
  async atomic(
    name: AtomicName,
    value: bigint,
    address: bigint,
    rkey: UcpRkey,
    options: AtomicOptions = {},
  ): Promise<void> {
    await this.#rma.atomic(name, value, address, rkey, options, false);
  }

  /** The same, which resolves when it is done, with what was there before. @throws as {@link atomic} */
  atomicFetch(
    name: AtomicName,
    value: bigint,
    address: bigint,
    rkey: UcpRkey,
    options: AtomicOptions = {},
  ): Promise<bigint> {
    return this.#rma.atomic(name, value, address, rkey, options, true);
  }

  /**
   * Resolves once all has arrived that was handed over before, and all is done at the peer that was asked of its memory before.
   *
   * @throws UcpError (the promise rejects) when the endpoint has failed
   */
  async flush(): Promise<void> {
    const status = await this.#rma.flush();
    if (status !== UcsStatus.UCS_OK) throw this.#parts.failureOf('flush') ?? new UcpError('flush', status);
  }

  /** By which protocol a message of that length goes, and why: a sentence. @param size bytes, 0 or more */
  explain(size: number): string {
    return this.#tags.explain(size);
  }

  /**
   * Has somebody told why the endpoint has failed: once, after every call that was under way has ended, and also where it has failed before this call. Nobody is told that this end
   * has closed it. The handler may close it.
   *
   * @param handler undefined for nobody
   * @throws VerbsError EINVAL for what is no function
   */
  setErrorHandler(handler: ((error: UcpError) => void) | undefined): void {
    if (handler !== undefined && typeof handler !== 'function')
      refuse(
        'setErrorHandler',
        invalid(`the handler is ${show(handler)}`, 'It is a function, or undefined for nobody'),
      );
    this.#parts.setErrorHandler(handler);
  }

  /** By what it leads where, and what goes there how: `ucp_ep_query`. */
  query(): UcpEndpointAttributes {
    const { transport } = this.#parts;
    return attributesOf(transport.way, transport.capabilities, this.#tags.protocols);
  }

  /**
   * {@link flush}, then {@link close}. Await your sends before: a message that goes by rendezvous, and that nobody has received, fails with UCS_ERR_CANCELED.
   *
   * @throws UcpError (the promise rejects) when the endpoint has failed; the signal's reason; UCS_ERR_TIMED_OUT; VerbsError EINVAL for wrong arguments. It is closed then as well
   */
  async flushAndClose(options: WaitOptions = {}): Promise<void> {
    checkWait('flushAndClose', options);
    if (this.#parts.isClosed) return;
    try {
      options.signal?.throwIfAborted();
      await patiently('flushAndClose', this.flush(), options, this.#parts.worker.engine);
    } finally {
      this.close();
    }
  }

  /** {@link flushAndClose}; of one that has failed, {@link close}. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.failure === undefined) await this.flushAndClose();
    else this.close();
  }

  /** Ends it. What was not handed over fails with UCS_ERR_CANCELED; what has come can still be received. Idempotent. */
  close(): void {
    this.#parts.close();
  }

  /** {@link close}. */
  [Symbol.dispose](): void {
    this.close();
  }
}
