import type { CmRoute, Connection, FullAddress } from '../../../api/rdmacm/index.js';
import { Callbacks, CallbackTurn, Microtask } from '../../../api/runtime/index.js';
import { bytesProblem, invalid, refuse, show, VerbsError } from '../../../api/verbs/index.js';
import { PeerProbes, type Engine, KeepAlive } from '../../core/index.js';
import { RsocketError } from '../errors.js';
import type { Ending, StreamProtocol } from '../protocol/index.js';
import type { ConnectionData } from '../wire/connection-data.js';
import type { Endpoint } from './endpoint.js';
import { Mappings } from './mappings.js';
import type { Direction, RsocketStreamSocket, StreamEvents } from './stream-socket.js';

const LINGER_MS = 5000;
/** How long the peer, which has said DISCONNECT, may take to disconnect; then this end does. */
const PARTING_MS = 2000;
const MAX_KEEPALIVE = 32_767;

const nothing = (): void => {};
const SILENT: StreamEvents = { readable: nothing, writable: nothing, closed: nothing };

const ENDINGS: Readonly<Record<Direction, Ending>> = { read: 'endRead', write: 'endWrite', both: 'endBoth' };

const NOTHING = new Uint8Array(0);
/** Up to so many bytes a view of them takes longer to make than they to copy. */
const FEW = 128;

/** The events that listeners have not heard of, as bits, in the order of the calls. */
const Due = { READABLE: 1, WRITABLE: 2, DRAINED: 4, CLOSED: 8 } as const;

/** A stream over a reliable connection. It ends by itself once both directions have ended, whatever its owner does. */
export class RsocketStream implements RsocketStreamSocket {
  readonly localAddress: FullAddress;
  readonly remoteAddress: FullAddress;
  readonly route: CmRoute;
  readonly #engine: Engine;
  readonly #protocol: StreamProtocol;
  #events: StreamEvents | undefined;
  #due = 0;
  readonly #turn = new CallbackTurn(new Callbacks(), () => this.#tellOne());
  /** For this package, whose listeners call none of the program. Never at once: the program may be within a call. */
  #soon: Microtask | undefined;
  /** Whether the owner knows that there is something to read. */
  #isReadableTold = false;
  #wantsRoom = false;
  #wantsRoomForMapped = false;
  #wantsDrain = false;
  readonly #mappings: Mappings;
  readonly #probes: PeerProbes;
  #failure: RsocketError | undefined;
  #bytesRead = 0;
  #bytesWritten = 0;
  #stopLinger: (() => void) | undefined;
  #lingerByUs = Infinity;
  #keepAlive: KeepAlive | undefined;
  #stopParting: (() => void) | undefined;
  #isParting = false;

