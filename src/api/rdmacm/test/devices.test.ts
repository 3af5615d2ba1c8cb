import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import {
  CmEventType,
  connect,
  createEventChannel,
  createId,
  getDevices,
  listen,
  openDevice,
  PortSpace,
} from '../../../entry/index.js';
import { administer } from '../../../entry/sim.js';
import { identityOf } from '../identifiers/identity.js';
import { loopback } from '../../../../test/support/loopback.js';
import { assertErrno, assertRejects, next, Pair, PORT } from './support.js';

describe('devices of rdma_cm', () => {
  const given = process.env['VERBENA_ADDR'];
  const givenHost = process.env['VERBENA_HOST'];

  function ask(address: string): void {
    process.env['VERBENA_ADDR'] = address;
    process.env['VERBENA_HOST'] = 'inline';
  }

  afterEach(() => {
    for (const context of getDevices()) context.close();
    for (const [name, value] of Object.entries({ VERBENA_ADDR: given, VERBENA_HOST: givenHost })) {
      // Node makes the text 'undefined' of it.
      if (value === undefined) Reflect.deleteProperty(process.env, name);
      else process.env[name] = value;
    }
  });

  it('are opened when they are first needed, and stay', () => {
    ask(loopback(1));
    const channel = createEventChannel();
    const id = createId(channel, PortSpace.TCP);
    id.bindAddr({});
    const [device] = getDevices();
    assert.equal(device.address, loopback(1));
    id.createQp();
    assert.deepEqual([id.verbs], getDevices());
    id.destroyEp();
    const again = createId(channel, PortSpace.TCP);
    again.bindAddr({});
    assert.deepEqual(getDevices(), [device]);
  });

  it('are opened again after the program has closed them', () => {
    ask(loopback(2));
    const [first] = getDevices();
    first.close();
    const [second] = getDevices();
    assert.equal(getDevices()[0].address, loopback(2));
    assert.ok(second !== first);
  });

  it('are where the program binds', () => {
    ask(loopback(3));
    const channel = createEventChannel();
    const id = createId(channel, PortSpace.TCP);
    id.bindAddr({ host: loopback(4), port: PORT });
    const other = createId(channel, PortSpace.TCP);
    other.resolveAddr({ host: loopback(9), port: PORT }, { source: { host: loopback(4) } });
    assert.equal(other.verbs, id.verbs);
    assert.equal(id.verbs?.address, loopback(4));
  });

  it('are opened as the program says', () => {
    ask(loopback(5));
    const channel = createEventChannel({ open: { host: 'thread' } });
    const id = createId(channel, PortSpace.TCP);
    id.bindAddr({});
    assert.equal(getDevices()[0].host, 'thread');
  });

  it('lead where addresses say', () => {
    ask(loopback(6));
    const channel = createEventChannel();
    const id = createId(channel, PortSpace.TCP);
    id.resolveAddr({ host: loopback(7), port: PORT });
    next(channel, CmEventType.ADDR_RESOLVED);
    const lost = createId(channel, PortSpace.TCP);
    lost.resolveAddr({ host: '192.0.2.1', port: PORT });
    const event = next(channel, CmEventType.ADDR_ERROR);
    assert.equal(event.status, -19);
    assert.match(event.error?.message ?? '', /VERBENA_ADDR/);
  });

  it('are no addresses of other machines', () => {
    ask(loopback(8));
    const id = createId(createEventChannel(), PortSpace.TCP);
    assertErrno('EADDRNOTAVAIL', () => id.bindAddr({ host: '192.0.2.1' }));
  });

  it('are those that the program has opened at an address that it binds to', () => {
    ask(loopback(10));
    using own = openDevice({ address: loopback(11), host: 'inline' });
    const channel = createEventChannel();
    const id = createId(channel, PortSpace.TCP);
    id.bindAddr({ host: own.address });
    assert.equal(id.verbs, own);
    const other = createId(channel, PortSpace.TCP);
    other.resolveAddr({ host: loopback(12), port: PORT }, { source: { host: own.address } });
    assert.equal(other.verbs, own);
    for (const each of [id, other]) each.destroy();
  });

  it('are all listened to by a wildcard, those included that the program opens later', async () => {
    ask(loopback(30));
    using early = openDevice({ address: loopback(31), host: 'inline' });
    await using listener = listen({ port: PORT });
    assert.equal(listener.id.verbs, undefined);
    using late = openDevice({ address: loopback(32), host: 'inline' });
    using client = openDevice({ address: loopback(33), host: 'inline' });
    for (const host of [loopback(30), early.address, late.address]) {
      const [connection, accepted] = await Promise.all([
        connect({ host, port: PORT, context: client, timeoutMs: Infinity }),
        listener.next().then((request) => request.accept()),
      ]);
      assert.equal(accepted.localAddress.host, host);
      assert.equal(accepted.qp.context.address, host);
      await Promise.all([connection.close(), accepted.close()]);
    }
  });

  it('are known not to be at an address of this machine, which refuses a connection', async () => {
    using client = openDevice({ address: loopback(37), host: 'inline' });
    const { message } = await assertRejects(
      'ECONNREFUSED',
      connect({ host: loopback(38), port: PORT, context: client }),
    );
    assert.match(message, /no device is at 127/);
  });

  it('are connected to that come to an address of this machine a moment later', async () => {
    using client = openDevice({ address: loopback(39), host: 'inline' });
    const connecting = connect({ host: loopback(40), port: PORT, context: client, timeoutMs: Infinity });
    using server = openDevice({ address: loopback(40), host: 'inline' });
    await using listener = listen({ port: PORT, context: server });
    const [connection, accepted] = await Promise.all([connecting, listener.next().then((one) => one.accept())]);
    await Promise.all([connection.close(), accepted.close()]);
  });

  it('go on being listened to when one of them is closed', async () => {
    ask(loopback(34));
    const closing = openDevice({ address: loopback(35), host: 'inline' });
    await using listener = listen({ port: PORT });
    const accepting = listener.next().then((request) => request.accept());
    closing.close();
    using client = openDevice({ address: loopback(36), host: 'inline' });
    const connection = await connect({ host: loopback(34), port: PORT, context: client, timeoutMs: Infinity });
    await Promise.all([connection.close(), (await accepting).close()]);
  });

  it('are listened to each time that they are opened, and cost nothing once they are closed', async () => {
    ask(loopback(44));
    await using listener = listen({ port: PORT });
    using client = openDevice({ address: loopback(45), host: 'inline' });
    const before = identityOf(listener.id).dispatchers.length;
    for (let round = 0; round < 20; round += 1) {
      const address = loopback(46 + (round % 2));
      const opened = openDevice({ address, host: 'inline' });
      const accepting = listener.next().then((request) => request.accept());
      const connection = await connect({ host: address, port: PORT, context: client });
      const accepted = await accepting;
      assert.equal(accepted.qp.context.address, address);
      await Promise.all([connection.close(), accepted.close()]);
      opened.close();
      assert.ok(identityOf(listener.id).dispatchers.length <= before + 2);
    }
  });

  it('reach a listener whose first device was closed', async () => {
    using client = openDevice({ address: loopback(49), host: 'inline' });
    const first = openDevice({ address: loopback(48), host: 'inline' });
    ask(loopback(48));
    await using listener = listen({ port: PORT });
    first.close();
    using late = openDevice({ address: loopback(48), host: 'inline' });
    const accepting = listener.next().then((request) => request.accept());
    const connection = await connect({ host: late.address, port: PORT, context: client });
    await Promise.all([connection.close(), (await accepting).close()]);
  });

  it('connect a program with itself when it names none', async () => {
    ask(loopback(12));
    await using listener = listen({ port: PORT });
    const [client, server] = await Promise.all([
      connect({ host: loopback(12), port: PORT }),
      listener.next().then((request) => request.accept()),
    ]);
    assert.equal(client.qp.context, server.qp.context);
    await Promise.all([client.close(), server.close()]);
  });
});

