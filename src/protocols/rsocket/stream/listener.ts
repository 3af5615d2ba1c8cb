import {
  type ConnectionRequest,
  type FullAddress,
  isClientsDoing,
  listen as listenByCm,
  type Listener,
  serve,
} from '../../../api/rdmacm/index.js';
import { Callbacks, CallbackTurn, warnOf } from '../../../api/runtime/index.js';
import {
  type Context,
  type FieldsOf,
  fieldsProblem,
  invalid,
  type OpenOptions,
  refuse,
  show,
  VerbsError,
} from '../../../api/verbs/index.js';
import { RsocketError } from '../errors.js';
import { Admission, ADMISSION_RETRY_MS, type Engine, engineOf, type Place } from '../../core/index.js';
import { readPeer, type Sizes } from '../protocol/index.js';
import { establishStream } from './connect.js';
import { sizesOf, STREAM_FIELDS, type StreamOptions } from './options.js';
import type { RsocketStream } from './rsocket-stream.js';
import type { RsocketStreamSocket } from './stream-socket.js';

const CALL = 'rlisten';
const BACKLOG = 128;

/** What {@link listenStreams} takes. */
export interface StreamListenOptions extends StreamOptions {
  /** Default: any that is free. */
  readonly port?: number;
  /** An address of one's own. Default: that of the program's default device. */
  readonly host?: string;
  /** Whether others that say the same may have the port as well, as long as none of them listens (`SO_REUSEADDR`). Default false. */
  readonly reuseAddr?: boolean;
  /** Whether `::` means an address of IPv6 only (`IPV6_V6ONLY`). Default false. */
  readonly ipv6Only?: boolean;
  /**
   * Connections that may be half open, and streams that the program has not taken, from 1 on. Up to 1024 further requests wait in the
   * connection manager; it drops those beyond, and their clients repeat them. A client that has not completed its connection after 0.2 s
   * loses its place to one that waits. Default 128.
   */
  readonly backlog?: number;
  /** The device. Default: the one that the address says, else the program's default device. */
  readonly context?: Context;
  /** How the device is opened where it is not there yet. */
  readonly open?: Omit<OpenOptions, 'address' | 'device'>;
}

const LISTEN_FIELDS: FieldsOf<StreamListenOptions> = {
  ...STREAM_FIELDS,
  port: true,
  host: true,
  reuseAddr: true,
  ipv6Only: true,
  backlog: true,
  context: true,
  open: true,
};

/**
 * Listens for rsockets: of this package, and of librdmacm.
 *
 * @example
 * ```ts
 * const listener = listenStreams({ port: 7471 });
 * listener.onStream = (stream) => stream.close();
 * ```
 * @throws VerbsError EADDRINUSE when another listens there; EINVAL for wrong arguments; otherwise as `listen` of the root
 */
export function listenStreams(options: StreamListenOptions = {}): StreamListener {
  refuse(CALL, fieldsProblem('options', options, LISTEN_FIELDS));
  const { sqSize, rqSize, inlineBytes, sendBufferBytes, receiveBufferBytes, iomapSize, ...given } = options;
  const { backlog = BACKLOG, ...where } = given;
  if (!Number.isInteger(backlog) || backlog < 1)
    throw new VerbsError(CALL, invalid(`backlog is ${show(backlog)}`, 'It is a number from 1 on'));
  return new StreamListener(listenByCm(where), sizesOf(options), backlog);
}

/** Takes streams. */
export type StreamHandler = (stream: RsocketStreamSocket) => void;

/** Where streams come. It keeps the process alive until it is closed. */
export class StreamListener implements Disposable {
  #onStream: StreamHandler | undefined;
  readonly #admission: Admission;
  readonly #places = new Map<ConnectionRequest, Place>();
  readonly #waiting: { readonly stream: RsocketStream; readonly place: Place }[] = [];
  #isClosed = false;
  #goOn: (() => void) | undefined;
  readonly #turn = new CallbackTurn(new Callbacks(), () => this.#give());

