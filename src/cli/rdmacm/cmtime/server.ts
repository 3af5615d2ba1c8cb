import {
  type CmEvent,
  CmEventType,
  type CmId,
  createEventChannel,
  createId,
  type DeviceChoice,
  type EventChannel,
  PortSpace,
  type SocketAddress,
  VerbsError,
} from '../../../entry/index.js';
import { Turns } from '../../kit/interrupt.js';
import { CONN_PARAM, QueuePairs } from './run.js';

/** What a server needs to know. */
export interface CmTimeServerSetup {
  readonly devices: DeviceChoice;
  readonly address: SocketAddress;
  /** Accepts without queue pairs, under numbers from this one on. */
  readonly baseQpn?: number;
  /** Told of each connection that could not be accepted. */
  readonly warn?: (sentence: string) => void;
}

/** Events after which a connection is no more. */
const ENDINGS: ReadonlySet<CmEventType> = new Set<CmEventType>([
  CmEventType.CONNECT_ERROR,
  CmEventType.UNREACHABLE,
  CmEventType.DISCONNECTED,
  CmEventType.DEVICE_REMOVAL,
]);

/** Accepts every connection, and ends each when its client does. */
export class CmTimeServer {
  readonly #channel: EventChannel;
  readonly #listenId: CmId;
  readonly #connections = new Set<CmId>();
  readonly #queuePairs = new QueuePairs();
  readonly #setup: CmTimeServerSetup;
  #qpn: number | undefined;

  constructor(setup: CmTimeServerSetup) {
    this.#setup = setup;
    this.#qpn = setup.baseQpn;
    this.#channel = createEventChannel(setup.devices);
    this.#listenId = createId(this.#channel, PortSpace.TCP);
    try {
      this.#listenId.bindAddr(setup.address);
      this.#listenId.listen();
    } catch (error) {
      this.#listenId.destroy();
      this.#channel.destroy();
      throw error;
    }
  }

  get address(): Required<SocketAddress> | undefined {
    return this.#listenId.localAddr;
  }

  /** Serves until {@link close}. */
  async serve(): Promise<void> {
    const turns = new Turns();
    for await (const event of this.#channel) {
      this.#handle(event);
      if (turns.isDue) await turns.take();
    }
  }

  /** @param patienceMs after which connections that are left are left to the end of the process */
  close(patienceMs = Infinity): void {
    const endMs = performance.now() + patienceMs;
    for (const id of this.#connections) {
      if (performance.now() > endMs) return;
      this.#end(id);
    }
    this.#queuePairs.close();
    this.#listenId.destroy();
    this.#channel.destroy();
  }

  #handle(event: CmEvent): void {
    const { id, event: type } = event;
    // An identifier cannot be ended while an event of it is out.
    event.ack();
    if (type === CmEventType.CONNECT_REQUEST) this.#accept(id);
    else if (ENDINGS.has(type) && this.#connections.has(id)) this.#end(id);
  }

  #accept(id: CmId): void {
    this.#connections.add(id);
    try {
      if (this.#qpn === undefined) {
        this.#queuePairs.create(id);
        id.accept();
      } else {
        id.accept({ ...CONN_PARAM, qpNum: this.#qpn });
        this.#qpn += 1;
      }
    } catch (error) {
      if (!(error instanceof VerbsError)) throw error;
      this.#setup.warn?.(`A connection was refused: ${error.message}`);
      this.#quietly(() => id.reject());
      this.#end(id);
    }
  }

  /** Answers the client that disconnects, and forgets the connection. */
  #end(id: CmId): void {
    this.#connections.delete(id);
    this.#quietly(() => id.disconnect());
    if (id.qp !== undefined) id.destroyQp();
    id.destroy();
  }

  /** Of a connection that has ended in the meantime there is nothing left to end. */
  #quietly(call: () => void): void {
    try {
      call();
    } catch (error) {
      if (!(error instanceof VerbsError)) throw error;
    }
  }
}
