import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  CmEventType,
  type CmId,
  CmOption,
  type Context,
  createEventChannel,
  createId,
  type EventChannel,
  PortSpace,
} from '../../../entry/index.js';
import { RejectReason } from '../../../device/ibta/index.js';
import { administer, SimulatedCluster } from '../../../entry/sim.js';
import { assertErrno, next, PORT } from './support.js';

const V4 = '10.0.0.1';
const OTHER_V4 = '10.0.0.2';
const V6 = 'fd00::1';

/** A program with devices at these addresses, and a client of each version of IP. */
class Program implements Disposable {
  readonly cluster = new SimulatedCluster({ seed: 1 });
  readonly contexts: readonly Context[];
  readonly channel: EventChannel;
  readonly client: EventChannel;

  constructor(...addresses: readonly string[]) {
    this.contexts = addresses.map((address) => this.cluster.open(address));
    this.channel = createEventChannel({ contexts: this.contexts });
    this.client = createEventChannel({ contexts: [this.cluster.open('10.0.0.9'), this.cluster.open('fd00::9')] });
  }

  bind(host: string | undefined, port = PORT, options: { afOnly?: boolean; reuse?: boolean } = {}): CmId {
    const id = createId(this.channel, PortSpace.TCP);
    if (options.afOnly !== undefined) id.setOption(CmOption.AFONLY, options.afOnly);
    if (options.reuse !== undefined) id.setOption(CmOption.REUSEADDR, options.reuse);
    try {
      id.bindAddr({ ...(host !== undefined && { host }), port });
    } catch (error) {
      id.destroy();
      throw error;
    }
    return id;
  }

  listen(host: string | undefined, portSpace: PortSpace = PortSpace.TCP): CmId {
    const id = createId(this.channel, portSpace);
    id.bindAddr({ ...(host !== undefined && { host }), port: PORT });
    id.listen();
    return id;
  }

  /** Asks for a connection, or in the port space UDP for a queue pair. */
  ask(host: string, portSpace: PortSpace = PortSpace.TCP): CmId {
    const id = createId(this.client, portSpace);
    id.resolveAddr({ host, port: PORT });
    next(this.client, CmEventType.ADDR_RESOLVED);
    id.resolveRoute();
    next(this.client, CmEventType.ROUTE_RESOLVED);
    id.createQp();
    id.connect();
    return id;
  }

  /** Connects to an address of the program. Gives its end. */
  connect(host: string): CmId {
    this.ask(host);
    const { id } = next(this.channel, CmEventType.CONNECT_REQUEST);
    id.createQp();
    id.accept();
    next(this.channel, CmEventType.ESTABLISHED);
    next(this.client, CmEventType.ESTABLISHED);
    return id;
  }

  assertRefused(host: string): void {
    this.ask(host);
    assert.equal(next(this.client, CmEventType.REJECTED).status, RejectReason.INVALID_SERVICE_ID);
  }

  [Symbol.dispose](): void {
    for (const context of this.contexts) context.close();
  }
}

