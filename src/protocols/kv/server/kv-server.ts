import {
  type CmId,
  type ConnectionRequest,
  type FullAddress,
  isClientsDoing,
  listen,
  type Listener,
} from '../../../api/rdmacm/index.js';
import { warnOf } from '../../../api/runtime/index.js';
import { VerbsError } from '../../../api/verbs/index.js';
import { type Engine, engineOf } from '../../core/index.js';
import {
  type ClientWay,
  type ServerCounters,
  ServerMachine,
  type Session,
  Sessions,
  StoreExecutor,
  type Transfer,
  type TransferLimits,
  Transfers,
} from '../protocol/index.js';
import type { Partition } from '../store/index.js';
import { type ServerLink, SLOT_BYTES } from '../transport/link.js';
import type { ServerDatagrams } from '../transport/server-datagrams.js';
import {
  decodeOffer,
  decodeReaderOffer,
  encodeRefusal,
  encodeWelcome,
  isSameSession,
  type NamedNumber,
  NO_SESSION,
  type Offer,
  type ReaderOffer,
  RefusalCode,
  WELCOME_BYTES,
} from '../wire/index.js';
import { ServedDevice } from './served-device.js';
import type { KvMode } from '../kv-store.js';
import { type KvServeOptions, type KvServerSettings, settingsOf } from './options.js';
import { type NegotiatedParams, negotiate } from './negotiated-params.js';

/** Bytes of long values that are on their way at a time. */
const TRANSFER_LIMITS: TransferLimits = { maxBytes: 256 << 20, maxClientBytes: 32 << 20 };

/** While there are keys that will expire, so many buckets are looked through so often: nobody is kept waiting for as much as a millisecond. */
const SWEEP_MS = 100;
const SWEEP_BUCKETS = 1024;

/**
 * Serves a store to clients of this package, until it is closed.
 *
 * @example
 * ```ts
 * using server = serve();
 * using client = await connect(server.address);
 * await client.set('greeting', 'hello');
 * ```
 * @throws VerbsError EADDRINUSE when another listens there; EBUSY while another server serves the store; EINVAL for wrong arguments; ENOMEM; otherwise as `listen` of the
 *   root
 */
export function serve(options: KvServeOptions = {}): KvServer {
  const settings = settingsOf(options);
  const { store, where } = settings;
  // Each has a clock and clients of its own, and one would not know what the other has changed.
  if (SERVED.has(store))
    throw new VerbsError('serve', {
      errno: 'EBUSY',
      message: 'another server serves the store',
      advice: 'Close it first, or give each a store of its own; one server may have any number of clients',
    });
  const server = new KvServer(listen(where), settings);
  SERVED.add(store);
  return server;
}

const SERVED = new WeakSet<Partition>();

/** What a server has counted. */
export interface KvServerStatistics extends Readonly<ServerCounters> {
  /** Clients that there are now. */
  readonly clients: number;
  /** Those that were refused, because there were as many as there may be, or no memory for more. */
  readonly refused: number;
  /** Clients that read the store's memory by themselves, now. */
  readonly readers: number;
}

interface Way extends ClientWay {
  readonly device: ServedDevice;
  readonly leave: (why: Departure) => void;
}

/** Why a way to a client ends before its connection does. `lost`: nothing goes or comes any more, and the client may come by another. */
type Departure = 'replaced' | 'over' | 'lost';

/** A store that is served. It keeps the process alive until it is closed, a simulated one excepted. */
export class KvServer implements AsyncDisposable, Disposable {
  /** Names this life of the server: clients of another are told so. */
  readonly epoch: number;
  /** Resolves when it was closed. Rejects when the device is lost. */
  readonly closed: Promise<void>;
  readonly #listener: Listener;
  readonly #settings: KvServerSettings;
  readonly #sessions: Sessions;
  readonly #machine: ServerMachine;
  /** The way on which each session's client is. */
  readonly #ways = new Map<Session, Way>();
  /** Those that clients have come by. */
  readonly #devices = new Map<Engine, ServedDevice>();
  /** Of all queue pairs for datagrams, ours and our clients'. */
  readonly #qkey: number;
  #stopSweeping: (() => void) | undefined;
  #stopWorking: (() => void) | undefined;
  #isToSettle = false;
  #hasEnded = false;
  #refused = 0;
  #nowMs = 1;

