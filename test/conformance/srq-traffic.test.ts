import assert from 'node:assert/strict';
import { test } from 'node:test';
import { alloc, EventType, QpState, QpType, WcOpcode, WcStatus } from '../../src/entry/index.js';
import { Multiplex, send } from './multiplex.js';
import { conformance } from './provider.js';
import { Belongings, settle, Side } from './sides.js';
import {
  ALL_ACCESS,
  assertEmpty,
  assertStatus,
  assertSuccess,
  bringUp,
  nextEvent,
  pattern,
  pollOne,
  targetOf,
  useDevices,
} from './support.js';

conformance('messages into a shared receive queue', (provider) => {
  const devices = useDevices(provider);

  test('arrive whole in the request that was posted', () => {
    using world = new Multiplex(devices);
    const [sender] = world.senders;
    sender.mr.bytes.set(pattern(4096));
    world.srq.postRecv({ wrId: 7, sgList: [world.mr.sge()] });
    send(sender, 4096);
    assertSuccess(sender, pollOne(sender.sendCq));
    const received = pollOne(world.recvCq);
    assertSuccess(world.recvCq, received);
    const { wrId, opcode, byteLen, qpNum } = received;
    assert.deepEqual([wrId, opcode, byteLen, qpNum], [7n, WcOpcode.RECV, 4096, world.receivers[0].qp.qpNum]);
    assert.deepEqual(world.mr.bytes, pattern(4096));
  });

  test('arrive one after the other, each where its request says, in setups that come and go', () => {
    const setups = 4;
    const messages = 500;
    const bytes = 64;
    for (let setup = 0; setup < setups; setup += 1) {
      using world = new Multiplex(devices, { maxWr: 512, maxSge: 2 });
      const [sender] = world.senders;
      for (let wrId = 0; wrId < messages; wrId += 1) {
        const message = pattern(bytes, setup * messages + wrId);
        sender.mr.bytes.set(message);
        world.mr.bytes.fill(0);
        world.srq.postRecv({ wrId, sgList: [world.mr.sge(0, 16), world.mr.sge(1024, bytes - 16)] });
        send(sender, bytes, wrId);
        const [sent, received] = [pollOne(sender.sendCq), pollOne(world.recvCq)];
        assertSuccess(sender, sent);
        assertSuccess(world.recvCq, received);
        assert.deepEqual([sent.wrId, received.wrId], [BigInt(wrId), BigInt(wrId)]);
        assert.deepEqual(world.mr.bytes.subarray(0, 16), message.subarray(0, 16));
        assert.deepEqual(world.mr.bytes.subarray(1024, 1024 + bytes - 16), message.subarray(16));
      }
    }
  });

  test('wait for a request, and end in RNR_RETRY_EXC_ERR when none comes', () => {
    using world = new Multiplex(devices, { path: { rnrRetry: 2 } });
    const [sender] = world.senders;
    world.mr.bytes.fill(0x62);
    send(sender, 64);
    assertStatus(sender, pollOne(sender.sendCq), WcStatus.RNR_RETRY_EXC_ERR);
    assert.deepEqual(world.mr.bytes, new Uint8Array(4096).fill(0x62));
    assertEmpty(world.recvCq);
  });

  test('arrive after another queue pair of the queue went to ERR, which takes nothing of it along', () => {
    using world = new Multiplex(devices);
    const [sender] = world.senders;
    const { srq, recvCq } = world;
    const other = world.keep(world.pd.createQp({ qpType: QpType.UD, sendCq: recvCq, recvCq, srq }));
    bringUp(other);
    world.srq.postRecv({ wrId: 7, sgList: [world.mr.sge()] });
    other.modify({ qpState: QpState.ERR });
    settle(recvCq.context);
    assertEmpty(recvCq);
    sender.mr.bytes.set(pattern(64));
    send(sender, 64);
    assertSuccess(sender, pollOne(sender.sendCq));
    const received = pollOne(recvCq);
    assertSuccess(recvCq, received);
    assert.deepEqual([received.wrId, received.qpNum], [7n, world.receivers[0].qp.qpNum]);
    assert.deepEqual(world.mr.bytes.subarray(0, 64), pattern(64));
    // That it takes no more is said by an event (protocol/services.md 3.4).
    const event = nextEvent(recvCq.context);
    assert.equal(event.eventType, EventType.QP_LAST_WQE_REACHED);
    assert.ok('qp' in event && event.qp === other);
  });
});

conformance('messages both ways over shared receive queues', (provider) => {
  const devices = useDevices(provider);

  test('arrive, over two queue pairs at each end', () => {
    const rounds = 100;
    const bytes = 1024;
    const pairs = 2;
    using world = new Belongings();
    const ends = devices.map((context) => {
      const pd = world.keep(context.allocPd());
      const srq = world.keep(pd.createSrq({ maxWr: 64 }));
      const recvCq = world.keep(context.createCq({ cqe: 64 }));
      const sides = Array.from({ length: pairs }, () => world.keep(new Side(context, { srq, recvCq })));
      return { context, srq, recvCq, sides, mr: world.keep(pd.regMr(alloc(bytes), ALL_ACCESS)) };
    });
    const [mine, theirs] = ends;
    mine.sides.forEach((side, i) => {
      bringUp(side.qp, targetOf(theirs.sides[i]));
      bringUp(theirs.sides[i].qp, targetOf(side));
    });
    for (let round = 0; round < rounds; round += 1) {
      for (const [from, to] of [
        [mine, theirs],
        [theirs, mine],
      ]) {
        from.sides.forEach((side, i) => {
          const message = pattern(bytes, round * pairs + i);
          side.mr.bytes.set(message);
          to.mr.bytes.fill(0);
          to.srq.postRecv({ wrId: round, sgList: [to.mr.sge()] });
          send(side, bytes);
          assertSuccess(side, pollOne(side.sendCq));
          const received = pollOne(to.recvCq);
          assertSuccess(to, received);
          assert.deepEqual([received.wrId, received.qpNum], [BigInt(round), to.sides[i].qp.qpNum]);
          assert.deepEqual(to.mr.bytes, message);
        });
      }
    }
  });
});
