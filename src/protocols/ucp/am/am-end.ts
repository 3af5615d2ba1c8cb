import { type ValuesOf, viewOf } from '../../../device/wire/index.js';
import { invalid, refuse, show } from '../../../api/verbs/index.js';
import { checkWait, type WaitOptions } from '../../core/index.js';
import {
  partOf,
  type PeerProblem,
  Protocol,
  selectProtocol,
  type SizeRange,
  sizeRanges,
  steady,
  type Thresholds,
} from '../protocol/index.js';
import { AM_HEADER, AmFlags, amHeaderOf, AmId, amSingleIn, Messages, RtsOpcode, UcsStatus } from '../wire/index.js';
import { checkView, checkPieces, type UcpData } from '../worker/pieces.js';
import type { EndpointParts, Family } from '../worker/endpoint-parts.js';
import { lie, rejected } from '../worker/errors.js';
import { PostedSend, sendError, bytesToSend } from '../worker/posted-send.js';
import type { Rendezvous } from '../worker/rendezvous.js';
import type { RendezvousReceive } from '../worker/rendezvous-receive.js';
import { AmAssembly, type AmHead } from './am-assembly.js';
import { amBeside, amHeadOf, AmSend, maxAmHeader, sendShort } from './am-send.js';
import { AmMessage } from './am-message.js';
import { type KeptBytes, MESSAGE_COST } from '../worker/kept-bytes.js';

export interface AmTakers<Endpoint> {
  readonly kept: KeptBytes;
  /** Whether somebody takes messages to an id; one to any other is counted as dropped. */
  isWanted(id: number): boolean;
  hand(id: number, message: AmMessage<Endpoint>, from: AmSource): void;
}

export type AmSource = Pick<EndpointParts, 'isClosed' | 'distrust'>;

/** The last id that a message may be sent to. */
export const MAX_AM_ID = 0xffff;

/** How {@link UcpEndpoint.amSend} sends. */
export interface AmSendOptions extends WaitOptions {
  /** Whether the receiver is given an endpoint to answer by. Default: no. */
  readonly reply?: boolean | undefined;
  /** Whether the data goes at once, or when the receiver fetches it. Default: by its length. */
  readonly protocol?: 'eager' | 'rendezvous' | undefined;
}

const SEND_FIELDS = { signal: true, timeoutMs: true, reply: true, protocol: true } as const;
const RENDEZVOUS: readonly Protocol[] = [Protocol.RNDV_GET, Protocol.RNDV_PUT, Protocol.RNDV_AM];
const NOTHING = new Uint8Array(0);
const WISHES: readonly unknown[] = ['eager', 'rendezvous'];
/** From how many bytes on data is announced. */
const RNDV_FROM = { eager: Infinity, rendezvous: 0 } as const;

interface Arrival extends AmHead {
  readonly header: Uint8Array;
  readonly data: Uint8Array | undefined;
  readonly announced: RendezvousReceive | undefined;
  readonly isOwned: boolean;
  readonly cost: number;
}

/** The family of active messages at an endpoint: what is sent, and what comes. */
export class AmEnd<Endpoint> implements Family {
  readonly #assembly: AmAssembly;
  /** For the last message, since the next is often alike. */
  #selection: { header: number; wish: AmSendOptions['protocol']; ranges: readonly SizeRange[] } | undefined;
  /** What came before the transport is there: its handler could not answer. */
  #early: Arrival[] | undefined = [];

