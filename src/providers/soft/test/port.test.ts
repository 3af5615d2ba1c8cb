import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  type Context,
  DeviceCapFlags,
  EventType,
  gidFromIp,
  gidsEqual,
  OdpGeneralCaps,
  PhysState,
  PortState,
  QpState,
  SendFlags,
  WcStatus,
  WrOpcode,
} from '../../../entry/index.js';
import { administer } from '../../../entry/sim.js';
import { drain, drainOne, HOSTINGS, Pair } from './support/pair.js';
import { NET } from '../../../../test/support/loopback.js';

const PATIENCE_MS = 60_000;
const SIGNALED_WRITE = { opcode: WrOpcode.RDMA_WRITE, sendFlags: SendFlags.SIGNALED } as const;

const nextEvent = (context: Context): EventType => context.getAsyncEvent(PATIENCE_MS).eventType;
const addressOf = (gid: Uint8Array): string => gid.slice(12).join('.');

for (const hosting of HOSTINGS) {
  describe(`a port, hosted ${hosting}`, () => {
    test('goes down and comes up again, and traffic with it', () => {
      using pair = new Pair(hosting, NET, { timeout: 10, retryCnt: 1 });
      const { a, b } = pair;
      const rdma = { remoteAddr: b.mr.addr, rkey: b.mr.rkey };
      administer(a.context, { linkUp: false });
      assert.equal(nextEvent(a.context), EventType.PORT_ERR);
      assert.deepEqual(
        [a.context.queryPort().state, a.context.queryPort().physState],
        [PortState.DOWN, PhysState.DISABLED],
      );
      assert.equal(b.context.queryPort().state, PortState.ACTIVE);
      a.qp.postSend({ ...SIGNALED_WRITE, rdma });
      assert.equal(drainOne(a.cq).status, WcStatus.RETRY_EXC_ERR);
      administer(a.context, { linkUp: true });
      assert.equal(nextEvent(a.context), EventType.PORT_ACTIVE);
      assert.equal(a.context.queryPort().state, PortState.ACTIVE);
      assert.equal(a.context.counters()['link_downed'], 1);
    });

    test('gets and loses GIDs beside its address', () => {
      using pair = new Pair(hosting, NET);
      const { context } = pair.a;
      const own = context.queryGid(1, 0);
      administer(context, { gids: [undefined, gidFromIp('10.9.8.7')] });
      assert.equal(nextEvent(context), EventType.GID_CHANGE);
      assert.deepEqual(
        context.queryGidTable().map(({ gid, gidIndex }) => [gidIndex, addressOf(gid)]),
        [
          [0, addressOf(own)],
          [2, '10.9.8.7'],
        ],
      );
      assert.equal(context.queryPort().gidTblLen, 3);
      assert.throws(() => context.queryGid(1, 1), { errno: 'ENODATA', call: 'ibv_query_gid' });
      assert.throws(() => context.queryGidEntry(1, 1), { errno: 'ENODATA', call: 'ibv_query_gid_ex' });
      assert.throws(() => context.queryGid(1, 3), { errno: 'EINVAL', call: 'ibv_query_gid' });
      assert.ok(gidsEqual(context.queryGidEntry(1, 2).gid, gidFromIp('10.9.8.7')));
      administer(context, { gids: [] });
      assert.equal(nextEvent(context), EventType.GID_CHANGE);
      assert.equal(context.queryGidTable().length, 1);
      // The same table is no change.
      administer(context, { gids: [] });
      assert.throws(() => context.getAsyncEvent(0), { errno: 'ETIMEDOUT' });
    });

    test('gets other P_Keys', () => {
      using pair = new Pair(hosting, NET);
      const { context } = pair.a;
      assert.deepEqual([context.queryPkey(1, 0), context.getPkeyIndex(1, 0xffff)], [0xffff, 0]);
      administer(context, { pkeys: [0xffff, 0x8001] });
      assert.equal(nextEvent(context), EventType.PKEY_CHANGE);
      assert.deepEqual([context.queryPkey(1, 1), context.getPkeyIndex(1, 0x8001)], [0x8001, 1]);
      assert.equal(context.queryPort().pkeyTblLen, 2);
      assert.throws(() => context.queryPkey(1, 2), { errno: 'EINVAL', call: 'ibv_query_pkey' });
      assert.throws(() => context.getPkeyIndex(1, 0x8002), { errno: 'EINVAL', call: 'ibv_get_pkey_index' });
    });

    test('fails for good: what was posted ends, and nothing is left but to end objects', () => {
      using pair = new Pair(hosting, NET);
      const { a, b } = pair;
      b.context.close();
      const rdma = { remoteAddr: 0n, rkey: 1 };
      a.qp.postSend({ ...SIGNALED_WRITE, wrId: 1, rdma });
      a.qp.postRecv({ wrId: 2 });
      administer(a.context, { fatal: true });
      assert.equal(nextEvent(a.context), EventType.DEVICE_FATAL);
      const seen = drain(a.cq, 2);
      assert.deepEqual(new Set(seen.map(({ status }) => status)), new Set([WcStatus.FATAL_ERR]));
      assert.equal(a.qp.state, QpState.ERR);
      for (const call of [
        () => a.context.allocPd(),
        () => a.context.queryPort(),
        () => a.qp.query(),
        () => administer(a.context, { linkUp: true }),
      ])
        assert.throws(call, { errno: 'EIO', message: /DEVICE_FATAL/ });
      a.qp.destroy();
      a.cq.destroy();
      a.channel.destroy();
      a.mr.dereg();
      a.pd.dealloc();
      a.context.close();
    });

    test('refuses what no administrator could do, and stays as it was', () => {
      using pair = new Pair(hosting, NET);
      const { context } = pair.a;
      const gid = gidFromIp('10.1.1.1');
      const nonsense = [
        { gids: [new Uint8Array(4)] },
        { gids: new Array<Uint8Array>(256).fill(gid) },
        { gids: [gid], pkeys: [] },
        { linkUp: false, pkeys: [0x10000] },
        { pkeys: new Array<number>(65).fill(0xffff) },
        JSON.parse('{"linkup":false}') as object, // as a program without types may say it
        ...[
          '{"linkUp":"no"}',
          '{"fatal":1}',
          '{"gids":[null]}',
          '{"gids":["10.1.1.1"]}',
          '{"gids":null}',
          '{"gids":7}',
          '{"gids":"10.1.1.1"}',
          '{"pkeys":null}',
          '{"pkeys":65535}',
          '{"pkeys":"65535"}',
          '{"pkeys":["65535"]}',
          '{"pkeys":[null]}',
          'null',
          '7',
        ].map((text) => JSON.parse(text) as object), // as above
      ];
      for (const change of nonsense)
        assert.throws(() => administer(context, change), { errno: 'EINVAL', call: 'administer' });
      const { state, gidTblLen, pkeyTblLen } = context.queryPort();
      assert.deepEqual([state, gidTblLen, pkeyTblLen], [PortState.ACTIVE, 1, 1]);
      assert.throws(() => context.getAsyncEvent(0), { errno: 'ETIMEDOUT' });
    });

    test('is told by its number, and there is one', () => {
      using pair = new Pair(hosting, NET);
      const { context } = pair.a;
      for (const call of [
        () => context.queryPort(2),
        () => context.queryPort(0),
        () => context.queryPortSpeed(2),
        () => context.queryGid(2, 0),
        () => context.queryPkey(2, 0),
        () => context.getPkeyIndex(0, 0xffff),
      ])
        assert.throws(call, { errno: 'EINVAL' });
      assert.equal(context.queryPortSpeed(), 250);
    });
  });
}

