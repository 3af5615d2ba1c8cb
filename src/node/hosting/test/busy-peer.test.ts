import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openDevice, SendFlags, WcStatus, WrOpcode } from '../../../entry/index.js';
import { connectTo, infoOf } from '../../../providers/soft/test/support/ends.js';
import { drainOne, makeSide, pattern } from '../../../providers/soft/test/support/pair.js';
import { asEndInfo, Program } from './programs.js';
import { loopback } from '../../../../test/support/loopback.js';

test('a WRITE and a READ complete against a process whose main thread never pauses', async () => {
  await using program = new Program('busy', [loopback(2)]);
  using context = openDevice({ host: 'thread', address: loopback(1) });
  const side = makeSide(context);
  const peer = asEndInfo(await program.message());
  connectTo(side, peer);
  program.send(infoOf(side));
  await program.message();
  const rdma = { remoteAddr: BigInt(peer.addr), rkey: peer.rkey };
  const sendFlags = SendFlags.SIGNALED;
  const LENGTH = 20_000;

  side.qp.postSend({ opcode: WrOpcode.RDMA_READ, sendFlags, sgList: [side.mr.sge(0, LENGTH)], rdma });
  assert.equal(drainOne(side.cq).status, WcStatus.SUCCESS);
  assert.deepEqual(side.mr.bytes.subarray(0, LENGTH), pattern(LENGTH));

  side.mr.bytes.set(pattern(LENGTH, 5));
  side.qp.postSend({ opcode: WrOpcode.RDMA_WRITE, sendFlags, sgList: [side.mr.sge(0, LENGTH)], rdma });
  assert.equal(drainOne(side.cq).status, WcStatus.SUCCESS);

  side.qp.postSend({ opcode: WrOpcode.RDMA_READ, sendFlags, sgList: [side.mr.sge(30_000, LENGTH)], rdma });
  assert.equal(drainOne(side.cq).status, WcStatus.SUCCESS);
  assert.deepEqual(side.mr.bytes.subarray(30_000, 30_000 + LENGTH), pattern(LENGTH, 5));
});
