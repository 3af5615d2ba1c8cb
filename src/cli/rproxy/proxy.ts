import type { Socket } from 'node:net';
import type { StreamSocket } from '../../entry/rsocket.js';
import { sentence } from '../kit/errors.js';
import { abort, Relay, type Relayed } from './relay.js';
import type { Report, Totals } from './report.js';

export interface Door {
  readonly at: string;
  close(): void;
}

export interface ProxySetup {
  readonly report: Report;
  readonly maxConnections: number;
  /** How long connections may go on once it is to end. */
  readonly drainSeconds: number;
}

/** Time for what is on its way, once the time for connections is over. */
const FLUSH_MS = 1000;

/** Pairs each connection that comes with one that it makes, and counts. */
export class Proxy {
  readonly #setup: ProxySetup;
  readonly #relays = new Set<Relay>();
  readonly #begun = performance.now();
  readonly #ending = new AbortController();
  #doors: readonly Door[] = [];
  /** Connections that have come and are not over. */
  #open = 0;
  #whenEmpty: (() => void) | undefined;
  #totals: Totals = { connections: 0, failed: 0, refused: 0, toRdmaBytes: 0, fromRdmaBytes: 0 };

  constructor(setup: ProxySetup) {
    this.#setup = setup;
  }

  /** What is closed when it ends. */
  serve(...doors: readonly Door[]): void {
    this.#doors = doors;
  }

  /** A socket came: it is paired with what `dial` connects to. */
  async fromSocket(socket: Socket, from: string, dial: (signal: AbortSignal) => Promise<StreamSocket>): Promise<void> {
    // A failure is told once there is a relay, or not worth telling.
    socket.on('error', () => undefined);
    const id = this.#admit(from);
    if (id === undefined) {
      abort(socket);
      return;
    }
    const begun = performance.now();
    let stream: StreamSocket;
    try {
      stream = await dial(this.#ending.signal);
    } catch (error) {
      abort(socket);
      this.#over(id, begun, { toStreamBytes: 0, toSocketBytes: 0, error: new Error(sentence(error)) });
      return;
    }
    await this.#relay(id, begun, socket, stream);
  }

  /** A stream came: it is paired with a socket, which may still be connecting. */
  async fromStream(stream: StreamSocket, from: string, dial: () => Socket): Promise<void> {
    const id = this.#admit(from);
    if (id === undefined) stream.close(0);
    else await this.#relay(id, performance.now(), dial(), stream);
  }

  /** Takes no more connections, lets those that are there go on for a while, and then ends them. */
  async drain(): Promise<void> {
    for (const door of this.#doors) door.close();
    this.#ending.abort();
    const { drainSeconds, report } = this.#setup;
    report({ event: 'ending', connections: this.#open, withinSeconds: drainSeconds });
    await this.#emptyWithin(drainSeconds * 1000);
    for (const relay of this.#relays) relay.finish();
    await this.#emptyWithin(FLUSH_MS);
    for (const relay of this.#relays) relay.destroy();
    report({ event: 'end', seconds: seconds(this.#begun), ...this.#totals });
  }

  #admit(from: string): number | undefined {
    const { maxConnections, report } = this.#setup;
    if (this.#open >= maxConnections) {
      this.#totals = { ...this.#totals, refused: this.#totals.refused + 1 };
      report({ event: 'refused', from, connections: this.#open });
      return undefined;
    }
    this.#open += 1;
    this.#totals = { ...this.#totals, connections: this.#totals.connections + 1 };
    const id = this.#totals.connections;
    report({ event: 'open', id, from });
    return id;
  }

  async #relay(id: number, begun: number, socket: Socket, stream: StreamSocket): Promise<void> {
    const relay = new Relay(socket, stream);
    this.#relays.add(relay);
    const relayed = await relay.done;
    this.#relays.delete(relay);
    this.#over(id, begun, relayed);
  }

  #over(id: number, begun: number, { toStreamBytes, toSocketBytes, error }: Relayed): void {
    this.#open -= 1;
    const { failed, toRdmaBytes, fromRdmaBytes } = this.#totals;
    this.#totals = {
      ...this.#totals,
      failed: failed + (error === undefined ? 0 : 1),
      toRdmaBytes: toRdmaBytes + toStreamBytes,
      fromRdmaBytes: fromRdmaBytes + toSocketBytes,
    };
    this.#setup.report({
      event: 'close',
      id,
      toRdmaBytes: toStreamBytes,
      fromRdmaBytes: toSocketBytes,
      seconds: seconds(begun),
      ...(error === undefined ? {} : { error: error.message }),
    });
    if (this.#open === 0) this.#whenEmpty?.();
  }

  async #emptyWithin(ms: number): Promise<void> {
    if (this.#open === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#whenEmpty = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

function seconds(begun: number): number {
  return Math.round(performance.now() - begun) / 1000;
}
