import assert from 'node:assert/strict';
import { afterEach, describe, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { cmDeviceOf } from '../../../api/provider/index.js';
import { CmEventType, PortSpace } from '../../../device/ibta/index.js';
import { QpType } from '../../../entry/index.js';
import { SimulatedCluster } from '../../../entry/sim.js';
import { CmSide, connectSides } from '../../../device/cm/test/support/device.js';
import { PARAMETERS } from '../../../device/cm/test/support/cm-device.js';

const opened: CmSide[] = [];

afterEach(() => {
  for (const { context } of opened.splice(0)) context[Symbol.dispose]();
});

function sides(): { cluster: SimulatedCluster; a: CmSide; b: CmSide } {
  const cluster = new SimulatedCluster({ seed: 1 });
  const [a, b] = ['10.0.0.1', '10.0.0.2'].map((address) => new CmSide(cluster.open(address)));
  opened.push(a, b);
  b.listen();
  return { cluster, a, b };
}

describe('the connection manager of a device', () => {
  test('is the same object each time', () => {
    const { a, b } = sides();
    assert.equal(cmDeviceOf(a.context, 'again'), a.cm);
    assert.notEqual(a.cm, b.cm);
  });

  test('has the device’s GID', () => {
    const { a } = sides();
    assert.deepEqual(a.cm.gid, a.context.queryGid(1, 0));
  });

  test('is not to be had of a device that was closed, nor of what is none', () => {
    const { a } = sides();
    a.context[Symbol.dispose]();
    assert.throws(() => cmDeviceOf(a.context, 'rdma_create_id'), { name: 'VerbsError', errno: 'EINVAL' });
    // @ts-expect-error as a program that no compiler has checked may call it
    assert.throws(() => cmDeviceOf({}, 'rdma_create_id'), { name: 'VerbsError', errno: 'EINVAL' });
  });

  test('refuses in the name of the call', () => {
    const { a } = sides();
    const destroy = (): void => a.cm.execute('rdma_destroy_id', 'cmDestroyId', 77);
    assert.throws(destroy, { name: 'VerbsError', errno: 'EINVAL', call: 'rdma_destroy_id' });
  });

  test('does nothing any more once the device was closed', () => {
    const { a } = sides();
    const { cm } = a;
    a.context[Symbol.dispose]();
    const create = (): number => cm.execute('rdma_create_id', 'cmCreateId', { portSpace: PortSpace.TCP });
    assert.throws(create, { errno: 'EINVAL' });
    assert.throws(() => cm.takeEvents(), { errno: 'EINVAL' });
    assert.throws(
      () => {
        cm.wait(0);
      },
      { errno: 'EINVAL' },
    );
  });
});

describe('what no message can say', () => {
  test('is refused, and does the device no harm', () => {
    const { a, b } = sides();
    const id = a.cm.execute('test', 'cmCreateId', { portSpace: PortSpace.TCP });
    const { qpNum } = a.makeQp();
    const qp = { qpNum, qpType: QpType.RC, srq: false, managed: true } as const;
    const names = { id, qp, destination: b.cm.gid, port: 70_000, retryCount: 7, trafficClass: 0 };
    assert.throws(() => a.cm.execute('rdma_connect', 'cmConnect', { ...PARAMETERS, ...names }), { errno: 'EINVAL' });
    connectSides(a, b);
  });
});

describe('waiting for events', () => {
  test('ends in ETIMEDOUT when nothing is left to happen', () => {
    const { a } = sides();
    assert.throws(
      () => {
        a.cm.wait(Infinity);
      },
      { errno: 'ETIMEDOUT' },
    );
  });

  test('ends with the time, and lets that much pass', () => {
    const { a, b } = sides();
    a.connect(b, a.makeQp());
    const before = a.cm.nowUs();
    a.cm.wait(2_000_000);
    assert.equal(a.cm.nowUs() - before, 2_000_000);
    assert.deepEqual(a.cm.takeEvents(), []);
  });

  test('ends at once when there are events that nobody took', () => {
    const { cluster, a, b } = sides();
    a.connect(b, a.makeQp());
    cluster.run(1000);
    const before = b.cm.nowUs();
    b.cm.wait(1_000_000);
    assert.equal(b.cm.nowUs(), before);
    assert.equal(b.cm.takeEvents().length, 1);
  });
});

describe('events', () => {
  test('that come in a burst are all taken at once', () => {
    const { cluster, a, b } = sides();
    const COUNT = 700;
    const cap = { maxSendWr: 1, maxRecvWr: 1 };
    for (let i = 0; i < COUNT; i += 1) {
      const qp = a.pd.createQp({ qpType: QpType.RC, sendCq: a.cq, recvCq: a.cq, cap });
      a.connect(b, qp);
    }
    cluster.run(100_000);
    const events = b.cm.takeEvents();
    assert.equal(events.length, COUNT);
    assert.equal(new Set(events.map(({ id }) => id)).size, COUNT);
    assert.deepEqual(b.cm.takeEvents(), []);
  });
});

describe('listening in the event loop', () => {
  const until = async (isSo: () => boolean): Promise<void> => {
    for (let i = 0; i < 10_000 && !isSo(); i += 1) await setImmediate();
    assert.ok(isSo(), 'it never came');
  };

  test('is told of events as they come', async () => {
    const { a, b } = sides();
    let told = 0;
    const life = b.cm.listen(() => (told += 1));
    for (let i = 1; i <= 3; i += 1) {
      a.connect(b, a.makeQp());
      await until(() => told >= i);
      assert.equal(b.await(CmEventType.CONNECT_REQUEST).type, CmEventType.CONNECT_REQUEST);
    }
    life.end();
  });

  test('is told of what came before', async () => {
    const { cluster, a, b } = sides();
    a.connect(b, a.makeQp());
    cluster.run(1000);
    let told = 0;
    const life = b.cm.listen(() => (told += 1));
    await until(() => told > 0);
    life.end();
  });

  test('is not told of that when it has ended before', async () => {
    const { cluster, a, b } = sides();
    a.connect(b, a.makeQp());
    cluster.run(1000);
    let told = 0;
    const life = b.cm.listen(() => (told += 1));
    life.end();
    await setImmediate();
    assert.equal(told, 0);
  });

  test('goes on for one when another stops', async () => {
    const { a, b } = sides();
    let told = 0;
    const life = b.cm.listen(() => (told += 1));
    const other = b.cm.listen(() => undefined);
    other.end();
    a.connect(b, a.makeQp());
    await until(() => told > 0);
    life.end();
  });

  test('ends', async () => {
    const { cluster, a, b } = sides();
    let told = 0;
    const life = b.cm.listen(() => (told += 1));
    life.end();
    a.connect(b, a.makeQp());
    cluster.run(1000);
    for (let i = 0; i < 20; i += 1) await setImmediate();
    assert.equal(told, 0);
  });
});
