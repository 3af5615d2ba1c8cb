import { ipFromGid } from '../../../../device/ibta/index.js';
import { BufferSupply, type Lease } from '../../../core/index.js';
import {
  amIdOfWord,
  amWord,
  decodeUdControl,
  encodeUdControl,
  kindOfWord,
  MAX_UD_CONTROL_BYTES,
  UcsStatus,
  UD_HEADER_BYTES,
  udAckPsnAt,
  type UdConnectReply,
  type UdConnectRequest,
  UdControlType,
  UdFlags,
  UdKind,
  udPsnAt,
  udWordAt,
} from '../../wire/index.js';
import {
  AmHandlers,
  isAm,
  isPlace,
  type Completion,
  type Endpoint,
  type LocalPlace,
  type Packer,
  type Waiting,
} from '../endpoint.js';
import type { Capabilities, Way } from '../capabilities.js';
import { FlushQueue, PendingQueue } from '../waits.js';
import { GRH_BYTES, isFromGid, type UdAddress } from './addresses.js';
import type { Addressee } from './addressee.js';
import { OWNER } from './carrier.js';
import { Farewell } from './farewell.js';
import { ReliableChannel, type ReliableChannelParts } from './reliable-channel.js';
import { Arrival, FIRST_PSN } from './windows.js';

const SHORT_BYTES = 256;
const SHORT = SHORT_BYTES - UD_HEADER_BYTES;
const MOST_EARLY = 256;

/** What endpoints need of their interface. */
export interface UdOwner extends ReliableChannelParts {
  /** Whether one more datagram that came early may be kept. */
  mayKeep(): boolean;
  kept(count: number): void;
  /** {@link UdEndpoint.progress} is to be called when there is room. */
  lacksRoom(endpoint: UdEndpoint): void;
  onOpen(endpoint: UdEndpoint): void;
  /** Nothing goes any more, for the first time. */
  onFailed(endpoint: UdEndpoint, status: UcsStatus): void;
  /** Its number is nobody's any more. */
  onForgotten(endpoint: UdEndpoint): void;
}

/** Who the peer is. */
export interface UdPeer extends UdAddress {
  /** Its endpoint, by its own number; `NO_UD_ENDPOINT` while that is not known. */
  readonly endpoint: number;
  /** Bytes of the longest datagram that it takes. */
  readonly segmentBytes: number;
}

const Stage = {
  /** The peer was asked for it. */
  ASKING: 0,
  /** The peer has asked, was answered, and has not said that it knows. */
  ANSWERING: 1,
  OPEN: 2,
  OVER: 3,
} as const;
type Stage = (typeof Stage)[keyof typeof Stage];

function capabilitiesFor(segmentBytes: number): Capabilities {
  const most = segmentBytes - UD_HEADER_BYTES;
  const short = Math.min(SHORT, most);
  return {
    am: { short, bcopy: most, zcopy: most, header: short },
    put: { short: 0, bcopy: 0, zcopy: 0 },
    get: { bcopy: 0, zcopy: 0 },
    atomics: { 4: [], 8: [] },
  };
}

/** A way to a peer by datagrams. */
export class UdEndpoint implements Endpoint {
  /** Is told once why nothing goes any more. */
  onFailure: ((status: UcsStatus) => void) | undefined;

  readonly #line: ReliableChannel;
  readonly #pending = new PendingQueue();
  readonly #flushes = new FlushQueue();
  #capabilities: Capabilities;
  #peer: UdPeer;
  #stage: Stage = Stage.ASKING;
  #failure: UcsStatus | undefined;
  #farewell: Farewell | undefined;
  #hasHeard = true;
  readonly #leases: BufferSupply;

