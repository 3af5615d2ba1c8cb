import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { type Qp, QpState, QpType, SendFlags, WcOpcode, WcStatus, WrOpcode } from '../../../entry/index.js';
import { drain, drainOne, HOSTINGS, openContexts, pattern } from '../../../providers/soft/test/support/pair.js';
import { type Bench, Benches, makeBench, makeQp, postError } from '../../../providers/soft/test/support/queue-pairs.js';
import { loopback, NET } from '../../../../test/support/loopback.js';
import { refusalOf } from '../../../../test/support/refusal.js';

const { SIGNALED, INLINE } = SendFlags;

/** An Ethernet frame to everybody, of a type that nobody uses (IEEE 802, local experiment). */
function frameOf(length: number, salt: number): Uint8Array {
  const frame = pattern(length, salt);
  frame.fill(0xff, 0, 6);
  frame.set([0x02, 0, 0, 0, 0, 1, 0x88, 0xb5], 6);
  return frame;
}

const CAP_NET_RAW = 13n;

/** As Linux says it (capabilities(7)). */
function mayOpenPacketSockets(): boolean {
  const [, effective = '0'] = /^CapEff:\s*(\w+)$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  return ((BigInt(`0x${effective}`) >> CAP_NET_RAW) & 1n) === 1n;
}

/** A program that tries to make a raw packet QP, and says how that was refused. */
const makeOne = (host: string): string => `
  import { openDevice, QpType } from ${JSON.stringify(new URL('../../../entry/index.js', import.meta.url).href)};
  const context = openDevice({ address: ${JSON.stringify(loopback(9))}, host: ${JSON.stringify(host)}, link: 'udp' });
  const cq = context.createCq({ cqe: 1 });
  try {
    context.allocPd().createQp({ qpType: QpType.RAW_PACKET, sendCq: cq, recvCq: cq, cap: { maxSendWr: 1, maxRecvWr: 1 } });
    process.stdout.write('made');
  } catch (error) {
    process.stdout.write(String(error.errno));
  }
  context.close();
`;

function makeRaw(bench: Bench, rateLimit?: number): Qp {
  const qp = makeQp(bench, QpType.RAW_PACKET);
  qp.modify({ qpState: QpState.INIT, portNum: 1 });
  qp.modify({ qpState: QpState.RTR });
  qp.modify({ qpState: QpState.RTS, ...(rateLimit === undefined ? {} : { rateLimit }) });
  return qp;
}

test('a raw packet QP sends frames as they are, and receives them so', () => {
  using benches = new Benches('simulated', NET);
  const { a, b } = benches;
  const [from, to] = [makeRaw(a), makeRaw(b)];
  to.postRecv([0, 1, 2].map((wrId) => ({ wrId, sgList: [b.mr.sge(2048 * wrId, 2048)] })));
  const frames = [frameOf(60, 1), frameOf(200, 2), frameOf(1000, 3)];
  a.mr.bytes.set(frames[1], 0);
  a.mr.bytes.set(frames[2], 1024);
  from.postSend([
    { opcode: WrOpcode.SEND, sendFlags: INLINE, sgList: [{ bytes: frames[0] }] },
    { opcode: WrOpcode.SEND, sendFlags: SIGNALED, sgList: [a.mr.sge(0, 200)] },
  ]);
  from.wrStart();
  from.wrFlags = SIGNALED;
  from.wrSend();
  from.wrSetSgeList([a.mr.sge(1024, 14), a.mr.sge(1038, 986)]);
  from.wrComplete();
  drain(a.cq, 2);
  const received = drain(b.cq, 3);
  assert.deepEqual(
    received.map(({ status, opcode, byteLen }) => [status, opcode, byteLen]),
    frames.map(({ length }) => [WcStatus.SUCCESS, WcOpcode.RECV, length]),
  );
  for (const [i, frame] of frames.entries())
    assert.deepEqual(b.mr.bytes.subarray(2048 * i, 2048 * i + frame.length), frame);
});

test('a raw packet QP posts SENDs alone', () => {
  using benches = new Benches('simulated', NET);
  const qp = makeRaw(benches.a);
  assert.equal(postError(() => qp.postSend({ opcode: WrOpcode.SEND_WITH_IMM, immData: 1 })).errno, 'EINVAL');
  qp.wrStart();
  qp.wrRdmaWrite(1, 64);
  assert.throws(() => qp.wrComplete(), { errno: 'EINVAL' });
});

test('a frame without a whole header ends sending with LOC_QP_OP_ERR, until modify begins it anew', () => {
  using benches = new Benches('simulated', NET);
  const { a } = benches;
  const qp = makeRaw(a);
  qp.postSend({ opcode: WrOpcode.SEND, sgList: [a.mr.sge(0, 13)] });
  assert.equal(drainOne(a.cq).status, WcStatus.LOC_QP_OP_ERR);
  assert.equal(qp.state, QpState.SQE);
  qp.modify({ qpState: QpState.RTS });
  qp.postSend({ opcode: WrOpcode.SEND, sendFlags: SIGNALED, sgList: [a.mr.sge(0, 64)] });
  assert.equal(drainOne(a.cq).status, WcStatus.SUCCESS);
});

test('the rate of a raw packet QP is an attribute of its way to RTS, and can be changed there', () => {
  using benches = new Benches('simulated', NET);
  const qp = makeRaw(benches.a, 5000);
  assert.equal(qp.query().attr.rateLimit, 5000);
  qp.modifyRateLimit({ rateLimit: 0 });
});

for (const hosting of HOSTINGS.filter((each) => each !== 'simulated')) {
  test(`on a link of UDP a raw packet QP needs CAP_NET_RAW, hosted ${hosting}`, (t) => {
    const contexts = openContexts(hosting, NET);
    try {
      const errno = refusalOf(() => makeQp(makeBench(contexts[0]), QpType.RAW_PACKET).destroy())?.errno;
      assert.equal(errno, mayOpenPacketSockets() ? undefined : 'EPERM');
    } finally {
      for (const context of contexts) context.close();
    }
    if (!mayOpenPacketSockets()) return;
    const without = spawnSync(
      'setpriv',
      [
        '--bounding-set=-net_raw',
        '--inh-caps=-net_raw',
        process.execPath,
        '--input-type=module',
        '-e',
        makeOne(hosting),
      ],
      { encoding: 'utf8' },
    );
    if (without.error !== undefined) t.skip('setpriv, which would take CAP_NET_RAW away, is not there');
    else assert.equal(without.stdout, 'EPERM', without.stderr);
  });
}