  constructor(
    private readonly parts: EndpointParts,
    private readonly rendezvous: Rendezvous,
    private readonly takers: AmTakers<Endpoint>,
    private readonly thresholds: Thresholds,
    private readonly endpoint: () => Endpoint,
  ) {
    this.#assembly = new AmAssembly(takers.kept);
    parts.takeBytes(AmId.AM_SINGLE, (bytes) => this.#onSingle(bytes));
    parts.take(AmId.AM_SINGLE_REPLY, Messages.AM_SINGLE_REPLY, ({ head, userHeader, payload }) =>
      this.#onWhole(head.amId, true, userHeader, payload),
    );
    parts.take(AmId.AM_FIRST, Messages.AM_FIRST, (message) => {
      const head = headOf(message.head);
      return this.#assembly.first(message, head, this.#isWanted(head));
    });
    parts.take(AmId.AM_MIDDLE, Messages.AM_MIDDLE, (message) => {
      const whole = this.#assembly.middle(message);
      if (whole === undefined || 'status' in whole) return whole;
      this.#count(whole.data.length);
      this.#deliver({ ...whole, announced: undefined, isOwned: true });
      return undefined;
    });
    rendezvous.take(RtsOpcode.AM, (receive) => this.#onAnnounced(receive));
    parts.go({ retry: () => this.#begin() });
  }

  get isWaiting(): boolean {
    return this.#assembly.isOpen;
  }

  /** As `UcpEndpoint.maxAmHeader`. */
  get maxHeader(): number {
    return maxAmHeader(this.parts.transport.capabilities.am.bcopy);
  }

  /** As `UcpEndpoint.amSend`. */
  send(id: number, header: Uint8Array, what: UcpData, options: AmSendOptions): Promise<void> {
    // Not async: nearly all are done by now, and what V8 makes for one that may wait costs as much as to send it.
    try {
      return this.#send(id, header, what, options)?.promise ?? Promise.resolve();
    } catch (error) {
      return rejected(error);
    }
  }

  /** @returns undefined for one that is done. @throws what its promise rejects with */
  #send(id: number, header: Uint8Array, what: UcpData, options: AmSendOptions): PostedSend | undefined {
    checkId('amSend', id);
    checkView('amSend', 'header', header);
    checkPieces('amSend', 'data', what);
    checkOptions(options);
    const { parts, maxHeader } = this;
    if (header.length > maxHeader)
      refuse('amSend', invalid(`the header has ${header.length} bytes`, `It may have ${maxHeader}`));
    options.signal?.throwIfAborted();
    if (parts.failure !== undefined) throw sendError(parts, 'amSend', parts.failure);
    const data = bytesToSend('amSend', parts, what, options);
    const protocol = this.#protocolFor(header.length, data.length, options.protocol);
    const isRendezvous = RENDEZVOUS.includes(protocol);
    const { counters } = parts.worker;
    if (isRendezvous) counters.txAmRndv += 1;
    else {
      counters.txAmEager += 1;
      counters.txAmBytes += data.length;
    }
    if (protocol === Protocol.SHORT && sendShort(parts, id, steady(header), data, options.reply === true))
      return undefined;
    const posted = new PostedSend('amSend', parts);
    if (isRendezvous) this.#announce(posted, id, header, data, options, protocol);
    else this.#sendNow(posted, id, steady(header), data, options, protocol);
    if (!posted.isSettled) posted.bindCancellation(options, parts.worker.engine);
    return posted;
  }

  onEnded(): void {
    for (const { cost } of this.#early ?? []) this.takers.kept.give(cost);
    this.#early = undefined;
    this.#assembly.end();
  }

  #sendNow(
    posted: PostedSend,
    id: number,
    header: Uint8Array,
    data: Uint8Array,
    { reply = false }: AmSendOptions,
    protocol: Protocol,
  ): void {
    const send = new AmSend(this.parts, id, header, data, reply, protocol);
    send.onSent = posted.onDone;
    posted.giveUp = () => send.giveUp();
    const status = send.begin();
    if (status !== UcsStatus.UCS_INPROGRESS) posted.onDone(status);
  }

  #announce(
    posted: PostedSend,
    id: number,
    header: Uint8Array,
    data: Uint8Array,
    { reply = false }: AmSendOptions,
    protocol: Protocol,
  ): void {
    const said = new Uint8Array(AM_HEADER.bytes);
    AM_HEADER.write(viewOf(said), 0, amHeadOf(id, header, reply));
    const head = {
      header: viewOf(said).getBigUint64(0, true),
      opcode: RtsOpcode.AM,
      userHeader: partOf(header, 0, header.byteLength).slice(),
    };
    const send = this.rendezvous.send(data, head, protocol, posted.onDone);
    posted.giveUp = () => send.giveUp();
  }

  #protocolFor(header: number, data: number, wish: AmSendOptions['protocol']): Protocol {
    const last = this.#selection;
    if (last?.header === header && last.wish === wish) return selectProtocol(last.ranges, data).protocol;
    const thresholds = { ...this.thresholds, zcopy: Infinity, ...(wish !== undefined && { rndv: RNDV_FROM[wish] }) };
    const ranges = sizeRanges(this.parts.transport.capabilities, { only: amBeside(header) }, thresholds);
    this.#selection = { header, wish, ranges };
    return selectProtocol(ranges, data).protocol;
  }

  #onSingle(bytes: Uint8Array): PeerProblem | undefined {
    const said = amSingleIn(bytes);
    if (typeof said === 'string') return lie(said);
    const { amId, flags, headerBytes } = said;
    const headerAt = bytes.length - headerBytes;
    const header = headerBytes === 0 ? NOTHING : bytes.subarray(headerAt);
    return this.#onWhole(amId, (flags & AmFlags.REPLY) !== 0, header, bytes.subarray(AM_HEADER.bytes, headerAt));
  }

