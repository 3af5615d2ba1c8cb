import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { openDevice, QpState, SendFlags, WcStatus, WrOpcode } from '../../../entry/index.js';
import { connectTo, infoOf } from '../../../providers/soft/test/support/ends.js';
import { drainOne, makeSide, Pair } from '../../../providers/soft/test/support/pair.js';
import { asEndInfo, Program } from './programs.js';
import { loopback, NET } from '../../../../test/support/loopback.js';

const EXCHANGES = 100;
/** Long enough for any machine: whoever waits longer waits for ever. */
const PATIENCE_MS = 60_000;

describe('an inline adapter', () => {
  test(
    'sends what was posted in SQD once it is back in RTS, for a program that only awaits',
    { timeout: PATIENCE_MS },
    async () => {
      using pair = new Pair('inline', NET);
      const { a, b } = pair;
      b.qp.postRecv({});
      a.cq.reqNotify();
      b.cq.reqNotify();
      const event = a.channel[Symbol.asyncIterator]().next();
      const received = b.channel[Symbol.asyncIterator]().next();
      a.qp.modify({ qpState: QpState.SQD });
      a.qp.postSend({ opcode: WrOpcode.SEND, sendFlags: SendFlags.SIGNALED });
      await new Promise((resolve) => setTimeout(resolve, 50));
      a.qp.modify({ qpState: QpState.RTS });
      const { value } = await event;
      assert.equal(value, a.cq);
      assert.equal(a.cq.poll()[0].status, WcStatus.SUCCESS);
      a.cq.ackEvents();
      await received;
      b.cq.ackEvents();
    },
  );

  test('has acknowledged what its program took from the completion queue, whatever the program does then', async () => {
    await using program = new Program('receive-then-busy', [loopback(4)]);
    using context = openDevice({ host: 'thread', address: loopback(3) });
    const side = makeSide(context);
    const peer = asEndInfo(await program.message());
    connectTo(side, peer);
    program.send(infoOf(side));
    await program.message();
    for (let i = 0; i < EXCHANGES; i += 1) {
      side.qp.postRecv({});
      side.qp.postSend({ opcode: WrOpcode.SEND });
      drainOne(side.cq);
    }
    side.qp.postSend({ opcode: WrOpcode.SEND, sendFlags: SendFlags.SIGNALED });
    assert.equal(drainOne(side.cq).status, WcStatus.SUCCESS);
  });
});