describe('a listener at a wildcard', () => {
  for (const host of ['0.0.0.0', undefined])
    it(`${host ?? 'without a host'} is on all devices of IPv4, and connections have the device that they came by`, () => {
      using program = new Program(V4, OTHER_V4);
      program.listen(host);
      for (const [index, address] of [V4, OTHER_V4].entries()) {
        const child = program.connect(address);
        assert.deepEqual([child.verbs, child.localAddr], [program.contexts[index], { host: address, port: PORT }]);
      }
    });

  it('in the port space of datagrams is on all devices', () => {
    using program = new Program(V4, OTHER_V4, V6);
    program.listen('::', PortSpace.UDP);
    for (const host of [OTHER_V4, V6, V4]) {
      program.ask(host, PortSpace.UDP);
      const { id } = next(program.channel, CmEventType.CONNECT_REQUEST);
      assert.equal(id.localAddr?.host, host);
      id.createQp();
      id.accept();
      next(program.client, CmEventType.ESTABLISHED);
    }
  });

  it(':: takes IPv4 as well', () => {
    using program = new Program(V4, V6);
    program.listen('::');
    for (const host of [V4, V6]) assert.equal(program.connect(host).localAddr?.host, host);
  });

  it(':: with AFONLY takes IPv6 only', () => {
    using program = new Program(V4, V6);
    program.bind('::', PORT, { afOnly: true }).listen();
    program.connect(V6);
    program.assertRefused(V4);
  });

  it('0.0.0.0 takes IPv4 only, unless AFONLY was turned off', () => {
    using program = new Program(V4, V6);
    const first = program.listen('0.0.0.0');
    program.assertRefused(V6);
    first.destroy();
    program.bind('0.0.0.0', PORT, { afOnly: false }).listen();
    program.connect(V6);
  });

  it('that gets AFONLY after it was bound leaves the devices of IPv4', () => {
    using program = new Program(V4, V6);
    const id = program.bind('::');
    id.setOption(CmOption.AFONLY, true);
    program.bind('0.0.0.0').destroy();
    id.listen();
    program.assertRefused(V4);
    assertErrno('EINVAL', () => id.setOption(CmOption.AFONLY, false));
  });

  it('has neither device nor address, but a port', () => {
    using program = new Program(V4, OTHER_V4, V6);
    for (const [host, port] of [
      ['0.0.0.0', PORT],
      ['::', PORT + 1],
    ] as const) {
      const id = program.bind(host, port);
      assert.deepEqual([id.verbs, id.portNum, id.localAddr], [undefined, 0, { host, port }]);
      id.listen();
      assert.deepEqual([id.verbs, id.getSrcPort()], [undefined, port]);
    }
  });

  it('refuses the requests that nobody took, of all devices, when it ends', () => {
    using program = new Program(V4, OTHER_V4);
    const listener = program.listen('0.0.0.0');
    for (const host of [V4, OTHER_V4]) program.ask(host);
    program.cluster.run(program.cluster.nowUs + 1_000_000);
    listener.destroy();
    for (let i = 0; i < 2; i += 1)
      assert.equal(next(program.client, CmEventType.REJECTED).status, RejectReason.CONSUMER_DEFINED);
    program.listen('0.0.0.0');
  });

  it('goes on when one of its devices is lost, and is told when the last is', () => {
    using program = new Program(V4, OTHER_V4);
    const listener = program.listen('0.0.0.0');
    administer(program.contexts[0], { fatal: true });
    program.connect(OTHER_V4);
    administer(program.contexts[1], { fatal: true });
    const events = [
      next(program.channel, CmEventType.DEVICE_REMOVAL),
      next(program.channel, CmEventType.DEVICE_REMOVAL),
    ];
    assert.ok(events.some(({ id }) => id === listener));
  });
});

describe('a wildcard without a device of its version of IP', () => {
  it('is bound and listened to all the same', () => {
    using program = new Program(V4);
    const id = program.bind('::', PORT, { afOnly: true });
    id.listen();
    assert.deepEqual([id.verbs, id.localAddr], [undefined, { host: '::', port: PORT }]);
    program.listen('0.0.0.0');
    program.connect(V4);
  });

  it('has its port to itself', () => {
    using program = new Program(V4);
    const first = program.bind('::', PORT, { afOnly: true });
    assertErrno('EADDRINUSE', () => program.bind('::', PORT, { afOnly: true }));
    first.destroy();
    program.bind('::', PORT, { afOnly: true });
  });

  it('is given a port that is free', () => {
    using program = new Program(V4);
    const ports = [1, 2].map(() => program.bind('::', 0, { afOnly: true }).getSrcPort());
    assert.ok(ports[0] !== 0 && ports[1] !== 0 && ports[0] !== ports[1], String(ports));
  });
});

