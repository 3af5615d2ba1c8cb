// One end of a stream, as a machine that does no I/O: it is asked what may be sent, and told what was sent, what has completed and what has come.
//
// Where its rules have their sources (protocol/rsockets.md 5.3, 5.4):
//   what is said, byte for byte                  rsocket.c of rdma-core, and packets between two of its hosts (test/golden/rstream.pcap)
//   outgoing.ts    credits, buffers, chunks      rs_can_send, rs_write_data, rsend
//   incoming.ts    halves, when credit is told   rs_send_credits, rs_give_credits, rrecv
//   phases.ts      who ends what, and says so    rshutdown, rs_poll_cq
import { assert } from '../../../device/ibta/index.js';
import {
  type ConnectionData,
  decodeConnectionData,
  RSOCKET_VERSION,
  type Span,
  SPAN_BYTES,
} from '../wire/connection-data.js';
import {
  Control,
  immediateOf,
  immediateProblem,
  IOMAP_ENTRY_BYTES,
  type IomapEntry,
  Operation,
  operationOf,
  rulesOf,
  valueOf,
} from '../wire/message.js';
import { Incoming } from './incoming.js';
import { type Announcement, Mapped, Offers } from './mappings.js';
import { CONTROL_SLOTS, FIRST_CHUNK, LOW_WATER, MAX_CHUNK, MAX_QUEUE } from './limits.js';
import { Outgoing, spanProblem } from './outgoing.js';
import { type Ending, type Phase, type PhaseRules, PHASES } from './phases.js';
import { SendRing } from './send-ring.js';

/** Buffers that an end can be told of at a time. */
export const TARGETS = 2;

/** What somebody says of itself, or why no stream can be made with it. */
export function readPeer(privateData: Uint8Array): ConnectionData | string {
  const peer = decodeConnectionData(privateData);
  if (peer === undefined) return `it says ${privateData.length} bytes of itself, too few for an rsocket`;
  return peerProblem(peer) ?? peer;
}

/** Why an end that says that of itself cannot be a peer. */
export function peerProblem({ version, credits, targets, data }: ConnectionData): string | undefined {
  if (version !== RSOCKET_VERSION)
    return `it speaks version ${version} of rsockets, this end version ${RSOCKET_VERSION}`;
  if (credits === 0 || credits > MAX_QUEUE) return `it has room for ${credits} messages`;
  if (targets.length !== TARGETS) return `it can be told of ${targets.length} buffers at a time, not of ${TARGETS}`;
  const problem = spanProblem(data);
  return problem && `it names ${problem}`;
}

export interface Sizes {
  readonly sqSize: number;
  readonly rqSize: number;
  readonly inlineBytes: number;
  readonly sendBufferBytes: number;
  readonly receiveBufferBytes: number;
  readonly iomapSize: number;
}

export type Heard = 'data' | 'credit' | 'ending' | 'nothing' | 'lie';

export interface ControlMessage {
  immediate: number;
  /** Names the half of the receive buffer that begins at {@link ControlMessage.grantAt}, in that entry of the peer's. */
  hasGrant: boolean;
  grantAt: number;
  entry: 0 | 1;
}

/** The peer's memory, where it has written what messages speak of. */
export interface Told {
  /** The buffer that the peer has named in an entry. */
  target(entry: 0 | 1): Span;
  mapping(index: number): IomapEntry;
}

export class StreamProtocol {
  readonly incoming: Incoming;
  readonly outgoing: Outgoing;
  readonly ring: SendRing;
  readonly offers: Offers;
  readonly mapped = new Mapped();
  /** What the peer has lied about. */
  lie = '';
  #phase: Phase = 'OPEN';
  #dataSlots: number;
  #controlSlots = CONTROL_SLOTS;
  #unacknowledged = 0;
  /** What is to be said once a slot is free. */
  readonly #saying: Control[] = [];
  readonly #control: ControlMessage = { immediate: 0, hasGrant: false, grantAt: 0, entry: 0 };

  constructor(
    private readonly sizes: Sizes,
    peer: ConnectionData,
    private readonly told: Told,
  ) {
    this.incoming = new Incoming(sizes.receiveBufferBytes, sizes.rqSize);
    this.outgoing = new Outgoing(peer);
    this.ring = new SendRing(sizes.sendBufferBytes);
    this.offers = new Offers(peer.iomapSize);
    this.#dataSlots = sizes.sqSize - CONTROL_SLOTS;
  }

  get phase(): Phase {
    return this.#phase;
  }

