import { secretWord } from '../../../api/provider/index.js';
import type { Context } from '../../../api/verbs/index.js';
import { gidFromIp, ipFromGid } from '../../../device/ibta/index.js';
import { type ConnectionRequest, listen, type Listener } from '../../../api/rdmacm/index.js';
import { Callbacks, whenAborted } from '../../../api/runtime/index.js';
import { checkWait, type Engine, type WaitOptions } from '../../core/index.js';
import type { TransportName } from '../config/values.js';
import { AmHandlers, type RcWhere, type SelfEndpoint, type Words } from '../uct/index.js';
import {
  decodeAcceptance,
  decodeIntroduction,
  encodeAcceptance,
  encodeIntroduction,
  encodeNoMeeting,
  type Introduction,
  NoMeeting,
  packWorkerAddress,
  UcsStatus,
  unpackWorkerAddress,
  type WorkerAddress,
} from '../wire/index.js';
import { checkView } from '../worker/pieces.js';
import type { UcpEndpoint } from '../worker/endpoint.js';
import { UcpError } from '../worker/errors.js';
import { checkListen, isAccepted, type UcpClient, UcpListener, type UcpListenOptions } from '../worker/listener.js';
import { AddressCall } from './address-call.js';
import type { Connected, Connector } from './connectors.js';
import { connectError, isCrossed, meetingError } from './failures.js';
import { type Acceptance, type Neighbour, Neighbours } from './neighbours.js';

/** 1 to 2^32 - 1, which nobody can guess. */
function secretCall(context: Context): number {
  for (;;) {
    const call = secretWord(context) >>> 0;
    if (call !== 0) return call;
  }
}

const CONNECT_MS = 10_000;
/** How long a call waits that has crossed with the peer's, at first and at last, until it asks again. */
const CROSSED_MS = 10;
const MOST_CROSSED_MS = 1000;

/** An endpoint that is being made: messages may come before its transport is there. */
export interface Making {
  readonly finish: (transport: Connected | SelfEndpoint) => UcpEndpoint;
  /** What came of it before goes no further. @param error why it will not be */
  readonly fail: (error: unknown) => void;
}

export interface WireupParts {
  readonly engine: Engine;
  readonly connector: Connector;
  readonly transport: TransportName;
  readonly name: string;
  readonly clientId: bigint;
  /** Endpoints that may be kept which nobody here has asked for. */
  readonly unclaimedEndpoints: number;
  /** @param how for people: what is done when it is there */
  begin(handlers: AmHandlers, how: string): Making;
}

type Call = AddressCall<UcpEndpoint>;

/** How the endpoints of a worker come to lead to others: by the address of a socket, and by that of a worker. */
export class Wireup {
  readonly #uuid: bigint;
  readonly #listeners = new Set<Listener>();
  readonly #calls = new Set<Call>();
  readonly #neighbours: Neighbours<Call, UcpEndpoint>;
  #address: Uint8Array | undefined;
  #own: Neighbour;
  /** What is to end when the worker is closed. */
  readonly #attempts = new Set<AbortController>();
  #isClosed = false;

  constructor(private readonly parts: WireupParts) {
    const { context } = parts.engine;
    this.#uuid = (BigInt(secretWord(context) >>> 0) << 32n) | BigInt(secretWord(context) >>> 0);
    // Nobody can cross with this end before it has a host at which it is asked for.
    this.#own = { uuid: this.#uuid, host: '' };
    this.#neighbours = new Neighbours(() => this.#own, parts.unclaimedEndpoints);
  }

  /** Endpoints that others have asked for by this end's address, and nobody here by theirs. */
  get unclaimed(): number {
    return this.#neighbours.spare;
  }

  isUnclaimed(endpoint: UcpEndpoint): boolean {
    return this.#neighbours.isSpare(endpoint);
  }

  /** As `UcpWorker.address`. */
  get address(): Uint8Array {
    this.#address ??= this.#meet();
    return this.#address.slice();
  }

  /** As `UcpWorker.connect`. @param clientId which the peer is to know */
  async connect(where: RcWhere, clientId: bigint | undefined): Promise<UcpEndpoint> {
    checkWait('connect', { signal: where.signal, timeoutMs: where.timeoutMs });
    try {
      return await this.#unlessClosed(where.signal, (signal) => this.#reach({ ...where, signal }, { clientId }));
    } catch (error) {
      throw connectError(error);
    }
  }

