import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { LoopSpin, type Rounds, SpinRounds, SpinTime } from '../event-loop/loop-spin.js';

const MOST_US = 200;
const ROUND_US = 2;

/** An event loop in virtual time: each round takes a while, and does what was asked of it. */
class Loop implements Rounds {
  now = 0;
  yields = 0;
  /** What others take of the processor when it is offered to them. */
  takenUs = 0;
  #next: (() => void)[] = [];

  nowUs(): number {
    return this.now;
  }

  next(round: () => void): void {
    this.#next.push(round);
  }

  yield(): void {
    this.yields += 1;
    this.now += this.takenUs;
  }

  leave(): void {
    // Others are there as well.
  }

  get wanted(): number {
    return this.#next.length;
  }

  turn(): void {
    this.now += ROUND_US;
    for (const round of this.#next.splice(0)) round();
  }

  /** Turns until nobody wants one. */
  settle(): void {
    while (this.wanted > 0) this.turn();
  }
}

class Someone {
  readonly log: string[] = [];
  turns = 0;
  looks = 0;
  found = 0;
  #lookedAtUs = -1;
  readonly spin: LoopSpin;

  constructor(all: SpinRounds, time = new SpinTime(MOST_US)) {
    const waited = {
      look: (nowUs: number) => {
        this.looks += 1;
        if (nowUs !== this.#lookedAtUs) this.turns += 1;
        this.#lookedAtUs = nowUs;
        if (this.found === 0) return false;
        this.found -= 1;
        return true;
      },
      wakeUp: () => void this.log.push('awake'),
      fallAsleep: () => void this.log.push('asleep'),
    };
    this.spin = new LoopSpin(waited, all, time);
  }
}

function begin(): { loop: Loop; all: SpinRounds; someone: Someone } {
  const loop = new Loop();
  const all = new SpinRounds(loop);
  return { loop, all, someone: new Someone(all) };
}

describe('who waits in the event loop', () => {
  test('looks in each turn of the loop, and falls asleep when it has looked for long enough', () => {
    const { loop, someone } = begin();
    someone.spin.stir(loop.now);
    loop.settle();
    assert.deepEqual(someone.log, ['awake', 'asleep']);
    assert.equal(someone.turns, MOST_US / ROUND_US);
    assert.equal(loop.wanted, 0);
  });

  test('looks several times in a turn, and no more in that turn once something was there', () => {
    const { loop, someone } = begin();
    someone.spin.stir(loop.now);
    loop.turn();
    assert.ok(someone.looks > 1);
    const before = someone.looks;
    someone.found = 2;
    loop.turn();
    assert.equal(someone.looks, before + 1);
  });

  test('goes on for as long again after what it has found', () => {
    const { loop, someone } = begin();
    someone.spin.stir(loop.now);
    for (let i = 0; i < 10; i += 1) loop.turn();
    someone.found = 1;
    loop.settle();
    assert.equal(someone.turns, 11 + MOST_US / ROUND_US);
  });

  test('offers the processor to others while it finds nothing', () => {
    const { loop, someone } = begin();
    someone.spin.stir(loop.now);
    someone.found = 50;
    for (let i = 0; i < 50; i += 1) loop.turn();
    const yields = (): number => loop.yields;
    assert.equal(yields(), 0);
    loop.settle();
    assert.ok(yields() > 0);
  });

  test('shares its rounds with all others', () => {
    const { loop, all, someone } = begin();
    const other = new Someone(all);
    someone.spin.stir(loop.now);
    other.spin.stir(loop.now);
    assert.equal(loop.wanted, 1);
    loop.turn();
    assert.deepEqual([someone.turns, other.turns, loop.wanted], [1, 1, 1]);
  });

  test('neither looks nor falls asleep once it has ended, also when it ends while it looks', () => {
    const { loop, all } = begin();
    const ended = new LoopSpin(
      {
        look: () => {
          ended.end();
          return false;
        },
        wakeUp: () => undefined,
        fallAsleep: () => assert.fail('nobody waits any more'),
      },
      all,
      new SpinTime(0.5),
    );
    ended.stir(loop.now);
    loop.settle();
    assert.equal(ended.isAwake, false);
  });

  test('goes on though another throws', () => {
    const { loop, all, someone } = begin();
    const broken = new LoopSpin(
      {
        look: () => {
          broken.end();
          throw new Error('broken');
        },
        wakeUp: () => undefined,
        fallAsleep: () => undefined,
      },
      all,
      new SpinTime(MOST_US),
    );
    broken.stir(loop.now);
    someone.spin.stir(loop.now);
    assert.throws(() => loop.turn(), /broken/);
    loop.settle();
    assert.deepEqual(someone.log, ['awake', 'asleep']);
  });

  test('does not look at all where that is switched off', () => {
    const { loop, all } = begin();
    const sleeper = new Someone(all, new SpinTime(0));
    for (let i = 0; i < 10; i += 1) {
      sleeper.spin.stir(loop.now);
      loop.now += 20;
      sleeper.spin.woken(loop.now);
    }
    assert.deepEqual(sleeper.log, []);
    assert.equal(loop.wanted, 0);
  });

  test('learns not to look for what comes seldom, and to look again for what comes often', () => {
    const { loop, someone } = begin();
    const messageAfter = (us: number): void => {
      loop.settle();
      loop.now += us;
      someone.spin.woken(loop.now);
    };
    someone.spin.stir(loop.now);
    for (let i = 0; i < 20; i += 1) messageAfter(10_000);
    assert.equal(someone.spin.isAwake, false);
    const before = someone.turns;
    messageAfter(10_000);
    assert.equal(someone.turns, before);
    messageAfter(50);
    assert.equal(someone.spin.isAwake, true);
    loop.settle();
    assert.equal(someone.turns, before + 100 / ROUND_US);
  });
});

describe('who offers the processor to others while he waits', () => {
  /** Messages, each soon after the last one had come. */
  function messages(loop: Loop, someone: Someone, count: number): void {
    for (let i = 0; i < count; i += 1) {
      loop.settle();
      someone.spin.woken(loop.now);
      loop.now += 100;
      someone.spin.woken(loop.now);
    }
  }

  test('sleeps once others have taken it, and tries again less and less often', () => {
    const { loop, someone } = begin();
    loop.takenUs = 3000;
    messages(loop, someone, 1000);
    loop.settle();
    assert.equal(someone.spin.isAwake, false);
    assert.ok(loop.yields > 1 && loop.yields <= 10, `${loop.yields} times`);
  });

  test('looks again when nobody takes it any more', () => {
    const { loop, someone } = begin();
    loop.takenUs = 3000;
    messages(loop, someone, 20);
    loop.settle();
    loop.takenUs = 0;
    loop.now += 1_000_000;
    const before = someone.turns;
    messages(loop, someone, 1);
    loop.settle();
    assert.ok(someone.looks > before);
  });
});

test('how long to look is never negative and never above the most, whatever comes when', () => {
  fc.assert(
    fc.property(
      fc.double({ min: 0, max: 1000, noNaN: true }),
      fc.array(fc.double({ min: 0, max: 1e9 })),
      (most, gaps) => {
        const time = new SpinTime(most);
        for (const gap of gaps) {
          time.woken(gap);
          assert.ok(time.us >= 0 && time.us <= most);
        }
      },
    ),
  );
});

test('looking in vain soon ends, however long it went on', () => {
  const time = new SpinTime(MOST_US);
  for (let i = 0; i < 6; i += 1) time.woken(10 * MOST_US);
  assert.equal(time.us, 0);
});