  /** @internal {@link serve} makes servers for programs. */
  constructor(listener: Listener, settings: KvServerSettings) {
    const { store, persistence, maxClients, maxSilenceMs, random } = settings;
    this.#listener = listener;
    this.#settings = settings;
    this.epoch = random() >>> 0;
    // With its top bit set it would be that of the sender's own queue pair.
    this.#qkey = random() & 0x7fffffff;
    this.#sessions = new Sessions({ maxSessions: maxClients, maxSilenceUs: maxSilenceMs * 1000 }, random);
    const seed = (BigInt(random() >>> 0) << 32n) | BigInt(random() >>> 0);
    const numbers = (): NamedNumber[] => [
      ...allNumbers(this.statistics, store),
      ...numbersOf('log', persistence?.statistics ?? {}),
    ];
    const executor = new StoreExecutor({
      partition: store,
      nowMs: () => this.#nowMs,
      seed,
      numbers,
      layout: (id) => this.#deviceFor(this.#sessions.find(id))?.door?.layout(this.#nowMs),
    });
    const lend = (bytes: number, session: Session) => this.#deviceFor(session)?.memory.tryLease(bytes);
    const transfers = new Transfers(TRANSFER_LIMITS, lend);
    this.#machine = new ServerMachine(this.epoch, executor, SLOT_BYTES, persistence, transfers);
    this.closed = listener.serve((request) => this.#answer(request), { onError: warn }).finally(() => this.#end());
    this.closed.catch(() => undefined);
  }

  /** Where it listens: the address of its device, and the port. */
  get address(): FullAddress {
    return this.#listener.address;
  }

  /** What its store does when it is full. */
  get mode(): KvMode {
    return this.#settings.store.mode;
  }

  get statistics(): KvServerStatistics {
    const devices = [...this.#devices.values()];
    return {
      ...this.#machine.counters,
      clients: this.#sessions.size,
      refused: this.#refused,
      readers: devices.reduce((sum, { door }) => sum + (door?.readers ?? 0), 0),
    };
  }

  /** Ends it, and all connections. Idempotent. */
  close(): void {
    this.#listener.close();
    this.#end();
  }

  /** {@link close}. */
  [Symbol.dispose](): void {
    this.close();
  }

  /** {@link close}. */
  [Symbol.asyncDispose](): Promise<void> {
    this.close();
    return this.closed;
  }

  #end(): void {
    this.#stopSweeping?.();
    this.#stopSweeping = undefined;
    this.#stopWorking?.();
    this.#hasEnded = true;
    SERVED.delete(this.#settings.store);
    this.#sessions.endAll();
    for (const device of this.#devices.values()) device.end();
  }

  async #answer(request: ConnectionRequest): Promise<void> {
    const device = this.#deviceOf(request.id);
    const reader = decodeReaderOffer(request.privateData);
    if (reader !== undefined) {
      await this.#admit(request, device, reader);
      return;
    }
    const offer = decodeOffer(request.privateData);
    const terms = typeof offer === 'string' ? undefined : negotiate(request.id, offer);
    if (typeof offer === 'string' || terms === undefined) {
      this.#refuse(request, RefusalCode.PROTOCOL);
      return;
    }
    const session = this.#sessionFor(offer, device.engine.nowUs());
    if (typeof session === 'number') this.#refuse(request, session);
    else await this.#connect(request, device, session, offer, terms);
  }

  /** A client wants to read the store by itself. */
  async #admit(request: ConnectionRequest, { door }: ServedDevice, { epoch, session: id }: ReaderOffer): Promise<void> {
    const session = this.#sessions.find(id);
    if (door === undefined) this.#refuse(request, RefusalCode.ONE_SIDED);
    else if (epoch !== this.epoch) this.#refuse(request, RefusalCode.EPOCH);
    else if (session === undefined) this.#refuse(request, RefusalCode.SESSION);
    else await door.admit(request, session);
  }

  /** The session that a client goes on with, or a new one; or why there is none. */
  #sessionFor(offer: Offer, nowUs: number): Session | RefusalCode {
    if (isSameSession(offer.session, NO_SESSION)) {
      const window = Math.min(offer.window, this.#settings.maxWindow);
      return this.#sessions.open(window, nowUs) ?? RefusalCode.BUSY;
    }
    if (offer.epoch !== this.epoch) return RefusalCode.EPOCH;
    const session = this.#sessions.find(offer.session);
    if (session !== undefined) session.heardUs = nowUs;
    return session ?? RefusalCode.SESSION;
  }

  #refuse(request: ConnectionRequest, code: RefusalCode): void {
    if (code === RefusalCode.BUSY) this.#refused += 1;
    request.reject(encodeRefusal({ code, epoch: this.epoch }));
  }

