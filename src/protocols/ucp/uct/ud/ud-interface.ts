import { VerbsError } from '../../../../api/verbs/index.js';
import { type Engine, Pending, type WaitOptions } from '../../../core/index.js';
import {
  decodeUdControl,
  endpointOfWord,
  kindOfWord,
  MIN_UD_SEGMENT_BYTES,
  NO_UD_ENDPOINT,
  UcsStatus,
  UD_HEADER_BYTES,
  type UdConnectRequest,
  UdControlType,
  UdKind,
  udPsnAt,
  udWordAt,
} from '../../wire/index.js';
import type { AmHandlers } from '../endpoint.js';
import type { MemoryDomain } from '../memory-domain.js';
import { GRH_BYTES, isFromGid, peerKey, type UdAddress } from './addresses.js';
import { Carrier } from './carrier.js';
import { UdCounters, type UdStatistics } from './counters.js';
import { udOptions, type UdOptions } from './options.js';
import { UdEndpoint, type UdOwner, type UdPeer } from './ud-endpoint.js';
import { FIRST_PSN } from './windows.js';

const CONNECT_MS = 10_000;
const HALF_OPEN_MS = 3000;
/** Peers that were told where the interface is, and have not asked it yet. */
const MAX_EXPECTED = 1024;
/** Datagrams of all endpoints that came early, and are kept. */
const MAX_EARLY = 1024;
/** The highest bit says that it is not this but the queue pair's own. */
const QKEY_MASK = 0x7fff_ffff;

/** How {@link UdInterface.connect} goes. */
export interface UdConnectOptions extends WaitOptions {
  readonly handlers?: AmHandlers;
  /** What {@link UdInterface.nextConnection} gave, where the peer knows it already. */
  readonly connection?: number;
}

/** A peer that knows where the interface is will ask it for an endpoint. */
class Expectation extends Pending<UdEndpoint> {
  /** @param onOver nobody waits any more */
  constructor(
    readonly handlers: AmHandlers,
    private readonly onOver: () => void,
  ) {
    super('ucp');
  }

  /** It will not ask, as somebody knows. */
  abandon(error: unknown): void {
    this.onOver();
    this.reject(error);
  }

  protected onGivenUp(): void {
    this.onOver();
  }
}

class Connecting extends Pending<UdEndpoint> {
  /** @param giveUp ends the attempt */
  constructor(private readonly giveUp: () => void) {
    super('ucp');
  }

  protected onGivenUp(): void {
    this.giveUp();
  }
}

/** One queue pair for datagrams, by which endpoints lead to any number of peers. */
export class UdInterface implements AsyncDisposable {
  /** Is given each endpoint that a peer has asked for, before anything comes by it. While there is nobody, only those can connect that are {@link expect expected}. */
  onEndpoint: ((endpoint: UdEndpoint) => void) | undefined;

  readonly #carrier: Carrier;
  readonly #counters = new UdCounters();
  readonly #owner: UdOwner;
  readonly #random: () => number;
  readonly #maxEndpoints: number;
  readonly #maxHalfOpen: number;
  readonly #endpoints = new Map<number, UdEndpoint>();
  /** Those that peers have asked for. */
  readonly #asked = new Map<string, UdEndpoint>();
  /** Of these, those whose answers were not acknowledged, the oldest first. */
  readonly #halfOpen = new Set<UdEndpoint>();
  readonly #connecting = new Map<UdEndpoint, Connecting>();
  readonly #expected = new Map<string, Expectation>();
  #withoutRoom = new Set<UdEndpoint>();
  #early = 0;
  #isClosed = false;
  #stopKeepAlive: () => void = () => undefined;

