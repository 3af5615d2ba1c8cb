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
} from '../../src/index.js';
import { administer } from '../../src/sim.js';
import { loopback } from '../support/loopback.js';
import { assertErrno, assertRejects, next, Pair, PORT } from './support.js';

describe('devices of rdma_cm', () => {
  const given = process.env['VERBENA_ADDR'];
  const givenHost = process.env['VERBENA_HOST'];

  /** Has programs find this address in their environment. */
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
    assert.deepEqual([id.verbs], getDevices());
    id.destroy();
    const again = createId(channel, PortSpace.TCP);
    again.bindAddr({});
    assert.equal(again.verbs, getDevices()[0]);
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
    assert.equal(id.verbs?.host, 'thread');
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

  it('are not where another program’s device is', () => {
    ask(loopback(10));
    using taken = openDevice({ address: loopback(11), host: 'inline' });
    const id = createId(createEventChannel(), PortSpace.TCP);
    assertErrno('EADDRINUSE', () => id.bindAddr({ host: taken.address }));
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