  #onWhole(amId: number, canReply: boolean, header: Uint8Array, data: Uint8Array): PeerProblem | undefined {
    if (!this.takers.isWanted(amId)) return undefined;
    const cost = MESSAGE_COST + header.length + data.length;
    const problem = this.takers.kept.take(cost);
    if (problem !== undefined) return problem;
    this.#count(data.length);
    this.#deliver({ amId, canReply, header, data, announced: undefined, isOwned: false, cost });
    return undefined;
  }

  #count(bytes: number): void {
    const { counters } = this.parts.worker;
    counters.rxAmMsg += 1;
    counters.rxAmBytes += bytes;
  }

  #onAnnounced(announced: RendezvousReceive): PeerProblem | undefined {
    const said = amHeaderOf(announced.rts.head.header);
    // What makes no sense was not decoded.
    if (typeof said === 'string') return { status: UcsStatus.UCS_ERR_IO_ERROR, text: said };
    const head = headOf(said);
    if (!this.#isWanted(head)) {
      announced.discard();
      return undefined;
    }
    const header = announced.rts.userHeader;
    const cost = MESSAGE_COST + header.length;
    const problem = this.takers.kept.take(cost);
    if (problem !== undefined) return problem;
    this.parts.worker.counters.rxAmRndvRts += 1;
    this.#deliver({ ...head, header, data: undefined, announced, isOwned: true, cost });
    return undefined;
  }

  #begin(): UcsStatus {
    const early = this.#early ?? [];
    this.#early = undefined;
    for (const arrival of early) {
      // A handler may have closed the endpoint: nothing more comes to it.
      if (this.parts.isClosed) this.takers.kept.give(arrival.cost);
      else this.#hand(arrival);
    }
    return UcsStatus.UCS_OK;
  }

  #deliver(arrival: Arrival): void {
    if (this.#early === undefined) {
      this.#hand(arrival);
      return;
    }
    const { header, data } = arrival;
    this.#early.push({ ...arrival, header: header.slice(), data: data?.slice(), isOwned: true });
  }

  #hand({ amId: id, canReply, header, data, announced, isOwned, cost }: Arrival): void {
    const { takers } = this;
    const { kept } = takers;
    const { engine } = this.parts.worker;
    const replyEndpoint = canReply ? this.endpoint() : undefined;
    const message = new AmMessage({ id, header, data, announced, isOwned, replyEndpoint, engine, kept, cost });
    takers.hand(id, message, this.parts);
  }

  #isWanted({ amId }: AmHead): boolean {
    return this.takers.isWanted(amId);
  }
}

function headOf({ amId, flags }: ValuesOf<typeof AM_HEADER>): AmHead {
  return { amId, canReply: (flags & AmFlags.REPLY) !== 0 };
}

/** @throws VerbsError EINVAL */
export function checkId(call: string, id: number): void {
  const isId = Number.isInteger(id) && id >= 0 && id <= MAX_AM_ID;
  if (!isId) refuse(call, invalid(`the id is ${show(id)}`, `It is 0 to ${MAX_AM_ID}`));
}

/** @throws VerbsError EINVAL */
function checkOptions(options: AmSendOptions): void {
  checkWait('amSend', options, SEND_FIELDS);
  const { reply, protocol } = options;
  if (reply !== undefined && typeof reply !== 'boolean')
    refuse('amSend', invalid(`reply is ${show(reply)}`, 'It is a boolean'));
  if (protocol !== undefined && !WISHES.includes(protocol))
    refuse('amSend', invalid(`protocol is ${show(protocol)}`, "It is 'eager' or 'rendezvous'"));
}
