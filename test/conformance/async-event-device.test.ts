import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AsyncEvent, type Context, EventType, eventTypeStr, gidFromIp, PortState } from '../../src/entry/index.js';
import { administer } from '../../src/entry/sim.js';
import { conformance } from './provider.js';
import { settle } from './sides.js';
import { assertErrno, nextEvent, pendingEvents, useDevices } from './support.js';

const { PORT_ACTIVE, PORT_ERR, PKEY_CHANGE, GID_CHANGE, DEVICE_FATAL } = EventType;

/** Events that the tests of this file and of async-event-objects raise. */
const RAISED = [
  'CQ_ERR',
  'QP_FATAL',
  'QP_REQ_ERR',
  'QP_ACCESS_ERR',
  'COMM_EST',
  'SQ_DRAINED',
  'DEVICE_FATAL',
  'PORT_ACTIVE',
  'PORT_ERR',
  'PKEY_CHANGE',
  'SRQ_ERR',
  'SRQ_LIMIT_REACHED',
  'QP_LAST_WQE_REACHED',
  'GID_CHANGE',
] as const;

/** Events that this device never raises, and why. */
const NEVER_RAISED = {
  PATH_MIG: 'RoCE has no alternate paths (protocol/services.md 3.10)',
  PATH_MIG_ERR: 'RoCE has no alternate paths',
  LID_CHANGE: 'RoCE has no LIDs',
  SM_CHANGE: 'RoCE has no subnet manager',
  CLIENT_REREGISTER: 'a subnet manager asks for it',
  WQ_FATAL: 'the device has no work queues apart from queue pairs',
  DEVICE_SPEED_CHANGE: 'the speed is that of no cable, and stays',
} as const satisfies Record<Exclude<keyof typeof EventType, (typeof RAISED)[number]>, string>;

/** That this event is raised, and no other. */
function assertEvent(context: Context, event: AsyncEvent): void {
  assert.deepEqual(nextEvent(context), event);
  assertQuiet(context);
}

function assertQuiet(context: Context): void {
  settle(context);
  const names = pendingEvents(context).map(({ eventType }) => eventTypeStr(eventType));
  assert.deepEqual(names, []);
}

conformance('events of port and device', (provider) => {
  const devices = useDevices(provider);

  test('are all there are, with those of objects and those that cannot be', () => {
    const known = new Set<string>([...RAISED, ...Object.keys(NEVER_RAISED)]);
    assert.deepEqual(new Set(Object.keys(EventType)), known);
  });

  test('PORT_ERR is raised when the port goes down, and PORT_ACTIVE when it comes up, once each', () => {
    const [context, other] = devices;
    administer(context, { linkUp: false });
    assertEvent(context, { eventType: PORT_ERR, portNum: 1 });
    assert.equal(context.queryPort().state, PortState.DOWN);
    administer(context, { linkUp: false });
    assertQuiet(context);
    administer(context, { linkUp: true });
    assertEvent(context, { eventType: PORT_ACTIVE, portNum: 1 });
    assert.equal(context.queryPort().state, PortState.ACTIVE);
    administer(context, { linkUp: true });
    assertQuiet(context);
    assertQuiet(other);
  });

  test('PKEY_CHANGE is raised when the P_Key table changes', () => {
    const [context, other] = devices;
    administer(context, { pkeys: [0xffff, 0x8123] });
    assertEvent(context, { eventType: PKEY_CHANGE, portNum: 1 });
    administer(context, { pkeys: [0xffff] });
    assertEvent(context, { eventType: PKEY_CHANGE, portNum: 1 });
    assertQuiet(other);
  });

  test('PKEY_CHANGE is not raised when the P_Key table is the same as before', () => {
    const [context] = devices;
    administer(context, { pkeys: [0xffff] });
    assertQuiet(context);
  });

  test('GID_CHANGE is raised when an address comes or goes', () => {
    const [context, other] = devices;
    administer(context, { gids: [gidFromIp('10.20.30.40')] });
    assertEvent(context, { eventType: GID_CHANGE, portNum: 1 });
    administer(context, { gids: [] });
    assertEvent(context, { eventType: GID_CHANGE, portNum: 1 });
    administer(context, { gids: [] });
    assertQuiet(context);
    assertQuiet(other);
  });

  test('DEVICE_FATAL is raised when the device fails, once, and every call but those that end objects gives EIO', () => {
    using context = provider.open();
    const pd = context.allocPd();
    administer(context, { fatal: true });
    assert.deepEqual(nextEvent(context), { eventType: DEVICE_FATAL });
    assert.deepEqual(pendingEvents(context), []);
    assertErrno('EIO', () => context.allocPd());
    assertErrno('EIO', () => administer(context, { fatal: true }));
    pd.dealloc();
    assert.deepEqual(pendingEvents(context), []);
  });

  test('can be acknowledged, and need not be', () => {
    const [context] = devices;
    administer(context, { linkUp: false });
    context.ackAsyncEvent(nextEvent(context));
    administer(context, { linkUp: true });
    assert.equal(nextEvent(context).eventType, PORT_ACTIVE);
  });

  test('are waited for no longer than was asked', () => {
    assertErrno('ETIMEDOUT', () => devices[0].getAsyncEvent(0));
    assertErrno('ETIMEDOUT', () => devices[0].getAsyncEvent(1));
  });

  test('come in the event loop as well', async () => {
    const [context] = devices;
    const events = context.asyncEvents()[Symbol.asyncIterator]();
    const next = events.next();
    administer(context, { linkUp: false });
    assert.deepEqual((await next).value, { eventType: PORT_ERR, portNum: 1 });
    administer(context, { linkUp: true });
    assert.deepEqual((await events.next()).value, { eventType: PORT_ACTIVE, portNum: 1 });
    await events.return?.();
  });
});
