/** What the tests of rdma_cm have in common: two devices in a simulation, and the way from nothing to a connection. */
import assert from 'node:assert/strict';
import {
  alloc,
  type CmEvent,
  CmEventType,
  cmEventStr,
  type CmId,
  type ConnParam,
  type Context,
  createEventChannel,
  createId,
  type ErrnoName,
  type EventChannel,
  type IdQpInitAttr,
  type Mr,
  PortSpace,
  VerbsError,
} from '../../../entry/index.js';
import { SimulatedCluster } from '../../../entry/sim.js';

export const ACTIVE = '10.0.0.1';
export const PASSIVE = '10.0.0.2';
export const PORT = 7174;

/** That `action` is refused with that errno; gives the error. */
export function assertErrno(errno: ErrnoName, action: () => unknown): VerbsError {
  let refusal: unknown;
  try {
    action();
  } catch (error) {
    refusal = error;
  }
  return assertRefusal(errno, refusal);
}

/** The same of a promise. */
export async function assertRejects(errno: ErrnoName, promise: Promise<unknown>): Promise<VerbsError> {
  let refusal: unknown;
  try {
    await promise;
  } catch (error) {
    refusal = error;
  }
  return assertRefusal(errno, refusal);
}

function assertRefusal(errno: ErrnoName, refusal: unknown): VerbsError {
  if (!(refusal instanceof VerbsError)) assert.fail(`no VerbsError but ${String(refusal)}`);
  assert.equal(refusal.errno, errno, refusal.message);
  return refusal;
}

/** The next event of a channel, which must be of that type. It is acknowledged. */
export function next(channel: EventChannel, type: CmEventType): CmEvent {
  const event = channel.getCmEvent(60_000);
  event.ack();
  assert.equal(cmEventStr(event.event), cmEventStr(type), `status ${event.status}`);
  return event;
}

/** That nothing more happens to whoever reports there, ever. */
export function assertSilent(channel: EventChannel): void {
  assertErrno('ETIMEDOUT', () => {
    const event = channel.getCmEvent();
    assert.fail(`${cmEventStr(event.event)} came`);
  });
}

/** Two devices of a simulation, each with an event channel. */
export class Pair implements Disposable {
  readonly cluster: SimulatedCluster;
  readonly a: Context;
  readonly b: Context;
  readonly active: EventChannel;
  readonly passive: EventChannel;

  constructor(seed = 1) {
    this.cluster = new SimulatedCluster({ seed });
    this.a = this.cluster.open(ACTIVE);
    this.b = this.cluster.open(PASSIVE);
    this.active = createEventChannel({ contexts: [this.a] });
    this.passive = createEventChannel({ contexts: [this.b] });
  }

  listen(port = PORT, portSpace: PortSpace = PortSpace.TCP): CmId {
    const id = createId(this.passive, portSpace);
    id.bindAddr({ port });
    id.listen();
    return id;
  }

  /** An identifier that knows the way to the passive side. */
  resolve(port = PORT, portSpace: PortSpace = PortSpace.TCP): CmId {
    const id = createId(this.active, portSpace);
    id.resolveAddr({ host: PASSIVE, port });
    next(this.active, CmEventType.ADDR_RESOLVED);
    id.resolveRoute();
    next(this.active, CmEventType.ROUTE_RESOLVED);
    return id;
  }

  /** The request that comes of asking for a connection, and who asks. There must be a listener. */
  request(param: ConnParam = {}, init: IdQpInitAttr = {}): { id: CmId; request: CmEvent } {
    const id = this.resolve();
    id.createQp(undefined, init);
    id.connect(param);
    return { id, request: next(this.passive, CmEventType.CONNECT_REQUEST) };
  }

  /** A connection, its active end first. There must be a listener. */
  connect(param: ConnParam = {}, init: IdQpInitAttr = {}): readonly [CmId, CmId] {
    const { id, request } = this.request(param, init);
    request.id.createQp(undefined, init);
    request.id.accept();
    next(this.passive, CmEventType.ESTABLISHED);
    next(this.active, CmEventType.ESTABLISHED);
    return [id, request.id];
  }

  [Symbol.dispose](): void {
    this.a.close();
    this.b.close();
  }
}

export function message(id: CmId, text: string): Mr {
  const mr = id.regMsgs(alloc(4096));
  mr.bytes.set(Buffer.from(text));
  return mr;
}

/** What private data says, without the zeros at its end. */
export function textOf(bytes: Uint8Array | undefined): string {
  return Buffer.from(bytes ?? [])
    .toString()
    .replace(/\0*$/, '');
}
