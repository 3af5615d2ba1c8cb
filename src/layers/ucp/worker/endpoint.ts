import {
  explainProtocol,
  selectProtocol,
  type SizeRange,
  sizeRanges,
  type TagPeer,
  type TagProblem,
  tagOf,
} from '../protocol/index.js';
import type { AmHandlers, Endpoint as Transport } from '../uct/index.js';
import { AmId, type Format, Heads, Messages, UcsStatus } from '../wire/index.js';
import { checkTag, checkView, type TagValue } from './arguments.js';
import { UcpError } from './errors.js';
import { TagSend } from './tag-send.js';

/** All goes before it is asked for: a rendezvous needs what is not built yet. */
const EAGER_ONLY = { bcopy: Infinity, zcopy: Infinity, rndv: Infinity, rndvScheme: 'auto' } as const;

/** What an endpoint needs of its worker. */
export interface EndpointParts {
  readonly transport: Transport & { close(): void };
  readonly tags: TagPeer;
  /** Numbers of messages, which are the worker's. */
  nextMessageId(): number;
  /** Calls later, when nobody is in the midst of anything. */
  later(action: () => void): void;
  /** Is told that the program, or the worker, has ended it. */
  onClosed(endpoint: UcpEndpoint): void;
}

/** A way to another worker, or to oneself. */
export class UcpEndpoint implements Disposable {
  readonly #parts: EndpointParts;
  readonly #ranges: readonly SizeRange[];
  #problem: TagProblem | undefined;
  #isClosed = false;

  /** @internal {@link UcpWorker} makes endpoints for programs. */
  constructor(parts: EndpointParts) {
    this.#parts = parts;
    this.#ranges = sizeRanges(parts.transport.capabilities, { only: Heads.EAGER_ONLY.bytes }, EAGER_ONLY);
  }

  /** Why nothing goes or comes any more; undefined while it does. */
  get failure(): UcpError | undefined {
    if (this.#problem !== undefined) return new UcpError('endpoint', this.#problem.status, this.#problem.text);
    const { failure } = this.#parts.transport;
    return failure === undefined ? undefined : new UcpError('endpoint', failure);
  }

  /**
   * Sends a message to whoever receives its tag. Messages match in the order of the calls.
   *
   * @param data must not change before the promise resolves: then it was handed over, and may not have arrived
   * @param tag 0 to 2^64 - 1
   * @throws UcpError (the promise rejects) UCS_ERR_CONNECTION_RESET and the like when the endpoint has failed; VerbsError EINVAL for wrong arguments
   */
  async tagSend(data: Uint8Array, tag: TagValue): Promise<void> {
    checkView('tagSend', 'data', data);
    checkTag('tagSend', 'tag', tag);
    const { transport } = this.#parts;
    const { protocol } = selectProtocol(this.#ranges, data.length);
    const status = await new TagSend(transport, data, BigInt(tag), protocol, this.#parts).done();
    if (status !== UcsStatus.UCS_OK) throw this.failure ?? new UcpError('tagSend', status);
  }

  /** Resolves once all has arrived that was handed over before. @throws UcpError (the promise rejects) when the endpoint has failed */
  async flush(): Promise<void> {
    const { transport } = this.#parts;
    const status = await new Promise<UcsStatus>((resolve) => {
      const now = transport.flush({ onComplete: resolve });
      if (now !== UcsStatus.UCS_INPROGRESS) resolve(now);
    });
    if (status !== UcsStatus.UCS_OK) throw this.failure ?? new UcpError('flush', status);
  }

  /** By which protocol a message of that length goes, and why: a sentence. @param size bytes, 0 or more */
  explain(size: number): string {
    return explainProtocol(this.#ranges, size);
  }

  /** Ends it. What was not handed over fails with UCS_ERR_CANCELED; what has come can still be received. Idempotent. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#parts.transport.close();
    this.ended(UcsStatus.UCS_ERR_CANCELED);
    this.#parts.onClosed(this);
  }

  /** {@link close}. */
  [Symbol.dispose](): void {
    this.close();
  }

  /** @internal Nothing comes any more. */
  ended(status: UcsStatus): void {
    this.#parts.tags.end(this.#problem?.status ?? status);
  }

  /** @internal What came from the peer is wrong: nothing of it counts any more. */
  distrust(problem: TagProblem): void {
    if (this.#problem !== undefined) return;
    this.#problem = problem;
    this.#parts.later(() => this.close());
  }
}

/** Has tag matching take what comes by an endpoint's handlers. @param onProblem what is wrong with it, more than once perhaps */
export function takeTags(handlers: AmHandlers, tags: TagPeer, onProblem: (problem: TagProblem) => void): void {
  function take<M>(id: number, format: Format<M>, on: (message: M) => TagProblem | undefined): void {
    handlers.set(id, (bytes) => {
      const message = format.decode(bytes);
      const problem = typeof message === 'string' ? { status: UcsStatus.UCS_ERR_IO_ERROR, text: message } : on(message);
      if (problem !== undefined) onProblem(problem);
    });
  }
  take(AmId.EAGER_ONLY, Messages.EAGER_ONLY, ({ head, payload }) => tags.only(tagOf(head.tag), payload));
  take(AmId.EAGER_FIRST, Messages.EAGER_FIRST, ({ head: { tag, total, messageId }, payload }) =>
    tags.first(tagOf(tag), total, messageId, payload),
  );
  take(AmId.EAGER_MIDDLE, Messages.EAGER_MIDDLE, ({ head: { messageId, offset }, payload }) =>
    tags.middle(messageId, offset, payload),
  );
}
