import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type CompChannel, type Cq, SendFlags, WcStatus, WrOpcode } from '../../../entry/index.js';
import { registerMemory } from '../../../providers/soft/index.js';
import { nativeHostProblem } from '../../system/index.js';
import { SlowMemory } from '../../../../test/support/foreign-memory.js';
import { NET } from '../../../../test/support/loopback.js';
import { ALL_ACCESS, Pair, pattern } from '../../../providers/soft/test/support/pair.js';

const BYTES = 4096;
const IOVA = 0x6000_0000_0000;
const MESSAGES = 40;
const PATIENCE_MS = 20_000;

/** Memory whose copies end by the event loop, some rounds later. */
function lateMemory(bytes: Uint8Array): SlowMemory {
  const memory: SlowMemory = new SlowMemory(bytes, { delayUs: () => 1 }, (dueUs) =>
    setImmediate(() => setImmediate(() => memory.advanceTo(dueUs))),
  );
  return memory;
}

async function completion(channel: CompChannel, cq: Cq): Promise<WcStatus> {
  for (;;) {
    // Whoever arms a queue looks once more, since what came before that raises no event.
    for (const look of ['before', 'armed']) {
      const found = cq.poll(1);
      if (found.length > 0) return found[0].status;
      if (look === 'before') cq.reqNotify(false);
    }
    await channel[Symbol.asyncIterator]().next();
  }
}

describe('memory whose copies end later', { skip: nativeHostProblem() ?? false }, () => {
  it('wakes who waits in the event loop when a copy has ended', { timeout: PATIENCE_MS }, async ({ signal }) => {
    using pair = new Pair('inline', NET, { bytes: BYTES });
    const { a, b } = pair;
    let left = MESSAGES;
    // Also when it has gone well.
    signal.addEventListener('abort', () => {
      if (left > 0) for (const { context } of [a, b]) context.close();
    });
    const stored = new Uint8Array(BYTES);
    const late = registerMemory(b.pd, lateMemory(stored), { iova: IOVA, access: ALL_ACCESS });
    const content = pattern(BYTES);
    a.mr.bytes.set(content);
    for (; left > 0; left -= 1) {
      b.qp.postRecv({ sgList: [{ addr: IOVA, length: BYTES, lkey: late.lkey }] });
      a.qp.postSend({ opcode: WrOpcode.SEND, sgList: [a.mr.sge()], sendFlags: SendFlags.SIGNALED });
      assert.equal(await completion(b.channel, b.cq), WcStatus.SUCCESS);
      assert.equal(await completion(a.channel, a.cq), WcStatus.SUCCESS);
    }
    assert.deepEqual(stored, content);
  });
});
