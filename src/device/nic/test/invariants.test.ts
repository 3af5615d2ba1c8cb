import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { leave, ObjectTable } from '../control/objects.js';
import { ProtectionDomains } from '../memory/protection-domains.js';
import { HeldQueuePairs } from '../queue-pairs/held-queue-pairs.js';
import { type Scheduled, TransmitResult } from '../queue-pairs/turns.js';
import { WorkQueue } from '../queues/work-queue.js';
import { CongestionWindow } from '../reliable/congestion-window.js';
import { ResponderResources } from '../reliable/responder-resources.js';
import { SendWindow } from '../reliable/send-window.js';
import { Ring, sendQueueShape } from '../rings/layout.js';
import { Timers } from '../time/timers.js';

const ENTRIES = 4;

function sendQueue(published: number): WorkQueue {
  const shape = sendQueueShape(ENTRIES, 1, 0);
  const queue = new WorkQueue(new ArrayBuffer(shape.bytes), shape, 1);
  queue.words[Ring.PRODUCER] = published;
  return queue;
}

/** A window with one request of three packets, of which some were sent. */
function windowWithSent(packets: number): SendWindow {
  const window = new SendWindow(sendQueue(1));
  window.start(3, 3000, 1000);
  for (let sent = 0; sent < packets; sent += 1) window.advanceCursor(1);
  return window;
}

const turn: Scheduled = {
  scheduled: true,
  due: 0,
  way: 7,
  held: true,
  mayPass: false,
  transmit: () => TransmitResult.IDLE,
};

const BROKEN: readonly [what: string, message: RegExp, act: () => void][] = [
  [
    'an entry that was never published is not retired',
    /retired that was never published/,
    () => sendQueue(2).retire(3),
  ],
  [
    'no more requests are started than the send queue holds',
    /more requests are started/,
    () => {
      const window = new SendWindow(sendQueue(ENTRIES));
      for (let i = 0; i <= ENTRIES; i += 1) window.start(1, 0, 1024);
    },
  ],
  ['no more packets are sent than a request has', /more packets are sent/, () => windowWithSent(2).advanceCursor(2)],
  [
    'what was never sent is not acknowledged',
    /acknowledged that was never sent/,
    () => windowWithSent(2).acknowledge(3),
  ],
  ['what is acknowledged is not sent once more', /sent once more/, () => windowWithSent(0).stepBack()],
  [
    'no more answers are outstanding than can be remembered',
    /more answers are outstanding/,
    () => {
      const window = windowWithSent(0);
      for (let i = 0; i <= 256; i += 1) window.addOutstanding(i + 1);
    },
  ],
  [
    'where none may be outstanding no request is answered',
    /of which none may be outstanding/,
    () => new ResponderResources().take(),
  ],
  [
    'a congestion window has a size',
    /without a size/,
    () => {
      const window = new CongestionWindow(1024);
      window.packets = NaN;
      window.onLoss();
    },
  ],
  [
    'a timer is released once',
    /released that nobody has/,
    () => {
      const timers = new Timers();
      const id = timers.take();
      timers.assign(id, { onTimer: () => undefined });
      timers.release(id);
      timers.release(id);
    },
  ],
  ['a timer is set to a time', /set to no time/, () => new Timers().arm(0, NaN)],
  [
    "a timer that runs out is somebody's",
    /runs out that nobody has/,
    () => {
      const timers = new Timers();
      timers.arm(timers.take(), 1);
      timers.expire(1000);
    },
  ],
  [
    'a queue pair that is held waits for a way',
    /held that waits nowhere/,
    () => new HeldQueuePairs({ roomOf: () => 0 }).remove(turn),
  ],
  ['an object that nobody uses is not left', /left that nobody uses/, () => leave({ users: 0 })],
  [
    'a protection domain that nobody uses is not released',
    /released that nobody uses/,
    () => {
      const domains = new ProtectionDomains(1);
      domains.release(domains.alloc());
    },
  ],
  [
    'two objects have two numbers',
    /two objects have one number/,
    () => {
      const table = new ObjectTable('QP', 2);
      table.add(17, 'one');
      table.add(17, 'another');
    },
  ],
];

describe('what the NIC relies on', () => {
  for (const [what, message, act] of BROKEN) {
    it(`${what}, or it stops`, () => {
      assert.throws(act, message);
    });
  }

  it('holds when nothing is wrong: a queue is used to its end, a window to its last packet', () => {
    const queue = sendQueue(ENTRIES);
    const window = new SendWindow(queue);
    for (let i = 0; i < ENTRIES; i += 1) {
      assert.ok(queue.has(window.next));
      window.start(1, 0, 1024);
      window.advanceCursor(1);
    }
    window.acknowledge(ENTRIES);
    queue.retire(ENTRIES);
    assert.ok(!queue.has(ENTRIES));
  });
});

describe('a driver that takes back what it has published', () => {
  it('is not believed: what the NIC has taken stays taken, and nothing beyond is', () => {
    const queue = sendQueue(3);
    assert.ok(queue.has(0));
    queue.words[Ring.PRODUCER] = 1;
    assert.ok(!queue.has(3));
    assert.ok(queue.has(2));
    queue.words[Ring.PRODUCER] = 4;
    assert.ok(queue.has(3));
  });
});