describe('the loss of a device', () => {
  it('is told to every identifier', () => {
    using pair = new Pair();
    pair.listen();
    const [a, b] = pair.connect();
    administer(pair.a, { fatal: true });
    const event = next(pair.active, CmEventType.DEVICE_REMOVAL);
    assert.equal(event.id, a);
    assertErrno('EINVAL', () => a.disconnect());
    a.destroy();
    b.destroy();
  });

  it('is an error for whoever waits for something else', () => {
    using pair = new Pair();
    const listener = createId(undefined, PortSpace.TCP, { contexts: [pair.a] });
    listener.listen();
    administer(pair.a, { fatal: true });
    assertErrno('EIO', () => listener.getRequest());
    listener.destroy();
  });

  it('ends a listener’s loop', async () => {
    using pair = new Pair();
    const listener = listen({ port: PORT, context: pair.a });
    const awaited = listener.next();
    administer(pair.a, { fatal: true });
    await assertRejects('EIO', awaited);
    listener.close();
  });

  it('by closing it is no obstacle to the end of identifiers', () => {
    const pair = new Pair();
    const listener = pair.listen();
    const [a, b] = pair.connect();
    pair[Symbol.dispose]();
    for (const id of [a, b, listener]) id.destroyEp();
    pair.active.destroy();
    pair.passive.destroy();
  });
});