  /** @throws VerbsError EINVAL for options that make no sense, ENOMEM when there is no room, EIO when the device was lost */
  constructor(domain: MemoryDomain, options: UdOptions = {}) {
    const { window, receives, timeoutMs, keepAliveMs, maxEndpoints, maxHalfOpen, random } = udOptions(
      options,
      domain.engine.context,
    );
    const { engine } = domain;
    this.#random = random;
    this.#maxEndpoints = maxEndpoints;
    this.#maxHalfOpen = maxHalfOpen;
    this.#carrier = new Carrier(engine, receives, random() & QKEY_MASK, {
      onDatagram: (bytes, fromQpn) => this.#onDatagram(bytes, fromQpn),
      onRoom: () => this.#onRoom(),
      onLost: (status) => this.#failAll(status),
    });
    this.#owner = {
      carrier: this.#carrier,
      counters: this.#counters,
      window,
      timeoutMs,
      mayKeep: () => this.#early < MAX_EARLY,
      kept: (count) => void (this.#early += count),
      lacksRoom: (endpoint) => void this.#withoutRoom.add(endpoint),
      onOpen: (endpoint) => this.#onOpen(endpoint),
      onFailed: (endpoint, status) => this.#onFailed(endpoint, status),
      onForgotten: (endpoint) => this.#onForgotten(endpoint),
    };
    if (keepAliveMs !== Infinity) this.#keepAlive(keepAliveMs);
  }

  get address(): UdAddress {
    return this.#carrier.address;
  }

  get engine(): Engine {
    return this.#carrier.engine;
  }

  get statistics(): UdStatistics {
    return this.#counters;
  }

  /** Endpoints that there are, those included that only tell their peers that they have ended. */
  get endpoints(): number {
    return this.#endpoints.size;
  }

  get early(): number {
    return this.#early;
  }

  /** The number of a connection that this interface will ask for, which nobody can guess. */
  nextConnection(): number {
    return this.#random() >>> 0;
  }

  /**
   * Has an endpoint made for a peer that was told where the interface is.
   *
   * @param qpn the peer's
   * @param connection as the peer numbers it
   * @param handlers take what comes
   * @throws VerbsError EBUSY for one that is expected already, ENOMEM when there are too many; (the promise rejects) ETIMEDOUT where the peer does not ask
   */
  expect(qpn: number, connection: number, handlers: AmHandlers): Expectation {
    const key = expectationKey(qpn, connection);
    if (this.#isClosed || this.#carrier.failure !== undefined) throw unavailable();
    if (this.#expected.has(key)) throw known();
    if (this.#expected.size >= MAX_EXPECTED) throw tooMany(MAX_EXPECTED);
    const expectation = new Expectation(handlers, () => this.#expected.delete(key));
    this.#expected.set(key, expectation);
    expectation.bindCancellation({ timeoutMs: CONNECT_MS }, this.#carrier.engine);
    return expectation;
  }

  /**
   * Connects to another interface, or to this one.
   *
   * @throws VerbsError (the promise rejects) ETIMEDOUT when it does not answer; ENOMEM when there are too many endpoints; the signal's reason
   */
  async connect(address: UdAddress, options: UdConnectOptions = {}): Promise<UdEndpoint> {
    options.signal?.throwIfAborted();
    if (this.#isClosed || this.#carrier.failure !== undefined) throw unavailable();
    if (this.#endpoints.size >= this.#maxEndpoints) throw tooMany(this.#maxEndpoints);
    const peer = { ...address, endpoint: NO_UD_ENDPOINT, segmentBytes: MIN_UD_SEGMENT_BYTES };
    const endpoint = this.#make(peer, options.connection ?? this.nextConnection(), options.handlers);
    const connecting = new Connecting(() => {
      this.#connecting.delete(endpoint);
      endpoint.close();
    });
    this.#connecting.set(endpoint, connecting);
    const { timeoutMs = CONNECT_MS } = options;
    connecting.bindCancellation({ signal: options.signal, timeoutMs }, this.#carrier.engine);
    endpoint.ask(this.#owner.timeoutMs);
    return connecting.promise;
  }

  /** Ends all endpoints; peers are told once. Idempotent. @returns resolves when the adapter touches nothing any more */
  close(): Promise<void> {
    if (this.#isClosed) return this.#carrier.ended;
    this.#isClosed = true;
    this.#stopKeepAlive();
    this.onEndpoint = undefined;
    for (const expectation of [...this.#expected.values()]) expectation.abandon(unavailable());
    this.#failAll(UcsStatus.UCS_ERR_CANCELED);
    this.#carrier.end();
    for (const endpoint of [...this.#endpoints.values()]) endpoint.forget();
    return this.#carrier.ended;
  }

  /** {@link close}. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #keepAlive(ms: number): void {
    this.#stopKeepAlive = this.#carrier.engine.chore(ms, () => {
      for (const endpoint of [...this.#endpoints.values()]) endpoint.keepAlive();
      this.#keepAlive(ms);
    });
  }

  #make(peer: UdPeer, connection: number, handlers?: AmHandlers): UdEndpoint {
    const to = this.#carrier.addressee(peer);
    const endpoint = new UdEndpoint(this.#owner, this.#freeId(), peer, to, connection, handlers);
    this.#endpoints.set(endpoint.id, endpoint);
    return endpoint;
  }

  #freeId(): number {
    for (;;) {
      const id = this.#random() & NO_UD_ENDPOINT;
      if (id !== NO_UD_ENDPOINT && !this.#endpoints.has(id)) return id;
    }
  }

  #onDatagram(bytes: Uint8Array, fromQpn: number): void {
    if (bytes.length < GRH_BYTES + UD_HEADER_BYTES) {
      this.#counters.drop('malformed');
      return;
    }
    const id = endpointOfWord(udWordAt(bytes, GRH_BYTES));
    if (id === NO_UD_ENDPOINT) {
      this.#onAsked(bytes, fromQpn);
      return;
    }
    const endpoint = this.#endpoints.get(id);
    if (endpoint === undefined) this.#counters.drop('unknownEndpoint');
    else if (!endpoint.isFrom(bytes, fromQpn)) this.#counters.drop('foreignSender');
    else endpoint.take(bytes);
  }

  #onAsked(bytes: Uint8Array, fromQpn: number): void {
    const request = decodeUdControl(bytes.subarray(GRH_BYTES + UD_HEADER_BYTES));
    const isHandshake =
      kindOfWord(udWordAt(bytes, GRH_BYTES)) === UdKind.CTL && udPsnAt(bytes, GRH_BYTES) === FIRST_PSN;
    if (!isHandshake || typeof request === 'string' || request.type !== UdControlType.CREQ) {
      this.#counters.drop('malformed');
      return;
    }
    // Who answers whoever is named could be used against others.
    if (request.qpn !== fromQpn || !isFromGid(bytes, request.gid)) {
      this.#counters.drop('foreignSender');
      return;
    }
    const key = peerKey(request.gid, request.qpn, request.endpoint);
    const known = this.#asked.get(key);
    if (known === undefined) this.#answer(key, request);
    // The answer is sent again when it is time.
    else this.#counters.drop(known.connection === request.connection ? 'repeated' : 'refused');
  }

  #answer(key: string, { gid, qpn, qkey, endpoint: number, segmentBytes, connection }: UdConnectRequest): void {
    const [oldest] = this.#halfOpen;
    if (this.#halfOpen.size >= this.#maxHalfOpen) oldest.fail(UcsStatus.UCS_ERR_CONNECTION_RESET);
    const expectation = this.#expected.get(expectationKey(qpn, connection));
    const isWelcome = this.onEndpoint !== undefined || expectation !== undefined;
    if (!isWelcome || this.#endpoints.size >= this.#maxEndpoints) {
      this.#counters.drop('refused');
      return;
    }
    let endpoint: UdEndpoint;
    try {
      endpoint = this.#make({ gid, qpn, qkey, endpoint: number, segmentBytes }, connection, expectation?.handlers);
    } catch (error) {
      // The device is full.
      if (!(error instanceof VerbsError)) throw error;
      this.#counters.drop('refused');
      return;
    }
    this.#asked.set(key, endpoint);
    this.#halfOpen.add(endpoint);
    endpoint.answer(HALF_OPEN_MS);
  }

  #onOpen(endpoint: UdEndpoint): void {
    const connecting = this.#connecting.get(endpoint);
    if (connecting === undefined) {
      this.#halfOpen.delete(endpoint);
      this.#onAccepted(endpoint);
      return;
    }
    this.#connecting.delete(endpoint);
    connecting.resolve(endpoint);
  }

  /** A peer that has asked knows the answer. */
  #onAccepted(endpoint: UdEndpoint): void {
    const key = expectationKey(endpoint.peer.qpn, endpoint.connection);
    const expectation = this.#expected.get(key);
    if (expectation !== undefined) {
      this.#expected.delete(key);
      expectation.resolve(endpoint);
    } else if (this.onEndpoint !== undefined) this.onEndpoint(endpoint);
    else endpoint.close();
  }

  #onFailed(endpoint: UdEndpoint, status: UcsStatus): void {
    this.#withoutRoom.delete(endpoint);
    if (this.#halfOpen.delete(endpoint)) this.#counters.halfOpenLost += 1;
    this.#connecting.get(endpoint)?.reject(whyNot(status));
    this.#connecting.delete(endpoint);
  }

  #onForgotten(endpoint: UdEndpoint): void {
    const { gid, qpn, endpoint: number } = endpoint.peer;
    this.#endpoints.delete(endpoint.id);
    const key = peerKey(gid, qpn, number);
    if (this.#asked.get(key) === endpoint) this.#asked.delete(key);
  }

  #onRoom(): void {
    if (this.#withoutRoom.size === 0 || !this.#carrier.hasRoom) return;
    const waiting = this.#withoutRoom;
    this.#withoutRoom = new Set();
    for (const endpoint of waiting) endpoint.progress();
  }

  #failAll(status: UcsStatus): void {
    for (const endpoint of [...this.#endpoints.values()]) endpoint.fail(status);
  }
}

function expectationKey(qpn: number, connection: number): string {
  return `${qpn} ${connection}`;
}

function known(): VerbsError {
  return new VerbsError('ucp', { errno: 'EBUSY', message: 'the peer has asked for that already', advice: '' });
}

/** Why there is no connection. */
function whyNot(status: UcsStatus): VerbsError {
  if (status === UcsStatus.UCS_ERR_NO_RESOURCE) return noBuffers();
  if (status !== UcsStatus.UCS_ERR_ENDPOINT_TIMEOUT) return unavailable();
  return new VerbsError('ucp', { errno: 'ETIMEDOUT', message: 'the peer does not answer', advice: '' });
}

function unavailable(): VerbsError {
  const message = 'the interface has ended, or its device is gone';
  return new VerbsError('ucp', { errno: 'EIO', message, advice: '' });
}

function tooMany(most: number): VerbsError {
  const message = `there are ${most} endpoints, which are as many as there may be`;
  return new VerbsError('ucp', { errno: 'ENOMEM', message, advice: 'End some, or allow more by maxEndpoints' });
}

function noBuffers(): VerbsError {
  const message = 'there are no buffers left for messages';
  return new VerbsError('ucp', { errno: 'ENOMEM', message, advice: 'Try again when others have ended' });
}
