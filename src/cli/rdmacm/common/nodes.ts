import {
  type CmEvent,
  cmEventStr,
  CmEventType,
  type CmId,
  createEventChannel,
  createId,
  type EventChannel,
  type PortSpace,
} from '../../../entry/index.js';
import { attempt } from '../../kit/errors.js';
import { endOnInterrupt } from '../../kit/interrupt.js';
import { tellListening } from '../../kit/listening.js';
import type { HostingOptions } from '../../kit/options.js';
import { adviceOn, isFailure } from './event-text.js';
import { cmDevices, leave } from './hosting.js';
import { MAY_BE_GONE, MAY_NOT_ANSWER, toldIfSilent } from './silence.js';
import { TestFailure } from './status.js';

/**
 * Hands the events of a channel to `take` one by one, until the channel is destroyed. Each is acknowledged first, so that
 * `take` may destroy whom it happened to.
 */
export async function pumpEvents(channel: EventChannel, take: (event: CmEvent) => void): Promise<void> {
  for await (const event of channel) {
    event.ack();
    take(event);
  }
}

const RESOLVE_MS = 2000;
const BACKLOG = 0;

/** One connection of a tool that makes several. */
export interface Node {
  readonly id: CmId;
  /** The address is resolved: sets options. */
  resolved(): void;
  /** Makes what the connection needs, and asks for it. */
  connect(): void;
  /** Makes what it needs, and grants it. */
  accept(): void;
  established(event: CmEvent): void;
  close(): Promise<void>;
}

export interface NodesSetup<N extends Node> {
  /** What begins the lines that the tool prints. */
  readonly name: string;
  readonly portSpace: PortSpace;
  readonly connections: number;
  readonly hosting: HostingOptions;
  /** Whether a connection is there for the server as soon as it has accepted, without an event: so with datagrams. */
  readonly acceptingConnects: boolean;
  readonly say: (text: string) => void;
  readonly makeNode: (id: CmId) => N;
}

/** The connections of a tool, from the first event to the last. */
export class Nodes<N extends Node> {
  readonly nodes: N[] = [];
  readonly #setup: NodesSetup<N>;
  readonly #connected = new Set<CmId>();
  readonly #ids = new Map<CmId, N>();
  readonly #devices: ReturnType<typeof cmDevices>;
  #channel: EventChannel;
  #pump: Promise<void>;
  #listener: CmId | undefined;
  #established = 0;
  #failure: Error | undefined;
  #wake: (() => void) | undefined;

  constructor(setup: NodesSetup<N>) {
    this.#setup = setup;
    this.#devices = cmDevices(setup.hosting);
    this.#channel = createEventChannel(this.#devices);
    this.#pump = this.#follow();
    endOnInterrupt(() => this.disconnect());
  }

  /**
   * Listens at `host`, or at the device's address, and prints `starting`. The C tools print it first; here clients that are started by
   * that line find the listener. It is printed also where listening fails, as by the C tools.
   */
  serve(host: string | undefined, port: number, starting: string): void {
    const { name, portSpace, say } = this.#setup;
    try {
      const listener = attempt(`${name}: listen request failed`, () => createId(this.#channel, portSpace));
      this.#listener = listener;
      attempt(`${name}: bind address failed`, () => listener.bindAddr(host === undefined ? { port } : { host, port }));
      attempt(`${name}: failure trying to listen`, () => listener.listen(BACKLOG));
      tellListening(listener.localAddr, host, this.#setup.hosting);
    } finally {
      say(starting);
    }
  }

  /** Sets out to all connections of a client. */
  resolve(host: string, port: number, source: string | undefined): void {
    const { name, portSpace, connections } = this.#setup;
    const options = {
      timeoutMs: RESOLVE_MS,
      ...(source === undefined ? {} : { source: { host: source } }),
    };
    for (let i = 0; i < connections; i += 1) {
      const id = attempt(`${name}: failed to create id`, () => createId(this.#channel, portSpace));
      this.#add(id);
      attempt(`${name}: failure getting addr`, () => id.resolveAddr({ host, port }, options));
    }
  }

  /** Waits until all connections are there. @throws TestFailure when one fails */
  async allConnected(): Promise<void> {
    const all = this.#until(() => this.#established >= this.#setup.connections);
    // A server may wait for as long as it likes.
    await (this.#listener === undefined ? toldIfSilent(all, MAY_NOT_ANSWER) : all);
  }

  disconnect(): void {
    for (const id of this.#connected) leave(id);
  }

  /** Waits until nothing is connected any more. */
  async allDisconnected(): Promise<void> {
    await toldIfSilent(
      this.#until(() => this.#connected.size === 0),
      MAY_BE_GONE,
    );
  }

  /** Has all identifiers report to another channel. */
  async migrate(): Promise<void> {
    this.#setup.say('migrating to new event channel');
    const old = this.#channel;
    const channel = createEventChannel(this.#devices);
    attempt(`${this.#setup.name}: failure migrating to channel`, () => {
      this.#listener?.migrate(channel);
      for (const { id } of this.nodes) id.migrate(channel);
      old.destroy();
    });
    await this.#pump;
    this.#channel = channel;
    this.#pump = this.#follow();
  }

  async close(): Promise<void> {
    for (const node of this.nodes) {
      await node.close();
      node.id.destroy();
    }
    this.#listener?.destroy();
    this.#channel.destroy();
    await this.#pump;
  }

  #add(id: CmId): N {
    const node = this.#setup.makeNode(id);
    this.nodes.push(node);
    this.#ids.set(id, node);
    return node;
  }

  #follow(): Promise<void> {
    return pumpEvents(this.#channel, (event) => {
      try {
        this.#take(event);
      } catch (error) {
        this.#failure ??= error instanceof Error ? error : new Error(String(error));
      }
      this.#wake?.();
    });
  }

  async #until(done: () => boolean): Promise<void> {
    while (!done()) {
      if (this.#failure !== undefined) throw this.#failure;
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  #take(event: CmEvent): void {
    const { name, say } = this.#setup;
    const { id } = event;
    const node = this.#ids.get(id);
    switch (event.event) {
      case CmEventType.ADDR_RESOLVED:
        node?.resolved();
        attempt(`${name}: resolve route failed`, () => id.resolveRoute(RESOLVE_MS));
        break;
      case CmEventType.ROUTE_RESOLVED:
        node?.connect();
        break;
      case CmEventType.CONNECT_REQUEST:
        this.#takeRequest(event);
        break;
      case CmEventType.ESTABLISHED:
        node?.established(event);
        this.#count(id);
        break;
      case CmEventType.DISCONNECTED:
        this.#left(id);
        break;
      default:
        if (!isFailure(event)) return;
        say(`${name}: event: ${cmEventStr(event.event)}, error: ${event.status}`);
        throw new TestFailure(event.status, adviceOn(event));
    }
  }

  /** Accepts a client, or refuses one beyond those that were wanted. */
  #takeRequest(event: CmEvent): void {
    const { name, say, connections, acceptingConnects } = this.#setup;
    const { id } = event;
    if (this.nodes.length === connections) {
      say(`${name}: failing connection request`);
      id.reject();
      id.destroy();
      return;
    }
    try {
      this.#add(id).accept();
    } catch (error) {
      say(`${name}: failing connection request`);
      id.reject();
      throw error;
    }
    if (acceptingConnects) this.#count(id);
  }

  #count(id: CmId): void {
    this.#established += 1;
    this.#connected.add(id);
  }

  /** The peer has left, or has heard that we do. */
  #left(id: CmId): void {
    this.#connected.delete(id);
    leave(id);
  }
}
