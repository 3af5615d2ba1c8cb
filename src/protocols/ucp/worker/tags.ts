import { invalid, refuse, show, VerbsError } from '../../../api/verbs/index.js';
import { checkWait, type Engine, type WaitOptions } from '../../core/index.js';
import { FULL_MASK, steady, type TagCounters, TagMatching, tagOf, type Thresholds } from '../protocol/index.js';
import { checkTag, type TagValue, checkPieces, landingOf, type UcpData } from './pieces.js';
import type { EndpointParts } from './endpoint-parts.js';
import { rejected } from './errors.js';
import type { Rendezvous } from './rendezvous.js';
import { TagEnd } from './tag-end.js';
import { describeTag, PostedReceive, type TagReceived, TakenMessage } from './tag-receive.js';

/** What {@link UcpWorker.tagReceive} takes. */
export interface TagReceiveOptions extends WaitOptions {
  /** Which bits of the tag count. Default: all. */
  readonly mask?: TagValue | undefined;
}

const RECEIVE_FIELDS = { signal: true, timeoutMs: true, mask: true } as const;

/** The family of tags at a worker: what is received. */
export class Tags {
  readonly #matching: TagMatching;

  /** @param unexpectedBytes for messages that nobody has asked for. @param counters what has come is counted there */
  constructor(
    private readonly engine: Engine,
    unexpectedBytes: number,
    private readonly thresholds: Thresholds,
    counters: TagCounters,
  ) {
    this.#matching = new TagMatching(unexpectedBytes, counters);
  }

  get unexpectedBytes(): number {
    return this.#matching.keptBytes;
  }

  /** The same family at an endpoint. */
  attach(parts: EndpointParts, rendezvous: Rendezvous): TagEnd {
    return parts.add(new TagEnd(parts, rendezvous, this.#matching.peer(), this.thresholds));
  }

  /** No message comes any more. */
  close(): void {
    this.#matching.close();
  }

  /** As `UcpWorker.tagReceive`. */
  receive(into: UcpData, tag: TagValue, options: TagReceiveOptions): Promise<TagReceived> {
    try {
      return this.#receive(into, tag, options);
    } catch (error) {
      return rejected(error);
    }
  }

  /** @throws what its promise rejects with */
  #receive(into: UcpData, tag: TagValue, options: TagReceiveOptions): Promise<TagReceived> {
    checkPieces('tagReceive', 'buffer', into);
    checkTag('tagReceive', 'tag', tag);
    checkWait('tagReceive', options, RECEIVE_FIELDS);
    if (options.mask !== undefined) checkTag('tagReceive', 'mask', options.mask);
    options.signal?.throwIfAborted();
    if (into instanceof Uint8Array) return this.#post(steady(into), tag, options);
    const landing = landingOf('tagReceive', into);
    return landing.landed(() => {
      // The program may have given up while it made ready to unpack.
      options.signal?.throwIfAborted();
      return this.#post(landing.buffer, tag, options);
    });
  }

  #post(buffer: Uint8Array, tag: TagValue, options: TagReceiveOptions): Promise<TagReceived> {
    const receive = new PostedReceive(this.#matching, buffer, tag, options.mask);
    this.#matching.post(receive);
    if (!receive.isSettled) receive.bindCancellation(options, this.engine);
    return receive.promise;
  }

  /** As `UcpWorker.tagProbe`. */
  probe(tag: TagValue, mask: TagValue | undefined): TagReceived | undefined {
    const found = this.#matching.probe(wanted('tagProbe', tag, mask));
    return found && describeTag(found);
  }

  /** As `UcpWorker.tagProbeRemove`. */
  probeRemove(tag: TagValue, mask: TagValue | undefined): TakenMessage | undefined {
    const found = this.#matching.take(wanted('tagProbeRemove', tag, mask));
    return found && new TakenMessage(found);
  }

  /** As `UcpWorker.tagMessageReceive`. */
  async receiveMessage(taken: TakenMessage, into: UcpData, options: WaitOptions): Promise<TagReceived> {
    const call = 'tagMessageReceive';
    if (!(taken instanceof TakenMessage))
      refuse(call, invalid(`message is ${show(taken)}`, 'It comes from tagProbeRemove'));
    checkPieces(call, 'buffer', into);
    checkWait(call, options);
    options.signal?.throwIfAborted();
    const landing = landingOf(call, into);
    return landing.landed(() => {
      options.signal?.throwIfAborted();
      const message = taken.take();
      if (message === undefined)
        throw new VerbsError(call, invalid('the message was received before', 'A message is received once'));
      const receive = new PostedReceive(this.#matching, landing.buffer, taken.tag, undefined, call);
      this.#matching.receive(message, receive);
      if (!receive.isSettled) receive.bindCancellation(options, this.engine);
      return receive.promise;
    });
  }
}

function wanted(call: string, tag: TagValue, mask: TagValue | undefined) {
  checkTag(call, 'tag', tag);
  if (mask !== undefined) checkTag(call, 'mask', mask);
  return { tag: tagOf(tag), mask: mask === undefined ? FULL_MASK : tagOf(mask) };
}
