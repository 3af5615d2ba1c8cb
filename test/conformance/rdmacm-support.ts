/** Two programs' worth of rdma_cm in one thread: sides that step through the events of their channels. */
import assert from 'node:assert/strict';
import {
  alloc,
  type CmEvent,
  cmEventStr,
  CmEventType,
  type CmId,
  type ConnParam,
  type Context,
  createEventChannel,
  createId,
  type EventChannel,
  type Mr,
  PortSpace,
  SendFlags,
  type UdParamReceived,
} from '../../src/entry/index.js';
import { GRH_BYTES } from './datagrams.js';
import { assertSuccess, pattern } from './support.js';

/** Long enough for any machine; whoever waits longer has found a bug. */
export const PATIENCE_MS = 20_000;
/** Messages each way, or operations, and how long they are. */
export const ROUNDS = 10;
export const BYTES = 1024;

/** An identifier with a queue pair, and a region of memory for messages and what may come before them. */
export class Talker implements Disposable {
  readonly mr: Mr;

  /** @param register what peers may do with the memory */
  constructor(
    readonly id: CmId,
    register: 'regMsgs' | 'regRead' | 'regWrite' = 'regMsgs',
  ) {
    this.mr = id[register](alloc(GRH_BYTES + BYTES));
  }

  get context(): Context {
    const { verbs } = this.id;
    assert.ok(verbs !== undefined, 'an identifier with a queue pair has a device');
    return verbs;
  }

  [Symbol.dispose](): void {
    this.mr.dereg();
  }
}

/** One side: a device, a channel and an identifier that reports to it. */
export class CmSide implements Disposable {
  readonly channel: EventChannel;
  readonly id: CmId;
  readonly #kept: Disposable[] = [];

  constructor(
    readonly context: Context,
    portSpace: PortSpace = PortSpace.TCP,
  ) {
    this.channel = this.keep(createEventChannel({ contexts: [context] }));
    this.id = this.keep(createId(this.channel, portSpace));
  }

  /** Has `object` end with this side, before all that was made earlier. */
  keep<T extends Disposable>(object: T): T {
    this.#kept.push(object);
    return object;
  }

  /** The next event of the channel, which must be of that type. */
  expect(type: CmEventType): CmEvent {
    const event = this.channel.getCmEvent(PATIENCE_MS);
    event.ack();
    assert.equal(cmEventStr(event.event), cmEventStr(type), event.error?.message ?? `status ${event.status}`);
    return event;
  }

  /** A request that has come to a listener, by the identifier that was made for it. */
  expectRequest(): CmEvent {
    const event = this.expect(CmEventType.CONNECT_REQUEST);
    this.keep(event.id);
    assert.equal(event.listenId, this.id);
    return event;
  }

  /** One that sends and receives by `id`. */
  talkerOn(id: CmId, register?: 'regMsgs' | 'regRead' | 'regWrite'): Talker {
    return this.keep(new Talker(id, register));
  }

  /** Listens at the device's address, at a port that is free. */
  listen(): void {
    this.id.bindAddr({ host: this.context.address });
    this.id.listen();
  }

  resolve(listener: CmSide): void {
    this.id.resolveAddr({ host: listener.context.address, port: listener.id.getSrcPort() });
    this.expect(CmEventType.ADDR_RESOLVED);
    this.id.resolveRoute();
    this.expect(CmEventType.ROUTE_RESOLVED);
  }

  [Symbol.dispose](): void {
    for (const object of this.#kept.splice(0).reverse()) object[Symbol.dispose]();
  }
}

/** A listener on the last device and one that connects to it from the first. */
export class CmPair implements Disposable {
  readonly passive: CmSide;
  readonly active: CmSide;

  constructor(contexts: readonly Context[], portSpace?: PortSpace) {
    this.passive = new CmSide(contexts[contexts.length - 1], portSpace);
    this.active = new CmSide(contexts[0], portSpace);
    this.passive.listen();
  }

  /**
   * Connects the two, with queue pairs of the identifiers.
   *
   * @returns the identifier that the listener has got
   */
  connect(param?: ConnParam, prepare: (id: CmId) => void = () => {}): CmId {
    const { active, passive } = this;
    active.resolve(passive);
    active.id.createQp();
    prepare(active.id);
    active.id.connect(param);
    const { id } = passive.expectRequest();
    id.createQp();
    prepare(id);
    id.accept();
    active.expect(CmEventType.ESTABLISHED);
    passive.expect(CmEventType.ESTABLISHED);
    return id;
  }

  [Symbol.dispose](): void {
    this.active[Symbol.dispose]();
    this.passive[Symbol.dispose]();
  }
}

/** Takes the completion of a message that `to` waits for, and checks what has arrived behind `headerBytes`. */
export function assertArrived(to: Talker, round: number, headerBytes: number): void {
  const received = to.id.getRecvComp(PATIENCE_MS);
  assertSuccess(to, received);
  assert.deepEqual([received.wrId, received.byteLen], [BigInt(round), headerBytes + BYTES]);
  assert.deepEqual(to.mr.bytes.subarray(headerBytes, headerBytes + BYTES), pattern(BYTES, round));
}

export function postForMessage(to: Talker, round: number): void {
  to.mr.bytes.fill(0);
  to.id.postRecv(round, to.mr.sge(0, BYTES));
}

/** Sends a message over a connection; whoever is at its other end must wait for it. */
export function sendMessage(from: Talker, round: number): void {
  from.mr.bytes.set(pattern(BYTES, round));
  from.id.postSend(round, from.mr.sge(0, BYTES), SendFlags.SIGNALED);
  assertSuccess(from, from.id.getSendComp(PATIENCE_MS));
}

/** Sends a message from one to the other. */
export function deliver(from: Talker, to: Talker, round: number): void {
  postForMessage(to, round);
  sendMessage(from, round);
  assertArrived(to, round, 0);
}

/** Sends a datagram to where `ud` says; whoever is there must wait for it. */
export function sendDatagram(from: Talker, { ahAttr, qpNum }: UdParamReceived, round: number): void {
  const { pd } = from.id;
  assert.ok(pd !== undefined);
  using ah = pd.createAh(ahAttr);
  from.mr.bytes.set(pattern(BYTES, round));
  from.id.postUdSend(round, from.mr.sge(0, BYTES), SendFlags.SIGNALED, ah, qpNum);
  assertSuccess(from, from.id.getSendComp(PATIENCE_MS));
}

export function postForDatagram(to: Talker, round: number): void {
  to.mr.bytes.fill(0);
  to.id.postRecv(round, to.mr.sge(0, GRH_BYTES + BYTES));
}
