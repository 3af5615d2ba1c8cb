import { checkWait, type WaitOptions } from '../../core/index.js';
import {
  explainProtocol,
  type PeerProblem,
  Protocol,
  selectProtocol,
  type SizeRange,
  sizeRanges,
  type TagPeer,
  tagIn,
  tagOf,
  type Thresholds,
} from '../protocol/index.js';
import { AmId, Messages, RtsOpcode, UcsStatus } from '../wire/index.js';
import { checkTag, type TagValue, checkPieces, type UcpData } from './pieces.js';
import { EagerSend, onlyHeadBytes, sendShort } from './eager-send.js';
import type { EndpointParts, Family } from './endpoint-parts.js';
import { lie, rejected } from './errors.js';
import { PostedSend, PostedSyncSend, sendError, bytesToSend } from './posted-send.js';
import type { Rendezvous } from './rendezvous.js';
import type { RendezvousReceive } from './rendezvous-receive.js';
import type { Counters } from './statistics.js';

const NOTHING = new Uint8Array(0);
const NOBODY = lie('a synchronous message has no number to answer');
const RENDEZVOUS: readonly Protocol[] = [Protocol.RNDV_GET, Protocol.RNDV_PUT, Protocol.RNDV_AM];

/** The family of tags at an endpoint: what is sent, and what comes. */
export class TagEnd implements Family {
  /** Those who wait for the receiver to have matched, by their numbers. */
  readonly #unmatched = new Map<number, PostedSyncSend>();
  /** Messages that wait for room, or that the transport still reads. */
  #leaving = 0;
  #ranges: Readonly<Record<SendCall, readonly SizeRange[]>> | undefined;

  constructor(
    private readonly parts: EndpointParts,
    private readonly rendezvous: Rendezvous,
    private readonly peer: TagPeer,
    private readonly thresholds: Thresholds,
  ) {
    parts.takeBytes(AmId.EAGER_ONLY, (bytes) => this.#only(bytes));
    parts.take(AmId.EAGER_FIRST, Messages.EAGER_FIRST, ({ head: { tag, total, messageId }, payload }) =>
      this.#first(tagOf(tag), total, messageId, payload),
    );
    parts.take(AmId.EAGER_MIDDLE, Messages.EAGER_MIDDLE, ({ head: { messageId, offset }, payload }) =>
      peer.middle(messageId, offset, payload),
    );
    parts.take(AmId.EAGER_SYNC_ONLY, Messages.EAGER_SYNC_ONLY, ({ head: { tag, requestId }, payload }) =>
      requestId === 0 ? NOBODY : peer.only(tagOf(tag), payload, this.#toTell(requestId)),
    );
    parts.take(
      AmId.EAGER_SYNC_FIRST,
      Messages.EAGER_SYNC_FIRST,
      ({ head: { tag, total, messageId, requestId }, payload }) =>
        requestId === 0 ? NOBODY : this.#first(tagOf(tag), total, messageId, payload, this.#toTell(requestId)),
    );
    parts.take(AmId.EAGER_SYNC_ACK, Messages.EAGER_SYNC_ACK, ({ head: { requestId, status } }) =>
      this.#onMatched(requestId, status),
    );
    rendezvous.take(RtsOpcode.TAG, (receive) => this.#onAnnounced(receive));
  }

  get isWaiting(): boolean {
    return this.#leaving > 0 || this.#unmatched.size > 0 || this.peer.isWaiting;
  }

  /** As `UcpEndpoint.tagSend` and `UcpEndpoint.tagSendSync`. */
  send(call: SendCall, what: UcpData, tag: TagValue, options: WaitOptions | undefined): Promise<void> {
    // Not async: nearly all are done by now, and what V8 makes for one that may wait costs as much as to send it.
    try {
      return this.#begin(call, what, tag, options)?.promise ?? Promise.resolve();
    } catch (error) {
      return rejected(error);
    }
  }

  /** @returns undefined for one that is done. @throws what its promise rejects with */
  #begin(call: SendCall, what: UcpData, tag: TagValue, options: WaitOptions | undefined): PostedSend | undefined {
    checkPieces(call, 'data', what);
    checkTag(call, 'tag', tag);
    if (options !== undefined) {
      checkWait(call, options);
      options.signal?.throwIfAborted();
    }
    const { parts } = this;
    if (parts.failure !== undefined) throw sendError(parts, call, parts.failure);
    const data = bytesToSend(call, parts, what, options);
    const { protocol } = selectProtocol(this.#rangesOf(call), data.length);
    const { counters } = parts.worker;
    if (protocol === Protocol.SHORT && call === 'tagSend' && sendShort(parts, data, tag)) {
      counters.txEager += 1;
      counters.txEagerBytes += data.length;
      return undefined;
    }
    this.#count(counters, call, data.length, protocol);
    const posted = this.#post(call, data, BigInt(tag), protocol);
    if (posted !== undefined && !posted.isSettled && options !== undefined)
      posted.bindCancellation(options, parts.worker.engine);
    return posted;
  }

  /** As `UcpEndpoint.explain`. */
  explain(size: number): string {
    return explainProtocol(this.#rangesOf('tagSend'), size);
  }

  /** By which protocols messages go that are sent by `UcpEndpoint.tagSend`. */
  get protocols(): readonly SizeRange[] {
    return this.#rangesOf('tagSend');
  }

  onEnded(status: UcsStatus): void {
    this.peer.end(status);
    for (const posted of this.#unmatched.values()) posted.onDone(status);
    this.#unmatched.clear();
  }

  #count(counters: Counters, call: SendCall, bytes: number, protocol: Protocol): void {
    if (RENDEZVOUS.includes(protocol)) {
      counters.txRndv += 1;
      return;
    }
    if (call === 'tagSend') counters.txEager += 1;
    else counters.txEagerSync += 1;
    counters.txEagerBytes += bytes;
  }

  /** @returns undefined for one that is done */
  #post(call: SendCall, data: Uint8Array, tag: bigint, protocol: Protocol): PostedSend | undefined {
    const { parts } = this;
    if (RENDEZVOUS.includes(protocol)) {
      const posted = new PostedSend(call, parts);
      const head = { header: tag, opcode: RtsOpcode.TAG, userHeader: NOTHING };
      const send = this.rendezvous.send(data, head, protocol, posted.onDone);
      posted.giveUp = () => send.giveUp();
      return posted;
    }
    return call === 'tagSend' ? this.#postEager(data, tag, protocol) : this.#postSync(data, tag, protocol);
  }

  #postEager(data: Uint8Array, tag: bigint, protocol: Protocol): PostedSend | undefined {
    const { parts } = this;
    const send = new EagerSend(parts, data, tag, protocol, 0);
    const status = send.begin();
    if (status === UcsStatus.UCS_OK) return undefined;
    const posted = new PostedSend('tagSend', parts);
    posted.giveUp = () => void send.giveUp();
    if (status === UcsStatus.UCS_INPROGRESS) this.#leaves(send, posted.onDone);
    else posted.onDone(status);
    return posted;
  }

  #postSync(data: Uint8Array, tag: bigint, protocol: Protocol): PostedSend {
    const { parts } = this;
    const posted = new PostedSyncSend('tagSendSync', parts);
    const requestId = parts.worker.nextNumber();
    this.#unmatched.set(requestId, posted);
    const onSent = (status: UcsStatus): void => {
      if (status !== UcsStatus.UCS_OK) this.#unmatched.delete(requestId);
      posted.onHalf(status);
    };
    const send = new EagerSend(parts, data, tag, protocol, requestId);
    // What was sent may still be matched, and the answer comes then.
    posted.giveUp = () => {
      if (send.giveUp()) this.#unmatched.delete(requestId);
    };
    const status = send.begin();
    if (status === UcsStatus.UCS_INPROGRESS) this.#leaves(send, onSent);
    else onSent(status);
    parts.watch();
    return posted;
  }

  #leaves(send: EagerSend, onSent: (status: UcsStatus) => void): void {
    this.#leaving += 1;
    this.parts.watch();
    send.onSent = (status) => {
      this.#leaving -= 1;
      onSent(status);
    };
  }