  async #connect(
    request: ConnectionRequest,
    device: ServedDevice,
    session: Session,
    offer: Offer,
    { transport, path, slotBytes }: NegotiatedParams,
  ): Promise<void> {
    const { engine } = device;
    const window = session.slots.size;
    const sizes = { window, slotBytes };
    const datagrams = (): ServerDatagrams => device.datagrams();
    const isNew = isSameSession(offer.session, NO_SESSION);
    let made: ServerLink | undefined;
    // What the callback did is not seen by the compiler.
    const linkMade = (): ServerLink | undefined => made;
    let leave: Way['leave'] = () => undefined;
    const isOver = new Promise<Departure>((resolve) => (leave = resolve));
    const way: Way = {
      device,
      leave,
      send: (answer) => {
        // What was remembered for a wider way would break the queue pair of all who come by datagrams.
        if (answer.length <= slotBytes) linkMade()?.send(answer);
      },
      move: (transfer) => linkMade()?.move(this.#minded(transfer, engine)) === true,
    };
    // Filled in once there are the queue pairs that it names.
    const privateData = new Uint8Array(WELCOME_BYTES);
    const createQp = (id: CmId): void => {
      made = transport.link({ id, engine, sizes, path, offer, session: session.id, datagrams });
      const welcome = { transport: offer.transport, ...sizes, session: session.id, epoch: this.epoch, ...made.place };
      privateData.set(encodeWelcome(welcome));
      session.answerBytes = slotBytes;
      this.#ways.get(session)?.leave('replaced');
      this.#ways.set(session, way);
      session.way = way;
      session.onEnd = () => leave('over');
      this.#listenTo(made, session, way);
    };
    let isConnected = false;
    let departure: Departure = 'over';
    try {
      using connection = await request.accept({ createQp, privateData, rnrRetryCount: 7 });
      isConnected = true;
      departure = await Promise.race([connection.closed.then((): Departure => 'over'), isOver]);
    } catch (error) {
      if (error instanceof VerbsError && error.errno === 'ENOMEM') this.#refused += 1;
      throw error;
    } finally {
      linkMade()?.destroyed();
      // Where no RTU comes through, the client takes the connection for made, and its datagrams come all the same.
      const isToReturn = !isConnected && (!isNew || session.hasAsked);
      this.#part(session, way, departure === 'over' && !isToReturn);
    }
  }

  /** A way has ended. @param isLast whether that ends the session, unless its client has come by another */
  #part(session: Session, way: Way, isLast: boolean): void {
    const isCurrent = this.#ways.get(session) === way;
    if (isCurrent) {
      this.#ways.delete(session);
      session.way = undefined;
    }
    if (isLast && (isCurrent || !this.#ways.has(session))) this.#sessions.end(session);
  }

  #listenTo(link: ServerLink, session: Session, way: Way): void {
    link.listen({
      onMessage: (bytes) => {
        const nowUs = this.#tick(link.engine);
        // Where there is no room for what is answered the client asks again.
        this.#machine.onMessage(session, bytes, nowUs);
        this.#settleLater(link.engine);
      },
      onRoom: () => undefined,
      onLost: (_, isEnded) => {
        if (!isEnded) way.leave('lost');
      },
    });
  }

  /** A transfer that may end with a request carried out. */
  #minded(transfer: Transfer, engine: Engine): Transfer {
    const done = (isThere: boolean): void => {
      this.#tick(engine);
      transfer.done(isThere);
      this.#settleLater(engine);
    };
    return { ...transfer, done };
  }

  /** Looks at the clock. @returns µs */
  #tick(engine: Engine): number {
    const nowUs = engine.nowUs();
    const { persistence } = this.#settings;
    this.#nowMs = Math.max(this.#nowMs, Math.floor(persistence?.timeMs(nowUs) ?? nowUs / 1000));
    return nowUs;
  }

  /** The device by which a client comes. @throws VerbsError as `Context.allocPd` and `Pd.regMr` */
  #deviceOf(id: CmId): ServedDevice {
    const engine = engineOf(id);
    const known = this.#devices.get(engine);
    if (known !== undefined) return known;
    for (const lost of this.#devices.values()) if (lost.engine.failure !== undefined) this.#forget(lost);
    const { store, oneSided } = this.#settings;
    const onStranger = (bytes: Uint8Array): void => this.#machine.onStranger(bytes);
    const device = new ServedDevice(engine, { store, oneSided, qkey: this.#qkey, onStranger });
    this.#devices.set(engine, device);
    if (this.#stopSweeping === undefined) this.#sweepLater(engine);
    this.#workLater(engine);
    return device;
  }

  #forget(device: ServedDevice): void {
    device.end();
    this.#devices.delete(device.engine);
  }

  /** The device by which the client of a session is reached now. */
  #deviceFor(session: Session | undefined): ServedDevice | undefined {
    return session && this.#ways.get(session)?.device;
  }

  /** What a pass has changed is kept by one write to the disk, and answered then. */
  #settleLater(engine: Engine): void {
    if (this.#isToSettle || !this.#machine.isHolding) return;
    this.#isToSettle = true;
    engine.afterPass(() => this.#settle(engine));
  }

  #settle(engine: Engine): void {
    this.#isToSettle = false;
    this.#machine.settle((session, answer) => this.#ways.get(session)?.send(answer));
    this.#workLater(engine);
  }

  /** What is kept on disk takes some care now and then. */
  #workLater(engine: Engine): void {
    const { persistence } = this.#settings;
    if (persistence?.waitMs === undefined || this.#stopWorking !== undefined || this.#hasEnded) return;
    this.#stopWorking = engine.chore(persistence.waitMs, () => {
      this.#stopWorking = undefined;
      persistence.work(engine.nowUs());
      this.#workLater(engine);
    });
  }

  /** Clients that are silent are forgotten, and keys that nobody asks for when their time has come. */
  #sweepLater(engine: Engine): void {
    const { store, maxSilenceMs } = this.#settings;
    this.#stopSweeping = engine.chore(store.mayExpire ? SWEEP_MS : maxSilenceMs / 2, () => {
      this.#sessions.sweep(this.#tick(engine));
      store.sweep(SWEEP_BUCKETS, this.#nowMs);
      this.#sweepLater(engine);
    });
  }
}

/** Counters with what they are of before their names: `store.hits`. */
function numbersOf(of: string, counters: object): NamedNumber[] {
  return Object.entries(counters).flatMap(([name, count]: [string, unknown]) =>
    typeof count === 'number' ? [[`${of}.${name}`, BigInt(count)] as const] : [],
  );
}

function allNumbers(server: KvServerStatistics, { statistics, memory }: Partition): NamedNumber[] {
  const memoryBytes = memory.byteLength;
  return [...numbersOf('server', server), ...numbersOf('store', statistics), ...numbersOf('store', { memoryBytes })];
}

function warn(error: unknown): void {
  // Requests without room are counted.
  if (error instanceof VerbsError && error.errno === 'ENOMEM') return;
  if (!isClientsDoing(error)) warnOf(error);
}
