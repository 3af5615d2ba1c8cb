import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  ClientWindow,
  LOSSY,
  LOSSY_MEMORY,
  RELIABLE,
  RttEstimator,
  ServerMachine,
  Sessions,
} from '../protocol/index.js';
import { nextPart, Operation, Packer, partEnd, responseLength, ResponseView, Status } from '../wire/index.js';
import { answersTo, Counting, EPOCH, type Mischief, SLOT_BYTES, TestCall, TwoMachines } from './support/machines.js';

const CALM: Mischief = { seed: 1, loss: 0, duplication: 0, delayUs: 10 };
const ROUGH: Mischief = { seed: 1, loss: 0.2, duplication: 0.2, delayUs: 3000 };

/** Sends so many INCRs, and runs until all are answered. */
function count(machines: TwoMachines, calls: number): TestCall[] {
  const all = Array.from({ length: calls }, () => new TestCall());
  for (const call of all) machines.window.add(call);
  machines.run();
  machines.settle();
  return all;
}

describe('requests that change something', () => {
  for (let seed = 1; seed <= 10; seed += 1)
    it(`are carried out once, and answered once, whatever is lost, doubled and reordered (seed ${seed})`, () => {
      const machines = new TwoMachines({ ...ROUGH, seed });
      const calls = count(machines, 200);
      assert.equal(machines.store.sum, 200n);
      const sums = calls.map(({ answers }) => answers).flat();
      assert.deepEqual(
        sums.sort((a, b) => Number(a - b)),
        calls.map((_, i) => BigInt(i + 1)),
      );
      assert.ok(machines.server.counters.repeats > 0 && machines.window.repeats > 0, 'something was lost');
      assert.equal(machines.store.executed, 200);
    });

  it('are so when the numbers wrap, also those that say nothing of their sign', () => {
    for (const before of [0x7ffffffa, 0xfffffffa, -6]) {
      const machines = new TwoMachines({ ...ROUGH, seed: before & 0xff }, { window: 2, before });
      const calls = count(machines, 40);
      assert.equal(machines.store.sum, 40n);
      assert.ok(calls.every(({ answers }) => answers.length === 1));
    }
  });

  it('are dropped when a later one of their slot has come', () => {
    const machines = new TwoMachines(CALM, { window: 1 });
    const [first, second] = [new TestCall(), new TestCall()];
    machines.window.add(first);
    machines.window.next(1);
    const late = machines.bytesOf(first);
    machines.window.giveUp(first);
    machines.window.add(second);
    machines.run();
    assert.deepEqual(answersTo(machines.server, machines.session, late), []);
    assert.equal(machines.store.sum, 1n);
    assert.equal(machines.server.counters.old, 1);
  });
});

describe('requests that change nothing', () => {
  it('are carried out again when they come again, and no answer of theirs is kept', () => {
    const machines = new TwoMachines(CALM);
    const get = new TestCall(Operation.GET);
    machines.window.add(get);
    machines.window.next(1);
    for (let i = 0; i < 2; i += 1)
      assert.equal(answersTo(machines.server, machines.session, machines.bytesOf(get)).length, 1);
    assert.equal(machines.store.executed, 2);
    assert.equal(machines.session.slots.answer(0), undefined);
  });
});

