import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { TimerWheel } from '../time/timer-wheel.js';

/** What a timer may be late by: a tick of the wheel. */
const TICK_US = 4;

/** Jumps from wake-up to wake-up, as a host does, and notes when each timer fires. */
function run(wheel: TimerWheel, untilUs: number, fire: (id: number, nowUs: number) => void): void {
  for (let steps = 0; wheel.nextDueUs <= untilUs; steps += 1) {
    assert.ok(steps < 10_000, 'the wheel never comes to rest');
    const nowUs = wheel.nextDueUs;
    wheel.expire(nowUs, (id) => fire(id, nowUs));
  }
}

const deadline = fc.oneof(
  fc.integer({ min: 0, max: 1000 }),
  // Where slots of several levels begin together.
  fc.integer({ min: 0, max: 200 }).map((n) => n * 64 * TICK_US),
  fc.integer({ min: 0, max: 200 }).map((n) => n * 4096 * TICK_US),
  fc.integer({ min: 0, max: 10_000_000 }),
  // The longest ACK timeout: 4.096 µs * 2^31.
  fc.double({ min: 1, max: 8.8e9, noNaN: true }),
);

test('every timer fires once, never early and at most a tick late', () => {
  fc.assert(
    fc.property(fc.array(deadline, { minLength: 1, maxLength: 60 }), (deadlines) => {
      const wheel = new TimerWheel();
      deadlines.forEach((dueUs, id) => wheel.set(id, dueUs));
      const fired = new Map<number, number>();
      run(wheel, 1e10, (id, nowUs) => {
        assert.ok(!fired.has(id), `timer ${id} fired twice`);
        fired.set(id, nowUs);
      });
      deadlines.forEach((dueUs, id) => {
        const atUs = fired.get(id);
        assert.ok(atUs !== undefined, `timer ${id}, due at ${dueUs}, never fired`);
        assert.ok(atUs >= dueUs && atUs <= dueUs + TICK_US, `due at ${dueUs}, fired at ${atUs}`);
      });
    }),
    { numRuns: 1000 },
  );
});

test('timers that are moved or cleared while others fire keep to their last setting', () => {
  const change = fc.record({ id: fc.nat(20), atUs: fc.nat(100_000), dueInUs: fc.option(fc.nat(1_000_000)) });
  fc.assert(
    fc.property(fc.array(change, { maxLength: 80 }), (changes) => {
      const wheel = new TimerWheel();
      const due = new Map<number, number>();
      const fire = (id: number, nowUs: number): void => {
        const dueUs = due.get(id);
        assert.ok(dueUs !== undefined, `timer ${id} fired without being set`);
        assert.ok(nowUs >= dueUs, `timer ${id}, due at ${dueUs}, fired at ${nowUs}`);
        due.delete(id);
      };
      for (const { id, atUs, dueInUs } of [...changes].sort((a, b) => a.atUs - b.atUs)) {
        wheel.expire(atUs, (timer) => fire(timer, atUs));
        if (dueInUs === null) {
          wheel.clear(id);
          due.delete(id);
        } else {
          wheel.set(id, atUs + dueInUs);
          due.set(id, atUs + dueInUs);
        }
      }
      run(wheel, 1e10, fire);
      assert.equal(due.size, 0, 'some timers never fired');
    }),
  );
});

test('the next due time is never later than the earliest timer', () => {
  const wheel = new TimerWheel();
  assert.equal(wheel.nextDueUs, Infinity);
  wheel.set(3, 1_000_000);
  wheel.set(4, 50);
  assert.ok(wheel.nextDueUs <= 52);
  wheel.expire(60, () => {});
  assert.ok(wheel.nextDueUs > 60 && wheel.nextDueUs <= 1_000_000 + TICK_US);
});
