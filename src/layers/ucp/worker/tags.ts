import { checkWait, type Engine, type WaitOptions } from '../../engine/index.js';
import { FULL_MASK, TagMatching, tagOf, type Thresholds } from '../protocol/index.js';
import { checkTag, checkView, type TagValue } from './arguments.js';
import type { EndpointParts } from './endpoint-parts.js';
import type { Rendezvous } from './rendezvous.js';
import { TagEnd } from './tag-end.js';
import { describeTag, PostedReceive, type TagReceived } from './tag-receive.js';

/** What {@link Tags.receive} takes. */
export interface TagReceiveOptions extends WaitOptions {
  /** Which bits of the tag count. Default: all. */
  readonly mask?: TagValue | undefined;
}

const RECEIVE_FIELDS = { signal: true, timeoutMs: true, mask: true } as const;

/** The family of tags at a worker: what is received. */
export class Tags {
  readonly #matching: TagMatching;

  /** @param unexpectedBytes for messages that nobody has asked for */
  constructor(
    private readonly engine: Engine,
    unexpectedBytes: number,
    private readonly thresholds: Thresholds,
  ) {
    this.#matching = new TagMatching(unexpectedBytes);
  }

  get unexpectedBytes(): number {
    return this.#matching.keptBytes;
  }

  /** The same family at an endpoint. */
  attach(parts: EndpointParts, rendezvous: Rendezvous): TagEnd {
    return parts.add(new TagEnd(parts, rendezvous, this.#matching.peer(), this.thresholds));
  }

  /** As `UcpWorker.tagReceive`. */
  async receive(buffer: Uint8Array, tag: TagValue, options: TagReceiveOptions): Promise<TagReceived> {
    checkView('tagReceive', 'buffer', buffer);
    checkTag('tagReceive', 'tag', tag);
    checkWait('tagReceive', options, RECEIVE_FIELDS);
    if (options.mask !== undefined) checkTag('tagReceive', 'mask', options.mask);
    options.signal?.throwIfAborted();
    const receive = new PostedReceive(this.#matching, buffer, tag, options.mask);
    this.#matching.post(receive);
    if (!receive.isSettled) receive.heed(options, this.engine);
    return receive.promise;
  }

  /** As `UcpWorker.tagProbe`. */
  probe(tag: TagValue, mask: TagValue | undefined): TagReceived | undefined {
    checkTag('tagProbe', 'tag', tag);
    if (mask !== undefined) checkTag('tagProbe', 'mask', mask);
    const found = this.#matching.probe({ tag: tagOf(tag), mask: mask === undefined ? FULL_MASK : tagOf(mask) });
    return found && describeTag(found);
  }
}
