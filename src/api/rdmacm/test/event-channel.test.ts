import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CmEventType, createEventChannel, createId, PortSpace } from '../../../entry/index.js';
import { assertErrno, assertSilent, next, Pair, PASSIVE, PORT } from './support.js';

const DESTINATION = { host: PASSIVE, port: PORT };

describe('an event channel', () => {
  it('gives events in the order in which they came', () => {
    using pair = new Pair();
    const id = createId(pair.active, PortSpace.TCP);
    id.resolveAddr(DESTINATION);
    id.resolveRoute();
    next(pair.active, CmEventType.ADDR_RESOLVED);
    next(pair.active, CmEventType.ROUTE_RESOLVED);
    assert.equal(pair.active.tryGetCmEvent(), undefined);
  });

  it('tells at once that nothing can come while no identifier has a device', () => {
    using pair = new Pair();
    createId(pair.active, PortSpace.TCP);
    assertErrno('ETIMEDOUT', () => pair.active.getCmEvent());
  });

  it('tells that nothing is left to happen', () => {
    using pair = new Pair();
    pair.listen();
    assertSilent(pair.passive);
  });

  it('waits as long as it is told, on the clock of the device', () => {
    using pair = new Pair();
    pair.listen();
    const id = pair.resolve();
    id.createQp();
    const begun = pair.cluster.nowUs;
    id.connect();
    next(pair.passive, CmEventType.CONNECT_REQUEST);
    assertErrno('ETIMEDOUT', () => pair.active.getCmEvent(5));
    assert.ok(pair.cluster.nowUs - begun >= 5000, `${pair.cluster.nowUs - begun} µs`);
  });

  it('refuses a timeout that is not a time', () => {
    using pair = new Pair();
    pair.listen();
    assertErrno('EINVAL', () => pair.passive.getCmEvent(-1));
    assertErrno('EINVAL', () => pair.passive.getCmEvent(NaN));
  });

  it('cannot be destroyed while identifiers report there', () => {
    using pair = new Pair();
    const channel = createEventChannel({ contexts: [pair.a] });
    const id = createId(channel, PortSpace.TCP);
    assertErrno('EBUSY', () => channel.destroy());
    id.destroy();
    channel.destroy();
    assertErrno('EINVAL', () => channel.destroy());
  });

  it('names the identifiers that report there when it cannot be destroyed, and how many more there are', () => {
    using pair = new Pair();
    pair.listen();
    assert.match(
      assertErrno('EBUSY', () => pair.passive.destroy()).message,
      /the channel is in use by the identifier that listens at 0\.0\.0\.0:7174 \(EBUSY\)/,
    );
    pair.resolve();
    for (let i = 0; i < 3; i += 1) createId(pair.active, PortSpace.TCP);
    assert.match(
      assertErrno('EBUSY', () => pair.active.destroy()).message,
      /state ROUTE_RESOLVED at 10\.0\.0\.1:\d+ to 10\.0\.0\.2:7174, the identifier in state IDLE, .* and 1 more/,
    );
  });

  it('takes no identifiers after its end', () => {
    using pair = new Pair();
    const channel = createEventChannel({ contexts: [pair.a] });
    channel.destroy();
    assertErrno('EINVAL', () => createId(channel, PortSpace.TCP));
    assertErrno('EINVAL', () => channel.getCmEvent());
    assertErrno('EINVAL', () => channel.tryGetCmEvent());
  });

  it('is made of open devices only', () => {
    const pair = new Pair();
    pair[Symbol.dispose]();
    assertErrno('EINVAL', () => createEventChannel({ contexts: [pair.a] }));
    assertErrno('EINVAL', () => createEventChannel({ contexts: [] }));
  });

  it('serves identifiers on several devices', () => {
    using pair = new Pair();
    const channel = createEventChannel({ contexts: [pair.a, pair.b] });
    const listener = createId(channel, PortSpace.TCP);
    listener.bindAddr({ host: PASSIVE, port: PORT });
    listener.listen();
    const id = createId(channel, PortSpace.TCP);
    id.resolveAddr(DESTINATION);
    next(channel, CmEventType.ADDR_RESOLVED);
    id.resolveRoute();
    next(channel, CmEventType.ROUTE_RESOLVED);
    id.createQp();
    id.connect();
    const request = next(channel, CmEventType.CONNECT_REQUEST);
    request.id.createQp();
    request.id.accept();
    const both = [next(channel, CmEventType.ESTABLISHED).id, next(channel, CmEventType.ESTABLISHED).id];
    assert.deepEqual(new Set(both), new Set([id, request.id]));
  });

  it('gets the events of its own identifiers when a device serves several channels', () => {
    using pair = new Pair();
    const other = createEventChannel({ contexts: [pair.b] });
    const second = createId(other, PortSpace.TCP);
    second.bindAddr({ port: PORT + 1 });
    second.listen();
    pair.listen();
    const one = pair.resolve();
    one.createQp();
    const two = pair.resolve(PORT + 1);
    two.createQp();
    one.connect({ privateData: Buffer.from('one') });
    two.connect({ privateData: Buffer.from('two') });
    assert.equal(next(other, CmEventType.CONNECT_REQUEST).listenId, second);
    assert.notEqual(next(pair.passive, CmEventType.CONNECT_REQUEST).listenId, second);
  });
});

