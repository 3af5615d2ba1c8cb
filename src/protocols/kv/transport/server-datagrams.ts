import type { Engine } from '../../core/index.js';
import { isSameSession, NO_QUEUE_PAIRS, type QueuePairNames, type SessionId } from '../wire/index.js';
import { type Addressee, Datagrams } from './datagrams.js';
import { type Path, SLOT_BYTES } from './link.js';

/** Answers that are under way at a time, to all clients together; the rest is asked for again. */
const ANSWERS = 1024;
/** Requests that may come at a time, likewise. */
const REQUESTS = 1024;
const SESSION_BYTES = 8;

export interface Route {
  readonly session: SessionId;
  readonly fromQpn: number;
  /** Its bytes are true only until this returns. */
  onMessage(bytes: Uint8Array): void;
}

/** The queue pair of a server for datagrams from and to all its clients on a device. */
export class ServerDatagrams {
  readonly names: QueuePairNames;
  readonly #datagrams: Datagrams;
  /** By the lower half of the session: strangers cannot make it grow, and no text is made for each datagram. */
  readonly #routes = new Map<number, Route[]>();

  /**
   * @param qkey of this queue pair and of all clients'
   * @param onStranger is told of datagrams that are of no session, or come from elsewhere than its client
   * @throws VerbsError ENOMEM when there is no room, EIO when the device was lost
   */
  constructor(
    readonly engine: Engine,
    qkey: number,
    private readonly onStranger: (bytes: Uint8Array) => void,
  ) {
    const listener = {
      onDatagram: (bytes: Uint8Array, fromQpn: number) => this.#onDatagram(bytes, fromQpn),
      onRoom: () => undefined,
      onLost: () => undefined,
    };
    this.#datagrams = new Datagrams(engine, { sends: ANSWERS, receives: REQUESTS, bytes: SLOT_BYTES }, listener);
    this.#datagrams.begin(qkey);
    this.names = { ...NO_QUEUE_PAIRS, udQpn: this.#datagrams.qpn, udQkey: qkey };
  }

  /** Whether nothing goes or comes any more. */
  get isOver(): boolean {
    return this.#datagrams.isOver;
  }

  get room(): number {
    return this.#datagrams.room;
  }

  /** @throws VerbsError ENOMEM when the device is full */
  addressee(path: Path, qpn: number): Addressee {
    return this.#datagrams.addressee(path, qpn);
  }

  send(bytes: Uint8Array, to: Addressee): void {
    this.#datagrams.send(bytes, to);
  }

  /** Begins to take the datagrams of a session; no other route has them any more. */
  open(route: Route): void {
    this.#datagrams.take();
    const low = route.session.low | 0;
    this.#routes.set(low, [route, ...this.#othersThan(route, low)]);
  }

  /** Ends that, unless another route has them by now. Idempotent. */
  close(route: Route): void {
    const low = route.session.low | 0;
    const left = (this.#routes.get(low) ?? []).filter((other) => other !== route);
    if (left.length > 0) this.#routes.set(low, left);
    else this.#routes.delete(low);
  }

  /** Idempotent. */
  end(): void {
    this.#datagrams.end();
  }

  #othersThan({ session }: Route, low: number): Route[] {
    return (this.#routes.get(low) ?? []).filter((other) => !isSameSession(other.session, session));
  }

  #onDatagram(bytes: Uint8Array, fromQpn: number): void {
    const route = this.#routeOf(bytes);
    if (route?.fromQpn === fromQpn) route.onMessage(bytes);
    else this.onStranger(bytes);
  }

  #routeOf(bytes: Uint8Array): Route | undefined {
    if (bytes.length < SESSION_BYTES) return undefined;
    const view = new DataView(bytes.buffer, bytes.byteOffset, SESSION_BYTES);
    const high = view.getInt32(0);
    const low = view.getInt32(4);
    return this.#routes.get(low)?.find(({ session }) => (session.high | 0) === high);
  }
}