describe('a device', () => {
  test('says what it can do, and what it cannot', () => {
    using pair = new Pair('simulated', NET);
    const { context } = pair.a;
    const { deviceCapFlags, maxSrq, maxMw, maxAh, maxMcastGrp, maxPkeys } = context.queryDevice();
    const { XRC, MEM_WINDOW, MEM_WINDOW_TYPE_2B, SRQ_RESIZE, MEM_MGT_EXTENSIONS } = DeviceCapFlags;
    for (const flag of [XRC, MEM_WINDOW, MEM_WINDOW_TYPE_2B, SRQ_RESIZE, MEM_MGT_EXTENSIONS])
      assert.notEqual(deviceCapFlags & flag, 0);
    assert.equal(deviceCapFlags & DeviceCapFlags.MANAGED_FLOW_STEERING, 0);
    for (const limit of [maxSrq, maxMw, maxAh, maxMcastGrp, maxPkeys]) assert.ok(limit > 1);
    const { odpCaps, tmCaps, tsoCaps, rssCaps, maxDmSize, maxWqTypeRq, origAttr, hcaCoreClock } =
      context.queryDeviceEx();
    assert.equal(odpCaps.generalCaps & OdpGeneralCaps.SUPPORT, OdpGeneralCaps.SUPPORT);
    assert.deepEqual(origAttr, context.queryDevice());
    assert.equal(hcaCoreClock, 1_000_000);
    assert.deepEqual(
      [tmCaps.maxNumTags, tsoCaps.maxTso, rssCaps.supportedQpts, maxDmSize, maxWqTypeRq],
      [0, 0, 0, 0n, 0],
    );
    for (const call of [() => context.createWq(), () => context.createRwqIndTable(), () => context.allocDm()])
      assert.throws(call, { errno: 'EOPNOTSUPP' });
  });

  test('has a clock that goes on', async () => {
    for (const hosting of HOSTINGS) {
      using pair = new Pair(hosting, NET);
      const { context, cq } = pair.a;
      const before = context.queryRtValues().rawClock;
      pair.b.qp.postRecv({});
      pair.a.qp.postSend({ opcode: WrOpcode.SEND, sendFlags: SendFlags.SIGNALED });
      drainOne(cq);
      await new Promise(setImmediate);
      assert.ok(context.queryRtValues().rawClock > before, hosting);
    }
  });

  test('takes events back that it gave, and nothing else', () => {
    using pair = new Pair('simulated', NET);
    const { context } = pair.a;
    administer(context, { linkUp: false });
    context.ackAsyncEvent(context.getAsyncEvent(0));
    for (const text of ['null', '7', '{}', '{"eventType":99}', '{"eventType":"PORT_ERR"}'])
      assert.throws(() => context.ackAsyncEvent(JSON.parse(text) as never), { errno: 'EINVAL' }); // what no event is
  });
});