  /** @internal `connectStream` and `listenStreams` make streams for programs. */
  constructor(
    private readonly connection: Connection,
    private readonly endpoint: Endpoint,
    peer: ConnectionData,
  ) {
    this.localAddress = connection.localAddress;
    this.remoteAddress = connection.remoteAddress;
    this.route = connection.id.route;
    this.#engine = endpoint.engine;
    endpoint.listener = {
      onReadable: () => this.#onReadable(),
      onProgress: () => this.#onProgress(),
      onEnd: (failure) => this.#onEnd(failure),
    };
    this.#protocol = endpoint.protocolFor(peer);
    this.#mappings = new Mappings(this.#engine.registrations, this.#protocol.offers);
    const awaitsPeer = (): boolean => this.#protocol.awaitsPeer(this.#wantsRoom);
    this.#probes = new PeerProbes(this.#engine, {
      get awaitsPeer() {
        return awaitsPeer();
      },
      probe: () => endpoint.keepAlive(),
    });
    endpoint.begin(this.#protocol, connection);
    void connection.closed.then(() => this.#part());
  }

  get events(): StreamEvents {
    return this.#events ?? SILENT;
  }

  set events(events: StreamEvents) {
    this.#events = events;
    this.#soon = undefined;
    if (this.#due !== 0) this.#queue();
  }

  /** @internal {@link follow}: all are called in one microtask. */
  follow(events: StreamEvents): void {
    this.events = events;
    this.#soon = new Microtask(() => this.#tellAll());
  }

  get sqSize(): number {
    return this.endpoint.sizes.sqSize;
  }

  get bytesRead(): number {
    return this.#bytesRead;
  }

  get bytesWritten(): number {
    return this.#bytesWritten;
  }

  get readableBytes(): number {
    return this.#protocol.incoming.unread;
  }

  get isReadEnded(): boolean {
    return this.endpoint.hasEnded || !this.#protocol.rules.reads;
  }

  get isWriteEnded(): boolean {
    return this.endpoint.hasEnded || !this.#protocol.rules.writes;
  }

  get unacknowledgedBytes(): number {
    return this.#protocol.unacknowledged;
  }

  write(bytes: Uint8Array): number {
    const call = 'rsend';
    if (!(bytes instanceof Uint8Array)) refuse(call, bytesProblem('bytes', bytes));
    if (this.isWriteEnded) this.#refuseWrite(call);
    const taken = this.endpoint.write(this.#protocol, bytes);
    this.#bytesWritten += taken;
    if (taken > 0) this.#wantsDrain = true;
    if (taken < bytes.length) {
      this.#wantsRoom = true;
      this.#probes.start();
    }
    return taken;
  }

  read(into: Uint8Array): number {
    refuse('rrecv', bytesProblem('into', into));
    const { incoming } = this.#protocol;
    let count = 0;
    while (count < into.length && incoming.unread > 0) {
      const byteLength = Math.min(incoming.readable, into.length - count);
      const { readAt } = incoming;
      copy(this.endpoint.memory.receiveBytes, readAt, byteLength, into, count);
      count += byteLength;
      this.#consume(byteLength);
    }
    return count;
  }

  peek(): Uint8Array {
    const { readAt, readable } = this.#protocol.incoming;
    if (readable === 0) return NOTHING;
    return this.endpoint.memory.show(readAt, readAt + readable);
  }

  consume(byteLength: number): void {
    const { readable } = this.#protocol.incoming;
    if (!Number.isInteger(byteLength) || byteLength < 0 || byteLength > readable) {
      const message = `byteLength is ${show(byteLength)}`;
      throw new VerbsError('consume', invalid(message, `It is a number up to ${readable}, as many as peek gives`));
    }
    if (byteLength > 0) this.#consume(byteLength);
  }

  riomap(bytes: Uint8Array, offset: number | bigint): bigint {
    const call = 'riomap';
    refuse(call, bytesProblem('bytes', bytes));
    const wanted = offset === -1 || offset === -1n ? undefined : offsetOf(call, offset);
    if (this.isWriteEnded) this.#refuseWrite(call);
    const begin = this.#mappings.add(bytes, wanted);
    this.#announce();
    return begin;
  }

  riounmap(bytes: Uint8Array): void {
    this.#mappings.remove(bytes);
    this.#announce();
  }

  riowrite(bytes: Uint8Array, offset: number | bigint): number {
    const call = 'riowrite';
    refuse(call, bytesProblem('bytes', bytes));
    const at = offsetOf(call, offset);
    if (this.isWriteEnded) this.#refuseWrite(call);
    let taken = 0;
    while (taken < bytes.length) {
      const span = this.#protocol.mapped.find(at + BigInt(taken));
      if (span === undefined) break;
      const rest = bytes.subarray(taken);
      const count = this.endpoint.writeMapped(this.#protocol, rest, span);
      taken += count;
      if (count < Math.min(rest.length, span.length)) {
        this.#wantsRoomForMapped = true;
        break;
      }
    }
    if (taken > 0) this.#wantsDrain = true;
    return taken;
  }

  mappedBytes(offset: number | bigint): number {
    return this.#protocol.mapped.find(offsetOf('riowrite', offset))?.length ?? 0;
  }

  shutdown(direction: Direction): void {
    if (!Object.hasOwn(ENDINGS, direction))
      throw new VerbsError('rshutdown', invalid(`direction is ${show(direction)}`, 'It is read, write or both'));
    if (!this.endpoint.hasEnded) this.#shut(ENDINGS[direction]);
  }

  close(lingerMs = LINGER_MS): void {
    if (typeof lingerMs !== 'number' || !(lingerMs >= 0))
      throw new VerbsError('rclose', invalid(`lingerMs is ${show(lingerMs)}`, 'It is a number of ms from 0 on'));
    if (this.endpoint.hasEnded) return;
    // Without a word: the peer must not take it for an end of all that was to come.
    if (lingerMs === 0) {
      this.endpoint.end(undefined);
      return;
    }
    this.#shut('endBoth');
    if (lingerMs !== Infinity) this.#linger(lingerMs);
  }

  setKeepAlive(seconds: number): void {
    if (!Number.isInteger(seconds) || seconds < 0 || seconds > MAX_KEEPALIVE) {
      const advice = `It is a number from 0 to ${MAX_KEEPALIVE}`;
      throw new VerbsError('rsetsockopt', invalid(`seconds is ${show(seconds)}`, advice));
    }
    this.#keepAlive?.end();
    if (seconds === 0 || this.endpoint.hasEnded) return;
    const before = this.endpoint.messages;
    const heard = (): number => this.endpoint.messages - before;
    this.#keepAlive = KeepAlive.endless(this.#engine, 1000 * seconds, {
      heard,
      probe: () => this.endpoint.keepAlive(),
    });
  }

  ref(): void {
    this.endpoint.ref();
  }

  unref(): void {
    this.endpoint.unref();
  }

  explainStall(): string | undefined {
    return this.isWriteEnded ? undefined : this.#protocol.stall;
  }

  #announce(): void {
    this.endpoint.announce();
    if (this.#protocol.offers.next !== undefined) this.#probes.start();
  }

  #consume(byteLength: number): void {
    this.#bytesRead += byteLength;
    this.endpoint.consume(this.#protocol, byteLength);
    if (this.#protocol.incoming.unread === 0) this.#isReadableTold = false;
  }

  #shut(ending: Ending): void {
    const { reads } = this.#protocol.rules;
    this.endpoint.shut(this.#protocol, ending);
    if (reads && !this.#protocol.rules.reads) this.#tell(Due.READABLE);
    this.#onProgress();
  }

  #linger(lingerMs: number): void {
    const byUs = this.#engine.nowUs() + 1000 * lingerMs;
    if (byUs >= this.#lingerByUs) return;
    this.#lingerByUs = byUs;
    this.#stopLinger?.();
    this.#stopLinger = this.#engine.timer(lingerMs, () => {
      const { unacknowledged, isWhole } = this.#protocol;
      const message = `the peer's adapter did not take the last ${unacknowledged} bytes within ${lingerMs} ms`;
      const late = new RsocketError('rclose', { errno: 'ETIMEDOUT', message, advice: '' });
      this.endpoint.end(isWhole ? undefined : late);
    });
  }

  #onReadable(): void {
    if (this.#isReadableTold && this.#protocol.rules.reads) return;
    this.#isReadableTold = true;
    this.#tell(Due.READABLE);
  }

  #onProgress(): void {
    const protocol = this.#protocol;
    if (this.#wantsRoom && protocol.isRoomy) {
      this.#wantsRoom = false;
      this.#tell(Due.WRITABLE);
    }
    if (this.#wantsRoomForMapped && protocol.isRoomyForMapped) {
      this.#wantsRoomForMapped = false;
      this.#tell(Due.WRITABLE);
    }
    if (this.#wantsDrain && protocol.unacknowledged === 0) {
      this.#wantsDrain = false;
      if (this.#events === undefined || this.#events.drained !== undefined) this.#tell(Due.DRAINED);
    }
    // What the peer has not acknowledged yet it may have all the same; but it need not be waited for without end.
    if (protocol.isDone) this.endpoint.end(undefined);
    else if (protocol.phase === 'PARTED' && this.#stopLinger === undefined) this.#linger(LINGER_MS);
  }

  #onEnd(failure: RsocketError | undefined): void {
    this.#failure = failure;
    this.#stopLinger?.();
    this.#keepAlive?.end();
    this.#probes.end();
    this.#tell(Due.CLOSED);
    // Whoever has said DISCONNECT knows when its adapter has heard that it was heard, and disconnects then.
    if (failure === undefined && this.#protocol.phase === 'PARTED')
      this.#stopParting = this.#engine.timer(PARTING_MS, () => this.#part());
    else this.#part();
  }

  #part(): void {
    this.#stopParting?.();
    if (this.#isParting) return;
    this.#isParting = true;
    const release = (): void => {
      this.connection[Symbol.dispose]();
      this.endpoint.destroyed();
      this.#mappings.clear();
    };
    this.connection.close().then(release, release);
  }

  #tell(due: number): void {
    this.#due |= due;
    if (this.#events !== undefined) this.#queue();
  }

  #queue(): void {
    if (this.#soon === undefined) this.#turn.queue();
    else this.#soon.queue();
  }

  /** One call for each turn. */
  #tellOne(): void {
    const first = this.#due & -this.#due;
    this.#due &= ~first;
    if (this.#due !== 0) this.#turn.queue();
    this.#call(first);
  }

  #tellAll(): void {
    for (let due = this.#due; due !== 0; due = this.#due) {
      const first = due & -due;
      this.#due &= ~first;
      this.#call(first);
    }
  }

  #call(due: number): void {
    const { events } = this;
    if (due === Due.READABLE) events.readable();
    else if (due === Due.WRITABLE) events.writable();
    // A program that has written more since then hears of the acknowledgement of that.
    else if (due === Due.DRAINED && this.#protocol.unacknowledged === 0) events.drained?.();
    else if (due === Due.CLOSED) events.closed(this.#failure);
  }

  #refuseWrite(call: string): never {
    if (this.#failure !== undefined) throw this.#failure;
    const isOwnDoing = this.#protocol.phase === 'WRITE_ENDED' || this.#protocol.phase === 'PARTING';
    if (isOwnDoing)
      throw new RsocketError(call, { errno: 'EPIPE', message: 'this end has ended the direction', advice: '' });
    throw new RsocketError(call, { errno: 'ECONNRESET', message: 'the peer has ended the connection', advice: '' });
  }
}

/** As setting `events` of a stream, for listeners of this package that call none of the program: they are called sooner, one after the other. */
export function follow(stream: RsocketStreamSocket, events: StreamEvents): void {
  if (stream instanceof RsocketStream) stream.follow(events);
  else stream.events = events;
}

function copy(from: Uint8Array, at: number, byteLength: number, to: Uint8Array, toAt: number): void {
  if (byteLength > FEW) to.set(from.subarray(at, at + byteLength), toAt);
  else for (let i = 0; i < byteLength; i += 1) to[toAt + i] = from[at + i];
}

const MAX_OFFSET = 2n ** 64n - 1n;

function offsetOf(call: string, offset: unknown): bigint {
  const value = typeof offset === 'number' && Number.isSafeInteger(offset) ? BigInt(offset) : offset;
  if (typeof value === 'bigint' && value >= 0n && value <= MAX_OFFSET) return value;
  throw new VerbsError(call, invalid(`offset is ${show(offset)}`, 'It is a whole number of 64 bits'));
}
