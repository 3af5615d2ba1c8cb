import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as nextRound } from 'node:timers/promises';
import { Waiters } from '../index.js';

/** More than are given out in a round of the event loop. */
const MANY = 1000;

class Numbers {
  readonly items: number[] = [];
  listening = 0;
  failure: Error | undefined;
  /** Done while something is taken. */
  meanwhile = (): void => undefined;
  readonly waiters = new Waiters<number>({
    take: () => {
      if (this.failure !== undefined) throw this.failure;
      this.meanwhile();
      return this.items.shift();
    },
    listen: () => (this.listening += 1),
    rest: () => (this.listening -= 1),
  });

  push(...items: number[]): void {
    this.items.push(...items);
    this.waiters.serve();
  }
}

async function letsTimersFire(wait: () => Promise<unknown>): Promise<void> {
  const timer = { fired: false };
  setTimeout(() => (timer.fired = true), 0);
  for (let rounds = 0; !timer.fired; rounds += 1) {
    // A timer fires some milliseconds after it is due at most, not after ten million results.
    assert.ok(rounds < 1e7, 'no timer fired');
    await wait();
  }
}

describe('a wait', () => {
  it('ends with what is there, without listening', async () => {
    const source = new Numbers();
    source.push(1, 2);
    assert.deepEqual([await source.waiters.next(), await source.waiters.next(), source.listening], [1, 2, 0]);
  });

  it('ends with what comes', async () => {
    const source = new Numbers();
    const waiting = source.waiters.next();
    assert.equal(source.listening, 1);
    source.push(7);
    assert.deepEqual([await waiting, source.listening], [7, 0]);
  });

  it('of two gets what comes first when it began first', async () => {
    const source = new Numbers();
    const waiting = [source.waiters.next(), source.waiters.next()];
    source.push(1);
    assert.equal(source.listening, 1);
    source.push(2);
    assert.deepEqual([await Promise.all(waiting), source.listening], [[1, 2], 0]);
  });

  it('keeps its turn though many have gone before', async () => {
    const source = new Numbers();
    source.push(...Array.from({ length: MANY }, (_, i) => i));
    const waiting = Array.from({ length: MANY }, () => source.waiters.next());
    assert.deepEqual(await Promise.all(waiting), [...Array(MANY).keys()]);
  });

  it('does not begin when its signal was aborted before', async () => {
    const source = new Numbers();
    source.push(1);
    await assert.rejects(source.waiters.next(AbortSignal.abort('no')), (reason) => reason === 'no');
    assert.equal(await source.waiters.next(), 1);
  });

  it('ends when its signal is aborted, and takes nothing then', async () => {
    const source = new Numbers();
    const ac = new AbortController();
    const waiting = source.waiters.next(ac.signal);
    const other = source.waiters.next();
    ac.abort('enough');
    await assert.rejects(waiting, (reason) => reason === 'enough');
    source.push(5);
    assert.deepEqual([await other, source.listening], [5, 0]);
  });

  it('may begin in the turn in which another was aborted', async () => {
    const source = new Numbers();
    const ac = new AbortController();
    const waiting = source.waiters.next(ac.signal);
    ac.abort('enough');
    const other = source.waiters.next();
    await assert.rejects(waiting, (reason) => reason === 'enough');
    await nextRound();
    assert.equal(source.listening, 1);
    source.push(5);
    assert.equal(await other, 5);
  });

  it('ends after a time', async () => {
    // The timer of a signal keeps no process alive, and no source does here.
    const awake = setInterval(() => undefined, 1000);
    await assert.rejects(new Numbers().waiters.next(AbortSignal.timeout(1)), { name: 'TimeoutError' });
    clearInterval(awake);
  });

  it('that ends while something is taken for it leaves that to the next', async () => {
    const source = new Numbers();
    const ac = new AbortController();
    const waiting = source.waiters.next(ac.signal);
    source.meanwhile = () => ac.abort('enough');
    source.push(1, 2);
    await assert.rejects(waiting, (reason) => reason === 'enough');
    assert.deepEqual([await source.waiters.next(), source.waiters.tryTake()], [1, 2]);
  });

  it('whose signal is aborted while it looks ends', async () => {
    const source = new Numbers();
    const ac = new AbortController();
    source.meanwhile = () => ac.abort('enough');
    await assert.rejects(source.waiters.next(ac.signal), (reason) => reason === 'enough');
  });

  it('ends with nothing when all is closed, and so do later ones', async () => {
    const source = new Numbers();
    const waiting = [source.waiters.next(), source.waiters.next()];
    source.waiters.close();
    assert.deepEqual([await Promise.all(waiting), source.listening], [[undefined, undefined], 0]);
    assert.equal(await source.waiters.next(), undefined);
  });

  it('fails with its source, and a later one may do better', async () => {
    const source = new Numbers();
    const waiting = [source.waiters.next(), source.waiters.next()];
    source.failure = new Error('gone');
    source.waiters.serve();
    for (const wait of waiting) await assert.rejects(wait, /gone/);
    await assert.rejects(source.waiters.next(), /gone/);
    assert.equal(source.listening, 0);
    source.failure = undefined;
    source.push(3);
    assert.equal(await source.waiters.next(), 3);
  });

  it('misses nothing that comes while something is taken', async () => {
    const source = new Numbers();
    const waiting = source.waiters.next();
    let once = true;
    source.meanwhile = () => {
      if (!once) return;
      once = false;
      queueMicrotask(() => source.push(1));
      source.waiters.serve();
    };
    source.waiters.serve();
    assert.equal(await waiting, 1);
  });
});

