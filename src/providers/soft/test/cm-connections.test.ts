import assert from 'node:assert/strict';
import { afterEach, describe, test } from 'node:test';
import { CmEventType, gidFromIp, nameOf } from '../../../device/ibta/index.js';
import { CmAttribute, decodeCmMessage } from '../../../device/wire/index.js';
import { QpState, WcStatus } from '../../../entry/index.js';
import { administer, SimulatedCluster } from '../../../entry/sim.js';
import { CmSide, connectSides } from '../../../device/cm/test/support/device.js';
import { NET } from '../../../../test/support/loopback.js';
import { type Hosting, HOSTINGS, openContexts } from './support/pair.js';

const { CONNECT_REQUEST, ESTABLISHED, DISCONNECTED, DEVICE_REMOVAL, REJECTED, TIMEWAIT_EXIT, UNREACHABLE } =
  CmEventType;
const open: CmSide[] = [];

afterEach(() => {
  for (const { context } of open.splice(0)) context[Symbol.dispose]();
});

/** Two devices; the second listens. */
function sides(hosting: Hosting = 'simulated'): [CmSide, CmSide] {
  const [a, b] = openContexts(hosting, NET).map((context) => new CmSide(context));
  open.push(a, b);
  b.listen();
  return [a, b];
}

/** Two devices of a cluster that a test has in hand, and the messages that pass between them. */
function cluster(): { cluster: SimulatedCluster; a: CmSide; b: CmSide; said: string[] } {
  const made = new SimulatedCluster({ seed: 1 });
  const [a, b] = ['10.0.0.1', '10.0.0.2'].map((address) => new CmSide(made.open(address)));
  open.push(a, b);
  b.listen();
  const said: string[] = [];
  made.network.onPacket = ({ from, bytes }) => {
    // BTH and DETH come before it.
    const message = decodeCmMessage(bytes, 20);
    if (message !== undefined) said.push(`${from === a.ip ? 'a' : 'b'} ${nameOf(CmAttribute, message.attribute)}`);
    return 'pass';
  };
  return { cluster: made, a, b, said };
}

for (const hosting of HOSTINGS)
  describe(`connections by the connection manager, ${hosting}`, () => {
    test('bring both queue pairs to RTS, and data flows both ways', () => {
      const [a, b] = sides(hosting);
      const { active, passive } = connectSides(a, b);
      assert.deepEqual([active.qp.query().attr.qpState, passive.qp.query().attr.qpState], [QpState.RTS, QpState.RTS]);
      assert.equal(a.write(active.qp, 'there', b).status, WcStatus.SUCCESS);
      assert.equal(b.read(5), 'there');
      assert.equal(b.write(passive.qp, 'back!', a).status, WcStatus.SUCCESS);
      assert.equal(a.read(5), 'back!');
    });

    test('end with both programs told, and both queue pairs in ERR', () => {
      const [a, b] = sides(hosting);
      const { active, passive } = connectSides(a, b);
      a.disconnect(active.id);
      assert.equal(b.await(DISCONNECTED).id, passive.id);
      b.disconnect(passive.id);
      assert.equal(a.await(DISCONNECTED).id, active.id);
      assert.deepEqual([active.qp.query().attr.qpState, passive.qp.query().attr.qpState], [QpState.ERR, QpState.ERR]);
      a.await(TIMEWAIT_EXIT);
      b.await(TIMEWAIT_EXIT);
    });

    test('of a device with itself', () => {
      const [, b] = sides(hosting);
      const qp = b.makeQp();
      b.connect(b, qp);
      const { id } = b.await(CONNECT_REQUEST);
      const other = b.makeQp();
      b.accept(id, other);
      b.await(ESTABLISHED);
      b.await(ESTABLISHED);
      assert.equal(b.write(qp, 'self', b).status, WcStatus.SUCCESS);
    });

    test('end for the peer when the device is closed', () => {
      const [a, b] = sides(hosting);
      const { passive } = connectSides(a, b);
      a.context[Symbol.dispose]();
      assert.equal(b.await(DISCONNECTED).id, passive.id);
    });

    test('are refused where nobody listens', () => {
      const [a, b] = sides(hosting);
      const id = b.connect(a, b.makeQp());
      const { id: told, status } = b.await(REJECTED);
      assert.deepEqual([told, status], [id, 8]);
    });

    test('are counted', () => {
      const [a, b] = sides(hosting);
      connectSides(a, b);
      const { cm_tx_msgs_req: req, cm_rx_msgs_rep: rep, cm_tx_msgs_rtu: rtu } = a.context.counters();
      assert.deepEqual([req, rep, rtu], [1, 1, 1]);
    });
  });

