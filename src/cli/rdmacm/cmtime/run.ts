import {
  type CmEvent,
  cmEventStr,
  CmEventType,
  type CmId,
  type ConnParam,
  type Context,
  type Cq,
  createEventChannel,
  createId,
  type DeviceChoice,
  type EventChannel,
  PortSpace,
  QpType,
  type SocketAddress,
  VerbsError,
} from '../../../entry/index.js';
import { Turns } from '../../kit/interrupt.js';
import { adviceOn, isFailure } from '../common/event-text.js';
import { type Step, StepClock, type StepResult } from './steps.js';
import { verbsOf } from '../common/hosting.js';

export const CONN_PARAM: ConnParam = { responderResources: 1, initiatorDepth: 1 };

/** Makes queue pairs for nothing but to be connected: the smallest there are, and one completion queue for all. */
export class QueuePairs {
  readonly #cqs = new Map<Context, Cq>();

  create(id: CmId): void {
    const context = verbsOf(id);
    const cq = this.#cqs.get(context) ?? context.createCq({ cqe: 1 });
    this.#cqs.set(context, cq);
    const cap = { maxSendWr: 1, maxRecvWr: 1, maxSendSge: 1, maxRecvSge: 1 };
    id.createQp(undefined, { qpType: QpType.RC, sendCq: cq, recvCq: cq, cap });
  }

  /** Once no queue pair is left. */
  close(): void {
    for (const cq of this.#cqs.values()) cq.destroy();
    this.#cqs.clear();
  }
}

export interface CmTimeSetup {
  readonly devices: DeviceChoice;
  /** Where a server of this tool listens, ours or C's. */
  readonly destination: SocketAddress;
  /** Where the connections come from; default: whatever reaches the destination. */
  readonly source?: SocketAddress;
  readonly connections: number;
  /** Of address and route, after a failure; also what the peer is told to retry, 0 to 7. */
  readonly retries: number;
  readonly timeoutMs: number;
  /** Connects without queue pairs, under numbers from this one on. */
  readonly baseQpn?: number;
  /** Told of each step before it begins, in the words of the C tool. */
  readonly progress?: (doing: string) => void;
}

export interface CmTimeResult {
  readonly connections: number;
  /** Why each that failed did. */
  readonly failures: readonly string[];
  readonly steps: readonly StepResult[];
}

const DOING: Readonly<Record<Step, string>> = {
  'create id': 'creating id',
  'bind addr': 'binding source address',
  'resolve addr': 'resolving address',
  'resolve route': 'resolving route',
  'create qp': 'creating qp',
  connect: 'connecting',
  disconnect: 'disconnecting',
  destroy: 'destroying id',
};

/** The step that an event ends. */
const ENDS: Partial<Record<CmEventType, Step>> = {
  [CmEventType.ADDR_RESOLVED]: 'resolve addr',
  [CmEventType.ROUTE_RESOLVED]: 'resolve route',
  [CmEventType.CONNECT_RESPONSE]: 'connect',
  [CmEventType.ESTABLISHED]: 'connect',
  [CmEventType.DISCONNECTED]: 'disconnect',
};

interface Connection {
  readonly index: number;
  readonly id: CmId;
  retries: number;
  /** The step whose end an event will tell. */
  awaiting: Step | undefined;
  isFailed: boolean;
  /** The peer was the first to disconnect. */
  isLeft: boolean;
}

/** A measurement, in which all connections go through each step together. */
export class CmTimeRun {
  readonly #setup: CmTimeSetup;
  readonly #channel: EventChannel;
  readonly #events: AsyncIterator<CmEvent, void, undefined>;
  readonly #clock: StepClock;
  readonly #connections: Connection[] = [];
  readonly #byId = new Map<CmId, Connection>();
  readonly #failures: string[] = [];
  /** What to say of each kind of failure. Told once: advice names other programs, which come and go meanwhile. */
  readonly #reasons = new Map<string, string>();
  readonly #queuePairs = new QueuePairs();
  readonly #turns = new Turns();
  #awaited = 0;

  constructor(setup: CmTimeSetup) {
    this.#setup = setup;
    this.#channel = createEventChannel(setup.devices);
    this.#events = this.#channel[Symbol.asyncIterator]();
    this.#clock = new StepClock(setup.connections);
  }

  /**
   * Makes as many connections as asked for to a server, ends them, and tells how long each step took. Connections that
   * fail are left out of the steps after. Once only.
   *
   * @throws VerbsError when no identifiers can be made
   */
  async measure(): Promise<CmTimeResult> {
    const { source, connections } = this.#setup;
    await this.#create(connections);
    if (source !== undefined) await this.#step('bind addr', ({ id }) => id.bindAddr(source));
    await this.#step('resolve addr', (connection) => this.#resolveAddr(connection));
    await this.#step('resolve route', (connection) => this.#resolveRoute(connection));
    const { baseQpn } = this.#setup;
    if (baseQpn === undefined) await this.#step('create qp', ({ id }) => this.#queuePairs.create(id));
    const param = { ...CONN_PARAM, retryCount: Math.min(7, this.#setup.retries) };
    await this.#step('connect', ({ id, index }) =>
      id.connect(baseQpn === undefined ? param : { ...param, qpNum: baseQpn + index }),
    );
    await this.#step('disconnect', (connection) => {
      connection.id.disconnect();
      if (connection.id.qp !== undefined) connection.id.destroyQp();
      if (connection.isLeft) this.#arrive(connection);
    });
    await this.#destroy();
    return this.soFar;
  }

