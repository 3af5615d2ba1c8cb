import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type Mode, Partition, Span, Status } from '../../store/index.js';
import { bytesPerRound, NO_OBJECT_BYTES } from '../../../../../test/support/allocation.js';

for (const mode of ['cache', 'store'] as const satisfies readonly Mode[])
  it(`a partition in ${mode} mode that is warm makes no object to get and to set small values`, () => {
    // A time is an object to V8, which is its caller's.
    const nowMs = Date.UTC(2030, 0);
    const kv = new Partition({ mode, memory: new Uint8Array(1 << 20), seed: 1n });
    const slot = Buffer.from('key-00 and some value of whatever length it has ');
    const key = new Span(slot, 0, 6);
    const value = new Span(slot);
    const target = new Uint8Array(slot.length);
    let n = 0;
    const bytes = bytesPerRound(() => {
      n = (n + 1) | 0;
      slot[4] = n & 63;
      slot[5] = (n >> 6) & 7;
      // Now and then of another length, so that it moves.
      value.set(slot, 6, 10 + ((n >> 4) & 31));
      if (kv.set(key, value, nowMs, (n & 1) * 1000) !== Status.OK || kv.get(key, nowMs) !== Status.OK) assert.fail();
      kv.entry.copyValue(target);
    });
    assert.equal(kv.statistics.evictions, 0);
    assert.ok(bytes < NO_OBJECT_BYTES, `${bytes} bytes each time`);
  });