describe('a port that a wildcard has', () => {
  const pairs = [
    ['0.0.0.0', '0.0.0.0', 'EADDRINUSE'],
    ['0.0.0.0', '::', 'EADDRINUSE'],
    ['::', '0.0.0.0', 'EADDRINUSE'],
    ['::', V4, 'EADDRINUSE'],
    [OTHER_V4, '0.0.0.0', 'EADDRINUSE'],
    ['0.0.0.0', OTHER_V4, 'EADDRINUSE'],
    [V4, '::', 'EADDRINUSE'],
    ['0.0.0.0', V6, undefined],
    [V6, '0.0.0.0', undefined],
    [V4, OTHER_V4, undefined],
  ] as const;
  for (const [first, second, errno] of pairs)
    it(`${first} ${errno === undefined ? 'leaves' : 'refuses'} ${second}`, () => {
      using program = new Program(V4, OTHER_V4, V6);
      const taken = program.bind(first);
      if (errno !== undefined) {
        assertErrno(errno, () => program.bind(second));
        taken.destroy();
      }
      program.bind(second);
    });

  it('is left to each version of IP where both say AFONLY', () => {
    using program = new Program(V4, V6);
    program.bind('::', PORT, { afOnly: true }).listen();
    program.listen('0.0.0.0');
    program.connect(V4);
    program.connect(V6);
  });

  it('is shared where both say REUSEADDR, until one is to listen', () => {
    using program = new Program(V4, OTHER_V4);
    const first = program.bind('0.0.0.0', PORT, { reuse: true });
    const second = program.bind(OTHER_V4, PORT, { reuse: true });
    assertErrno('EADDRINUSE', () => first.listen());
    second.destroy();
    first.listen();
    program.connect(V4);
    program.connect(OTHER_V4);
  });

  it('is the same on all devices when any was asked for', () => {
    using program = new Program(V4, OTHER_V4, V6);
    const id = program.bind('::', 0);
    for (const host of [V4, OTHER_V4, V6]) assertErrno('EADDRINUSE', () => program.bind(host, id.getSrcPort()));
  });

  it('is given back everywhere when it cannot be had on one device', () => {
    using program = new Program(V4, OTHER_V4);
    program.bind(OTHER_V4);
    assertErrno('EADDRINUSE', () => program.bind('0.0.0.0'));
    program.bind(V4);
  });
});

describe('an identifier that is bound to a wildcard', () => {
  it('has the device that leads to its peer once that is resolved, and the others’ ports are free', () => {
    using program = new Program(V4, OTHER_V4);
    const id = program.bind('0.0.0.0');
    id.resolveAddr({ host: '10.0.0.9', port: PORT });
    next(program.channel, CmEventType.ADDR_RESOLVED);
    assert.deepEqual([id.verbs, id.localAddr], [program.contexts[0], { host: V4, port: PORT }]);
    program.bind(OTHER_V4);
    assertErrno('EADDRINUSE', () => program.bind(V4));
  });

  it('cannot reach a peer of the version of IP that it is not for', () => {
    using program = new Program(V4, V6);
    const id = program.bind('0.0.0.0');
    assertErrno('EINVAL', () => id.resolveAddr({ host: 'fd00::9', port: PORT }));
    id.resolveAddr({ host: '10.0.0.9', port: PORT });
  });

  it('takes one device when something is made of it that is of one device', () => {
    using program = new Program(V4, OTHER_V4);
    const id = program.bind('0.0.0.0');
    id.createQp();
    assert.deepEqual([id.verbs, id.localAddr], [program.contexts[0], { host: V4, port: PORT }]);
    program.bind(OTHER_V4);
  });

  it('listens on several devices, and so has no queue pair', () => {
    using program = new Program(V4, OTHER_V4);
    const id = program.listen('0.0.0.0');
    assertErrno('EINVAL', () => id.createQp());
    program.connect(OTHER_V4);
  });
});

describe('a wildcard as the destination', () => {
  for (const [host, own] of [
    ['0.0.0.0', V4],
    ['::', V6],
  ])
    it(`${host} is the program itself`, () => {
      using program = new Program(V4, V6);
      program.listen(host);
      const id = createId(program.channel, PortSpace.TCP);
      id.resolveAddr({ host, port: PORT });
      next(program.channel, CmEventType.ADDR_RESOLVED);
      assert.deepEqual(id.peerAddr, { host: own, port: PORT });
      id.resolveRoute();
      next(program.channel, CmEventType.ROUTE_RESOLVED);
      id.createQp();
      id.connect();
      const request = next(program.channel, CmEventType.CONNECT_REQUEST);
      assert.deepEqual(request.id.peerAddr?.host, own);
    });
});
