import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openDevice, WcStatus, WrOpcode } from '../../../entry/index.js';
import { connectTo, infoOf } from '../../../providers/soft/test/support/ends.js';
import { drain, drainOne, makeSide, pattern } from '../../../providers/soft/test/support/pair.js';
import { asEndInfo, Program } from './programs.js';
import { loopback } from '../../../../test/support/loopback.js';

for (const [mine, theirs] of [
  ['inline', 'inline'],
  ['thread', 'thread'],
  ['inline', 'thread'],
] as const) {
  test(`two processes talk: ${mine} here, ${theirs} there`, async () => {
    await using program = new Program('echo', [theirs, loopback(2)]);
    using context = openDevice({ host: mine, address: loopback(1) });
    const side = makeSide(context);
    const peer = asEndInfo(await program.message());
    connectTo(side, peer);
    program.send(infoOf(side));
    await program.message();
    for (const length of [1, 64, 1027, 4096]) {
      const data = pattern(length);
      side.mr.bytes.set(data);
      side.qp.postRecv({ sgList: [side.mr.sge(32768, 4096)] });
      side.qp.postSend({ opcode: WrOpcode.SEND, sgList: [side.mr.sge(0, length)] });
      const { status, byteLen } = drainOne(side.cq);
      assert.deepEqual([status, byteLen], [WcStatus.SUCCESS, length]);
      assert.deepEqual(side.mr.bytes.subarray(32768, 32768 + length), data.reverse());
    }
    program.send({ end: true });
    const { code, stderr } = await program.ended();
    assert.deepEqual([code, stderr], [0, '']);
  });
}

test('a peer that dies ends every outstanding request with a status', async () => {
  const program = new Program('echo', ['thread', loopback(2)]);
  using context = openDevice({ host: 'thread', address: loopback(1) });
  const side = makeSide(context);
  const peer = asEndInfo(await program.message());
  connectTo(side, peer, { timeout: 14 });
  program.send(infoOf(side));
  await program.message();
  await program[Symbol.asyncDispose]();
  side.qp.postSend([1, 2, 3].map((wrId) => ({ wrId, opcode: WrOpcode.SEND })));
  const completions = drain(side.cq, 3);
  assert.deepEqual(
    completions.map(({ status }) => status),
    [WcStatus.RETRY_EXC_ERR, WcStatus.WR_FLUSH_ERR, WcStatus.WR_FLUSH_ERR],
  );
  const sentence = context.explain(completions[0]);
  assert.match(sentence, /8 transmissions/);
  assert.ok(sentence.includes(loopback(2)), sentence);
});
