import assert from 'node:assert/strict';
import { it } from 'node:test';
import { BufferPool, type CompletionHandler } from '../index.js';
import { CompletionDispatcher } from '../progress/completion-dispatcher.js';
import { simulate } from '../../../entry/sim.js';
import { bytesPerRound, NO_OBJECT_BYTES } from '../../../../test/support/allocation.js';

it('an engine that is warm makes no object to expect a completion and hand it on, nor to lend a buffer', () =>
  simulate((sim) => {
    const ledger = new CompletionDispatcher({
      entries: 64,
      unread: 0,
      unreadNumber: () => 0,
      discard: () => 0,
      grow: () => assert.fail('there is room'),
    });
    const handler: CompletionHandler = { onCompletion: () => undefined, onLost: () => undefined };
    const requests = ledger.open(handler, 64, 'the test');
    const numbers = new Int32Array(64);
    const pool = new BufferPool(sim.host('host').context.allocPd(), 1 << 20);
    const bytes = bytesPerRound(() => {
      for (let i = 0; i < 8; i += 1) numbers[i] = requests.expect(i);
      for (let i = 0; i < 8; i += 1) ledger.settle(numbers[i]);
      pool.tryLease(100, 'the test')?.release();
    });
    assert.ok(bytes < NO_OBJECT_BYTES, `${bytes} bytes each time`);
  }));
