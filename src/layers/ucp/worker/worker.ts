import { listen, type Listener } from '../../../api/rdmacm/index.js';
import type { Context } from '../../../api/verbs/index.js';
import { checkWait, Engine, type WaitOptions } from '../../engine/index.js';
import { FULL_MASK, TagMatching, tagOf, type TagProblem } from '../protocol/index.js';
import { acceptRc, AmHandlers, connectRc, MemoryDomain, RcEndpoint, type RcWhere, SelfEndpoint } from '../uct/index.js';
import type { UcsStatus } from '../wire/index.js';
import { checkTag, checkView, type TagValue } from './arguments.js';
import { takeTags, UcpEndpoint } from './endpoint.js';
import { describeTag, PostedReceive, type TagReceived } from './tag-receive.js';

/** Bytes of messages that nobody has asked for. */
const UNEXPECTED_BYTES = 16 << 20;

/** How a worker is made. */
export interface UcpWorkerOptions {
  /** Bytes of messages that may lie here before they are asked for, of all peers together. A peer that sends more loses its endpoint. Default 16 MiB. */
  readonly unexpectedBytes?: number;
  /** Messages that each peer may send before any is taken, 1 to 1024. Default 32. */
  readonly window?: number;
}

/** What {@link UcpWorker.tagReceive} takes. */
export interface TagReceiveOptions extends WaitOptions {
  /** Which bits of the tag count. Default: all. */
  readonly mask?: TagValue | undefined;
}

const RECEIVE_FIELDS = { signal: true, timeoutMs: true, mask: true } as const;

/** One end of UCP: its endpoints lead to other workers, and what comes by any of them is matched here. It progresses by itself. */
export class UcpWorker implements Disposable {
  readonly #engine: Engine;
  readonly #domain: MemoryDomain;
  readonly #matching: TagMatching;
  readonly #options: UcpWorkerOptions;
  readonly #endpoints = new Set<UcpEndpoint>();
  readonly #listeners = new Set<Listener>();
  #messages = 0;

  /** @param context the device that it goes by */
  constructor(context: Context, options: UcpWorkerOptions = {}) {
    this.#engine = Engine.of(context);
    this.#domain = new MemoryDomain(this.#engine);
    this.#matching = new TagMatching(options.unexpectedBytes ?? UNEXPECTED_BYTES);
    this.#options = options;
  }

  /** Bytes that messages take which nobody has asked for. */
  get unexpectedBytes(): number {
    return this.#matching.keptBytes;
  }

  /**
   * Connects to a worker that listens.
   *
   * @throws VerbsError (the promise rejects) EPROTO where that speaks something else, otherwise as `connect` of the root
   */
  connect(where: RcWhere): Promise<UcpEndpoint> {
    return this.#establish((handlers) => connectRc(this.#interface(handlers), where));
  }

  /** An endpoint that leads back here. */
  connectToSelf(): UcpEndpoint {
    const handlers = new AmHandlers();
    const made = this.#begin(handlers);
    return made.finish(new SelfEndpoint(this.#domain, handlers));
  }

  /**
   * Has other workers connect, until the worker is closed.
   *
   * @param onEndpoint is given each endpoint that was made
   * @throws VerbsError EADDRINUSE when another listens there, otherwise as `listen` of the root
   */
  listen(where: { readonly port: number; readonly host?: string }, onEndpoint: (endpoint: UcpEndpoint) => void): void {
    const listener = listen({ ...where, context: this.#engine.context });
    this.#listeners.add(listener);
    const serving = listener.serve(
      async (request) => {
        onEndpoint(await this.#establish((handlers) => acceptRc(this.#interface(handlers), request)));
      },
      // Who cannot connect has been told, and nobody else need know.
      { onError: () => undefined },
    );
    void serving.finally(() => this.#listeners.delete(listener));
  }

  /**
   * Receives a message whose tag is `tag` in the bits of the mask: the one that came first, or comes next.
   *
   * @param buffer is written to until the promise settles, and never after
   * @throws UcpError (the promise rejects) UCS_ERR_MESSAGE_TRUNCATED for a message that is longer, which is lost, and the buffer is as it was; why the
   *   peer has gone that had sent a part; the signal's reason; ETIMEDOUT; VerbsError EINVAL for wrong arguments
   */
  async tagReceive(buffer: Uint8Array, tag: TagValue, options: TagReceiveOptions = {}): Promise<TagReceived> {
    checkView('tagReceive', 'buffer', buffer);
    checkTag('tagReceive', 'tag', tag);
    checkWait('tagReceive', options, RECEIVE_FIELDS);
    if (options.mask !== undefined) checkTag('tagReceive', 'mask', options.mask);
    options.signal?.throwIfAborted();
    const receive = new PostedReceive(this.#matching, buffer, tag, options.mask);
    this.#matching.post(receive);
    if (!receive.isSettled) receive.heed(options, this.#engine);
    return receive.promise;
  }

  /** What {@link tagReceive} would give now; undefined for nothing. @throws VerbsError EINVAL for wrong arguments */
  tagProbe(tag: TagValue, mask?: TagValue): TagReceived | undefined {
    checkTag('tagProbe', 'tag', tag);
    if (mask !== undefined) checkTag('tagProbe', 'mask', mask);
    const found = this.#matching.probe({ tag: tagOf(tag), mask: mask === undefined ? FULL_MASK : tagOf(mask) });
    return found && describeTag(found);
  }

  /** Ends its endpoints, and listens no more. Idempotent. */
  close(): void {
    for (const listener of this.#listeners) listener.close();
    for (const endpoint of [...this.#endpoints]) endpoint.close();
  }

  /** {@link close}. */
  [Symbol.dispose](): void {
    this.close();
  }

  #interface(handlers: AmHandlers) {
    const { window } = this.#options;
    return { domain: this.#domain, handlers, ...(window !== undefined && { window }) };
  }

  async #establish(connected: (handlers: AmHandlers) => Promise<RcEndpoint>): Promise<UcpEndpoint> {
    const handlers = new AmHandlers();
    const made = this.#begin(handlers);
    return made.finish(await connected(handlers));
  }

  /** Messages may come before the endpoint is there. */
  #begin(handlers: AmHandlers) {
    const tags = this.#matching.peer();
    let endpoint: UcpEndpoint | undefined;
    let early: TagProblem | undefined;
    takeTags(handlers, tags, (problem) => {
      early ??= problem;
      endpoint?.distrust(problem);
    });
    const nextMessageId = (): number => (this.#messages += 1);
    const later = (action: () => void): void => this.#engine.nextTurn(action);
    const onClosed = (closed: UcpEndpoint): void => void this.#endpoints.delete(closed);
    const finish = (transport: RcEndpoint | SelfEndpoint): UcpEndpoint => {
      const made = new UcpEndpoint({ transport, tags, nextMessageId, later, onClosed });
      endpoint = made;
      this.#endpoints.add(made);
      const onFailure = (status: UcsStatus): void => made.ended(status);
      if (transport instanceof RcEndpoint) transport.onFailure = onFailure;
      if (transport.failure !== undefined) onFailure(transport.failure);
      if (early !== undefined) made.distrust(early);
      return made;
    };
    return { finish };
  }
}
