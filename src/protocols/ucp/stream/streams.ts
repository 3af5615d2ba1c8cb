import { invalid, refuse, show } from '../../../api/verbs/index.js';
import { checkWait, type Engine, type WaitOptions } from '../../core/index.js';
import { UcsStatus } from '../wire/index.js';
import type { EndpointParts } from '../worker/endpoint-parts.js';
import { UcpError, UcpPending } from '../worker/errors.js';
import { KeptBytes } from '../worker/kept-bytes.js';
import { StreamEnd } from './stream-end.js';

/** Somebody waits until a stream has bytes. */
class Waiting<E> extends UcpPending<E[]> {
  constructor(private readonly all: Set<Waiting<E>>) {
    super('streamReady');
  }

  protected onGivenUp(): void {
    this.all.delete(this);
  }
}

/** The family of streams at a worker: which of them have bytes that nobody has asked for. */
export class Streams<Endpoint> {
  readonly kept: KeptBytes;
  /** The one that was told of least recently is first. */
  readonly #ready = new Set<Endpoint>();
  readonly #waiting = new Set<Waiting<Endpoint>>();
  #isClosed = false;

  /** @param bytes that may lie here of all peers together */
  constructor(
    private readonly engine: Engine,
    bytes: number,
  ) {
    this.kept = new KeptBytes(bytes, 'streams');
  }

  /** The same family at an endpoint. @param endpoint gives the endpoint, once bytes come */
  attach(parts: EndpointParts, endpoint: () => Endpoint): StreamEnd {
    const onReady = (isReady: boolean): void => {
      if (isReady) this.#add(endpoint());
      else this.forget(endpoint());
    };
    return parts.add(new StreamEnd(parts, this.kept, onReady));
  }

  /** As `UcpWorker.streamPoll`. */
  poll(most: number): Endpoint[] {
    const isNumber = most === Infinity || (Number.isInteger(most) && most >= 1);
    if (!isNumber) refuse('streamPoll', invalid(`most is ${show(most)}`, 'It is 1 or more'));
    const found = [...this.#ready].slice(0, most);
    // So that nobody is passed over for ever by whoever asks for a few.
    for (const endpoint of found) {
      this.#ready.delete(endpoint);
      this.#ready.add(endpoint);
    }
    return found;
  }

  /** As `UcpWorker.streamReady`. */
  async wait(options: WaitOptions): Promise<Endpoint[]> {
    checkWait('streamReady', options);
    options.signal?.throwIfAborted();
    if (this.#isClosed) throw closed();
    if (this.#ready.size > 0) return this.poll(Infinity);
    const waiting = new Waiting(this.#waiting);
    this.#waiting.add(waiting);
    waiting.bindCancellation(options, this.engine);
    return waiting.promise;
  }

  /** An endpoint has no bytes any more, or was closed. */
  forget(endpoint: Endpoint): void {
    this.#ready.delete(endpoint);
  }

  close(): void {
    this.#isClosed = true;
    for (const waiting of this.#waiting) waiting.reject(closed());
    this.#waiting.clear();
  }

  #add(endpoint: Endpoint): void {
    this.#ready.add(endpoint);
    for (const waiting of this.#waiting) waiting.resolve(this.poll(Infinity));
    this.#waiting.clear();
  }
}

function closed(): UcpError {
  return new UcpError('streamReady', UcsStatus.UCS_ERR_CANCELED, 'the worker was closed');
}
