import { type Context, invalid, refuse, show } from '../../../api/verbs/index.js';
import { Engine, type WaitOptions } from '../../core/index.js';
import type { TransportName } from '../config/values.js';
import type { Thresholds } from '../protocol/index.js';
import { type AmHandler, Ams } from '../am/ams.js';
import { type MemMapOptions, Memories } from '../rma/memories.js';
import type { UcpMemory } from '../rma/memory.js';
import { AmHandlers, MemoryDomain, SelfEndpoint } from '../uct/index.js';
import { UcsStatus } from '../wire/index.js';
import { Streams } from '../stream/streams.js';
import type { TagValue, UcpData } from './pieces.js';
import { wayText } from './endpoint-attributes.js';
import { EndpointParts, type WorkerParts } from './endpoint-parts.js';
import { UcpEndpoint } from './endpoint.js';
import { UcpError } from './errors.js';
import { Log, wallUs } from './log.js';
import type { UcpClient, UcpListener, UcpListenOptions } from './listener.js';
import { Rendezvous } from './rendezvous.js';
import { newCounters, type UcpStatistics } from './statistics.js';
import { type Connector, connectorOf } from '../wireup/connectors.js';
import { type Making, Wireup } from '../wireup/wireup.js';
import type { TagReceived, TakenMessage } from './tag-receive.js';
import { Wakeup } from './wakeup.js';
import { type TagReceiveOptions, Tags } from './tags.js';
import { type UcpWorkerOptions, type WorkerSettings, workerSettings } from './worker-options.js';

/** Where a worker connects to. */
export interface UcpConnectOptions extends WaitOptions {
  /** A name or an address. Of a name all addresses are tried, until somebody listens at one. */
  readonly host: string;
  /** 1 to 65535. */
  readonly port: number;
  /** Milliseconds until the promise rejects with UCS_ERR_TIMED_OUT. Default 10 000. */
  readonly timeoutMs?: number | undefined;
  /** Whether the other worker is told this one's {@link UcpWorkerOptions.clientId} (`UCP_EP_PARAMS_FLAGS_SEND_CLIENT_ID`). Default: no. */
  readonly sendClientId?: boolean | undefined;
}

/** What {@link UcpWorker.connectByAddress} takes. */
export interface UcpAddressOptions extends WaitOptions {
  /** Milliseconds until the promise rejects with UCS_ERR_TIMED_OUT. Default 10 000. */
  readonly timeoutMs?: number | undefined;
}

/** What a worker is. */
export interface UcpWorkerAttributes {
  /** How messages go to other workers. */
  readonly transport: TransportName;
  /** Name of the device that it goes by. */
  readonly device: string;
  /** Endpoints that were made, and not closed. */
  readonly endpoints: number;
  /** Those of them that others have made by this worker's {@link UcpWorker.address address}, and that were not asked for here. */
  readonly unclaimedEndpoints: number;
  /** {@link UcpWorkerOptions.name}. */
  readonly name: string;
  /** From which lengths on messages go in other ways. */
  readonly thresholds: Thresholds;
}

/** One end of UCP: its endpoints lead to other workers, and what comes by any of them is matched here. It progresses by itself. */
export class UcpWorker implements Disposable {
  readonly #engine: Engine;
  readonly #domain: MemoryDomain;
  readonly #tags: Tags;
  readonly #memories: Memories;
  readonly #ams: Ams<UcpEndpoint>;
  readonly #streams: Streams<UcpEndpoint>;
  readonly #parts: WorkerParts;
  readonly #wakeup: Wakeup<UcpWorker>;
  readonly #settings: WorkerSettings;
  readonly #endpoints = new Set<UcpEndpoint>();
  readonly #connector: Connector;
  readonly #wireup: Wireup;
  #isClosed = false;

