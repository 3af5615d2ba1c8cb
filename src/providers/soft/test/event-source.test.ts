import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EventReader } from '../driver/completions/event-reader.js';
import { EventSource } from '../driver/completions/event-source.js';
import { CommandError, RING_HEADER_WORDS } from '../../../device/nic/index.js';

const ENTRIES = 1;
const ENTRY_WORDS = 1;

function reader(): EventReader {
  return new EventReader(new SharedArrayBuffer(4 * (RING_HEADER_WORDS + ENTRIES * ENTRY_WORDS)), ENTRIES, ENTRY_WORDS);
}

/** An adapter that stops while somebody waits for its events, and calls `onStop` before it says so. */
function stoppingHost(onStop: () => void) {
  return {
    failure: undefined,
    nowUs: () => 0,
    listen: () => ({ ref: () => undefined, unref: () => undefined, end: () => undefined }),
    wait: () => {
      onStop();
      throw new CommandError('EIO', 'it has stopped');
    },
  };
}

test('whoever waits for events while the adapter stops is given the event that tells it', () => {
  const announced: string[] = [];
  const host = stoppingHost(() => announced.push('DEVICE_FATAL'));
  const source = new EventSource(host, reader(), () => announced.shift(), 'ibv_get_async_event');
  assert.equal(source.take(), 'DEVICE_FATAL');
});

test('whoever waits for events of an adapter that has stopped is told why there are none', () => {
  const host = stoppingHost(() => undefined);
  const source = new EventSource(host, reader(), () => undefined, 'ibv_get_async_event');
  assert.throws(() => source.take(), { errno: 'EIO', message: /it has stopped/ });
});
