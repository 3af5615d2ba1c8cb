import type { WaitOptions } from '../../engine/index.js';
import { UcsStatus } from '../wire/index.js';
import type { TagValue } from './arguments.js';
import type { EndpointParts } from './endpoint-parts.js';
import { UcpError } from './errors.js';
import type { TagEnd } from './tag-end.js';

/** The families of calls that an endpoint has. */
export interface EndpointFamilies {
  readonly tags: TagEnd;
}

/** A way to another worker, or to oneself. */
export class UcpEndpoint implements Disposable {
  readonly #parts: EndpointParts;
  readonly #tags: TagEnd;

  /** @internal {@link UcpWorker} makes endpoints for programs. */
  constructor(parts: EndpointParts, { tags }: EndpointFamilies) {
    this.#parts = parts;
    this.#tags = tags;
  }

  /** Why nothing goes or comes any more; undefined while it does. */
  get failure(): UcpError | undefined {
    return this.#parts.failureOf('endpoint');
  }

  /**
   * Sends a message to whoever receives its tag. Messages match in the order of the calls.
   *
   * @param data must not change before the promise settles; then nobody reads it any more. A message that was handed over may not have arrived, unless it goes by
   *   rendezvous ({@link explain})
   * @param tag 0 to 2^64 - 1
   * @throws UcpError (the promise rejects) UCS_ERR_CONNECTION_RESET and the like when the endpoint has failed, UCS_ERR_CANCELED when the receiver has given up in the
   *   midst of it; the signal's reason; ETIMEDOUT; VerbsError EINVAL for wrong arguments. A message that was given up may still arrive, and as a whole then
   */
  tagSend(data: Uint8Array, tag: TagValue, options?: WaitOptions): Promise<void> {
    return this.#tags.send('tagSend', data, tag, options);
  }

  /** The same, and resolves once a receive was found for it. */
  tagSendSync(data: Uint8Array, tag: TagValue, options?: WaitOptions): Promise<void> {
    return this.#tags.send('tagSendSync', data, tag, options);
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
    return this.#tags.explain(size);
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
