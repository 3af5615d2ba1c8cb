import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { connect, createId, getDevices, openDevice, PortSpace, VerbsError, WcStatus } from '../../entry/index.js';
import { Sim, simulate } from '../../entry/sim.js';
import { connected, send } from './support.js';

const settled = async (promise: Promise<unknown>): Promise<boolean> => {
  const nothing = Symbol('nothing');
  await new Promise((resolve) => setImmediate(resolve));
  return (await Promise.race([promise, Promise.resolve(nothing)])) !== nothing;
};

describe('a host of a simulation', () => {
  it('has a name and an address', () => {
    using sim = new Sim();
    const hosts = [sim.host('a'), sim.host('b', { address: 'fd00:0::7' }), sim.host('c')];
    assert.deepEqual(
      hosts.map(({ name, address }) => [name, address]),
      [
        ['a', '10.0.0.1'],
        ['b', 'fd00::7'],
        ['c', '10.0.0.2'],
      ],
    );
  });

  it('gets an address that no other has', () => {
    using sim = new Sim();
    sim.host('a', { address: '10.0.0.1' });
    assert.equal(sim.host('b').address, '10.0.0.2');
  });

  it('must have both for itself', () => {
    using sim = new Sim();
    sim.host('a');
    assert.throws(() => sim.host('a'), { errno: 'EEXIST' });
    assert.throws(() => sim.host('b', { address: '10.0.0.1' }), { errno: 'EADDRINUSE' });
    assert.throws(() => sim.host('c', { address: 'nowhere' }), { errno: 'EINVAL' });
    assert.throws(() => sim.host(''), { errno: 'EINVAL' });
  });

  it('is the machine of a program that runs on it', async () => {
    using sim = new Sim();
    const host = sim.host('a');
    const [context, devices, wildcard, bound] = await host.run(async () => {
      await Promise.resolve();
      const id = createId(undefined, PortSpace.TCP);
      id.bindAddr({});
      const wildcard = id.localAddr?.host;
      const bound = createId(undefined, PortSpace.TCP);
      bound.bindAddr({ host: host.address });
      return [openDevice(), getDevices(), wildcard, bound.localAddr?.host] as const;
    });
    assert.deepEqual(
      [context === host.context, devices[0] === context, wildcard, bound],
      [true, true, '0.0.0.0', host.address],
    );
  });

  it('has no address but its own', async () => {
    using sim = new Sim();
    await assert.rejects(
      sim.host('a').run(() => openDevice({ address: '10.0.0.9' })),
      { errno: 'EADDRNOTAVAIL' },
    );
  });

  it('opens its NIC again when a program has closed it', () => {
    using sim = new Sim();
    const host = sim.host('a');
    const { context } = host;
    context.close();
    assert.notEqual(host.context, context);
  });

  it('finds others by their names, itself as localhost, and nobody else', () =>
    simulate(async (sim) => {
      sim.host('a');
      const b = sim.host('b');
      const answer = (host: string): Promise<string> =>
        b.run(() =>
          connect({ host, port: 1 }).then(
            () => '',
            (error: unknown) => (error instanceof VerbsError ? error.errno : 'nothing known'),
          ),
        );
      assert.deepEqual(
        [await answer('a'), await answer('localhost'), await answer('c')],
        ['ECONNREFUSED', 'ECONNREFUSED', 'ENOENT'],
      );
    }));

  it('connects, and listens, without being told its device', () =>
    simulate(async (sim) => {
      const { atServer, atClient } = await connected(sim);
      const { status } = await send(atClient);
      assert.deepEqual([status, (await atServer.recvComp()).byteLen], [WcStatus.SUCCESS, 5]);
    }));
});

describe('a host that crashes', () => {
  it('has its programs wait for ever', () =>
    simulate(async (sim) => {
      const { server, client } = await connected(sim);
      const running = server.run(() => sim.sleep(1000));
      const elsewhere = client.run(() => sim.sleep(1000));
      server.crash();
      await elsewhere;
      assert.deepEqual([await settled(running), server.state], [false, 'down']);
    }));

  it('has them wait for ever also for events that they begin to wait for as it crashes', () =>
    simulate(async (sim) => {
      const host = sim.host('a');
      const listener = host.listen({ port: 7174 });
      host.crash();
      const request = listener.next();
      request.catch(() => undefined);
      await sim.sleep(1000);
      assert.equal(await settled(request), false);
    }));

  it('says so to whoever uses it nevertheless', async () => {
    using sim = new Sim();
    const host = sim.host('a');
    const { context } = host;
    host.crash();
    assert.throws(() => host.context, { errno: 'ENODEV' });
    assert.throws(() => context.allocPd(), { errno: 'EIO' });
    await assert.rejects(
      host.run(() => 1),
      { errno: 'ENODEV' },
    );
  });

  it('comes back empty, with the same address', () =>
    simulate(async (sim) => {
      const { server, client } = await connected(sim);
      server.crash();
      server.restart();
      await assert.rejects(client.connect({ host: 'server', port: 7174 }), { errno: 'ECONNREFUSED' });
      const listener = server.listen({ port: 7174 });
      const accepted = listener.next().then((request) => request.accept());
      await client.connect({ host: 'server', port: 7174 });
      assert.equal((await accepted).localAddress.host, '10.0.0.1');
    }));

  it('does not have a program of its former life act in the new one', async () => {
    using sim = new Sim();
    const host = sim.host('a');
    let openAgain: (() => unknown) | undefined;
    let goOn: (() => void) | undefined;
    void host.run(async () => {
      await new Promise<void>((resolve) => (goOn = resolve));
      openAgain = () => openDevice();
      try {
        openAgain();
      } catch (error) {
        openAgain = () => {
          throw error as Error; // Whatever it is, it is looked at below.
        };
      }
    });
    host.crash();
    host.restart();
    goOn?.();
    await Promise.resolve();
    await Promise.resolve();
    assert.throws(() => openAgain?.(), { errno: 'ENODEV' });
  });

  it('still tells its counters', () =>
    simulate(async (sim) => {
      const { server, atClient } = await connected(sim);
      await send(atClient);
      const before = server.counters()['rcvd_pkts'] ?? 0;
      server.crash();
      assert.deepEqual([server.counters()['rcvd_pkts'], before > 0], [before, true]);
    }));
});

describe('a host that is paused', () => {
  it('neither answers nor goes on until it is resumed', () =>
    simulate(async (sim) => {
      const { server, atClient } = await connected(sim);
      const startUs = sim.nowUs;
      const woken = server.run(() => sim.sleep(10)).then(() => sim.nowUs - startUs);
      server.pause();
      sim.at(startUs + 5000, () => server.resume());
      const { status } = await send(atClient);
      assert.deepEqual([status, await woken, server.state], [WcStatus.SUCCESS, 5000, 'up']);
    }));
});
