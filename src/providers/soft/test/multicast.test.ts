import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  type Ah,
  type Gid,
  gidFromIp,
  QpCreateFlags,
  QpState,
  QpType,
  SendFlags,
  VerbsError,
  WcStatus,
  WrOpcode,
} from '../../../entry/index.js';
import { drain, drainOne, HOSTINGS, pattern } from './support/pair.js';
import { type Bench, Benches, makeQp, makeUd, QKEY } from './support/queue-pairs.js';
import { loopbackGroup, NET } from '../../../../test/support/loopback.js';

const GROUP = gidFromIp(loopbackGroup(1));
const MULTICAST_QPN = 0xffffff;
const { SIGNALED } = SendFlags;

function ahToGroup({ pd }: Bench, gid: Gid = GROUP): Ah {
  return pd.createAh({ grh: { dgid: gid, hopLimit: 1 } });
}

for (const hosting of HOSTINGS) {
  describe(`a multicast group, hosted ${hosting}`, () => {
    test('reaches every QP of the device that is attached, and no other', () => {
      using benches = new Benches(hosting, NET);
      const { a } = benches;
      const [from, first, second, outsider] = [makeUd(a), makeUd(a), makeUd(a), makeUd(a)];
      for (const qp of [first, second]) qp.attachMcast(GROUP);
      for (const [i, qp] of [from, first, second, outsider].entries())
        qp.postRecv({ wrId: i, sgList: [a.mr.sge(256 * i, 256)] });
      a.mr.bytes.set(pattern(100), 4096);
      const ud = { ah: ahToGroup(a), remoteQpn: MULTICAST_QPN, remoteQkey: QKEY };
      from.postSend({ wrId: 9, opcode: WrOpcode.SEND, sendFlags: SIGNALED, sgList: [a.mr.sge(4096, 100)], ud });
      const seen = drain(a.cq, 3);
      assert.deepEqual(new Set(seen.map(({ status }) => status)), new Set([WcStatus.SUCCESS]));
      assert.deepEqual(seen.map(({ wrId }) => wrId).sort(), [1n, 2n, 9n]);
      for (const at of [256, 512]) assert.deepEqual(a.mr.bytes.subarray(at + 40, at + 140), pattern(100));
      assert.deepEqual(a.cq.poll(), []);
      for (const qp of [first, second]) qp.detachMcast(GROUP);
    });

    test('keeps a QP from being destroyed while it is attached', () => {
      using benches = new Benches(hosting, NET);
      const qp = makeUd(benches.a);
      qp.attachMcast(GROUP);
      // Twice counts once.
      qp.attachMcast(GROUP, 0xc000);
      assert.throws(() => qp.destroy(), { errno: 'EBUSY', call: 'ibv_destroy_qp' });
      assert.equal(qp.state, QpState.RTS);
      qp.detachMcast(GROUP);
      qp.destroy();
    });

    test('refuses what cannot be attached or detached', () => {
      using benches = new Benches(hosting, NET);
      const { a } = benches;
      const qp = makeUd(a);
      for (const gid of [gidFromIp('10.0.0.1'), gidFromIp('fe80::1'), GROUP.subarray(1)])
        assert.throws(() => qp.attachMcast(gid), { errno: 'EINVAL', call: 'ibv_attach_mcast' });
      assert.throws(() => qp.detachMcast(GROUP), { errno: 'EINVAL', call: 'ibv_detach_mcast' });
      for (const type of [QpType.RC, QpType.UC])
        assert.throws(() => makeQp(a, type).attachMcast(GROUP), { errno: 'EINVAL' });
      qp.destroy();
      assert.throws(() => qp.attachMcast(GROUP), { errno: 'EINVAL' });
    });
  });
}

test('a group reaches the devices that hear it, once each', () => {
  using benches = new Benches('simulated', NET);
  const { a, b } = benches;
  const [from, near, far] = [makeUd(a), makeUd(a), makeUd(b)];
  for (const [qp, { mr }] of [
    [near, a],
    [far, b],
  ] as const) {
    qp.attachMcast(GROUP);
    qp.postRecv([{ sgList: [mr.sge(0, 64)] }, { sgList: [mr.sge(0, 64)] }]);
  }
  const ud = { ah: ahToGroup(a), remoteQpn: MULTICAST_QPN, remoteQkey: QKEY };
  from.postSend({ opcode: WrOpcode.SEND, sendFlags: SIGNALED, ud });
  assert.deepEqual(
    drain(a.cq, 2)
      .map(({ qpNum }) => qpNum)
      .sort(),
    [from.qpNum, near.qpNum].sort(),
  );
  assert.deepEqual(drainOne(b.cq).srcQp, from.qpNum);
  assert.deepEqual([a.cq.poll(), b.cq.poll()], [[], []]);
});

test('a QP in the group hears itself, unless it was made not to', () => {
  using benches = new Benches('simulated', NET);
  const { a } = benches;
  const ud = { ah: ahToGroup(a), remoteQpn: MULTICAST_QPN, remoteQkey: QKEY };
  const [hearing, deaf] = [makeUd(a), makeUd(a, { createFlags: QpCreateFlags.BLOCK_SELF_MCAST_LB })];
  for (const [i, qp] of [hearing, deaf].entries()) {
    qp.attachMcast(GROUP);
    qp.postRecv([{ wrId: i, sgList: [a.mr.sge(0, 64)] }]);
  }
  deaf.postSend({ opcode: WrOpcode.SEND, ud });
  assert.deepEqual([drainOne(a.cq).wrId, a.cq.poll()], [0n, []]);
  assert.equal(deaf.query().initAttr.createFlags, QpCreateFlags.BLOCK_SELF_MCAST_LB);
  hearing.postRecv([{ wrId: 2, sgList: [a.mr.sge(0, 64)] }]);
  hearing.postSend({ opcode: WrOpcode.SEND, ud });
  assert.deepEqual(
    drain(a.cq, 2)
      .map(({ wrId }) => wrId)
      .sort(),
    [1n, 2n],
  );
});

test('what a device cannot do with groups is refused when the QP is made', () => {
  using benches = new Benches('simulated', NET);
  const { a } = benches;
  const make = (type: QpType, createFlags: number): string => {
    try {
      makeQp(a, type, { createFlags });
      return 'made';
    } catch (error) {
      return error instanceof VerbsError ? error.errno : 'another error';
    }
  };
  assert.deepEqual(
    [
      make(QpType.RC, QpCreateFlags.BLOCK_SELF_MCAST_LB),
      make(QpType.UD, QpCreateFlags.SCATTER_FCS),
      make(QpType.UD, 1 << 30),
      make(QpType.UD, QpCreateFlags.BLOCK_SELF_MCAST_LB),
    ],
    ['EINVAL', 'EOPNOTSUPP', 'EINVAL', 'made'],
  );
});
