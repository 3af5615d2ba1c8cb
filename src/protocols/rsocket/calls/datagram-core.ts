import { CmEventType, PortSpace } from '../../../device/ibta/index.js';
import {
  type CmId,
  createEventChannel,
  createId,
  type CreateIdOptions,
  devicesOfFamilies,
  deviceToward,
  type EventChannel,
  type FullAddress,
  type SocketAddress,
  wildcardOf,
} from '../../../api/rdmacm/index.js';
import { familyOf, plainAddress } from '../../../device/wire/index.js';
import { after, watchOpened } from '../../../api/provider/index.js';
import { type Context, VerbsError } from '../../../api/verbs/index.js';
import { DatagramSocket } from '../datagrams/datagram-socket.js';
import type { Peer } from '../datagrams/peers.js';
import { type Datagrams, WildcardSockets } from '../datagrams/wildcard-sockets.js';
import { Condition } from './condition.js';
import { type AddressFamily, ANY, isAny, PollEvents, SocketType } from './constants.js';
import { Mutex } from './mutex.js';
import { invalidArgument, problem } from '../errors.js';
import type { RsocketOptions } from './core.js';
import { setBefore, type Settings } from './settings.js';

/** How often another port is tried, when the one that rdma_cm has chosen is some other program's by UDP. */
const PORT_TRIES = 16;
const RESOLVE_TIMEOUT_MS = 2000;
/** How long `rclose` waits for the adapter to send what it was given. */
const LINGER_MS = 1000;

type State =
  | { readonly kind: 'new' }
  | { readonly kind: 'open'; readonly socket: Datagrams }
  | { readonly kind: 'failed' }
  | { readonly kind: 'closed' };

/** What an `Rsocket` of type DGRAM is inside. */
export class DatagramCore {
  readonly type = SocketType.DGRAM;
  /** Rings whenever something may have changed for those who wait. */
  readonly bell = new Condition();
  readonly sending = new Mutex();
  readonly receiving = new Mutex();
  state: State = { kind: 'new' };
  /** What `SO_ERROR` tells. */
  error: Error | undefined;
  /** Whom `rconnect` has chosen. */
  peer: Peer | undefined;
  /** Resolves when nothing is left of it. */
  readonly closed: Promise<void>;
  #channel: EventChannel | undefined;
  #end: () => void = () => undefined;

  constructor(
    readonly domain: AddressFamily,
    readonly settings: Settings,
    readonly device: RsocketOptions,
  ) {
    this.closed = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  /** @throws VerbsError EADDRINUSE and so on; RsocketError EINVAL when it has an address */
  bind(call: string, { host = ANY[this.domain], port = 0 }: SocketAddress): void {
    if (this.state.kind !== 'new') throw invalidArgument(call, 'the socket has an address', 'Make another by rsocket');
    for (let tries = 1; ; tries += 1)
      try {
        if (isAny(host)) this.#bindAll(call, host, port);
        else this.#opened(this.#bound(call, { host, port }));
        return;
      } catch (error) {
        if (port !== 0 || tries >= PORT_TRIES || !isAddressInUse(error)) throw error;
      }
  }

  /** A wildcard is the port of all devices, also of those that the program opens later. */
  #bindAll(call: string, host: string, port: number): void {
    const choice = this.#choice();
    const families = wildcardOf(host, this.settings.ipv6Only || undefined).families;
    const devices = devicesOfFamilies(choice, families);
    const context = devices.at(0);
    if (context === undefined) {
      const message = `no device has an IPv${families.join(' or IPv')} address`;
      throw new VerbsError(call, { errno: 'ENODEV', message, advice: '' });
    }
    const first = this.#bound(call, { host: plainAddress(context.address), port }, context);
    const bound = { host, port: first.localAddress.port };
    const open = (device: Context): DatagramSocket =>
      this.#bound(call, { ...bound, host: plainAddress(device.address) }, device);
    const sockets: DatagramSocket[] = [];
    try {
      for (const other of devices.slice(1)) sockets.push(open(other));
    } catch (error) {
      for (const socket of [first, ...sockets]) socket.close();
      throw error;
    }
    const toward = (destination: string): Context => deviceToward(call, choice, destination);
    const all = new WildcardSockets(first, sockets, host, { toward, open });
    this.#opened(all);
    if (choice.contexts !== undefined) return;
    const stop = watchOpened((device) => {
      if (!families.includes(familyOf(plainAddress(device.address)))) return;
      try {
        all.addDevice(device);
      } catch (error) {
        // Somebody else has the port there.
        if (!(error instanceof VerbsError)) throw error;
      }
    });
    void this.closed.then(stop);
  }