  get rules(): PhaseRules {
    return PHASES[this.#phase];
  }

  /** Bytes of data under way. */
  get unacknowledged(): number {
    return this.#unacknowledged;
  }

  /** Whether both directions have ended. */
  get hasEnded(): boolean {
    const { reads, writes } = this.rules;
    return !reads && !writes;
  }

  /** Whether they have, and the peer's adapter has all data: nothing is missing then, whatever else happens. */
  get isWhole(): boolean {
    return this.hasEnded && this.#unacknowledged === 0;
  }

  /** Whether they have, and the peer's adapter has all that was sent. */
  get isDone(): boolean {
    return this.hasEnded && this.#dataSlots + this.#controlSlots === this.sizes.sqSize && this.#saying.length === 0;
  }

  /** Whether {@link chunk} is more than nothing. */
  get canSend(): boolean {
    return (
      this.rules.writes &&
      this.#dataSlots > 0 &&
      this.outgoing.room > 0 &&
      this.outgoing.credits > 0 &&
      this.offers.next === undefined &&
      this.ring.free >= LOW_WATER
    );
  }

  /**
   * Whether it is worth to write again after not all was taken. Who wrote as soon as there is room for a little would send little for ever,
   * as each little message makes room for another such.
   */
  get isRoomy(): boolean {
    return this.canSend && 2 * this.ring.free >= this.ring.size;
  }

  /** Whether data, or an announcement, waits for the peer, and nothing is under way that would fail if the peer were gone. @param hasData whether there is data to be sent */
  awaitsPeer(hasData: boolean): boolean {
    const { outgoing, offers, rules, sizes } = this;
    if (!rules.writes || this.#dataSlots + this.#controlSlots < sizes.sqSize) return false;
    const isRefused = outgoing.credits === 0 || outgoing.room === 0;
    return isRefused && (hasData || offers.next !== undefined);
  }

  /** Bytes that the first message of a call has at the most. One that waits behind others may be long at once. */
  get firstChunk(): number {
    return this.#unacknowledged === 0 ? FIRST_CHUNK : MAX_CHUNK;
  }

  /** As {@link isRoomy}, of {@link mappedChunk}. */
  get isRoomyForMapped(): boolean {
    return this.rules.writes && this.#dataSlots > 0 && 2 * this.ring.free >= this.ring.size;
  }

  /** Why nothing can be sent, though this end may. */
  get stall(): string | undefined {
    const { outgoing, ring } = this;
    if (outgoing.credits === 0) return 'the peer has room for no more messages until its program has read some';
    if (outgoing.room === 0) return 'the peer has named no buffer for more: its program has to read first';
    if (this.#dataSlots === 0)
      return `all ${this.sizes.sqSize - CONTROL_SLOTS} requests for data are under way: the peer's adapter has not acknowledged them`;
    if (ring.free < LOW_WATER)
      return `of ${ring.size} bytes of the send buffer ${ring.size - ring.free} are under way: the peer's adapter has not acknowledged them`;
    return undefined;
  }

  /**
   * How many bytes the next message of data has, 0 for none that can be sent now. Up to `inlineBytes` go into the request, more through the
   * send buffer.
   *
   * @param wanted bytes that there are to send
   * @param most bytes that it should have at the most
   */
  chunk(wanted: number, most: number): number {
    const { outgoing, offers } = this;
    // What is mapped is known to the peer before data that was written later.
    if (outgoing.credits === 0 || offers.next !== undefined) return 0;
    return this.mappedChunk(Math.min(wanted, outgoing.room), most);
  }

  /** As {@link chunk}, of what goes to a mapped buffer: without a message, and so without credit. */
  mappedChunk(wanted: number, most: number): number {
    const { ring } = this;
    if (!this.rules.writes || this.#dataSlots === 0) return 0;
    const byteLength = Math.min(wanted, most, MAX_CHUNK);
    if (byteLength <= this.sizes.inlineBytes) return byteLength;
    return ring.free < Math.min(byteLength, LOW_WATER) ? 0 : Math.min(byteLength, ring.free);
  }

  /** Whether a message of so many bytes goes into the request. */
  isInline(byteLength: number): boolean {
    return byteLength <= this.sizes.inlineBytes;
  }

  sentData(byteLength: number): void {
    this.outgoing.sent(byteLength);
    this.sentMapped(byteLength);
  }

  /** Bytes for a mapped buffer were posted. */
  sentMapped(byteLength: number): void {
    if (!this.isInline(byteLength)) this.ring.take(byteLength);
    this.#dataSlots -= 1;
    this.#unacknowledged += byteLength;
  }

  /** What the peer is to be told of mapped buffers, once there is credit. */
  nextAnnouncement(): Announcement | undefined {
    const canSend = this.rules.writes && this.#dataSlots > 0 && this.outgoing.credits > 0;
    return canSend ? this.offers.next : undefined;
  }

  announced(): void {
    this.offers.told();
    this.outgoing.count();
    this.#dataSlots -= 1;
  }

  /** The peer's adapter has a message of data, bytes for a mapped buffer, or an announcement, which has none. */
  completedData(byteLength: number): void {
    if (!this.isInline(byteLength)) this.ring.giveBack(byteLength);
    this.#dataSlots += 1;
    this.#unacknowledged -= byteLength;
  }

  /** The peer's adapter has a message of the protocol itself. */
  completedControl(): void {
    this.#controlSlots += 1;
    assert(this.#controlSlots <= CONTROL_SLOTS, 'more messages of the protocol complete than were sent');
  }

  /** What of the protocol itself is to be sent now, which it then is; undefined when there is nothing, or too much under way. */
  nextControl(): ControlMessage | undefined {
    if (this.#controlSlots === 0) return undefined;
    const { incoming } = this;
    const control = this.#control;
    control.hasGrant = false;
    if (this.rules.grants && incoming.isCreditDue) {
      control.immediate = immediateOf(Operation.SGL, incoming.limit);
      control.hasGrant = incoming.isHalfDue;
      control.grantAt = incoming.grantAt;
      control.entry = incoming.entry;
      incoming.tell();
    } else {
      const said = this.#saying.shift();
      if (said === undefined) return undefined;
      control.immediate = immediateOf(Operation.CTRL, said);
    }
    this.#controlSlots -= 1;
    return control;
  }

  /** Takes a slot for what says nothing but that this end is there. @returns whether one was free */
  takeControlSlot(): boolean {
    if (this.#controlSlots === 0) return false;
    this.#controlSlots -= 1;
    return true;
  }

  /** Something ends. @returns whether that changes anything */
  end(ending: Ending): boolean {
    const { next, say } = this.rules.steps[ending];
    const hasChanged = next !== this.#phase;
    this.#phase = next;
    if (say !== undefined) this.#saying.push(say);
    if (next === 'DEAF') this.incoming.consume(this.incoming.unread);
    return hasChanged;
  }

  /**
   * A message has come.
   *
   * @param byteLength what it has written
   */
  hear(immediate: number, byteLength: number): Heard {
    const problem = immediateProblem(immediate) ?? lengthProblem(immediate, byteLength);
    if (problem !== undefined) return this.#lied(problem);
    const value = valueOf(immediate);
    switch (operationOf(immediate)) {
      case Operation.DATA:
        return this.#hearData(value);
      case Operation.SGL:
        return this.#hearCredit(value, byteLength > 0);
      case Operation.IOMAP_SGL:
        return this.#hearEntry(value);
      default:
        return this.#hearControl(value);
    }
  }

  #hearData(byteLength: number): Heard {
    const { incoming, rules } = this;
    if (rules.data === 'a lie') return this.#lied('DATA after it has ended that direction');
    const isKept = rules.data === 'kept';
    const problem = incoming.data(byteLength, isKept);
    if (problem !== undefined) return this.#lied(problem);
    return isKept ? 'data' : 'nothing';
  }

  #hearCredit(limit: number, hasBuffer: boolean): Heard {
    const { outgoing } = this;
    const problem = outgoing.grant(limit, hasBuffer ? this.told.target(outgoing.awaited) : undefined);
    return problem === undefined ? 'credit' : this.#lied(`SGL: ${problem}`);
  }

  #hearEntry(index: number): Heard {
    const { iomapSize } = this.sizes;
    if (index >= iomapSize) return this.#lied(`IOMAP_SGL with index ${index} of a table of ${iomapSize}`);
    const problem = this.incoming.other() ?? this.mapped.set(index, this.told.mapping(index));
    return problem === undefined ? 'credit' : this.#lied(`IOMAP_SGL: ${problem}`);
  }

  #hearControl(control: number): Heard {
    if (control === Control.KEEPALIVE) return 'nothing';
    return this.end(control === Control.SHUTDOWN ? 'hearShutdown' : 'hearDisconnect') ? 'ending' : 'nothing';
  }

  #lied(lie: string): Heard {
    this.lie = lie;
    return 'lie';
  }
}

function lengthProblem(immediate: number, byteLength: number): string | undefined {
  const operation = operationOf(immediate);
  const name = rulesOf(operation)?.name ?? '';
  const value = valueOf(immediate);
  switch (operation) {
    case Operation.DATA:
      return byteLength === value ? undefined : `DATA of ${value} bytes, with ${byteLength} written`;
    case Operation.SGL:
      return byteLength === 0 || byteLength === SPAN_BYTES ? undefined : `SGL with ${byteLength} bytes written`;
    case Operation.IOMAP_SGL:
      return byteLength === IOMAP_ENTRY_BYTES ? undefined : `IOMAP_SGL with ${byteLength} bytes written`;
    default:
      return byteLength === 0 ? undefined : `${name} with ${byteLength} bytes written`;
  }
}