describe('waits one after the other', () => {
  it('let timers fire though there is always something', async () => {
    const source = new Numbers();
    source.meanwhile = () => source.items.push(1);
    await letsTimersFire(() => source.waiters.next());
  });

  it('do so in a loop', async () => {
    const source = new Numbers();
    source.meanwhile = () => source.items.push(1);
    const events = source.waiters.iterate();
    await letsTimersFire(() => events.next());
  });

  it('do so though the source has something only when it listens', async () => {
    const source = new Numbers();
    source.meanwhile = () => {
      if (source.listening > 0) source.items.push(1);
    };
    await letsTimersFire(() => source.waiters.next());
  });
});

describe('an iterator', () => {
  it('gives one thing after the other, until all is closed', async () => {
    const source = new Numbers();
    source.push(1, 2, 3);
    const seen: number[] = [];
    for await (const item of source.waiters.iterate()) {
      seen.push(item);
      if (item === 3) setImmediate(() => source.waiters.close());
    }
    assert.deepEqual(seen, [1, 2, 3]);
  });

  it('that returns ends its own wait, and no other', async () => {
    const source = new Numbers();
    const [one, two] = [source.waiters.iterate(), source.waiters.iterate()];
    const waiting = [one.next(), two.next()];
    await one.return?.();
    source.push(4);
    assert.deepEqual(await Promise.all(waiting), [
      { done: true, value: undefined },
      { done: false, value: 4 },
    ]);
    assert.equal((await one.next()).done, true);
  });
});

describe('a follower', () => {
  it('has all at the moment it comes, until it stops', async () => {
    const source = new Numbers();
    const seen: number[] = [];
    const following = source.waiters.follow({
      onEvent: (item) => void seen.push(item),
      onEnd: () => assert.fail(),
      onFailure: () => assert.fail(),
    });
    source.push(1, 2);
    assert.deepEqual(seen, [1, 2]);
    following.stop();
    source.push(3);
    assert.deepEqual([seen, source.listening], [[1, 2], 0]);
    assert.equal(await source.waiters.next(), 3);
  });

  it('learns what was there before when it starts', () => {
    const source = new Numbers();
    source.items.push(1);
    const seen: (number | string)[] = [];
    const following = source.waiters.follow({
      onEvent: (item) => void seen.push(item),
      onEnd: () => void seen.push('end'),
      onFailure: () => assert.fail(),
    });
    assert.deepEqual(seen, []);
    following.start();
    source.waiters.close();
    assert.deepEqual(seen, [1, 'end']);
  });
});
