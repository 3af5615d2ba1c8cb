import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Context, openDevice, Syndrome, WcStatus, WrOpcode } from '../../../entry/index.js';
import { connectTo, infoOf } from '../../../providers/soft/test/support/ends.js';
import { drain, drainOne, makeSide, type PairOptions, type Side } from '../../../providers/soft/test/support/pair.js';
import { asEndInfo, Program } from './programs.js';
import { loopback } from '../../../../test/support/loopback.js';

/** Without a retry timer: whoever waits for an answer waits for ever, unless somebody says that none will come. */
const FOR_EVER: PairOptions = { timeout: 0 };

/** A process that answers SENDs, connected to a side here. */
async function echo(side: Side, host: string, options: PairOptions): Promise<Program> {
  const program = new Program('echo', [host, loopback(2)]);
  connectTo(side, asEndInfo(await program.message()), options);
  program.send(infoOf(side));
  await program.message();
  return program;
}

function exchange(side: Side): void {
  side.qp.postRecv({ sgList: [side.mr.sge(32768, 4096)] });
  side.qp.postSend({ opcode: WrOpcode.SEND, sgList: [side.mr.sge(0, 64)] });
  assert.equal(drainOne(side.cq).status, WcStatus.SUCCESS);
}

function assertGone(side: Side, count: number): void {
  const [first, ...others] = drain(side.cq, count);
  assert.deepEqual([first.status, first.vendorErr], [WcStatus.RETRY_EXC_ERR, Syndrome.PEER_GONE]);
  assert.match(side.context.explain(first), /its NIC, which was on this machine, is gone/);
  for (const { status } of others) assert.equal(status, WcStatus.WR_FLUSH_ERR);
}

function neighbours(context: Context): number {
  return context.counters()['link_local_neighbours'] ?? 0;
}

for (const host of ['inline', 'thread'] as const)
  describe(`a peer on this machine that is killed (${host})`, () => {
    test('is noticed by who asks it for something afterwards', async () => {
      using context = openDevice({ host, address: loopback(1) });
      const side = makeSide(context);
      const program = await echo(side, host, FOR_EVER);
      for (let round = 0; round < 3; round += 1) exchange(side);
      await program[Symbol.asyncDispose]();
      side.qp.postSend([1, 2].map((wrId) => ({ wrId, opcode: WrOpcode.SEND })));
      assertGone(side, 2);
    });

    test('is noticed soon when it was seen before that it is gone', async () => {
      using context = openDevice({ host, address: loopback(1) });
      const side = makeSide(context);
      const program = await echo(side, host, FOR_EVER);
      exchange(side);
      await program[Symbol.asyncDispose]();
      while (neighbours(context) > 0) side.cq.poll(1);
      side.qp.postSend({ opcode: WrOpcode.SEND });
      assertGone(side, 1);
    });

    test('takes no connection with it that its successor has', async () => {
      using context = openDevice({ host, address: loopback(1) });
      const [side, next] = [makeSide(context), makeSide(context)];
      const program = await echo(side, host, FOR_EVER);
      exchange(side);
      await program[Symbol.asyncDispose]();
      await using successor = await echo(next, host, {});
      exchange(next);
      side.qp.postSend({ opcode: WrOpcode.SEND });
      assertGone(side, 1);
      exchange(next);
      successor.send({ end: true });
    });
  });
