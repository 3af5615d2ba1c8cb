import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AccessFlags, QpState } from '../../ibta/index.js';
import { CompletionQueue, CqArm } from '../rings/layout.js';
import { TimerWheel } from '../time/timer-wheel.js';
import { Timers } from '../time/timers.js';
import { Pair } from './pair.js';

test('a timer that another one, due in the same tick, sets anew fires once, at its new time', () => {
  const wheel = new TimerWheel();
  wheel.set(1, 100);
  wheel.set(0, 100);
  const fired: string[] = [];
  const expire = (nowUs: number): void =>
    wheel.expire(nowUs, (id) => {
      fired.push(`${String(id)} at ${String(nowUs)}`);
      assert.ok(fired.length < 10, 'it fires again and again');
      if (id === 0) wheel.set(1, 200);
    });
  expire(100);
  expire(1000);
  assert.deepEqual(fired, ['0 at 100', '1 at 1000']);
});

test('a timer that was moved out fires at its later time alone', () => {
  const timers = new Timers();
  const fired: number[] = [];
  const id = timers.take();
  let nowUs = 0;
  timers.assign(id, { onTimer: () => fired.push(nowUs) });
  timers.arm(id, 100);
  timers.arm(id, 300);
  for (nowUs = 0; nowUs <= 400; nowUs += 20) timers.expire(nowUs);
  assert.deepEqual(fired, [300]);
});

test('a timer that was disarmed, or whose number was given back, does not fire', () => {
  const timers = new Timers();
  const fired: number[] = [];
  const [a, b] = [timers.take(), timers.take()];
  for (const id of [a, b]) timers.assign(id, { onTimer: () => fired.push(id) });
  timers.arm(a, 100);
  timers.arm(b, 100);
  timers.disarm(a);
  timers.release(b);
  timers.expire(1000);
  assert.deepEqual(fired, []);
});

test('retries may end in the tick in which an event that was held back is due', () => {
  const pair = new Pair();
  const sendCq = pair.a.cq(256, pair.a.channel());
  const { a } = pair.connect({ qpA: { sendCq }, both: { timeout: 4, retryCnt: 0 } });
  pair.script = (packet) => (packet.from === pair.a.ip ? 'drop' : 'pass');
  // The retry timer of 65.5 us and moderation of 68 us end in the same tick.
  pair.a.nic.control.modifyCq(sendCq.cqn, 2, 68);
  const words = new Int32Array(sendCq.memory);
  const told = pair.a.nic.events.completionEvent.bind(pair.a.nic.events);
  pair.a.nic.events.completionEvent = (channel) => {
    told(channel);
    // A program that asks for the next event as soon as it has one.
    Atomics.store(words, CompletionQueue.ARM, CqArm.ANY);
  };
  Atomics.store(words, CompletionQueue.ARM, CqArm.ANY);
  const flushed = pair.a.qp({ sendCq });
  flushed.modify({ qpState: QpState.INIT, pkeyIndex: 0, portNum: 1, qpAccessFlags: AccessFlags.LOCAL_WRITE });
  flushed.modify({ qpState: QpState.ERR });
  flushed.send(pair.a.mr(8));
  for (let i = 0; i < 4; i += 1) a.send(pair.a.mr(8));
  pair.drive({ untilUs: 20_000 });
  assert.equal(sendCq.poll().length, 5);
});
