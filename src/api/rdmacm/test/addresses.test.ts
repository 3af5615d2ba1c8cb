import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  CmEventType,
  CmOption,
  createEventChannel,
  createId,
  gidFromIp,
  Mtu,
  PortSpace,
} from '../../../entry/index.js';
import { administer, SimulatedCluster } from '../../../entry/sim.js';
import { ACTIVE, assertErrno, next, Pair, PASSIVE, PORT } from './support.js';

describe('binding', () => {
  it('gives an address, a device and a port', () => {
    using pair = new Pair();
    const id = createId(pair.passive, PortSpace.TCP);
    assert.deepEqual([id.localAddr, id.verbs, id.portNum, id.getSrcPort()], [undefined, undefined, 0, 0]);
    id.bindAddr({ host: PASSIVE, port: PORT });
    assert.deepEqual([id.localAddr, id.verbs, id.portNum], [{ host: PASSIVE, port: PORT }, pair.b, 1]);
    assert.equal(id.getSrcPort(), PORT);
  });

  it('finds a free port', () => {
    using pair = new Pair();
    const ports = [1, 2, 3].map(() => {
      const id = createId(pair.passive, PortSpace.TCP);
      id.bindAddr({});
      return id.getSrcPort();
    });
    assert.equal(new Set(ports).size, 3);
    assert.ok(ports.every((port) => port > 0));
  });

  for (const [host, any] of [
    ['127.0.0.1', '0.0.0.0'],
    ['127.1.2.3', '0.0.0.0'],
    ['::1', '::'],
  ] as const)
    it(`to ${host} is binding to the program itself where no device is on loopback, as in Linux`, () => {
      using pair = new Pair();
      const channel = createEventChannel({ contexts: [pair.b, pair.a] });
      const id = createId(channel, PortSpace.TCP);
      id.bindAddr({ host, port: PORT });
      assert.deepEqual([id.localAddr, id.verbs], [{ host: any, port: PORT }, undefined]);
    });

  it('to a loopback address is refused where a device is at another one, and names the addresses of the devices', () => {
    const cluster = new SimulatedCluster({ seed: 1 });
    using context = cluster.open('127.0.0.2');
    const id = createId(createEventChannel({ contexts: [context] }), PortSpace.TCP);
    const { message } = assertErrno('EADDRNOTAVAIL', () => id.bindAddr({ host: '127.0.0.1', port: PORT }));
    assert.match(message, /127\.0\.0\.1.*127\.0\.0\.2/);
    id.bindAddr({ host: '127.0.0.2', port: PORT });
  });

  it('happens once', () => {
    using pair = new Pair();
    const id = createId(pair.passive, PortSpace.TCP);
    id.bindAddr({});
    assertErrno('EINVAL', () => id.bindAddr({}));
  });

  it('is refused for an address that no device has', () => {
    using pair = new Pair();
    const id = createId(pair.passive, PortSpace.TCP);
    assertErrno('EADDRNOTAVAIL', () => id.bindAddr({ host: '10.9.9.9' }));
    id.bindAddr({ host: PASSIVE });
  });

  it('is refused for what is not an address', () => {
    using pair = new Pair();
    const id = createId(pair.passive, PortSpace.TCP);
    assertErrno('EINVAL', () => id.bindAddr({ host: 'localhost' }));
    assertErrno('EINVAL', () => id.bindAddr({ port: 65_536 }));
    assertErrno('EINVAL', () => id.bindAddr({ port: 1.5 }));
    // @ts-expect-error as a program that no compiler has checked may write
    assertErrno('EINVAL', () => id.bindAddr());
  });

  it('is refused for a port that somebody has', () => {
    using pair = new Pair();
    pair.listen();
    const id = createId(pair.passive, PortSpace.TCP);
    assertErrno('EADDRINUSE', () => id.bindAddr({ port: PORT }));
    id.bindAddr({ port: PORT + 1 });
  });

  it('gives a port again that an identifier has let go', () => {
    using pair = new Pair();
    pair.listen().destroy();
    pair.listen();
  });

  it('counts the ports of each port space for themselves', () => {
    using pair = new Pair();
    pair.listen(PORT, PortSpace.TCP);
    pair.listen(PORT, PortSpace.UDP);
  });

  it('shares a port with whoever agrees, and a listener shares it with nobody', () => {
    using pair = new Pair();
    const [one, two] = [1, 2].map(() => {
      const id = createId(pair.passive, PortSpace.TCP);
      id.setOption(CmOption.REUSEADDR, true);
      id.bindAddr({ port: PORT });
      return id;
    });
    assertErrno('EADDRINUSE', () => one.listen());
    two.destroy();
    one.listen();
    assertErrno('EINVAL', () => one.setOption(CmOption.REUSEADDR, true));
    const late = createId(pair.passive, PortSpace.TCP);
    late.setOption(CmOption.REUSEADDR, true);
    assertErrno('EADDRINUSE', () => late.bindAddr({ port: PORT }));
  });

  for (const host of [undefined, PASSIVE])
    it(`shares a port from when REUSEADDR is set, after binding to ${host ?? 'a wildcard'} as well`, () => {
      using pair = new Pair();
      const one = createId(pair.passive, PortSpace.TCP);
      one.bindAddr({ ...(host !== undefined && { host }), port: PORT });
      const two = createId(pair.passive, PortSpace.TCP);
      two.setOption(CmOption.REUSEADDR, true);
      assertErrno('EADDRINUSE', () => two.bindAddr({ host: PASSIVE, port: PORT }));
      one.setOption(CmOption.REUSEADDR, true);
      two.bindAddr({ host: PASSIVE, port: PORT });
    });
});

