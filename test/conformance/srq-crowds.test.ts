import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SendFlags, WcOpcode, WcStatus, WrOpcode } from '../../src/entry/index.js';
import { Multiplex, send } from './multiplex.js';
import { conformance } from './provider.js';
import { Belongings, countUp, idsByQp } from './sides.js';
import { assertStatus, assertSuccess, pollOne, pollUntil, remoteOf, useDevices } from './support.js';

const PAIRS = 10;
const EACH = 8;

conformance('messages of many into shared receive queues', (provider) => {
  const devices = useDevices(provider);

  test(`come from ${PAIRS} senders at once, each to its own queue pair`, () => {
    const bytes = 8;
    using world = new Multiplex(devices, { pairs: PAIRS });
    world.post(PAIRS * EACH, bytes);
    world.senders.forEach(({ mr }, i) => mr.bytes.fill(i + 1));
    for (let i = 0; i < EACH; i += 1) for (const sender of world.senders) send(sender, bytes);
    for (const sender of world.senders) {
      for (const wc of pollUntil(sender.sendCq, EACH)) assertSuccess(sender, wc);
    }
    const completions = pollUntil(world.recvCq, PAIRS * EACH);
    for (const wc of completions) assertSuccess(world.recvCq, wc);
    const ids = idsByQp(completions);
    world.receivers.forEach(({ qp }, i) => {
      const mine = ids.get(qp.qpNum) ?? [];
      assert.equal(mine.length, EACH);
      for (const id of mine) {
        const at = Number(id) * bytes;
        assert.deepEqual(world.mr.bytes.subarray(at, at + bytes), new Uint8Array(bytes).fill(i + 1));
      }
    });
    assert.deepEqual(
      completions.map(({ wrId }) => wrId).sort((a, b) => Number(a - b)),
      countUp(PAIRS * EACH),
    );
  });

  test(`that are WRITEs with immediate data take requests without memory, from ${PAIRS} senders`, () => {
    const bytes = 8;
    using world = new Multiplex(devices, { pairs: PAIRS });
    world.post(PAIRS * EACH, 0);
    world.senders.forEach(({ mr }, i) => mr.bytes.fill(i + 1));
    world.senders.forEach(({ qp, mr }, i) => {
      for (let k = 0; k < EACH; k += 1) {
        const offset = (i * EACH + k) * bytes;
        qp.postSend({
          opcode: WrOpcode.RDMA_WRITE_WITH_IMM,
          sendFlags: SendFlags.SIGNALED,
          immData: offset,
          sgList: [mr.sge(0, bytes)],
          rdma: remoteOf(world.mr, offset),
        });
      }
    });
    for (const sender of world.senders) {
      for (const wc of pollUntil(sender.sendCq, EACH)) {
        assertSuccess(sender, wc);
        assert.equal(wc.opcode, WcOpcode.RDMA_WRITE);
      }
    }
    const seen = new Map<number, number>();
    for (const wc of pollUntil(world.recvCq, PAIRS * EACH)) {
      assertSuccess(world.recvCq, wc);
      assert.equal(wc.opcode, WcOpcode.RECV_RDMA_WITH_IMM);
      seen.set(wc.qpNum, (seen.get(wc.qpNum) ?? 0) + 1);
      const sender = world.receivers.findIndex(({ qp }) => qp.qpNum === wc.qpNum);
      assert.equal(Math.floor(wc.immData / bytes / EACH), sender);
      const landed = world.mr.bytes.subarray(wc.immData, wc.immData + bytes);
      assert.deepEqual(landed, new Uint8Array(bytes).fill(sender + 1));
    }
    assert.deepEqual(seen, new Map(world.receivers.map(({ qp }) => [qp.qpNum, EACH])));
  });

  test('use up each of 1000 requests once, and the one too many finds none', () => {
    const requests = 1000;
    const batch = 20;
    const inFlight = 100;
    using world = new Multiplex(devices, { maxWr: requests, path: { rnrRetry: 2 } });
    const [sender] = world.senders;
    for (let first = 0; first < requests; first += batch)
      world.srq.postRecv(
        Array.from({ length: batch }, (_, i) => ({ wrId: first + i, sgList: [world.mr.sge(first + i, 1)] })),
      );
    sender.mr.bytes.fill(0x61);
    const received: bigint[] = [];
    for (let sent = 0; sent < requests; sent += inFlight) {
      for (let i = 0; i < inFlight; i += 1) send(sender, 1, sent + i);
      for (const wc of pollUntil(sender.sendCq, inFlight)) assertSuccess(sender, wc);
      for (const wc of pollUntil(world.recvCq, inFlight)) {
        assertSuccess(world.recvCq, wc);
        received.push(wc.wrId);
      }
    }
    assert.deepEqual(received, countUp(requests));
    assert.deepEqual(world.mr.bytes.subarray(0, requests), new Uint8Array(requests).fill(0x61));
    send(sender, 1);
    assertStatus(sender, pollOne(sender.sendCq), WcStatus.RNR_RETRY_EXC_ERR);
  });

  test('find a request whenever as many are posted again as were taken', () => {
    const pairs = 8;
    const batch = 32;
    const rounds = 10;
    const bytes = 8;
    // A refusal for want of a request would end the sender.
    using world = new Multiplex(devices, { pairs, maxWr: 1024, bytes: 1024 * bytes, path: { rnrRetry: 0 } });
    world.post(pairs * batch, bytes);
    for (let round = 0; round < rounds; round += 1) {
      world.senders.forEach((sender, i) => {
        new DataView(sender.mr.bytes.buffer, sender.mr.bytes.byteOffset).setUint32(0, (round << 8) | i);
        for (let k = 0; k < batch; k += 1) send(sender, bytes, round * batch + k);
      });
      for (const sender of world.senders) {
        const completions = pollUntil(sender.sendCq, batch);
        for (const wc of completions) assertSuccess(sender, wc);
        const ids = Array.from({ length: batch }, (_, k) => BigInt(round * batch + k));
        assert.deepEqual(
          completions.map(({ wrId }) => wrId),
          ids,
        );
      }
      for (const wc of pollUntil(world.recvCq, pairs * batch)) {
        assertSuccess(world.recvCq, wc);
        const at = Number(wc.wrId) * bytes;
        const tag = new DataView(world.mr.bytes.buffer, world.mr.bytes.byteOffset).getUint32(at);
        assert.deepEqual([tag >>> 8, world.receivers[tag & 0xff].qp.qpNum], [round, wc.qpNum]);
        world.srq.postRecv({ wrId: wc.wrId, sgList: [world.mr.sge(at, bytes)] });
      }
    }
  });

  test('keep to their queue and to the order of their senders where there are several queues', () => {
    const worlds = 4;
    const pairs = 16;
    const each = 16;
    const bytes = 8;
    using belongings = new Belongings();
    const multiplexes = Array.from({ length: worlds }, () =>
      belongings.keep(new Multiplex(devices, { pairs, maxWr: 256 })),
    );
    for (const world of multiplexes) world.post(pairs * each, bytes);
    for (let number = 0; number < each; number += 1) {
      multiplexes.forEach(({ senders }, which) => {
        for (const { qp } of senders)
          qp.postSend({
            opcode: WrOpcode.SEND_WITH_IMM,
            immData: (which << 8) | number,
            sendFlags: number === each - 1 ? SendFlags.SIGNALED : 0,
          });
      });
    }
    multiplexes.forEach(({ senders, receivers, recvCq }, which) => {
      for (const sender of senders) assertSuccess(sender, pollOne(sender.sendCq));
      const numbers = new Map<number, number[]>();
      for (const wc of pollUntil(recvCq, pairs * each)) {
        assertSuccess(recvCq, wc);
        numbers.set(wc.qpNum, [...(numbers.get(wc.qpNum) ?? []), wc.immData]);
      }
      const expected = Array.from({ length: each }, (_, number) => (which << 8) | number);
      assert.deepEqual(numbers, new Map(receivers.map(({ qp }) => [qp.qpNum, expected])));
    });
  });
});