describe('a simulated connection', () => {
  test('is made by three messages', () => {
    const { a, b, said } = cluster();
    connectSides(a, b);
    assert.deepEqual(said, ['a REQ', 'b REP', 'a RTU']);
  });

  test('is there once data has come, though the RTU is lost', () => {
    const { cluster: made, a, b } = cluster();
    made.network.onPacket = ({ bytes }) =>
      decodeCmMessage(bytes, 20)?.attribute === CmAttribute.RTU ? 'drop' : 'pass';
    const qp = a.makeQp();
    a.connect(b, qp);
    const { id } = b.await(CONNECT_REQUEST);
    b.accept(id, b.makeQp());
    a.await(ESTABLISHED);
    const before = made.nowUs;
    assert.equal(a.write(qp, 'x', b).status, WcStatus.SUCCESS);
    assert.equal(b.await(ESTABLISHED).id, id);
    assert.ok(made.nowUs - before < 1_000_000, 'no REP was waited for');
  });

  test('comes up, carries data and ends over a wire that loses a third', () => {
    const made = new SimulatedCluster({ seed: 3, conditions: { loss: 0.33 } });
    const [a, b] = ['10.0.0.1', '10.0.0.2'].map((address) => new CmSide(made.open(address)));
    open.push(a, b);
    b.listen();
    const { active, passive } = connectSides(a, b);
    assert.equal(a.write(active.qp, 'there', b).status, WcStatus.SUCCESS);
    a.disconnect(active.id);
    assert.equal(b.await(DISCONNECTED).id, passive.id);
    b.disconnect(passive.id);
    a.await(DISCONNECTED);
  });

  test('that nobody answers ends in UNREACHABLE after 16 requests', () => {
    const { cluster: made, a, b, said } = cluster();
    made.network.partition(a.ip, b.ip);
    a.connect(b, a.makeQp());
    assert.equal(a.await(UNREACHABLE).status, -110);
    assert.equal(said.filter((what) => what === 'a REQ').length, 16);
  });

  test('goes on when the GID table changes, and new ones come up', () => {
    const { a, b } = cluster();
    const { active } = connectSides(a, b);
    for (const { context } of [a, b]) administer(context, { gids: [undefined, gidFromIp('10.9.9.9')] });
    assert.equal(a.write(active.qp, 'still', b).status, WcStatus.SUCCESS);
    connectSides(a, b);
  });

  test('ends with the device: every identifier hears of it once, and can be destroyed', () => {
    const { cluster: made, a, b } = cluster();
    const { active } = connectSides(a, b);
    administer(a.context, { fatal: true });
    assert.equal(a.await(DEVICE_REMOVAL).id, active.id);
    assert.throws(() => a.connect(b, active.qp), { errno: 'EIO' });
    a.destroy(active.id);
    made.run();
    assert.deepEqual(a.cm.takeEvents(), []);
  });

  test('of a lost device goes on for a peer that has not noticed, and its DREQ ends', () => {
    const { a, b } = cluster();
    const { passive } = connectSides(a, b);
    administer(a.context, { fatal: true });
    b.disconnect(passive.id);
    assert.equal(b.await(DISCONNECTED).status, -110);
  });

  test('is one of a thousand that all end when the device is closed', () => {
    const { a, b } = cluster();
    const COUNT = 1000;
    for (let i = 0; i < COUNT; i += 1) connectSides(a, b);
    a.context[Symbol.dispose]();
    for (let i = 0; i < COUNT; i += 1) b.await(DISCONNECTED);
  });

  test('leaves the simulation at rest once it has ended', () => {
    const { cluster: made, a, b } = cluster();
    const { active, passive } = connectSides(a, b);
    a.disconnect(active.id);
    b.await(DISCONNECTED);
    b.disconnect(passive.id);
    made.run(made.nowUs + 60_000_000);
    assert.equal(made.step(), false);
  });
});