  #onMatched(requestId: number, status: UcsStatus): PeerProblem | undefined {
    const posted = this.#unmatched.get(requestId);
    if (posted === undefined) return lie(`request ${requestId} has matched, and there is none`);
    if (status > 0) return lie(`status ${status} is no answer`);
    this.#unmatched.delete(requestId);
    posted.onHalf(status);
    return undefined;
  }

  #only(bytes: Uint8Array): PeerProblem | undefined {
    const at = onlyHeadBytes(false);
    if (bytes.length < at) return lie(`it has ${bytes.length} bytes, and ${at} are needed`);
    return this.peer.only(tagIn(bytes, 0), bytes, undefined, at);
  }

  #first(...message: Parameters<TagPeer['first']>): PeerProblem | undefined {
    this.parts.watch();
    return this.peer.first(...message);
  }

  #toTell(requestId: number): () => void {
    const message = { head: { requestId, status: UcsStatus.UCS_OK } };
    return () => this.parts.say(AmId.EAGER_SYNC_ACK, Messages.EAGER_SYNC_ACK, message);
  }

  #onAnnounced(receive: RendezvousReceive): PeerProblem | undefined {
    const { header, size } = receive.rts.head;
    const announced = this.peer.announced(tagOf(header), size, receive);
    if ('status' in announced) return announced;
    receive.onWithdrawn = (status) => this.peer.withdraw(announced, status);
    return undefined;
  }

  #rangesOf(call: SendCall): readonly SizeRange[] {
    this.#ranges ??= { tagSend: this.#sizeRanges(false), tagSendSync: this.#sizeRanges(true) };
    return this.#ranges[call];
  }

  #sizeRanges(isSync: boolean): readonly SizeRange[] {
    const { capabilities } = this.parts.transport;
    return sizeRanges(capabilities, { only: onlyHeadBytes(isSync) }, this.thresholds);
  }
}

export type SendCall = 'tagSend' | 'tagSendSync';