  /** As `UcpWorker.connectByAddress`. @param toSelf makes an endpoint that leads back here */
  async connectByAddress(bytes: Uint8Array, options: WaitOptions, toSelf: () => UcpEndpoint): Promise<UcpEndpoint> {
    const name = 'connectByAddress';
    checkView(name, 'address', bytes);
    checkWait(name, options);
    options.signal?.throwIfAborted();
    const address = unpackWorkerAddress(bytes);
    if (typeof address === 'string') throw new UcpError(name, UcsStatus.UCS_ERR_INVALID_ADDR, address);
    if (this.#isClosed) throw closed(name);
    if (address.uuid === this.#uuid) return toSelf();
    const { transport } = this.parts;
    if (address.transport !== transport) throw otherTransport(name, address, transport);
    return this.#claimed(address) ?? this.#ask(address, options);
  }

  /** As `UcpWorker.listen`. */
  listen(options: UcpListenOptions, onEndpoint: (endpoint: UcpEndpoint, client: UcpClient) => void): UcpListener {
    checkListen(options, onEndpoint);
    const { engine } = this.parts;
    const callbacks = new Callbacks();
    const { port, host } = options;
    const listener = this.#serve({ port, host }, async (request, { meeting, clientId }) => {
      const { remoteAddress } = request;
      const client: UcpClient = { ...remoteAddress, ...(clientId !== undefined && { clientId }) };
      if (meeting !== undefined) request.reject(encodeNoMeeting(NoMeeting.GONE));
      else if (await isAccepted(options, client, request, { engine, callbacks })) {
        const endpoint = await this.#accept(request, {});
        callbacks.call(() => onEndpoint(endpoint, client));
      }
    });
    return new UcpListener(listener);
  }

  forget(endpoint: UcpEndpoint): void {
    this.#neighbours.forget(endpoint);
  }

