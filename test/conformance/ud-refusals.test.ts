import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  AccessFlags,
  alloc,
  type DatagramDestination,
  incRkey,
  MwType,
  QpState,
  SendFlags,
  type SendWr,
  WcStatus,
  WrOpcode,
} from '../../src/entry/index.js';
import { Datagrams } from './datagrams.js';
import { conformance } from './provider.js';
import { Side, sideHandle } from './sides.js';
import {
  assertEmpty,
  assertErrno,
  assertStatus,
  assertSuccess,
  bringUp,
  pollOne,
  QKEY,
  remoteOf,
  targetOf,
  useDevices,
  waitForState,
} from './support.js';

const BYTES = 1000;

/** Requests that datagrams are not made for. */
const REQUESTS: Readonly<Record<string, (world: Datagrams) => SendWr>> = {
  READ: ({ sender, receiver }) => ({
    opcode: WrOpcode.RDMA_READ,
    sgList: [sender.mr.sge(0, 8)],
    rdma: remoteOf(receiver.mr),
  }),
  WRITE: ({ sender, receiver }) => ({
    opcode: WrOpcode.RDMA_WRITE,
    sgList: [sender.mr.sge(0, 8)],
    rdma: remoteOf(receiver.mr),
  }),
  FETCH_ADD: ({ sender, receiver }) => ({
    opcode: WrOpcode.ATOMIC_FETCH_AND_ADD,
    sgList: [sender.mr.sge(0, 8)],
    atomic: { ...remoteOf(receiver.mr), compareAdd: 1n },
  }),
  CMP_SWAP: ({ sender, receiver }) => ({
    opcode: WrOpcode.ATOMIC_CMP_AND_SWP,
    sgList: [sender.mr.sge(0, 8)],
    atomic: { ...remoteOf(receiver.mr), compareAdd: 0n, swap: 1n },
  }),
  BIND_MW: ({ sender }) => {
    const mw = sender.keep(sender.pd.allocMw(MwType.TYPE_2));
    const { mr } = sender;
    const bindInfo = { mr, addr: mr.iova, length: 8, mwAccessFlags: AccessFlags.REMOTE_READ };
    return { opcode: WrOpcode.BIND_MW, bindMw: { mw, rkey: incRkey(mw.rkey), bindInfo } };
  },
};