describe('addresses of IPv6', () => {
  function open(): SimulatedCluster {
    return new SimulatedCluster({ seed: 1 });
  }

  it('are those of devices, too', () => {
    const cluster = open();
    const channel = createEventChannel({ contexts: [cluster.open('10.0.0.1'), cluster.open('fd00::1')] });
    cluster.open('fd00::2');
    const id = createId(channel, PortSpace.TCP);
    id.resolveAddr({ host: 'fd00:0::0:2', port: PORT });
    next(channel, CmEventType.ADDR_RESOLVED);
    assert.deepEqual([id.localAddr?.host, id.peerAddr?.host], ['fd00::1', 'fd00::2']);
  });
});

describe('resolving an address', () => {
  it('finds the device, and names both ends', () => {
    using pair = new Pair();
    const id = createId(pair.active, PortSpace.TCP);
    id.resolveAddr({ host: PASSIVE, port: PORT });
    const event = next(pair.active, CmEventType.ADDR_RESOLVED);
    assert.deepEqual([event.id, event.status], [id, 0]);
    assert.deepEqual([id.verbs, id.peerAddr], [pair.a, { host: PASSIVE, port: PORT }]);
    assert.equal(id.getDstPort(), PORT);
    assert.equal(id.localAddr?.host, ACTIVE);
    assert.notEqual(id.getSrcPort(), 0);
    assert.deepEqual(id.route, {
      localGid: gidFromIp(ACTIVE),
      remoteGid: gidFromIp(PASSIVE),
      pathMtu: undefined,
    });
  });

  it('takes the source that it is given', () => {
    using pair = new Pair();
    const channel = createEventChannel({ contexts: [pair.a, pair.b] });
    const id = createId(channel, PortSpace.TCP);
    id.resolveAddr({ host: '10.0.0.9', port: PORT }, { source: { host: PASSIVE, port: 99 } });
    next(channel, CmEventType.ADDR_RESOLVED);
    assert.deepEqual([id.verbs, id.localAddr], [pair.b, { host: PASSIVE, port: 99 }]);
  });

  it('is refused for a source that no device has', () => {
    using pair = new Pair();
    const id = createId(pair.active, PortSpace.TCP);
    const source = { host: '10.9.9.9' };
    assertErrno('EADDRNOTAVAIL', () => id.resolveAddr({ host: PASSIVE, port: PORT }, { source }));
  });

  it('is refused for a port of its own that somebody has', () => {
    using pair = new Pair();
    const taken = createId(pair.active, PortSpace.TCP);
    taken.bindAddr({ port: 99 });
    const id = createId(pair.active, PortSpace.TCP);
    const destination = { host: PASSIVE, port: PORT };
    assertErrno('EADDRINUSE', () => id.resolveAddr(destination, { source: { host: ACTIVE, port: 99 } }));
    assertErrno('EADDRINUSE', () => id.resolveAddr(destination, { source: { port: 99 } }));
    id.resolveAddr(destination, { source: { port: 98 } });
    assert.equal(id.getSrcPort(), 98);
  });

  it('says that there is no way, and may be tried again', () => {
    using pair = new Pair();
    const id = createId(pair.active, PortSpace.TCP);
    id.resolveAddr({ host: 'fd00::2', port: PORT });
    const event = next(pair.active, CmEventType.ADDR_ERROR);
    assert.equal(event.status, -19);
    assert.equal(event.error?.errno, 'ENODEV');
    id.resolveAddr({ host: PASSIVE, port: PORT });
    next(pair.active, CmEventType.ADDR_RESOLVED);
  });

  it('keeps the address that the identifier is bound to', () => {
    using pair = new Pair();
    const channel = createEventChannel({ contexts: [pair.a, pair.b] });
    const id = createId(channel, PortSpace.TCP);
    id.bindAddr({ host: PASSIVE, port: 99 });
    id.resolveAddr({ host: '10.0.0.9', port: PORT });
    next(channel, CmEventType.ADDR_RESOLVED);
    assert.deepEqual(id.localAddr, { host: PASSIVE, port: 99 });
  });

  it('may find another device than that of any address, and keeps the port', () => {
    const cluster = new SimulatedCluster({ seed: 1 });
    const [four, six] = [cluster.open('10.0.0.1'), cluster.open('fd00::1')];
    const channel = createEventChannel({ contexts: [four, six] });
    const id = createId(channel, PortSpace.TCP);
    id.bindAddr({ port: 99 });
    assert.equal(id.verbs, undefined);
    id.resolveAddr({ host: 'fd00::2', port: PORT });
    next(channel, CmEventType.ADDR_RESOLVED);
    assert.deepEqual([id.verbs, id.localAddr], [six, { host: 'fd00::1', port: 99 }]);
  });

  it('is refused without a destination, and for versions of IP that do not fit', () => {
    using pair = new Pair();
    const id = createId(pair.active, PortSpace.TCP);
    assertErrno('EINVAL', () => id.resolveAddr({ port: PORT }));
    assertErrno('EINVAL', () => id.resolveAddr({ host: PASSIVE }, { source: { host: 'fd00::1' } }));
    assertErrno('EINVAL', () => id.resolveAddr({ host: PASSIVE }, { timeoutMs: -1 }));
  });
});

describe('resolving a route', () => {
  it('finds the MTU of the path', () => {
    using pair = new Pair();
    assert.equal(pair.resolve().route.pathMtu, pair.a.queryPort().activeMtu);
    assert.ok(pair.a.queryPort().activeMtu >= Mtu.MTU_1024);
  });

  it('fails while the port is down', () => {
    using pair = new Pair();
    const id = createId(pair.active, PortSpace.TCP);
    id.resolveAddr({ host: PASSIVE, port: PORT });
    next(pair.active, CmEventType.ADDR_RESOLVED);
    administer(pair.a, { linkUp: false });
    id.resolveRoute();
    assert.equal(next(pair.active, CmEventType.ROUTE_ERROR).status, -100);
    administer(pair.a, { linkUp: true });
    id.resolveRoute();
    next(pair.active, CmEventType.ROUTE_RESOLVED);
  });
});