  /** Nobody connects any more. The endpoints are closed by whoever has them. */
  stop(): void {
    this.#isClosed = true;
    for (const attempt of [...this.#attempts]) attempt.abort(closed('connect'));
    for (const listener of this.#listeners) listener.close();
    for (const call of [...this.#calls]) call.reject(closed('connectByAddress'));
  }

  #claimed({ uuid, host }: WorkerAddress): UcpEndpoint | undefined {
    for (;;) {
      const endpoint = this.#neighbours.claim({ uuid, host });
      if (endpoint === undefined) return undefined;
      endpoint.setErrorHandler(undefined);
      if (endpoint.failure === undefined) return endpoint;
      endpoint.close();
    }
  }

  #ask({ uuid, host, port }: WorkerAddress, { signal, timeoutMs = CONNECT_MS }: WaitOptions): Promise<UcpEndpoint> {
    const call: Call = new AddressCall(secretCall(this.parts.engine.context), { uuid, host }, port, () => {
      this.#calls.delete(call);
      this.#neighbours.end(call);
    });
    this.#calls.add(call);
    call.bindCancellation({ signal, timeoutMs }, this.parts.engine);
    if (this.#neighbours.begin(call)) void this.#attempt(call, CROSSED_MS);
    return call.promise;
  }

  /** Asks the neighbour. @param crossedMs how long it waits then, should the neighbour ask as well */
  async #attempt(call: Call, crossedMs: number): Promise<void> {
    const { id, to, port, signal } = call;
    const meeting = { call: id, uuid: this.#uuid, toUuid: to.uuid };
    let theirs = 0;
    const onSaid = (bytes: Uint8Array): void => void (theirs = decodeAcceptance(bytes));
    try {
      const where = { host: to.host, port, signal, timeoutMs: Infinity };
      const endpoint = await this.#reach(where, { meeting }, onSaid);
      if (call.isSettled) endpoint.close();
      else {
        this.#neighbours.reached(call, theirs, endpoint);
        call.resolve(endpoint);
      }
    } catch (error) {
      if (call.isSettled) return;
      if (isCrossed(error)) this.#later(call, crossedMs);
      else call.reject(meetingError(error));
    }
  }

  /** The neighbour's own connection is to come. Where it does not, this end asks again. */
  #later(call: Call, crossedMs: number): void {
    const stop = this.parts.engine.timer(crossedMs, () => {
      takeBack();
      if (!call.isSettled) void this.#attempt(call, Math.min(2 * crossedMs, MOST_CROSSED_MS));
    });
    const takeBack = whenAborted(call.signal, stop);
  }

  async #reach(where: RcWhere, said: Introduction, onSaid?: (bytes: Uint8Array) => void): Promise<UcpEndpoint> {
    const words = { say: encodeIntroduction(said), onSaid };
    return this.#establish('connected', (handlers) => this.parts.connector.connect(where, handlers, words));
  }

  /** Has others connect who have this end's address. */
  #meet(): Uint8Array {
    if (this.#isClosed) throw closed('address');
    const { transport, name } = this.parts;
    const { address } = this.#serve({}, (request, { meeting }) => {
      if (meeting === undefined) request.reject();
      else if (meeting.toUuid !== this.#uuid) request.reject(encodeNoMeeting(NoMeeting.GONE));
      else return this.#onAsked(request, { uuid: meeting.uuid, host: request.remoteAddress.host }, meeting.call);
      return Promise.resolve();
    });
    const { port } = address;
    // Written as what others find in the bytes.
    const host = ipFromGid(gidFromIp(address.host));
    this.#own = { uuid: this.#uuid, host };
    return packWorkerAddress({ uuid: this.#uuid, host, port, transport, name });
  }

  async #onAsked(request: ConnectionRequest, from: Neighbour, theirs: number): Promise<void> {
    const verdict = this.#neighbours.asked({ from, call: theirs });
    if (verdict.kind !== 'accept') {
      request.reject(encodeNoMeeting(verdict.kind === 'full' ? NoMeeting.FULL : NoMeeting.CROSSED));
      return;
    }
    const { acceptance } = verdict;
    try {
      const words = { say: encodeAcceptance(acceptance.call?.id ?? 0) };
      this.#onAccepted(acceptance, await this.#accept(request, words));
    } catch (error) {
      const call = this.#neighbours.failed(acceptance);
      // It may be that it was not asking, since this was to come.
      if (call !== undefined && !call.isSettled) void this.#attempt(call, CROSSED_MS);
      throw error;
    }
  }

  #onAccepted(acceptance: Acceptance<Call>, endpoint: UcpEndpoint): void {
    const call = this.#neighbours.accepted(acceptance, endpoint);
    if (call !== undefined) call.resolve(endpoint);
    // Nobody else would close it.
    else endpoint.setErrorHandler(() => endpoint.close());
  }

  #serve(
    where: Pick<UcpListenOptions, 'port' | 'host'>,
    onRequest: (request: ConnectionRequest, said: Introduction) => Promise<void>,
  ): Listener {
    const { engine, connector } = this.parts;
    const listener = listen({ ...where, context: engine.context });
    this.#listeners.add(listener);
    const serving = listener.serve(
      async (request) => {
        const words = connector.wordsOf(request);
        const said = typeof words === 'string' ? words : decodeIntroduction(words);
        if (typeof said !== 'string') await onRequest(request, said);
      },
      // Who cannot connect has been told, and nobody else need know.
      { onError: () => undefined },
    );
    void serving.finally(() => this.#listeners.delete(listener));
    return listener;
  }

  #accept(request: ConnectionRequest, words: Words): Promise<UcpEndpoint> {
    const { connector } = this.parts;
    return this.#unlessClosed(undefined, (signal) =>
      this.#establish('accepted', (handlers) => connector.accept(request, handlers, words, signal)),
    );
  }

  /** What comes of an attempt, which ends when the program's signal comes, or the worker is closed. */
  async #unlessClosed<T>(signal: AbortSignal | undefined, attempt: (signal: AbortSignal) => Promise<T>): Promise<T> {
    signal?.throwIfAborted();
    if (this.#isClosed) throw closed('connect');
    const controller = new AbortController();
    const abort = (): void => controller.abort(signal?.reason);
    const takeBack = signal === undefined ? undefined : whenAborted(signal, abort);
    this.#attempts.add(controller);
    try {
      return await attempt(controller.signal);
    } finally {
      this.#attempts.delete(controller);
      takeBack?.();
    }
  }

  async #establish(how: string, connected: (handlers: AmHandlers) => Promise<Connected>): Promise<UcpEndpoint> {
    const handlers = new AmHandlers();
    const making = this.parts.begin(handlers, how);
    try {
      const transport = await connected(handlers);
      if (!this.#isClosed) return making.finish(transport);
      transport.close();
      throw closed('connect');
    } catch (error) {
      making.fail(error);
      throw error;
    }
  }
}

function closed(call: string): UcpError {
  return new UcpError(call, UcsStatus.UCS_ERR_CANCELED, 'the worker was closed');
}

function otherTransport(call: string, { transport }: WorkerAddress, own: TransportName): UcpError {
  const text = `the worker goes by ${transport}, and this one by ${own}`;
  return new UcpError(call, UcsStatus.UCS_ERR_UNREACHABLE, text);
}