describe('a window', () => {
  it('has no more requests under way than it has slots, one for each', () => {
    const { window } = new TwoMachines(CALM, { window: 3 });
    for (let i = 0; i < 5; i += 1) window.add(new TestCall());
    const sent = [window.next(1), window.next(1), window.next(1)];
    assert.deepEqual(
      sent.map((call) => call?.slot),
      [0, 1, 2],
    );
    assert.equal(window.next(1), undefined);
    assert.deepEqual([window.busy, window.waiting], [3, 2]);
    assert.equal(window.answered(1, 1, 2), sent[1]);
    const next = window.next(2);
    assert.deepEqual([next?.slot, next?.sequence], [1, 2]);
  });

  it('takes no answer twice, nor that of another number, nor of a slot that it does not have', () => {
    const { window } = new TwoMachines(CALM);
    window.add(new TestCall());
    window.next(1);
    assert.equal(window.answered(0, 2, 2), undefined);
    assert.equal(window.answered(400, 1, 2), undefined);
    assert.notEqual(window.answered(0, 1, 2), undefined);
    assert.equal(window.answered(0, 1, 2), undefined);
    assert.equal(window.unmatchedResponses, 3);
  });

  it('gives the slot of a request that was given up to the next, and its answer to nobody', () => {
    const { window } = new TwoMachines(CALM, { window: 1 });
    const [first, second, third] = [new TestCall(), new TestCall(), new TestCall()];
    for (const call of [first, second, third]) window.add(call);
    window.next(1);
    window.giveUp(first);
    window.giveUp(second);
    assert.equal(window.next(2), third);
    assert.equal(window.answered(0, 1, 3), undefined);
    assert.equal(window.answered(0, 2, 3), third);
  });

  it('leaves a request that was given up its slot until it is answered, where slots are memory that the server may be reading', () => {
    const window = new ClientWindow<TestCall>(1, LOSSY_MEMORY);
    const [first, second] = [new TestCall(), new TestCall()];
    for (const call of [first, second]) window.add(call);
    window.next(1);
    window.giveUp(first);
    assert.equal(window.next(2), undefined);
    assert.equal(window.next(window.dueUs), first, 'it is repeated as others are');
    window.answered(0, 1, window.dueUs);
    assert.equal(window.next(window.dueUs), second);
  });

  it('says that it hears nothing where no adapter would, but not while others are answered', () => {
    const window = new ClientWindow<TestCall>(2, LOSSY);
    window.add(new TestCall());
    window.next(10);
    const { silenceUs } = LOSSY;
    assert.equal(window.isSilent(0, silenceUs + 9), false);
    assert.equal(window.isSilent(0, silenceUs + 10), true);
    assert.equal(window.isSilent(20, silenceUs + 10), false);
    window.answered(0, 1, 30);
    assert.equal(window.isSilent(0, 2 * silenceUs), false, 'nobody waits');
  });

  it('repeats what is not answered, at times that grow, and says when the server has been silent for too long', () => {
    const { window } = new TwoMachines(CALM, { window: 1 });
    const call = new TestCall();
    window.add(call);
    window.next(0);
    const waits: number[] = [];
    let nowUs = 0;
    while (window.lost(nowUs) === undefined) {
      waits.push(window.dueUs - nowUs);
      nowUs = window.dueUs;
      assert.equal(window.next(nowUs), call);
      assert.equal(window.next(nowUs), undefined, 'once');
    }
    assert.deepEqual(waits.slice(0, 7), [20_000, 40_000, 80_000, 160_000, 320_000, 500_000, 500_000]);
    assert.ok(nowUs >= LOSSY.patienceUs && nowUs < LOSSY.patienceUs + LOSSY.mostUs);
    assert.equal(window.lost(nowUs), call);
    assert.deepEqual(window.drain(), [call]);
    assert.deepEqual([window.busy, window.dueUs], [0, Infinity]);
  });

  it('sends all again at once when there is a new way', () => {
    const { window } = new TwoMachines(CALM);
    const calls = [new TestCall(), new TestCall()];
    for (const call of calls) window.add(call);
    for (const call of calls) assert.equal(window.next(5), call);
    assert.equal(window.next(6), undefined);
    window.resend();
    assert.deepEqual([window.next(6), window.next(6), window.next(6)], [...calls, undefined]);
  });
});

describe('times of round trips', () => {
  it('are smoothed as RFC 6298 says', () => {
    const trips = new RttEstimator({ ...LOSSY, leastUs: 1 });
    trips.measured(1000);
    assert.deepEqual([trips.smoothedUs, trips.waitUs], [1000, 1000 + 4 * 500]);
    trips.measured(2000);
    assert.deepEqual([trips.smoothedUs, trips.waitUs], [1125, 1125 + 4 * 625]);
  });

  it('have bounds', () => {
    const trips = new RttEstimator(RELIABLE);
    trips.measured(5);
    assert.equal(trips.waitUs, RELIABLE.leastUs);
    for (let i = 0; i < 40; i += 1) trips.measured(60e6);
    assert.equal(trips.waitUs, RELIABLE.mostUs);
  });

  it('are not learned from requests that were repeated, and what comes next waits as long as they do', () => {
    const { window } = new TwoMachines(CALM, { window: 1 });
    window.add(new TestCall());
    window.next(0);
    window.next(20_000);
    window.answered(0, 1, 20_010);
    assert.equal(window.roundTrips.smoothedUs, 0);
    assert.equal(window.roundTrips.waitUs, 40_000);
  });
});

function slotsOf(message: Uint8Array): number[] {
  const view = new ResponseView();
  const slots: number[] = [];
  for (let at = 0; at < message.length;) {
    const end = partEnd(at, responseLength(message, at), message.length);
    assert.equal(view.look(message, at, end), undefined);
    slots.push(view.slot);
    at = nextPart(end);
  }
  return slots;
}

