import type { SocketAddress } from '../../../../api/rdmacm/index.js';
import type { Clock } from '../../transport/index.js';
import type { ByteStream, StreamFollower } from '../../transport/tcp/byte-stream.js';

export interface StreamConditions {
  /** µs from one end to the other. */
  readonly delayUs?: number;
  /** Bytes that the systems of both ends hold together, in one direction. */
  readonly roomBytes?: number;
  /** How many bytes come at once, at most: asked for each time. */
  readonly pieceBytes?: () => number;
}

const DELAY_US = 20;
const ROOM_BYTES = 100_000;
const PIECE_BYTES = 65_536;
/** Nothing is told from within a call. */
const SOON_MS = 0.001;

class ResetError extends Error {
  readonly code = 'ECONNRESET';
  constructor(readonly syscall: string) {
    super(`${syscall} ECONNRESET`);
  }
}

/** One end of a connection as TCP has them, in virtual time. What a write has not sent at once is read when it is sent, as systems do. */
export class SimulatedStream implements ByteStream {
  /** Where bytes go. */
  peer: SimulatedStream | undefined;
  /** Bytes that have gone out. */
  sentBytes = 0;
  /** Asked before bytes go out: how many may. Fewer than were asked for: the connection is cut behind them. */
  cut: ((wantedBytes: number) => number) | undefined;
  isRef = true;
  #follower: StreamFollower | undefined;
  #isReading = false;
  #isOver = false;
  #hasSaidEnd = false;
  #isEndDue = false;
  #isEndTold = false;
  /** What was written, in memory of whoever wrote it. */
  #writes: Uint8Array[] = [];
  /** What has come and is not read. */
  #arrived: Uint8Array[] = [];
  /** Bytes that are on their way to this end, or lie here. */
  #underWayBytes = 0;
  #isEndArrived = false;
  #isTelling = false;

  constructor(
    private readonly clock: Clock,
    private readonly conditions: StreamConditions,
    readonly localAddress: SocketAddress,
    readonly remoteAddress: SocketAddress,
  ) {}

  get unsentBytes(): number {
    return this.#writes.reduce((sum, { length }) => sum + length, 0);
  }

  /** Bytes that have come and that nobody has read. */
  get unreadBytes(): number {
    return this.#arrived.reduce((sum, { length }) => sum + length, 0);
  }

  follow(follower: StreamFollower): void {
    this.#follower = follower;
  }

  setReading(isReading: boolean): void {
    this.#isReading = isReading;
    this.#tellSoon();
  }

  write(bytes: Uint8Array): void {
    if (this.#isOver || this.#hasSaidEnd) return;
    this.#writes.push(bytes);
    this.#send();
  }

  end(): void {
    this.#hasSaidEnd = true;
    this.#isEndDue = true;
    this.#send();
  }

  close(): void {
    if (this.#isOver) return;
    const isUnread = this.#arrived.length > 0;
    this.#over(undefined);
    if (isUnread) this.#later((peer) => peer.reset());
    else if (!this.#isEndTold) this.#later((peer) => peer.#arriveEnd());
  }

  abort(): void {
    if (this.#isOver) return;
    this.#over(undefined);
    this.#later((peer) => peer.reset());
  }

  ref(): void {
    this.isRef = true;
  }

  unref(): void {
    this.isRef = false;
  }

  /** The connection is lost, and this end is told. */
  reset(syscall = 'read'): void {
    if (!this.#isOver) this.#over(new ResetError(syscall));
  }

  /** Nothing of it is told any more: its host has gone. */
  vanish(): void {
    this.#isOver = true;
    this.#follower = undefined;
    this.#writes = [];
    this.#arrived = [];
  }

  #over(error: Error | undefined): void {
    this.#isOver = true;
    this.#writes = [];
    this.#arrived = [];
    this.clock.timer(SOON_MS, () => this.#follower?.onClose(error));
  }

  #later(action: (peer: SimulatedStream) => void): void {
    this.clock.timer((this.conditions.delayUs ?? DELAY_US) / 1000, () => {
      if (this.peer !== undefined) action(this.peer);
    });
  }

  #send(): void {
    const { peer, conditions } = this;
    if (peer === undefined || this.#isOver) return;
    const { roomBytes = ROOM_BYTES, pieceBytes } = conditions;
    while (this.#writes.length > 0 && peer.#underWayBytes < roomBytes) {
      const [first] = this.#writes;
      const room = roomBytes - peer.#underWayBytes;
      const wanted = Math.min(first.length, room, Math.max(1, pieceBytes?.() ?? PIECE_BYTES));
      const allowed = this.cut?.(wanted) ?? wanted;
      const piece = Uint8Array.from(first.subarray(0, allowed));
      this.sentBytes += allowed;
      peer.#underWayBytes += allowed;
      if (allowed > 0) this.#later((to) => to.#arrive(piece));
      if (allowed < wanted) {
        this.#later((to) => to.reset());
        this.reset('write');
        return;
      }
      if (allowed < first.length) this.#writes[0] = first.subarray(allowed);
      else this.#writes.shift();
    }
    if (this.#writes.length > 0) return;
    this.clock.timer(SOON_MS, () => {
      if (!this.#isOver) this.#follower?.onSent();
    });
    if (!this.#isEndDue || this.#isEndTold) return;
    this.#isEndTold = true;
    this.#later((to) => to.#arriveEnd());
  }

  #arrive(piece: Uint8Array): void {
    if (this.#isOver) {
      // A system that knows of no such connection says so.
      if (this.#follower !== undefined) this.#later((peer) => peer.reset('write'));
      return;
    }
    this.#arrived.push(piece);
    this.#tellSoon();
  }

  #arriveEnd(): void {
    this.#isEndArrived = true;
    this.#tellSoon();
  }

  #tellSoon(): void {
    if (this.#isTelling) return;
    this.#isTelling = true;
    this.clock.timer(SOON_MS, () => {
      this.#isTelling = false;
      this.#tell();
    });
  }

  #tell(): void {
    while (this.#isReading && !this.#isOver) {
      const piece = this.#arrived.shift();
      if (piece === undefined) {
        if (!this.#isEndArrived) return;
        this.#isEndArrived = false;
        this.#follower?.onEnd();
        return;
      }
      this.#underWayBytes -= piece.length;
      this.#follower?.onBytes(piece);
      if (this.peer !== undefined) this.peer.#send();
    }
  }
}

export function connectedStreams(
  clocks: readonly [Clock, Clock],
  conditions: StreamConditions = {},
  addresses: readonly [SocketAddress, SocketAddress] = [{}, {}],
): [SimulatedStream, SimulatedStream] {
  const [one, other] = addresses;
  const here = new SimulatedStream(clocks[0], conditions, one, other);
  const there = new SimulatedStream(clocks[1], conditions, other, one);
  here.peer = there;
  there.peer = here;
  return [here, there];
}