describe('awaiting events', () => {
  it('gives them while time passes', async () => {
    using pair = new Pair();
    pair.listen();
    const id = pair.resolve();
    id.createQp();
    id.connect();
    const events = pair.passive[Symbol.asyncIterator]();
    const { value } = await events.next();
    assert.equal(value?.event, CmEventType.CONNECT_REQUEST);
    await events.return?.();
  });

  it('ends when the channel is destroyed', async () => {
    using pair = new Pair();
    const channel = createEventChannel({ contexts: [pair.a] });
    const events = channel[Symbol.asyncIterator]();
    const ended = events.next();
    channel.destroy();
    assert.equal((await ended).done, true);
    assert.equal((await events.next()).done, true);
  });

  it('ends by return, while it waits', async () => {
    using pair = new Pair();
    pair.listen();
    const events = pair.passive[Symbol.asyncIterator]();
    const ended = events.next();
    await events.return?.();
    assert.equal((await ended).done, true);
  });

  it('gives each event to the one who waits longest', async () => {
    using pair = new Pair();
    const id = createId(pair.active, PortSpace.TCP);
    const first = pair.active[Symbol.asyncIterator]().next();
    const second = pair.active[Symbol.asyncIterator]().next();
    id.resolveAddr(DESTINATION);
    id.resolveRoute();
    assert.equal((await first).value?.event, CmEventType.ADDR_RESOLVED);
    assert.equal((await second).value?.event, CmEventType.ROUTE_RESOLVED);
  });

  it('goes on when identifiers get their devices meanwhile', async () => {
    using pair = new Pair();
    const listener = createId(pair.passive, PortSpace.TCP);
    const events = pair.passive[Symbol.asyncIterator]();
    const awaited = events.next();
    listener.bindAddr({ port: PORT });
    listener.listen();
    const id = pair.resolve();
    id.createQp();
    id.connect();
    assert.equal((await awaited).value?.event, CmEventType.CONNECT_REQUEST);
  });
});

describe('an event', () => {
  it('is acknowledged once', () => {
    using pair = new Pair();
    const id = createId(pair.active, PortSpace.TCP);
    id.resolveAddr(DESTINATION);
    const event = pair.active.getCmEvent();
    event.ack();
    assertErrno('EINVAL', () => event.ack());
  });

  it('keeps its identifier from being destroyed until it is acknowledged', () => {
    using pair = new Pair();
    const id = createId(pair.active, PortSpace.TCP);
    id.resolveAddr(DESTINATION);
    const event = pair.active.getCmEvent();
    assertErrno('EBUSY', () => id.destroy());
    event.ack();
    id.destroy();
  });

  it('that asks for a connection keeps the listener', () => {
    using pair = new Pair();
    const listener = pair.listen();
    const id = pair.resolve();
    id.createQp();
    id.connect();
    const event = pair.passive.getCmEvent();
    assertErrno('EBUSY', () => listener.destroy());
    event.ack();
    listener.destroy();
  });

  it('is dropped with its identifier when nobody took it', () => {
    using pair = new Pair();
    const id = createId(pair.active, PortSpace.TCP);
    id.resolveAddr(DESTINATION);
    id.destroy();
    assert.equal(pair.active.tryGetCmEvent(), undefined);
  });

  it('of the program’s own comes back with its number', () => {
    using pair = new Pair();
    const id = createId(pair.active, PortSpace.TCP);
    id.writeCmEvent(CmEventType.USER, -7, 0xffff_ffff_ffff_ffffn);
    const event = next(pair.active, CmEventType.USER);
    assert.deepEqual([event.id, event.status, event.param.arg], [id, -7, 0xffff_ffff_ffff_ffffn]);
    assertErrno('EINVAL', () => id.writeCmEvent(CmEventType.ESTABLISHED, 0, 0n));
    assertErrno('EINVAL', () => id.writeCmEvent(CmEventType.USER, 0, -1n));
  });
});

describe('moving an identifier to another channel', () => {
  it('takes along what nobody has taken', () => {
    using pair = new Pair();
    const other = createEventChannel();
    const id = createId(pair.active, PortSpace.TCP);
    id.resolveAddr(DESTINATION);
    id.migrate(other);
    assert.equal(id.channel, other);
    assert.equal(pair.active.tryGetCmEvent(), undefined);
    next(other, CmEventType.ADDR_RESOLVED);
  });

  it('waits for acknowledgements', () => {
    using pair = new Pair();
    const id = createId(pair.active, PortSpace.TCP);
    id.resolveAddr(DESTINATION);
    const event = pair.active.getCmEvent();
    using other = createEventChannel();
    assertErrno('EBUSY', () => id.migrate(other));
    event.ack();
    id.migrate(other);
    id.destroy();
  });

  it('has later events go there', () => {
    using pair = new Pair();
    pair.listen();
    const { request } = pair.request();
    const other = createEventChannel();
    request.id.migrate(other);
    request.id.createQp();
    request.id.accept();
    next(other, CmEventType.ESTABLISHED);
  });

  it('makes it synchronous when there is none', () => {
    using pair = new Pair();
    const id = createId(pair.active, PortSpace.TCP);
    id.migrate(undefined);
    assert.equal(id.channel, undefined);
    assertErrno('EINVAL', () => id.migrate(undefined));
    id.resolveAddr(DESTINATION);
    assert.equal(id.event?.event, CmEventType.ADDR_RESOLVED);
  });

  it('makes a synchronous one report', () => {
    using pair = new Pair();
    const id = createId(undefined, PortSpace.TCP, { contexts: [pair.a] });
    id.resolveAddr(DESTINATION);
    id.migrate(pair.active);
    assert.equal(id.event, undefined);
    id.resolveRoute();
    next(pair.active, CmEventType.ROUTE_RESOLVED);
  });
});