  /**
   * @param id by which the peer knows it
   * @param handlers take what comes
   * @param connection which of this interface's it is, or the peer's that has asked
   */
  constructor(
    private readonly owner: UdOwner,
    readonly id: number,
    peer: UdPeer,
    private readonly to: Addressee,
    readonly connection: number,
    readonly handlers: AmHandlers = new AmHandlers(),
  ) {
    this.#peer = peer;
    this.#leases = new BufferSupply(owner.carrier.engine.pool, OWNER, () => this.#pending.dispatch());
    this.#capabilities = this.#capabilitiesWith(peer);
    this.#line = new ReliableChannel(owner, to, {
      onDead: () => this.fail(UcsStatus.UCS_ERR_ENDPOINT_TIMEOUT),
      onProgress: () => this.progress(),
    });
    this.#line.peer = peer.endpoint;
  }

  get capabilities(): Capabilities {
    return this.#capabilities;
  }

  get way(): Way {
    const [localAddress, remoteAddress] = [this.owner.carrier.address, this.#peer].map(({ gid }) => ({
      host: ipFromGid(gid),
    }));
    return { transport: 'ud', localAddress, remoteAddress };
  }

  get failure(): UcsStatus | undefined {
    return this.#failure;
  }

  get peer(): UdPeer {
    return this.#peer;
  }

  /** Whether the connection is there, as far as this end knows. */
  get isOpen(): boolean {
    return this.#stage === Stage.OPEN;
  }

  /** Whether the peer has asked for it, and has not said that it knows the answer. */
  get isHalfOpen(): boolean {
    return this.#stage === Stage.ANSWERING;
  }

  /** Asks the peer for a connection. @param timeoutMs how long it may take to answer */
  ask(timeoutMs: number): void {
    const { carrier } = this.owner;
    const { gid, qpn } = carrier.address;
    this.#line.protocol.timeoutMs = timeoutMs;
    const own = this.#self();
    this.#handshake({ type: UdControlType.CREQ, qpn, gid, endpoint: this.id, connection: this.connection, ...own });
  }

  /** Answers the peer, which has asked. @param timeoutMs how long it may take to say that it knows */
  answer(timeoutMs: number): void {
    this.#stage = Stage.ANSWERING;
    this.#line.protocol.timeoutMs = timeoutMs;
    this.#line.protocol.arrived(FIRST_PSN);
    this.#handshake({ type: UdControlType.CREP, endpoint: this.id, ...this.#self() });
  }

  amShort(id: number, header: Uint8Array, payload: Uint8Array): UcsStatus {
    const bytes = header.length + payload.length;
    const refusal = this.#refusal(isAm(id, bytes, this.#capabilities.am.short));
    if (refusal !== undefined) return refusal;
    const lease = this.#leases.take(SHORT_BYTES);
    if (lease === undefined) return UcsStatus.UCS_ERR_NO_RESOURCE;
    lease.bytes.set(header, UD_HEADER_BYTES);
    lease.bytes.set(payload, UD_HEADER_BYTES + header.length);
    return this.#send(id, lease, bytes);
  }

  amBcopy(id: number, packer: Packer): UcsStatus {
    const { bcopy } = this.#capabilities.am;
    const refusal = this.#refusal(isAm(id, 0, bcopy));
    if (refusal !== undefined) return refusal;
    const lease = this.#leases.take(UD_HEADER_BYTES + bcopy);
    if (lease === undefined) return UcsStatus.UCS_ERR_NO_RESOURCE;
    let bytes: number;
    try {
      bytes = packer.pack(lease.bytes.subarray(UD_HEADER_BYTES, UD_HEADER_BYTES + bcopy));
    } catch (error) {
      lease.release();
      throw error;
    }
    return this.#send(id, lease, bytes);
  }

  amZcopy(id: number, header: Uint8Array, payload: LocalPlace, completion: Completion): UcsStatus {
    const { am } = this.#capabilities;
    const isGood = isAm(id, header.length, am.header) && isPlace(payload, am.zcopy - header.length);
    const refusal = this.#refusal(isGood);
    if (refusal !== undefined) return refusal;
    const lease = this.#leases.take(SHORT_BYTES);
    if (lease === undefined) return UcsStatus.UCS_ERR_NO_RESOURCE;
    lease.bytes.set(header, UD_HEADER_BYTES);
    const status = this.#send(id, lease, header.length, payload, completion);
    return status === UcsStatus.UCS_OK ? UcsStatus.UCS_INPROGRESS : status;
  }

  putShort(): UcsStatus {
    return UcsStatus.UCS_ERR_UNSUPPORTED;
  }

  putBcopy(): UcsStatus {
    return UcsStatus.UCS_ERR_UNSUPPORTED;
  }

  putZcopy(): UcsStatus {
    return UcsStatus.UCS_ERR_UNSUPPORTED;
  }

  getBcopy(): UcsStatus {
    return UcsStatus.UCS_ERR_UNSUPPORTED;
  }

  getZcopy(): UcsStatus {
    return UcsStatus.UCS_ERR_UNSUPPORTED;
  }

  atomic(): UcsStatus {
    return UcsStatus.UCS_ERR_UNSUPPORTED;
  }

  pendingAdd(waiting: Waiting): void {
    this.#pending.add(waiting);
    // Room that has come meanwhile would be told to nobody else.
    this.owner.carrier.engine.nextTurn(() => this.#pending.dispatch());
  }

  pendingPurge(): Waiting[] {
    return this.#pending.purge();
  }

  check(): void {
    // Its line asks by itself, as often as its interface says.
  }

  flush(completion: Completion): UcsStatus {
    if (this.#failure !== undefined) return this.#failure;
    const status = this.#flushes.flush(completion);
    if (status === UcsStatus.UCS_INPROGRESS) {
      this.#line.protocol.ask();
      this.#line.progressSoon();
    }
    return status;
  }

  /** Ends it, and tells the peer: what is under way fails with UCS_ERR_CANCELED. Idempotent. */
  close(): void {
    this.fail(UcsStatus.UCS_ERR_CANCELED);
  }

  /** @internal Nothing goes any more. */
  fail(status: UcsStatus): void {
    if (this.#failure !== undefined) return;
    const wasOpen = this.isOpen;
    this.#failure = status;
    this.#stage = Stage.OVER;
    this.#leases.end();
    this.owner.kept(-this.#line.protocol.receives.clear());
    this.#line.end(status);
    this.#flushes.fail(status);
    this.#pending.dispatch();
    this.owner.onFailed(this, status);
    this.onFailure?.(status);
    // Who has said so itself knows.
    const isToTell = status !== UcsStatus.UCS_ERR_CONNECTION_RESET && this.owner.carrier.failure === undefined;
    if (wasOpen && isToTell) this.#sayFarewell();
    else this.forget();
  }

  /** @internal Its number is nobody's any more. Idempotent. */
  forget(): void {
    this.#farewell?.end();
    this.to.end();
    this.owner.onForgotten(this);
  }

  /** Whether a datagram comes from the peer. */
  isFrom(bytes: Uint8Array, qpn: number): boolean {
    return qpn === this.#peer.qpn && isFromGid(bytes, this.#peer.gid);
  }

  /** Takes a datagram that comes from the peer, behind what the adapter has put there. */
  take(bytes: Uint8Array): void {
    const word = udWordAt(bytes, GRH_BYTES);
    const kind = kindOfWord(word);
    const control = kind === UdKind.CTL ? decodeUdControl(bytes.subarray(GRH_BYTES + UD_HEADER_BYTES)) : undefined;
    if (kind === UdKind.UNKNOWN || typeof control === 'string') {
      this.owner.counters.drop('malformed');
      return;
    }
    if (control?.type === UdControlType.GONE) this.#onGone(control.endpoint);
    else if (this.#farewell !== undefined) this.#farewell.again();
    else this.#takeInOrder(bytes, word, kind, control);
  }

  /** Sends what is due, and has those try that wait. */
  progress(): void {
    if (this.#failure !== undefined) return;
    if (!this.#line.progress()) this.owner.lacksRoom(this);
    this.#pending.dispatch();
  }

  /** A while has passed: where nothing was heard, the peer is to say something. */
  keepAlive(): void {
    if (!this.#hasHeard && this.isOpen) {
      this.#line.probe();
    }
    this.#hasHeard = false;
  }

  #capabilitiesWith({ segmentBytes }: UdPeer): Capabilities {
    return capabilitiesFor(Math.min(segmentBytes, this.owner.carrier.segmentBytes));
  }

  #self() {
    const { segmentBytes, address } = this.owner.carrier;
    return { segmentBytes, qkey: address.qkey };
  }

  #refusal(isGood: boolean): UcsStatus | undefined {
    if (this.#failure !== undefined) return this.#failure;
    if (!isGood) return UcsStatus.UCS_ERR_INVALID_PARAM;
    if (!this.isOpen || this.#pending.isBehind || this.#line.protocol.sends.room <= 0)
      return UcsStatus.UCS_ERR_NO_RESOURCE;
    if (this.owner.carrier.hasRoom) return undefined;
    this.owner.lacksRoom(this);
    return UcsStatus.UCS_ERR_NO_RESOURCE;
  }

  #send(id: number, lease: Lease, bytes: number, payload?: LocalPlace, completion?: Completion): UcsStatus {
    const isBegun = this.#line.begin(amWord(this.#peer.endpoint, id, 0), lease, bytes, payload, completion);
    if (!isBegun) return this.#failure ?? UcsStatus.UCS_ERR_CONNECTION_RESET;
    this.#flushes.begun();
    return UcsStatus.UCS_OK;
  }

  #handshake(control: UdConnectRequest | UdConnectReply): void {
    const lease = this.#leases.take(SHORT_BYTES);
    const { carrier } = this.owner;
    // The peer asks again.
    if (lease === undefined || !carrier.hasReserve) {
      lease?.release();
      this.fail(UcsStatus.UCS_ERR_NO_RESOURCE);
      return;
    }
    const bytes = encodeUdControl(
      lease.bytes.subarray(UD_HEADER_BYTES, UD_HEADER_BYTES + MAX_UD_CONTROL_BYTES),
      control,
    );
    this.#line.begin(this.#peer.endpoint | UdFlags.CTL, lease, bytes);
  }

  #takeInOrder(bytes: Uint8Array, word: number, kind: UdKind, control: UdConnectRequest | UdConnectReply | undefined) {
    const { counters } = this.owner;
    const protocol = this.#line.protocol;
    const before = protocol.sends.acked;
    const psn = udPsnAt(bytes, GRH_BYTES);
    const flags = word & (kind === UdKind.BARE ? UdFlags.ACK_REQ | UdFlags.NACK : UdFlags.ACK_REQ);
    const count = protocol.heard(udAckPsnAt(bytes, GRH_BYTES), flags);
    if (count < 0) {
      counters.drop('wrongAcknowledgement');
      return;
    }
    this.#hasHeard = true;
    if (count > 0) this.#onAcknowledged(before, count);
    if (kind === UdKind.AM) this.#onMessage(bytes, psn);
    else if (control !== undefined) this.#onHandshake(control, psn);
    else if (bytes.length !== GRH_BYTES + UD_HEADER_BYTES) counters.drop('malformed');
    else if (!protocol.heardLast(psn)) counters.drop('wrongPsn');
    this.#line.progressSoon();
  }

  #onAcknowledged(before: number, count: number): void {
    if (this.isHalfOpen) this.#open();
    if (this.#failure !== undefined) return;
    const messages = this.#line.acknowledged(before, count);
    for (let i = 0; i < messages; i += 1) this.#flushes.done();
  }

  #open(): void {
    this.#stage = Stage.OPEN;
    this.#line.protocol.timeoutMs = this.owner.timeoutMs;
    this.owner.onOpen(this);
  }

  #onHandshake(control: UdConnectRequest | UdConnectReply, psn: number): void {
    const { counters } = this.owner;
    const isAnswer = control.type === UdControlType.CREP;
    if (isAnswer && this.#stage !== Stage.ASKING && this.#line.protocol.receives.classify(psn) === Arrival.AGAIN) {
      counters.drop('repeated');
      return;
    }
    if (!isAnswer || this.#stage !== Stage.ASKING || psn !== FIRST_PSN) {
      counters.drop('malformed');
      return;
    }
    const { endpoint, segmentBytes } = control;
    this.#line.protocol.arrived(psn);
    this.#peer = { ...this.#peer, endpoint, segmentBytes };
    this.#line.peer = endpoint;
    this.#capabilities = this.#capabilitiesWith(this.#peer);
    this.#open();
    this.#deliverKept();
  }

  #onMessage(bytes: Uint8Array, psn: number): void {
    const { counters } = this.owner;
    const { receives } = this.#line.protocol;
    // The answer comes before all else.
    if (this.#stage === Stage.ASKING && psn === FIRST_PSN) {
      counters.drop('malformed');
      return;
    }
    switch (this.#line.protocol.arrived(psn)) {
      case Arrival.NEXT:
        this.#deliver(bytes, GRH_BYTES);
        this.#deliverKept();
        break;
      case Arrival.EARLY:
        if (receives.kept >= MOST_EARLY || !this.owner.mayKeep()) counters.drop('tooEarly');
        else {
          receives.keep(psn, bytes.slice(GRH_BYTES));
          this.owner.kept(1);
        }
        break;
      case Arrival.AGAIN:
        counters.drop('repeated');
        break;
      case Arrival.BEYOND:
        counters.drop('wrongPsn');
    }
  }

  #deliverKept(): void {
    const { receives } = this.#line.protocol;
    while (this.#failure === undefined) {
      const kept = receives.takeKept();
      if (kept === undefined) return;
      this.owner.kept(-1);
      this.#deliver(kept, 0);
    }
  }

  #deliver(bytes: Uint8Array, at: number): void {
    if (this.#failure !== undefined) return;
    this.handlers.deliver(amIdOfWord(udWordAt(bytes, at)), bytes.subarray(at + UD_HEADER_BYTES));
  }

  #onGone(endpoint: number): void {
    if (endpoint !== this.#peer.endpoint) {
      this.owner.counters.drop('unknownEndpoint');
      return;
    }
    if (this.#farewell !== undefined) {
      this.forget();
      return;
    }
    // So that it need not say so again.
    this.#line.sayGone(this.id);
    this.fail(UcsStatus.UCS_ERR_CONNECTION_RESET);
  }

  #sayFarewell(): void {
    this.#farewell = new Farewell(
      this.owner.carrier.engine,
      () => this.#line.sayGone(this.id),
      () => this.forget(),
    );
  }
}
