import { PortSpace } from '../../../device/ibta/index.js';
import { type CmId, createId, type FullAddress, type SocketAddress } from '../../../api/rdmacm/index.js';
import type { Context, OpenOptions } from '../../../api/verbs/index.js';
import { RsocketError, invalidArgument, problem } from '../errors.js';
import { connectStream } from '../stream/connect.js';
import { listenStreams, type StreamHandler, type StreamListener } from '../stream/listener.js';
import { follow } from '../stream/rsocket-stream.js';
import type { Direction, RsocketStreamSocket } from '../stream/stream-socket.js';
import { Condition } from './condition.js';
import { type AddressFamily, ANY, isAny, PollEvents, SocketType } from './constants.js';
import { Mutex } from './mutex.js';
import { inherited, setBefore, type Settings, streamOptions } from './settings.js';

/** The device of a socket. */
export interface RsocketOptions {
  /** Default: one that the program has, opened when it has none that leads there. */
  readonly context?: Context;
  /** How the device is opened where it is not there yet. */
  readonly open?: Omit<OpenOptions, 'address' | 'device'>;
}

/** How long a call may wait. */
export interface RsocketWait {
  /** Gives up; the promise rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

/** Where a socket is on its way; what belongs to that. */
export type State =
  | { readonly kind: 'new' }
  | { readonly kind: 'bound'; readonly id: CmId; readonly isAnywhere: boolean }
  | {
      readonly kind: 'listening';
      readonly listener: StreamListener;
      readonly waiting: Core[];
      readonly onStream: StreamHandler;
    }
  | { readonly kind: 'connecting'; readonly giveUp: AbortController }
  | { readonly kind: 'connected'; readonly stream: RsocketStreamSocket }
  | { readonly kind: 'failed' }
  | { readonly kind: 'closed' };

/** What an `Rsocket` of type STREAM is inside. */
export class Core {
  readonly type = SocketType.STREAM;
  /** Rings whenever something may have changed for those who wait. */
  readonly bell = new Condition();
  readonly sending = new Mutex();
  readonly receiving = new Mutex();
  state: State = { kind: 'new' };
  /** What `SO_ERROR` tells. */
  error: Error | undefined;
  ended: { readonly error: Error | undefined } | undefined;
  /** The latest write was not taken whole, and nothing has been told since. */
  isFull = false;

  constructor(
    readonly domain: AddressFamily,
    readonly settings: Settings,
    readonly device: RsocketOptions,
  ) {}

  bind(call: string, address: SocketAddress): void {
    if (this.state.kind !== 'new') throw this.#misplaced(call);
    const { context, open } = this.device;
    const id = createId(undefined, PortSpace.TCP, {
      ...(context === undefined ? {} : { contexts: [context] }),
      ...(open === undefined ? {} : { open }),
    });
    const { host = ANY[this.domain], port = 0 } = address;
    try {
      setBefore(id, this.settings);
      id.bindAddr({ host, port });
    } catch (error) {
      id.destroy();
      throw error;
    }
    // Keeps the port from others, until the listener or the connection takes it over.
    this.state = { kind: 'bound', id, isAnywhere: isAny(host) };
  }

  listen(call: string, backlog: number): void {
    if (this.state.kind === 'listening') return;
    const { settings } = this;
    const local = this.#release(call);
    const waiting: Core[] = [];
    const where = local?.address ?? { host: ANY[this.domain] };
    const { reuseAddr, ipv6Only } = settings;
    const listener = listenStreams({
      ...this.device,
      ...streamOptions(settings),
      ...where,
      reuseAddr,
      ipv6Only,
      backlog,
    });
    const onStream: StreamHandler = (stream) => {
      const child = new Core(this.domain, inherited(settings), this.device);
      child.#connected(stream);
      waiting.push(child);
      // The listener keeps the others, up to its own backlog.
      if (waiting.length >= backlog) listener.onStream = undefined;
      this.bell.ring();
    };
    listener.onStream = onStream;
    this.state = { kind: 'listening', listener, waiting, onStream };
  }

  /** The oldest connection that nobody has accepted. @throws RsocketError EBADF when it does not listen */
  accept(call: string): Core | undefined {
    if (this.state.kind !== 'listening')
      throw new RsocketError(call, { errno: 'EBADF', message: 'the socket does not listen', advice: 'Call rlisten' });
    const { listener, waiting, onStream } = this.state;
    const accepted = waiting.shift();
    if (accepted !== undefined) listener.onStream ??= onStream;
    return accepted;
  }

  /** Begins to connect; `bell` rings when that has come to an end. */
  connect(call: string, address: SocketAddress): void {
    if (this.state.kind === 'connecting') throw problem(call, 'EINPROGRESS');
    if (this.state.kind === 'connected') throw problem(call, 'EISCONN');
    const local = this.#release(call);
    const giveUp = new AbortController();
    this.state = { kind: 'connecting', giveUp };
    const { host = ANY[this.domain], port = 0 } = address;
    const { reuseAddr, tos } = this.settings;
    connectStream({
      ...this.device,
      ...streamOptions(this.settings),
      reuseAddr,
      tos,
      ...(local !== undefined && { localPort: local.address.port }),
      ...(local?.isAnywhere === false && { localAddress: local.address.host }),
      host,
      port,
      signal: giveUp.signal,
    }).then(
      (stream) => this.#connected(stream),
      (error: unknown) => this.#failed(error),
    );
  }