  /** The socket, which an address is found for if it has none: one that packets to `destination` leave from. */
  async toward(call: string, destination: SocketAddress): Promise<Datagrams> {
    for (let tries = 1; this.state.kind === 'new'; tries += 1) {
      const channel = createEventChannel(this.#choice());
      const id = createId(channel, PortSpace.UDP, this.#choice());
      try {
        await resolved(call, id, channel, destination);
        // It may have been bound or closed meanwhile.
        if (this.#isNew()) {
          this.#opened(this.#made(call, id));
          this.#channel = channel;
          continue;
        }
        id[Symbol.dispose]();
        channel[Symbol.dispose]();
      } catch (error) {
        id[Symbol.dispose]();
        channel[Symbol.dispose]();
        if (tries >= PORT_TRIES || !isAddressInUse(error)) throw error;
      }
    }
    return this.socket(call);
  }

  /** @throws RsocketError EBADF, EINVAL when it has no address yet; what it has failed by */
  socket(call: string): Datagrams {
    switch (this.state.kind) {
      case 'open':
        return this.state.socket;
      case 'new':
        throw invalidArgument(call, 'the socket has no address yet', 'Call rbind, or rconnect');
      case 'failed':
        throw this.error ?? problem(call, 'ECONNRESET');
      default:
        throw problem(call, 'EBADF');
    }
  }

  async connect(call: string, address: SocketAddress): Promise<void> {
    const socket = await this.toward(call, address);
    this.peer = socket.peer(call, address);
    socket.only = this.peer;
  }

  /** What `SO_ERROR` tells, once. */
  takeError(): Error | undefined {
    const { error } = this;
    this.error = undefined;
    return error;
  }

  /** What `rpoll` is to tell, of what was asked. */
  readiness(events: number): number {
    const { IN, OUT, ERR } = PollEvents;
    if (this.state.kind === 'failed') return (events & (IN | OUT)) | ERR;
    if (this.state.kind !== 'open') return events & OUT;
    const { socket } = this.state;
    return events & ((socket.next === undefined ? 0 : IN) | (socket.canSend ? OUT : 0));
  }

  get hasAddress(): boolean {
    return this.state.kind !== 'new';
  }

  get isBegun(): boolean {
    return this.state.kind !== 'new';
  }

  get localAddress(): FullAddress | undefined {
    return this.state.kind === 'open' ? this.state.socket.localAddress : undefined;
  }

  /** What stands for no address. */
  get anywhere(): FullAddress {
    return { host: ANY[this.domain], port: 0 };
  }

  get remoteAddress(): FullAddress | undefined {
    return this.peer === undefined ? undefined : { host: this.peer.host, port: this.peer.port };
  }

  /** Ends it, once the adapter has sent all: at once, or within a bound. */
  close(): void {
    const { state } = this;
    this.state = { kind: 'closed' };
    this.bell.ring();
    if (state.kind === 'open') this.#closeIdle(state.socket);
    else this.#ended();
  }

  #closeIdle(socket: Datagrams): void {
    const close = (): void => {
      socket.close();
      this.#ended();
    };
    if (socket.isIdle) {
      close();
      return;
    }
    const stop = after(this.device.context, LINGER_MS, close);
    const look = (): void => {
      if (!socket.isIdle) {
        this.bell.onRing(look);
        return;
      }
      stop();
      close();
    };
    this.bell.onRing(look);
  }

  #ended(): void {
    this.#channel?.[Symbol.dispose]();
    this.#end();
  }

  #isNew(): boolean {
    return this.state.kind === 'new';
  }

  #choice(context = this.device.context): CreateIdOptions {
    const { open } = this.device;
    return { ...(context === undefined ? {} : { contexts: [context] }), ...(open === undefined ? {} : { open }) };
  }

  /** A socket at an address. @throws VerbsError EADDRINUSE, EADDRNOTAVAIL */
  #bound(call: string, address: SocketAddress, context?: Context): DatagramSocket {
    const id = createId(undefined, PortSpace.UDP, this.#choice(context));
    try {
      setBefore(id, this.settings);
      id.bindAddr(address);
      return this.#made(call, id);
    } catch (error) {
      id[Symbol.dispose]();
      throw error;
    }
  }

  #made(call: string, id: CmId): DatagramSocket {
    const ring = (): void => this.bell.ring();
    const failed = (error: Error): void => {
      const isLast =
        this.state.kind === 'open' && (!(this.state.socket instanceof WildcardSockets) || this.state.socket.lost());
      if (isLast) {
        this.error = error;
        this.state = { kind: 'failed' };
      }
      ring();
    };
    return new DatagramSocket(call, id, this.settings, { readable: ring, writable: ring, failed });
  }

  #opened(socket: Datagrams): void {
    this.state = { kind: 'open', socket };
    this.bell.ring();
  }
}

function isAddressInUse(error: unknown): boolean {
  return error instanceof VerbsError && error.errno === 'EADDRINUSE';
}

/** Has an identifier find the address that packets to `destination` leave from. @throws VerbsError what it failed by */
async function resolved(call: string, id: CmId, channel: EventChannel, destination: SocketAddress): Promise<void> {
  if (destination.host === undefined || isAny(destination.host))
    throw invalidArgument(call, 'the address has no host', 'Say who is meant');
  id.resolveAddr(destination, { timeoutMs: RESOLVE_TIMEOUT_MS });
  for await (const event of channel) {
    event.ack();
    if (event.event === CmEventType.ADDR_RESOLVED) return;
    throw (
      event.error ??
      new VerbsError(call, { errno: 'EHOSTUNREACH', message: `${destination.host} is not there`, advice: '' })
    );
  }
}
