import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SendFlags, WrOpcode } from '../../src/entry/index.js';
import { conformance } from './provider.js';
import { assertEmpty, assertSuccess, bringUp, End, pattern, pollUntil, remoteOf, useDevices } from './support.js';

const PAIRS = 100;
const OPERATIONS = 100_000;
const DEPTH = 32;
const BYTES = 32;
const SOME = 16;

conformance('many connections on one CQ', (provider) => {
  const devices = useDevices(provider);

  test('complete every one of 100,000 WRITEs, posted to each in turn', () => {
    const cap = { maxSendWr: DEPTH, maxRecvWr: 1 };
    using local = new End(devices[0], { cqe: PAIRS * DEPTH, bytes: BYTES, cap });
    using remote = new End(devices[1], { bytes: PAIRS * BYTES, cap });
    local.mr.bytes.set(pattern(BYTES));
    const connections = Array.from({ length: PAIRS }, () => {
      const mine = local.keep(local.pd.createQp(local.qpInit({ cap })));
      const theirs = remote.keep(remote.pd.createQp(remote.qpInit({ cap })));
      bringUp(theirs, { context: local.context, qpNum: mine.qpNum });
      bringUp(mine, { context: remote.context, qpNum: theirs.qpNum });
      return { qp: mine, outstanding: 0, posted: 0, completed: 0 };
    });
    const byNumber = new Map(connections.map((connection) => [connection.qp.qpNum, connection]));
    const collect = (): void => {
      for (const wc of pollUntil(local.cq, SOME)) {
        assertSuccess(local, wc);
        const connection = byNumber.get(wc.qpNum);
        assert.ok(connection !== undefined);
        assert.equal(wc.wrId, BigInt(connection.completed));
        connection.completed += 1;
        connection.outstanding -= 1;
      }
    };
    for (let i = 0; i < OPERATIONS; i += 1) {
      const index = i % PAIRS;
      const connection = connections[index];
      while (connection.outstanding === DEPTH) collect();
      connection.qp.postSend({
        wrId: connection.posted,
        opcode: WrOpcode.RDMA_WRITE,
        sendFlags: SendFlags.SIGNALED,
        sgList: [local.mr.sge()],
        rdma: remoteOf(remote.mr, index * BYTES),
      });
      connection.posted += 1;
      connection.outstanding += 1;
    }
    while (connections.some(({ outstanding }) => outstanding > 0)) collect();
    assertEmpty(local.cq);
    for (const [index, { completed }] of connections.entries()) {
      assert.equal(completed, OPERATIONS / PAIRS);
      assert.deepEqual(remote.mr.bytes.subarray(index * BYTES, (index + 1) * BYTES), pattern(BYTES));
    }
  });
});
