import { explainProtocol, selectProtocol, type SizeRange, sizeRanges, type TagPeer, tagOf } from '../protocol/index.js';
import { AmId, Heads, Messages, UcsStatus } from '../wire/index.js';
import { checkTag, checkView, type TagValue } from './arguments.js';
import type { EndpointParts, Family } from './endpoint-parts.js';
import { UcpError } from './errors.js';
import { TagSend } from './tag-send.js';

/** All goes before it is asked for: a rendezvous needs what is not built yet. */
const EAGER_ONLY = { bcopy: Infinity, zcopy: Infinity, rndv: Infinity, rndvScheme: 'auto' } as const;

/** The family of tags at an endpoint: what is sent, and what comes. */
export class TagEnd implements Family {
  #ranges: readonly SizeRange[] | undefined;

  constructor(
    private readonly parts: EndpointParts,
    private readonly peer: TagPeer,
  ) {
    parts.take(AmId.EAGER_ONLY, Messages.EAGER_ONLY, ({ head, payload }) => peer.only(tagOf(head.tag), payload));
    parts.take(AmId.EAGER_FIRST, Messages.EAGER_FIRST, ({ head: { tag, total, messageId }, payload }) =>
      peer.first(tagOf(tag), total, messageId, payload),
    );
    parts.take(AmId.EAGER_MIDDLE, Messages.EAGER_MIDDLE, ({ head: { messageId, offset }, payload }) =>
      peer.middle(messageId, offset, payload),
    );
  }

  /** As `UcpEndpoint.tagSend`. */
  async send(data: Uint8Array, tag: TagValue): Promise<void> {
    checkView('tagSend', 'data', data);
    checkTag('tagSend', 'tag', tag);
    const { protocol } = selectProtocol(this.#sizeRanges(), data.length);
    const { transport, worker } = this.parts;
    const status = await new TagSend(transport, data, BigInt(tag), protocol, worker).done();
    if (status !== UcsStatus.UCS_OK) throw this.parts.failureOf('tagSend') ?? new UcpError('tagSend', status);
  }

  /** As `UcpEndpoint.explain`. */
  explain(size: number): string {
    return explainProtocol(this.#sizeRanges(), size);
  }

  onEnded(status: UcsStatus): void {
    this.peer.end(status);
  }

  #sizeRanges(): readonly SizeRange[] {
    const { capabilities } = this.parts.transport;
    this.#ranges ??= sizeRanges(capabilities, { only: Heads.EAGER_ONLY.bytes }, EAGER_ONLY);
    return this.#ranges;
  }
}
