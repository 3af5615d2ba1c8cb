import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseGrh, QpState, SendFlags, WcFlags, WcOpcode, WcStatus, WrOpcode } from '../../src/entry/index.js';
import { Datagrams, GRH_BYTES, longest } from './datagrams.js';
import { conformance } from './provider.js';
import {
  assertEmpty,
  assertErrno,
  assertStatus,
  assertSuccess,
  pattern,
  pollOne,
  pollUntil,
  useDevices,
  waitForState,
} from './support.js';

const BYTES = 1000;

conformance('datagrams', (provider) => {
  const devices = useDevices(provider);

  test('arrive behind the header that tells their way, with the number of who has sent them', () => {
    using world = new Datagrams(devices);
    const { sender, receiver } = world;
    sender.mr.bytes.set(pattern(BYTES));
    world.expect(BYTES, 7);
    const sent = world.sent(BYTES);
    assertSuccess(sender, sent);
    assert.equal(sent.opcode, WcOpcode.SEND);
    const received = pollOne(receiver.recvCq);
    assertSuccess(receiver, received);
    const { wrId, opcode, byteLen, wcFlags, srcQp, qpNum } = received;
    assert.deepEqual(
      { wrId, opcode, byteLen, wcFlags, srcQp, qpNum },
      {
        wrId: 7n,
        opcode: WcOpcode.RECV,
        byteLen: GRH_BYTES + BYTES,
        wcFlags: WcFlags.GRH,
        srcQp: sender.qp.qpNum,
        qpNum: receiver.qp.qpNum,
      },
    );
    assert.deepEqual(receiver.mr.bytes.subarray(GRH_BYTES, GRH_BYTES + BYTES), pattern(BYTES));
    const header = parseGrh(receiver.mr.bytes);
    assert.deepEqual(header?.sourceGid, devices[0].queryGid(1, 0));
    assert.deepEqual(header.destinationGid, devices[1].queryGid(1, 0));
  });

  test('show the traffic class of their address handle', () => {
    using world = new Datagrams(devices);
    const { sender, receiver } = world;
    const ah = sender.keep(
      sender.pd.createAh({ grh: { dgid: devices[1].queryGid(1, 0), trafficClass: 0xff, hopLimit: 64 } }),
    );
    world.expect(BYTES);
    assertSuccess(sender, world.sent(BYTES, world.to({ ah })));
    assertSuccess(receiver, pollOne(receiver.recvCq));
    // The two bits below are the network's, which says by them that it is congested.
    assert.equal((parseGrh(receiver.mr.bytes)?.trafficClass ?? 0) & 0xfc, 0xfc);
  });

  test('are as long as the MTU at most', () => {
    using world = new Datagrams(devices);
    const { sender, receiver } = world;
    const bytes = longest(sender.context);
    sender.mr.bytes.set(pattern(bytes));
    world.expect(bytes);
    assertSuccess(sender, world.sent(bytes));
    assertSuccess(receiver, pollOne(receiver.recvCq));
    assert.deepEqual(receiver.mr.bytes.subarray(GRH_BYTES, GRH_BYTES + bytes), pattern(bytes));
  });

  test('longer than the MTU end in LOC_LEN_ERR, and do not arrive', () => {
    using world = new Datagrams(devices);
    const bytes = longest(world.sender.context) + 10;
    // Long enough for all of it: what is too long for its receive request would not arrive anyhow.
    world.expect(bytes);
    const sent = world.sent(bytes);
    assertStatus(world.sender, sent, WcStatus.LOC_LEN_ERR);
    waitForState(world.sender.qp, QpState.SQE);
    world.renewSender();
    world.assertStillWaiting();
  });

  test('that nobody waits for are sent, and lost', () => {
    using world = new Datagrams(devices);
    assertSuccess(world.sender, world.sent(BYTES));
    world.settle();
    world.expect(BYTES);
    world.assertStillWaiting();
  });

  test('that nobody waits for are sent in batches of which only the last is signaled', () => {
    using world = new Datagrams(devices);
    const { sender } = world;
    const ud = world.to();
    for (let round = 0; round < 10; round += 1) {
      for (let i = 0; i < 100; i += 1) world.send(BYTES, ud, 0);
      assertSuccess(sender, world.sent(BYTES, ud));
      assertEmpty(sender.sendCq);
    }
    world.settle();
    world.expect(BYTES);
    world.assertStillWaiting();
  });

  test('longer than the request that waits are lost, and the request waits on', () => {
    using world = new Datagrams(devices);
    world.expect(BYTES - 100);
    assertSuccess(world.sender, world.sent(BYTES));
    world.settle();
    world.assertStillWaiting();
  });

  test('complete one by one at either end', () => {
    using world = new Datagrams(devices);
    const { sender, receiver } = world;
    const count = 5;
    const ud = world.to();
    for (let i = 0; i < count; i += 1) {
      world.expect(BYTES, i);
      world.send(BYTES, ud);
    }
    for (const wc of pollUntil(receiver.recvCq, count)) {
      assertSuccess(receiver, wc);
      assert.equal(wc.opcode, WcOpcode.RECV);
    }
    for (const wc of pollUntil(sender.sendCq, count)) {
      assertSuccess(sender, wc);
      assert.equal(wc.opcode, WcOpcode.SEND);
    }
    assert.deepEqual(sender.sendCq.poll(1), []);
  });

  test('carry immediate data', () => {
    using world = new Datagrams(devices);
    const { sender, receiver } = world;
    world.expect(BYTES);
    sender.qp.postSend({
      opcode: WrOpcode.SEND_WITH_IMM,
      immData: 0xfedcba98,
      sendFlags: SendFlags.SIGNALED,
      sgList: [sender.mr.sge(0, BYTES)],
      ud: world.to(),
    });
    assertSuccess(sender, pollOne(sender.sendCq));
    const { immData, wcFlags } = pollOne(receiver.recvCq);
    assert.deepEqual([immData, wcFlags], [0xfedcba98, WcFlags.GRH | WcFlags.WITH_IMM]);
  });

  test('can be answered to where the header says that they came from', () => {
    using world = new Datagrams(devices);
    const { sender, receiver } = world;
    world.expect(BYTES);
    assertSuccess(sender, world.sent(BYTES));
    const received = pollOne(receiver.recvCq);
    using ah = receiver.pd.createAhFromWc(received, receiver.mr.bytes);
    sender.qp.postRecv({ sgList: [sender.mr.sge()] });
    receiver.qp.postSend({
      opcode: WrOpcode.SEND,
      sgList: [receiver.mr.sge(0, BYTES)],
      ud: { ...world.to({ ah }), remoteQpn: received.srcQp },
    });
    const answer = pollOne(sender.recvCq);
    assertSuccess(sender, answer);
    assert.equal(answer.srcQp, receiver.qp.qpNum);
    assertErrno('EINVAL', () => receiver.pd.createAhFromWc(received, receiver.mr.bytes.subarray(0, GRH_BYTES - 1)));
  });
});