  giveUp(): void {
    if (this.state.kind !== 'connecting') return;
    this.state.giveUp.abort();
    this.state = { kind: 'failed' };
  }

  /** What `SO_ERROR` tells, once. */
  takeError(): Error | undefined {
    const { error } = this;
    this.error = undefined;
    return error;
  }

  /** The stream; undefined while it is being connected. @throws RsocketError ENOTCONN when there is none */
  stream(call: string): RsocketStreamSocket | undefined {
    if (this.state.kind === 'connected') return this.state.stream;
    if (this.state.kind === 'connecting') return undefined;
    throw problem(call, this.state.kind === 'closed' ? 'EBADF' : 'ENOTCONN');
  }

  shutdown(direction: Direction): void {
    if (this.state.kind === 'connected') this.state.stream.shutdown(direction);
  }

  close(): void {
    const { state } = this;
    switch (state.kind) {
      case 'bound':
        state.id.destroy();
        break;
      case 'listening':
        state.listener.close();
        for (const child of state.waiting) child.close();
        break;
      case 'connecting':
        state.giveUp.abort();
        break;
      case 'connected':
        state.stream.close();
        break;
      default:
    }
    this.state = { kind: 'closed' };
    this.bell.ring();
  }

  /** Once there is a connection, or one is being made, buffers and queues are what they are. */
  get isBegun(): boolean {
    const { kind } = this.state;
    return kind === 'connecting' || kind === 'connected' || kind === 'failed';
  }

  get hasAddress(): boolean {
    return this.state.kind !== 'new';
  }

  /** What `rpoll` is to tell, of what was asked. */
  readiness(events: number): number {
    const { IN, OUT, ERR, HUP } = PollEvents;
    const { state, isFull, ended } = this;
    switch (state.kind) {
      case 'connected': {
        const { stream } = state;
        const canRead = stream.readableBytes > 0 || stream.isReadEnded;
        const canWrite = !isFull || stream.isWriteEnded;
        const over = ended === undefined ? 0 : ended.error === undefined ? HUP : ERR;
        return (events & ((canRead ? IN : 0) | (canWrite ? OUT : 0))) | over;
      }
      case 'listening':
        return state.waiting.length > 0 ? events & IN : 0;
      case 'failed':
        return (events & (IN | OUT)) | ERR;
      default:
        return 0;
    }
  }

  get localAddress(): FullAddress | undefined {
    const { state } = this;
    if (state.kind === 'connected') return state.stream.localAddress;
    if (state.kind === 'listening') return state.listener.address;
    return state.kind === 'bound' ? state.id.localAddr : undefined;
  }

  /** What stands for no address. */
  get anywhere(): FullAddress {
    return { host: ANY[this.domain], port: 0 };
  }

  get remoteAddress(): FullAddress | undefined {
    return this.state.kind === 'connected' ? this.state.stream.remoteAddress : undefined;
  }

  /** Sizes that were set count for what comes to a listener from now on. */
  resize(): void {
    if (this.state.kind === 'listening') this.state.listener.resize(streamOptions(this.settings));
  }

  /** The silence after which the peer is asked, as it is set now. */
  keepAlive(): void {
    if (this.state.kind !== 'connected') return;
    const { keepAlive, keepIdleSeconds } = this.settings;
    this.state.stream.setKeepAlive(keepAlive ? keepIdleSeconds : 0);
  }

  #connected(stream: RsocketStreamSocket): void {
    if (this.state.kind === 'closed' || this.state.kind === 'failed') {
      stream.close(0);
      return;
    }
    this.state = { kind: 'connected', stream };
    const ring = (): void => this.bell.ring();
    follow(stream, {
      readable: ring,
      writable: () => {
        this.isFull = false;
        ring();
      },
      drained: ring,
      closed: (error) => {
        this.ended = { error };
        this.error ??= error;
        ring();
      },
    });
    if (this.settings.keepAlive) this.keepAlive();
    ring();
  }

  #failed(error: unknown): void {
    if (this.state.kind !== 'connecting') return;
    this.error = error instanceof Error ? error : new Error(String(error));
    this.state = { kind: 'failed' };
    this.bell.ring();
  }

  /** Gives the address back that is bound, to whoever is to have it in the same turn; undefined when none is. */
  #release(call: string): { readonly address: FullAddress; readonly isAnywhere: boolean } | undefined {
    const { state } = this;
    if (state.kind === 'new') return undefined;
    if (state.kind !== 'bound') throw this.#misplaced(call);
    const { id, isAnywhere } = state;
    const address = id.localAddr ?? this.anywhere;
    id.destroy();
    this.state = { kind: 'new' };
    return { address, isAnywhere };
  }

  #misplaced(call: string): RsocketError {
    if (this.state.kind === 'closed') return problem(call, 'EBADF');
    if (this.state.kind === 'connected') return problem(call, 'EISCONN');
    const message = `the socket is ${this.state.kind}`;
    return invalidArgument(call, message, 'Make another by rsocket');
  }
}
