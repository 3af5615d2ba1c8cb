import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Cq, QpType, SendFlags, WcOpcode, WcStatus, WrOpcode } from '../../src/entry/index.js';
import { conformance } from './provider.js';
import { type Side, sideHandle, SidePair, takeEvent } from './sides.js';
import { assertSuccess, pattern, QKEY, useDevices, waitUntil } from './support.js';
import { pingPong, SERVICES } from './traffic.js';

const ROUNDS = 100;
const BYTES = 1024;
/** Bytes that UD puts before a message (protocol/packets.md 1.6). */
const GRH_BYTES = 40;

interface Seen {
  readonly wrId: bigint;
  readonly status: WcStatus;
  readonly opcode: WcOpcode;
  readonly byteLen: number;
}

function readOne(cq: Cq): Seen {
  waitUntil(cq.context, 'startPoll finds a completion', () => cq.startPoll());
  const { wrId, status, opcode, byteLen } = cq;
  cq.endPoll();
  return { wrId, status, opcode, byteLen };
}

conformance('messages both ways that are read by startPoll', (provider) => {
  const devices = useDevices(provider);

  for (const [service, open] of Object.entries(SERVICES)) {
    test(`arrive over ${service}`, () => {
      using traffic = open(devices, { cqe: 2000 });
      pingPong(traffic, ROUNDS, ({ from, to, headerBytes, addressed, postRecv }, round) => {
        const message = pattern(BYTES, round);
        from.mr.bytes.set(message);
        to.mr.bytes.fill(0);
        const wrId = BigInt(round);
        postRecv({ wrId, sgList: [to.mr.sge(0, headerBytes + BYTES)] });
        from.qp.postSend({
          wrId,
          opcode: WrOpcode.SEND,
          sendFlags: SendFlags.SIGNALED,
          sgList: [from.mr.sge(0, BYTES)],
          ...addressed,
        });
        const status = WcStatus.SUCCESS;
        const sent = readOne(from.cq);
        assert.deepEqual(sent, { wrId, status, opcode: WcOpcode.SEND, byteLen: sent.byteLen });
        assert.deepEqual(readOne(to.cq), { wrId, status, opcode: WcOpcode.RECV, byteLen: headerBytes + BYTES });
        assert.deepEqual(to.mr.bytes.subarray(headerBytes, headerBytes + BYTES), message);
      });
    });
  }
});

/** One way of a pair whose queues raise events. */
interface Way {
  readonly from: Side;
  readonly to: Side;
  readonly addressed: object;
}

/** The next completion of a queue that was armed before, which an event must announce; arms it again. */
function awaitOne({ context }: Side, cq: Cq) {
  const { channel } = cq;
  assert.ok(channel !== undefined);
  assert.equal(takeEvent(channel), cq);
  cq.reqNotify();
  const completions = cq.poll();
  assert.equal(completions.length, 1);
  assertSuccess({ context }, completions[0]);
  return completions[0];
}

conformance('messages both ways whose completions are waited for by events', (provider) => {
  const devices = useDevices(provider);

  for (const [service, qpType, headerBytes] of [
    ['RC', QpType.RC, 0],
    ['UD', QpType.UD, GRH_BYTES],
  ] as const) {
    test(`arrive over ${service}`, () => {
      const channels = devices.map((context) => context.createCompChannel());
      {
        const [mine, theirs] = channels.map((channel) => ({
          qpType,
          sendCq: { cqe: 16, channel },
          recvCq: { cqe: 16, channel },
        }));
        using pair = new SidePair(devices, mine, theirs);
        const way = (from: Side, to: Side): Way => ({
          from,
          to,
          addressed:
            qpType === QpType.RC ? {} : { ud: { ah: sideHandle(from, to), remoteQpn: to.qp.qpNum, remoteQkey: QKEY } },
        });
        const ways = [way(pair.local, pair.remote), way(pair.remote, pair.local)];
        for (const { from } of ways) for (const cq of [from.sendCq, from.recvCq]) cq.reqNotify();
        for (let round = 0; round < ROUNDS; round += 1) {
          for (const { from, to, addressed } of ways) {
            const message = pattern(BYTES, round);
            from.mr.bytes.set(message);
            to.mr.bytes.fill(0);
            to.qp.postRecv({ wrId: round, sgList: [to.mr.sge(0, headerBytes + BYTES)] });
            from.qp.postSend({
              opcode: WrOpcode.SEND,
              sendFlags: SendFlags.SIGNALED,
              sgList: [from.mr.sge(0, BYTES)],
              ...addressed,
            });
            awaitOne(from, from.sendCq);
            const { wrId, byteLen } = awaitOne(to, to.recvCq);
            assert.deepEqual([wrId, byteLen], [BigInt(round), headerBytes + BYTES]);
            assert.deepEqual(to.mr.bytes.subarray(headerBytes, headerBytes + BYTES), message);
          }
        }
      }
      for (const channel of channels) channel.destroy();
    });
  }
});