conformance('datagram queue pairs', (provider) => {
  const devices = useDevices(provider);

  for (const [name, request] of Object.entries(REQUESTS)) {
    test(`have no ${name}: it is refused, changes nothing, and the queue pair works on`, () => {
      using world = new Datagrams(devices);
      const { sender, receiver } = world;
      receiver.mr.bytes.fill(0x62);
      assertErrno('EINVAL', () => sender.qp.postSend({ ...request(world), sendFlags: SendFlags.SIGNALED }));
      assertEmpty(sender.sendCq);
      assert.equal(sender.qp.query().attr.qpState, QpState.RTS);
      world.settle();
      assert.deepEqual(receiver.mr.bytes, new Uint8Array(receiver.mr.length).fill(0x62));
      world.expect(BYTES);
      world.assertStillWaiting();
    });
  }

  for (const [name, change] of [
    ['a number that no queue pair has', { remoteQpn: 0xadbeef }],
    ['another Q_Key', { remoteQkey: QKEY + 1 }],
  ] as const satisfies readonly (readonly [string, Partial<DatagramDestination>])[]) {
    test(`lose in silence what is sent to ${name}`, () => {
      using world = new Datagrams(devices);
      const { sender, receiver } = world;
      receiver.mr.bytes.fill(0x62);
      world.expect(BYTES);
      assertSuccess(sender, world.sent(BYTES, world.to(change)));
      world.settle();
      assert.deepEqual(receiver.mr.bytes, new Uint8Array(receiver.mr.length).fill(0x62));
      world.assertStillWaiting();
    });
  }

  test('count messages that come with another Q_Key', () => {
    using world = new Datagrams(devices);
    const count = (): number => devices[1].queryPort().qkeyViolCntr;
    const before = count();
    assertSuccess(world.sender, world.sent(BYTES, world.to({ remoteQkey: QKEY + 1 })));
    world.settle();
    assert.equal(count(), before + 1);
  });

  test('send their own Q_Key where they are asked for one with its top bit set', () => {
    using world = new Datagrams(devices);
    const { sender, receiver } = world;
    world.expect(BYTES);
    assertSuccess(sender, world.sent(BYTES, world.to({ remoteQkey: 0x80000000 })));
    assertSuccess(receiver, pollOne(receiver.recvCq));
  });

  test('refuse an address handle that has ended', () => {
    using world = new Datagrams(devices);
    const { sender, receiver } = world;
    const ah = sender.pd.createAh({ grh: { dgid: receiver.context.queryGid(1, 0) } });
    ah.destroy();
    world.expect(BYTES);
    assertErrno('EINVAL', () => world.send(BYTES, world.to({ ah })));
    assertEmpty(sender.sendCq);
    world.assertStillWaiting();
  });

  test('refuse an address handle of another context', () => {
    using world = new Datagrams(devices);
    const { receiver } = world;
    using ah = receiver.pd.createAh({ grh: { dgid: receiver.context.queryGid(1, 0) } });
    assertErrno('EINVAL', () => world.send(BYTES, world.to({ ah })));
  });

  test('end what is sent by an address handle of another domain in LOC_QP_OP_ERR', () => {
    using world = new Datagrams(devices);
    const { sender, receiver } = world;
    using pd = sender.context.allocPd();
    using ah = pd.createAh({ grh: { dgid: receiver.context.queryGid(1, 0) } });
    world.expect(BYTES);
    assertStatus(sender, world.sent(BYTES, world.to({ ah })), WcStatus.LOC_QP_OP_ERR);
    world.renewSender();
    world.assertStillWaiting();
  });

  test('end what is sent from memory of another domain in LOC_PROT_ERR', () => {
    using world = new Datagrams(devices);
    const { sender } = world;
    using pd = sender.context.allocPd();
    using mr = pd.regMr(alloc(64), AccessFlags.LOCAL_WRITE);
    world.expect(BYTES);
    sender.qp.postSend({ opcode: WrOpcode.SEND, sgList: [mr.sge()], ud: world.to() });
    assertStatus(sender, pollOne(sender.sendCq), WcStatus.LOC_PROT_ERR);
    world.renewSender();
    world.assertStillWaiting();
  });
});

conformance('queue pairs of UD and RC that talk past each other', (provider) => {
  const devices = useDevices(provider);

  test('RC hears no answer of UD, and ends in RETRY_EXC_ERR', () => {
    using world = new Datagrams(devices);
    const { receiver } = world;
    using rc = new Side(devices[0]);
    bringUp(rc.qp, targetOf(receiver), { timeout: 8, retryCnt: 1 });
    world.expect(BYTES);
    rc.qp.postSend({ opcode: WrOpcode.SEND, sendFlags: SendFlags.SIGNALED, sgList: [rc.mr.sge(0, 64)] });
    assertStatus(rc, pollOne(rc.sendCq), WcStatus.RETRY_EXC_ERR);
    waitForState(rc.qp, QpState.ERR);
    world.assertStillWaiting();
  });

  test('UD sends to RC in vain', () => {
    using world = new Datagrams(devices);
    const { sender } = world;
    using local = new Side(devices[0]);
    using rc = new Side(devices[1]);
    bringUp(rc.qp, targetOf(local));
    bringUp(local.qp, targetOf(rc));
    rc.mr.bytes.fill(0x62);
    rc.qp.postRecv({ wrId: 7, sgList: [rc.mr.sge()] });
    const ah = sideHandle(sender, rc);
    assertSuccess(sender, world.sent(BYTES, world.to({ ah, remoteQpn: rc.qp.qpNum })));
    world.settle();
    assertEmpty(rc.recvCq);
    assert.deepEqual(rc.mr.bytes, new Uint8Array(rc.mr.length).fill(0x62));
    // Its own peer still gets through.
    local.qp.postSend({ opcode: WrOpcode.SEND, sendFlags: SendFlags.SIGNALED, sgList: [local.mr.sge(0, 64)] });
    assertSuccess(local, pollOne(local.sendCq));
    assert.equal(pollOne(rc.recvCq).wrId, 7n);
  });
});