describe('a server', () => {
  const messageOf = (machines: TwoMachines): Uint8Array => {
    machines.window.add(new TestCall());
    const call = machines.window.next(1);
    if (call === undefined) throw new Error('nothing to send');
    return machines.bytesOf(call);
  };

  it('counts messages that are malformed, forged, or for a slot that there is not, and does nothing else', () => {
    const machines = new TwoMachines(CALM, { window: 4 });
    const { server, session } = machines;
    const message = messageOf(machines);
    const forms = [message.subarray(0, 20), message.with(18, 99), message.with(0, message[0] ^ 1), message.with(17, 4)];
    for (const form of forms) assert.deepEqual(answersTo(server, session, form), []);
    assert.deepEqual([server.counters.malformed, server.counters.forged, machines.store.executed], [2, 2, 0]);
  });

  it('carries out all requests of a message, in their order, and answers them by one, as far as they fit', () => {
    const machines = new TwoMachines(CALM, { window: 64 });
    const { server, session, window } = machines;
    const packer = new Packer(4096);
    const calls = Array.from({ length: 20 }, () => new TestCall());
    for (const call of calls) window.add(call);
    for (const call of calls) {
      window.next(1);
      const bytes = machines.bytesOf(call);
      packer.bytes.set(bytes, packer.add(bytes.length));
    }
    const message = packer.take().slice();
    const answers = answersTo(server, session, message);
    assert.ok(answers.length < 20 && answers.every(({ length }) => length <= SLOT_BYTES));
    assert.deepEqual(
      answers.flatMap(slotsOf),
      calls.map(({ slot }) => slot),
    );
    assert.equal(machines.store.executed, 20);
    session.answerBytes = 100;
    const narrow = answersTo(server, session, message);
    assert.deepEqual(
      narrow.map((answer) => slotsOf(answer).length),
      Array.from({ length: 10 }, () => 2),
    );
  });

  it('carries out what comes before a part of a message that makes no sense, and counts the rest once', () => {
    const machines = new TwoMachines(CALM, { window: 64 });
    const packer = new Packer(SLOT_BYTES);
    const bytes = messageOf(machines);
    packer.bytes.set(bytes, packer.add(bytes.length));
    const gap = packer.add(20);
    packer.bytes.fill(255, gap, gap + 20);
    assert.equal(answersTo(machines.server, machines.session, packer.take()).length, 1);
    assert.deepEqual([machines.store.executed, machines.server.counters.malformed], [1, 1]);
  });

  it('answers a request for another epoch with its own, and carries it out never', () => {
    const machines = new TwoMachines(CALM);
    const [answer] = answersTo(machines.server, machines.session, messageOf(machines).with(11, 1));
    const view = new ResponseView();
    assert.equal(view.look(answer), undefined);
    assert.deepEqual([view.status, view.epoch, machines.store.executed], [Status.EPOCH, EPOCH, 0]);
  });

  it('says how long a value is that does not fit the answer', () => {
    const long = { status: Status.OK, version: 3n, value: new Uint8Array(SLOT_BYTES), valueBytes: SLOT_BYTES };
    const machines = new TwoMachines(CALM);
    const server = new ServerMachine(EPOCH, { execute: () => long, maxValueBytes: 0 }, SLOT_BYTES);
    const [answer] = answersTo(server, machines.session, messageOf(machines));
    const view = new ResponseView();
    assert.equal(view.look(answer), undefined);
    assert.deepEqual([view.status, view.valueBytes, view.value.length], [Status.ELSEWHERE, SLOT_BYTES, 0]);
  });

  it('has so many sessions at most, and forgets those that are silent', () => {
    const ended: number[] = [];
    let word = 0;
    const sessions = new Sessions({ maxSessions: 2, maxSilenceUs: 100 }, () => (word += 1));
    const [first, second] = [sessions.open(1, 0), sessions.open(1, 50)];
    if (first === undefined || second === undefined) throw new Error('no room');
    first.onEnd = () => ended.push(1);
    second.onEnd = () => ended.push(2);
    assert.equal(sessions.open(1, 99), undefined, 'nobody was silent for long');
    first.heardUs = 120;
    assert.notEqual(sessions.open(1, 150), undefined);
    assert.deepEqual(ended, [2]);
    assert.equal(sessions.find(second.id), undefined);
    assert.equal(sessions.find(first.id), first);
    sessions.endAll();
    assert.deepEqual([sessions.size, ended], [0, [2, 1]]);
  });

  it('never throws, whatever comes', () => {
    const machines = new TwoMachines(CALM);
    const message = messageOf(machines);
    for (let at = 0; at < message.length; at += 1)
      for (const byte of [0, 1, 0x7f, 0xff]) machines.server.onMessage(machines.session, message.with(at, byte), 1);
    assert.ok(machines.store instanceof Counting);
  });
});