  /**
   * @param context the device that it goes by
   * @throws VerbsError EINVAL for wrong options, and for values of the environment that make no sense
   */
  constructor(context: Context, options: UcpWorkerOptions = {}) {
    const settings = workerSettings(options);
    this.#settings = settings;
    const { device, host } = context;
    const who = settings.name === '' ? device.name : `${device.name} ${settings.name}`;
    const log = new Log('UcpWorker', settings, who, host === 'simulated' ? () => this.#engine.nowUs() : wallUs);
    this.#engine = Engine.of(context);
    this.#domain = new MemoryDomain(this.#engine);
    const counters = newCounters();
    this.#tags = new Tags(this.#engine, settings.unexpectedBytes, settings.thresholds, counters);
    this.#memories = new Memories(this.#domain);
    this.#streams = new Streams(this.#engine, settings.streamBytes);
    this.#ams = new Ams(this.#engine, settings.amBytes, settings.thresholds);
    let numbers = 0;
    const { keepAliveMs } = settings;
    this.#wakeup = new Wakeup<UcpWorker>(this.#engine, this);
    this.#parts = {
      engine: this.#engine,
      domain: this.#domain,
      nextNumber: () => (numbers += 1),
      keepAliveMs,
      wakeup: this.#wakeup,
      counters,
      log,
    };
    this.#connector = connectorOf(this.#domain, settings);
    const { transport, name, clientId, unclaimedEndpoints } = settings;
    this.#wireup = new Wireup({
      engine: this.#engine,
      connector: this.#connector,
      transport,
      name,
      clientId,
      unclaimedEndpoints,
      begin: (handlers, how) => this.#begin(handlers, how),
    });
    log.info(`worker made: ${transport} by ${device.name} at ${context.address}`);
  }

  /** Bytes that messages take which nobody has asked for. */
  get unexpectedBytes(): number {
    return this.#tags.unexpectedBytes;
  }

  /**
   * Connects to a worker that listens.
   *
   * @throws UcpError (the promise rejects) UCS_ERR_REJECTED where that does not want it; UCS_ERR_UNREACHABLE where nobody listens, or something else does; UCS_ERR_TIMED_OUT where nobody answers; UCS_ERR_CANCELED
   *   when this worker is closed; the signal's reason; VerbsError EINVAL for wrong arguments, otherwise as `connect` of the root
   */
  async connect({ sendClientId = false, ...where }: UcpConnectOptions): Promise<UcpEndpoint> {
    if (typeof sendClientId !== 'boolean')
      refuse('connect', invalid(`sendClientId is ${show(sendClientId)}`, 'It is a boolean'));
    return this.#wireup.connect(where, sendClientId ? this.#settings.clientId : undefined);
  }

  /**
   * Bytes by which other workers, of the same transport, connect here ({@link connectByAddress}), however they get them: `ucp_worker_get_address`. From the first time on that it is asked for
   * the worker listens on a port of its own, which keeps the process alive until the worker is closed. Nobody who lacks the bytes can connect there.
   *
   * @throws UcpError UCS_ERR_CANCELED when the worker is closed; otherwise as `listen` of the root
   */
  get address(): Uint8Array {
    return this.#wireup.address;
  }

  /**
   * Connects to the worker that has an {@link UcpWorker.address address}, of which it need not know. Both may do so, before, after or at the same time as the other: for each call of one and a call of the other there is one
   * connection. Messages may be sent before the other end asks for it, and are received there; what they come by is the endpoint that its next call gives, and to which
   * it may reply before. The address of this worker itself gives an endpoint that leads back here.
   *
   * @param address what the other's `address` gave
   * @throws UcpError (the promise rejects) UCS_ERR_INVALID_ADDR for bytes that are no address; UCS_ERR_UNREACHABLE where the worker is not there, or goes by another transport;
   *   UCS_ERR_EXCEEDS_LIMIT where it has too many endpoints ({@link UcpWorkerOptions.unclaimedEndpoints}); UCS_ERR_CANCELED when this worker is closed; the signal's reason; UCS_ERR_TIMED_OUT;
   *   VerbsError EINVAL for wrong arguments
   */
  connectByAddress(address: Uint8Array, options: UcpAddressOptions = {}): Promise<UcpEndpoint> {
    return this.#wireup.connectByAddress(address, options, () => this.connectToSelf());
  }

  /** What it is: `ucp_worker_query`. */
  query(): UcpWorkerAttributes {
    return {
      transport: this.#settings.transport,
      device: this.#engine.context.device.name,
      endpoints: this.#endpoints.size,
      unclaimedEndpoints: this.#wireup.unclaimed,
      name: this.#settings.name,
      thresholds: this.#settings.thresholds,
    };
  }

  /** An endpoint that leads back here. */
  connectToSelf(): UcpEndpoint {
    this.#checkOpen('connectToSelf');
    const handlers = new AmHandlers();
    const made = this.#begin(handlers, 'connected');
    return made.finish(new SelfEndpoint(this.#domain, handlers));
  }

  /**
   * Has other workers connect, until the listener or the worker is closed.
   *
   * @param onEndpoint is given each endpoint that was made, and who has asked for it
   * @throws VerbsError EADDRINUSE when another listens there, EINVAL for wrong arguments, otherwise as `listen` of the root
   */
  listen(options: UcpListenOptions, onEndpoint: (endpoint: UcpEndpoint, client: UcpClient) => void): UcpListener {
    this.#checkOpen('listen');
    const listener = this.#wireup.listen(options, onEndpoint);
    const { host, port } = listener.address;
    this.#parts.log.info(`listens at ${host} port ${port}`);
    return listener;
  }

  /**
   * Receives a message whose tag is `tag` in the bits of the mask: the one that came first, or comes next.
   *
   * @param buffer several pieces are written to once all has come, and what is of a {@link UcpDatatype} is unpacked then. It is written to until the promise settles, and never after
   * @throws UcpError (the promise rejects) UCS_ERR_MESSAGE_TRUNCATED for a message that is longer, which is lost, and the buffer is as it was; why the
   *   peer has gone that had sent a part; the signal's reason; UCS_ERR_TIMED_OUT; what unpacking it throws; VerbsError EINVAL for wrong arguments
   */
  tagReceive(buffer: UcpData, tag: TagValue, options: TagReceiveOptions = {}): Promise<TagReceived> {
    return this.#tags.receive(buffer, tag, options);
  }

  /** What {@link tagReceive} would give now; undefined for nothing. @throws VerbsError EINVAL for wrong arguments */
  tagProbe(tag: TagValue, mask?: TagValue): TagReceived | undefined {
    return this.#tags.probe(tag, mask);
  }

  /** The same, and no other receive gets that message (`ucp_tag_probe_nb` with `remove`). @throws VerbsError EINVAL for wrong arguments */
  tagProbeRemove(tag: TagValue, mask?: TagValue): TakenMessage | undefined {
    return this.#tags.probeRemove(tag, mask);
  }

  /** Receives a message that {@link tagProbeRemove} gave, once. @throws as {@link tagReceive}; VerbsError EINVAL for one that was received before */
  tagMessageReceive(message: TakenMessage, buffer: UcpData, options: WaitOptions = {}): Promise<TagReceived> {
    return this.#tags.receiveMessage(message, buffer, options);
  }

  /**
   * Has active messages to an id handled; those to an id without handler are dropped, and counted ({@link amsDropped}). The handler must not wait: what it wants to
   * last it keeps ({@link AmMessage.keep}).
   *
   * @param id 0 to 65535
   * @param handler undefined for none
   * @throws VerbsError EINVAL for wrong arguments
   */
  setAmHandler(id: number, handler: AmHandler<UcpEndpoint> | undefined): void {
    this.#ams.set(id, handler);
  }

  /** Active messages that came to ids without handler. */
  get amsDropped(): number {
    return this.#ams.dropped;
  }

  /** Bytes that active messages take: {@link UcpWorkerOptions.amBytes}. */
  get amBytes(): number {
    return this.#ams.kept.used;
  }

  /** Bytes that streams take which nobody has received. */
  get streamBytes(): number {
    return this.#streams.kept.used;
  }

  /**
   * Endpoints whose streams have brought bytes that nobody has asked for: `ucp_stream_worker_poll`. Those of other workers that have connected by the {@link address} are among them.
   *
   * @param most how many at most; the others come first the next time. Default: all
   * @throws VerbsError EINVAL for what is no number from 1 on
   */
  streamPoll(most = Infinity): UcpEndpoint[] {
    return this.#streams.poll(most);
  }

  /**
   * Resolves with what {@link streamPoll} gives, once that is at least one endpoint.
   *
   * @throws UcpError (the promise rejects) UCS_ERR_CANCELED when the worker is closed; the signal's reason; UCS_ERR_TIMED_OUT; VerbsError EINVAL for wrong arguments
   */
  streamReady(options: WaitOptions = {}): Promise<UcpEndpoint[]> {
    return this.#streams.wait(options);
  }

  /**
   * Resolves when something has come since it has last resolved: a message, or a part of one; an endpoint; the end of one; a {@link signal}. So a program that looks for messages
   * by {@link tagProbe} sleeps in between, and misses nothing that comes after it has looked. It may find nothing new: look again. Where several
   * parts of a program look by themselves, each takes {@link wakeups}, which tells every one of them. `ucp_worker_arm` and `ucp_worker_wait` in one.
   *
   * @throws UcpError (the promise rejects) UCS_ERR_CANCELED when the worker is closed; the signal's reason; UCS_ERR_TIMED_OUT; VerbsError EINVAL for wrong arguments
   */
  wait(options: WaitOptions = {}): Promise<void> {
    return this.#wakeup.wait(options);
  }

  /**
   * The same again and again, for `for await`: gives the worker whenever something has come, until it is closed.
   *
   * @throws the signal's reason; VerbsError EINVAL for wrong arguments
   */
  wakeups(options: Pick<WaitOptions, 'signal'> = {}): AsyncGenerator<UcpWorker, void, void> {
    return this.#wakeup.all(options);
  }

  /** Has those go on who {@link wait}, or the next who does: `ucp_worker_signal`. */
  signal(): void {
    this.#wakeup.note();
  }

  /**
   * Lets peers use memory, as far as they have its key.
   *
   * @param memory or how many bytes of new memory
   * @throws VerbsError EINVAL for wrong arguments, otherwise as `Pd.regMr`
   */
  memMap(memory: Uint8Array | number, options: MemMapOptions = {}): UcpMemory {
    this.#checkOpen('memMap');
    return this.#memories.map(memory, options);
  }

  /**
   * Resolves when all endpoints were flushed ({@link UcpEndpoint.flush}).
   *
   * @throws UcpError (the promise rejects) when one of them has failed meanwhile, unless others have made it, and it was not asked for here
   */
  async flush(): Promise<void> {
    await Promise.all(
      [...this.#endpoints].map((endpoint) => {
        const flushed = endpoint.flush();
        return this.#wireup.isUnclaimed(endpoint) ? flushed.catch(() => undefined) : flushed;
      }),
    );
  }

  /** What it has counted since it was made: numbers of now, which stay as they are. */
  get statistics(): UcpStatistics {
    return { ...this.#parts.counters };
  }

  /** Puts, gets and atomics that are asked for from now on, of any endpoint, begin when all are done that were asked for before, of any. */
  fence(): void {
    this.#parts.counters.fence += 1;
    this.#memories.fence();
  }

  /**
   * Ends its endpoints, unmaps its memory, and listens no more. Receives for which nothing has come end with UCS_ERR_CANCELED, now and from now on; nothing new can be made. What
   * has come can still be received. Idempotent.
   */
  close(): void {
    if (!this.#isClosed) this.#parts.log.info('worker closed');
    this.#isClosed = true;
    // Before what it would tell of the end of its endpoints.
    this.#wakeup.close();
    this.#wireup.stop();
    for (const endpoint of [...this.#endpoints]) endpoint.close();
    this.#connector.close();
    this.#tags.close();
    this.#streams.close();
    this.#memories.close();
  }

  /** {@link close}. */
  [Symbol.dispose](): void {
    this.close();
  }

  /** @throws UcpError UCS_ERR_CANCELED */
  #checkOpen(call: string): void {
    if (this.#isClosed) throw new UcpError(call, UcsStatus.UCS_ERR_CANCELED, 'the worker was closed');
  }

  /** Messages may come before the transport is there. */
  #begin(handlers: AmHandlers, how: string): Making {
    // Only what has begun can be closed.
    const parts: EndpointParts = new EndpointParts(this.#parts, handlers, () => {
      this.#endpoints.delete(endpoint);
      this.#wireup.forget(endpoint);
      this.#streams.forget(endpoint);
    });
    const rendezvous = parts.add(new Rendezvous(parts, this.#settings.thresholds.rndvScheme));
    const tags = this.#tags.attach(parts, rendezvous);
    const endpoint: UcpEndpoint = new UcpEndpoint(parts, {
      tags,
      rma: this.#memories.attach(parts),
      ams: this.#ams.attach(parts, rendezvous, () => endpoint),
      stream: this.#streams.attach(parts, () => endpoint),
    });
    const finish: Making['finish'] = (transport) => {
      this.#endpoints.add(endpoint);
      this.#parts.counters.epCreations += 1;
      if (!(transport instanceof SelfEndpoint)) transport.onFailure = (status) => parts.ended(status);
      parts.info(`${how} ${wayText(transport.way)}`);
      parts.begin(transport);
      if (this.#parts.log.isProtoInfo) parts.protoInfo(tags.protocols);
      return endpoint;
    };
    const fail: Making['fail'] = (error) => {
      this.#parts.counters.epCreationFailures += 1;
      parts.info(`not ${how}: ${String(error)}`);
      parts.ended(UcsStatus.UCS_ERR_CONNECTION_RESET);
    };
    return { finish, fail };
  }
}
