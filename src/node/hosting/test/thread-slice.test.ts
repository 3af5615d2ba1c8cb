import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { openDevice } from '../../../entry/index.js';
import { setTimeSlice } from '../../system/index.js';
import { loopback } from '../../../../test/support/loopback.js';

/** Time slices of the threads of this process, µs. */
function slices(): readonly number[] {
  return readdirSync('/proc/self/task').flatMap((thread) => {
    try {
      const text = readFileSync(`/proc/self/task/${thread}/sched`, 'latin1');
      return [Number(/^se\.slice\s*:\s*(\d+)/m.exec(text)?.[1] ?? 0) / 1000];
    } catch {
      // It has just ended.
      return [];
    }
  });
}

test("a NIC's thread, and no other, takes the processor for a tenth of a ms at a time", (t) => {
  // Threads begin with the slice of those that start them.
  if (!setTimeSlice(3000)) {
    t.skip('the kernel knows no such wish');
    return;
  }
  assert.equal(slices().filter((us) => us === 100).length, 0);
  using context = openDevice({ host: 'thread', address: loopback(1) });
  assert.equal(slices().filter((us) => us === 100).length, 1, context.address);
});