  /** What was measured up to now: the steps that are over. */
  get soFar(): CmTimeResult {
    const { connections } = this.#setup;
    return { connections, failures: this.#failures, steps: this.#clock.results() };
  }

  /**
   * Ends whatever is left, at any moment.
   *
   * @param patienceMs after which what is left then is left to the end of the process
   */
  close(patienceMs = Infinity): void {
    const endMs = performance.now() + patienceMs;
    for (const { id } of this.#connections.splice(0)) {
      if (performance.now() > endMs) return;
      if (id.qp !== undefined) id.destroyQp();
      id.destroy();
    }
    this.#queuePairs.close();
    this.#channel.destroy();
  }

  async #create(count: number): Promise<void> {
    this.#setup.progress?.(DOING['create id']);
    this.#clock.open('create id');
    for (let index = 0; index < count; index += 1) {
      this.#clock.begin('create id', index);
      const id = createId(this.#channel, PortSpace.TCP);
      this.#clock.end('create id', index);
      const connection = {
        index,
        id,
        retries: 0,
        awaiting: undefined,
        isFailed: false,
        isLeft: false,
      };
      this.#connections.push(connection);
      this.#byId.set(id, connection);
      if (this.#turns.isDue) await this.#turns.take();
    }
    this.#clock.close('create id');
  }

  async #destroy(): Promise<void> {
    this.#setup.progress?.(DOING.destroy);
    this.#clock.open('destroy');
    for (const { index, id } of this.#connections.splice(0)) {
      this.#clock.begin('destroy', index);
      if (id.qp !== undefined) id.destroyQp();
      id.destroy();
      this.#clock.end('destroy', index);
      if (this.#turns.isDue) await this.#turns.take();
    }
    this.#clock.close('destroy');
  }

  /** Has all connections take a step, and waits until each has, or has failed. */
  async #step(step: Step, take: (connection: Connection) => void): Promise<void> {
    this.#setup.progress?.(DOING[step]);
    const isEndedByEvent = Object.values(ENDS).includes(step);
    this.#clock.open(step);
    for (const connection of this.#connections) {
      if (connection.isFailed) continue;
      connection.retries = this.#setup.retries;
      connection.awaiting = step;
      this.#awaited += 1;
      this.#clock.begin(step, connection.index);
      this.#attempt(connection, () => take(connection));
      if (!isEndedByEvent) this.#arrive(connection);
      // What has happened meanwhile is noted when it happens, not when all have begun.
      this.#takeEvents();
      if (this.#turns.isDue) await this.#turns.take();
    }
    while (this.#awaited > 0) {
      const next = await this.#events.next();
      if (next.done === true) return;
      this.#handle(next.value);
      this.#takeEvents();
      if (this.#turns.isDue) await this.#turns.take();
    }
    this.#clock.close(step);
  }

  #takeEvents(): void {
    for (;;) {
      const event = this.#channel.tryGetCmEvent();
      if (event === undefined) return;
      this.#handle(event);
      if (this.#turns.isDue) return;
    }
  }

  #handle(event: CmEvent): void {
    event.ack();
    const connection = this.#byId.get(event.id);
    if (connection === undefined || connection.isFailed) return;
    if (isFailure(event)) this.#failed(connection, event);
    else if (ENDS[event.event] === connection.awaiting) {
      if (event.event === CmEventType.CONNECT_RESPONSE) this.#attempt(connection, () => connection.id.establish());
      this.#arrive(connection);
    } else if (event.event === CmEventType.DISCONNECTED) connection.isLeft = true;
  }

  #arrive(connection: Connection): void {
    if (connection.awaiting === undefined) return;
    this.#clock.end(connection.awaiting, connection.index);
    connection.awaiting = undefined;
    this.#awaited -= 1;
  }

  #failed(connection: Connection, told: CmEvent): void {
    const { event, status } = told;
    const isRetried = event === CmEventType.ADDR_ERROR || event === CmEventType.ROUTE_ERROR;
    if (isRetried && connection.retries > 0) {
      connection.retries -= 1;
      this.#attempt(connection, () => {
        if (event === CmEventType.ADDR_ERROR) this.#resolveAddr(connection);
        else this.#resolveRoute(connection);
      });
    } else {
      const kind = `event: ${cmEventStr(event)}, error: ${status}`;
      const key = `${kind} ${told.error?.message ?? ''}`;
      const reason = this.#reasons.get(key) ?? `${kind}: ${adviceOn(told)}`;
      this.#reasons.set(key, reason);
      this.#fail(connection, reason);
    }
  }

  #attempt(connection: Connection, call: () => void): void {
    try {
      call();
    } catch (error) {
      if (!(error instanceof VerbsError)) throw error;
      this.#fail(connection, error.message);
    }
  }

  #fail(connection: Connection, why: string): void {
    connection.isFailed = true;
    this.#failures.push(why);
    if (connection.awaiting === undefined) return;
    connection.awaiting = undefined;
    this.#awaited -= 1;
  }

  #resolveAddr({ id }: Connection): void {
    const { destination, source, timeoutMs } = this.#setup;
    id.resolveAddr(destination, { timeoutMs, ...(source === undefined ? {} : { source }) });
  }

  #resolveRoute({ id }: Connection): void {
    id.resolveRoute(this.#setup.timeoutMs);
  }
}

/** As {@link CmTimeRun}, from beginning to end. */
export async function measureConnections(setup: CmTimeSetup): Promise<CmTimeResult> {
  const run = new CmTimeRun(setup);
  try {
    return await run.measure();
  } finally {
    run.close();
  }
}
