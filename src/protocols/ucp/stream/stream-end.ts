import { invalid, refuse, show } from '../../../api/verbs/index.js';
import { checkWait, type WaitOptions } from '../../core/index.js';
import { AmId, Messages, UcsStatus } from '../wire/index.js';
import type { EndpointParts, Family } from '../worker/endpoint-parts.js';
import type { KeptBytes } from '../worker/kept-bytes.js';
import { checkPieces, landingOf, type UcpData } from '../worker/pieces.js';
import { PostedSend, sendError, bytesToSend } from '../worker/posted-send.js';
import { StreamQueue, type StreamWanted } from './stream-queue.js';
import { StreamSend } from './stream-send.js';
import { UcpPending } from '../worker/errors.js';

/** What {@link UcpEndpoint.streamReceive} takes. */
export interface StreamReceiveOptions extends WaitOptions {
  /** Bytes of an element, of which whole ones are received. Default 1. */
  readonly elementBytes?: number | undefined;
  /** Whether to wait until the buffer is full, but for a part of an element at its end. Default: until there is an element. */
  readonly waitAll?: boolean | undefined;
}

const RECEIVE_FIELDS = { signal: true, timeoutMs: true, elementBytes: true, waitAll: true } as const;

/** The stream of bytes at an endpoint, in both directions. */
export class StreamEnd implements Family {
  readonly #queue: StreamQueue;
  readonly #look = (): void => {
    const { isReady } = this.#queue;
    if (isReady === this.#isReady || !this.#isOpen) return;
    this.#isReady = isReady;
    this.onReady(isReady);
  };
  #isReady = false;
  /** Whether the transport is there: nobody is told of the endpoint before. */
  #isOpen = false;
  #hasEnded = false;

  /** @param onReady is told whether there are bytes now that nobody has asked for */
  constructor(
    private readonly parts: EndpointParts,
    kept: KeptBytes,
    private readonly onReady: (isReady: boolean) => void,
  ) {
    const queue = new StreamQueue(kept);
    this.#queue = queue;
    parts.take(AmId.STREAM_DATA, Messages.STREAM_DATA, ({ payload }) => {
      const problem = queue.push(payload);
      if (problem === undefined) {
        const { counters } = parts.worker;
        counters.rxStreamChunk += 1;
        counters.rxStreamBytes += payload.length;
      }
      this.#look();
      return problem;
    });
    parts.go({ retry: () => this.#begin() });
  }

  get isWaiting(): boolean {
    return this.#queue.isWanted;
  }

  /** As `UcpEndpoint.streamSend`. */
  async send(what: UcpData, options: WaitOptions): Promise<void> {
    checkPieces('streamSend', 'data', what);
    checkWait('streamSend', options);
    options.signal?.throwIfAborted();
    const { parts } = this;
    if (parts.failure !== undefined) throw sendError(parts, 'streamSend', parts.failure);
    const data = bytesToSend('streamSend', parts, what, options);
    const { counters } = parts.worker;
    counters.txStream += 1;
    counters.txStreamBytes += data.length;
    const posted = new PostedSend('streamSend', parts);
    const send = new StreamSend(parts, data);
    send.onSent = posted.onDone;
    posted.giveUp = () => send.giveUp();
    const status = send.begin();
    if (status !== UcsStatus.UCS_INPROGRESS) posted.onDone(status);
    else posted.bindCancellation(options, parts.worker.engine);
    await posted.promise;
  }

  /** As `UcpEndpoint.streamReceive`. */
  async receive(into: UcpData, options: StreamReceiveOptions): Promise<number> {
    checkPieces('streamReceive', 'buffer', into);
    checkReceive(options);
    options.signal?.throwIfAborted();
    const landing = landingOf('streamReceive', into);
    return landing.landed(() => this.#receive(landing.buffer, options));
  }

  onEnded(): void {
    this.#hasEnded = true;
    this.#fail(this.#queue.end());
    this.#look();
  }

  async #receive(buffer: Uint8Array, options: StreamReceiveOptions): Promise<number> {
    const { signal, elementBytes = 1, waitAll = false } = options;
    // The program may have given up while it made ready to unpack.
    signal?.throwIfAborted();
    if (buffer.length === 0) return 0;
    if (buffer.length < elementBytes)
      refuse('streamReceive', invalid(`a buffer of ${buffer.length} bytes has no room for an element`));
    const whole = buffer.subarray(0, buffer.length - (buffer.length % elementBytes));
    const receive = new StreamReceive(this.#queue, whole, elementBytes, waitAll, this.#look);
    this.#queue.want(receive);
    this.#look();
    if (!receive.isSettled && this.#hasEnded) {
      this.#fail(this.#queue.end());
      this.#look();
    }
    if (!receive.isSettled) receive.bindCancellation(options, this.parts.worker.engine);
    return receive.promise;
  }

  #begin(): UcsStatus {
    this.#isOpen = true;
    this.#look();
    return UcsStatus.UCS_OK;
  }

  #fail(receives: readonly StreamWanted[]): void {
    const { parts } = this;
    const status = parts.failure ?? UcsStatus.UCS_ERR_CONNECTION_RESET;
    for (const receive of receives)
      if (receive instanceof StreamReceive) receive.reject(sendError(parts, receive.call, status));
  }
}

class StreamReceive extends UcpPending<number> implements StreamWanted {
  filledBytes = 0;
  readonly wantedBytes: number;

  constructor(
    private readonly queue: StreamQueue,
    readonly buffer: Uint8Array,
    readonly elementBytes: number,
    readonly isAll: boolean,
    private readonly onLeft: () => void,
  ) {
    super('streamReceive');
    this.wantedBytes = buffer.length;
  }

  onFilled(length: number): void {
    this.resolve(length);
  }

  protected override onGivenUp(): void {
    this.queue.leave(this);
    this.onLeft();
  }
}

/** @throws VerbsError EINVAL */
function checkReceive(options: StreamReceiveOptions): void {
  checkWait('streamReceive', options, RECEIVE_FIELDS);
  const { elementBytes = 1, waitAll = false } = options;
  if (!Number.isInteger(elementBytes) || elementBytes < 1)
    refuse('streamReceive', invalid(`elementBytes is ${show(elementBytes)}`, 'It is 1 or more'));
  if (typeof waitAll !== 'boolean') refuse('streamReceive', invalid(`waitAll is ${show(waitAll)}`, 'It is a boolean'));
}