  /** @internal {@link listenStreams} makes listeners for programs. */
  constructor(
    private readonly listener: Listener,
    private sizes: Sizes,
    backlog: number,
  ) {
    this.#admission = new Admission(backlog);
    serve(this.#requests(), (request) => this.#answer(request), { onError: warn }).catch(warnOf);
  }

  /** Sets how large the queues and buffers of streams are that come from now on. @throws VerbsError EINVAL for sizes that there are not */
  resize(options: StreamOptions): void {
    refuse(CALL, fieldsProblem('options', options, STREAM_FIELDS));
    this.sizes = sizesOf(options);
  }

  /** Where it listens: the address of its device, and the port. */
  get address(): FullAddress {
    return this.listener.address;
  }

  /**
   * Is called with each connected stream; streams that came before it was set wait for it. Each call has its own turn of the event loop,
   * and the async context of the call of {@link listenStreams}.
   */
  get onStream(): StreamHandler | undefined {
    return this.#onStream;
  }

  set onStream(onStream: StreamHandler | undefined) {
    this.#onStream = onStream;
    if (this.#waiting.length > 0) this.#turn.queue();
  }

  /** Whether it keeps the process alive: it does, to begin with. */
  ref(): void {
    this.listener.ref();
  }

  unref(): void {
    this.listener.unref();
  }

  /** Ends it: no more streams come, those that nobody has taken end, and the others go on. Idempotent. */
  close(): void {
    this.#isClosed = true;
    this.listener.close();
    this.#goOn?.();
    // A stream whose turn has not come ends in order: its client may know that it is connected.
    const lingerMs = this.#onStream === undefined ? 0 : undefined;
    for (const { stream } of this.#waiting.splice(0)) stream.close(lingerMs);
  }

  /** {@link close}. */
  [Symbol.dispose](): void {
    this.close();
  }

  /**
   * Takes requests while there is room, and one that waits for it. The others wait in the connection manager, which drops those beyond its
   * own backlog.
   */
  async *#requests(): AsyncGenerator<ConnectionRequest, void, undefined> {
    for await (const request of this.listener) {
      const place = await this.#placeFor(engineOf(request.id));
      if (place === undefined) request.reject();
      else {
        this.#places.set(request, place);
        yield request;
      }
    }
  }

  /** @returns undefined once the listener is closed */
  async #placeFor(engine: Engine): Promise<Place | undefined> {
    while (!this.#isClosed) {
      const place = this.#admission.enter(engine.nowUs());
      if (place !== undefined) return place;
      await new Promise<void>((resolve) => {
        const stop = engine.chore(ADMISSION_RETRY_MS, resolve);
        this.#goOn = () => {
          stop();
          resolve();
        };
      });
    }
    return undefined;
  }

  async #answer(request: ConnectionRequest): Promise<void> {
    const place = this.#places.get(request);
    this.#places.delete(request);
    if (place === undefined) return;
    try {
      if (typeof readPeer(request.privateData) === 'string') {
        request.reject();
        this.#leave(place);
        return;
      }
      const { signal } = place;
      const stream = await establishStream(this.sizes, { signal }, (options) => request.accept(options));
      place.completed();
      this.#waiting.push({ stream, place });
    } catch (error) {
      this.#leave(place);
      throw error;
    }
    if (this.#onStream !== undefined) this.#turn.queue();
  }

  #leave(place: Place): void {
    place[Symbol.dispose]();
    this.#goOn?.();
  }

  #give(): void {
    if (this.#onStream === undefined) return;
    const next = this.#waiting.shift();
    if (this.#waiting.length > 0) this.#turn.queue();
    if (next === undefined) return;
    this.#leave(next.place);
    this.#onStream(next.stream);
  }
}

function warn(error: unknown): void {
  if (!(error instanceof RsocketError) && !isClientsDoing(error)) warnOf(error);
}
