import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SharedLife } from '../index.js';

function lifeThat(says: string[]): SharedLife {
  return new SharedLife(() => {
    says.push('begins');
    return { ref: () => says.push('ref'), unref: () => says.push('unref'), end: () => says.push('ends') };
  });
}

describe('a life that several need', () => {
  it('begins with the first and ends with the last', () => {
    const says: string[] = [];
    const life = lifeThat(says);
    const [one, other] = [life.share(), life.share()];
    one.end();
    assert.deepEqual(says, ['begins']);
    other.end();
    assert.deepEqual(says, ['begins', 'ends']);
  });

  it('is referenced until nobody is', () => {
    const says: string[] = [];
    const life = lifeThat(says);
    const [one, other] = [life.share(), life.share()];
    one.unref();
    assert.equal(life.isReferenced, true);
    other.unref();
    assert.equal(life.isReferenced, false);
    one.ref();
    assert.deepEqual(says, ['begins', 'unref', 'ref']);
  });

  it('is not referenced when the last that was has ended', () => {
    const says: string[] = [];
    const life = lifeThat(says);
    const [one, other] = [life.share(), life.share()];
    other.unref();
    one.end();
    assert.deepEqual(says, ['begins', 'unref']);
  });

  it('is referenced by one who comes to it', () => {
    const says: string[] = [];
    const life = lifeThat(says);
    life.share().unref();
    life.share();
    assert.deepEqual(says, ['begins', 'unref', 'ref']);
  });

  it('counts each once, however often it says so', () => {
    const life = lifeThat([]);
    const [one, other] = [life.share(), life.share()];
    one.unref();
    one.unref();
    assert.equal(life.isReferenced, true);
    one.end();
    one.end();
    one.ref();
    assert.equal(life.users, 1);
    other.unref();
    assert.equal(life.isReferenced, false);
  });

  it('begins anew', () => {
    const says: string[] = [];
    const life = lifeThat(says);
    const first = life.share();
    first.unref();
    first.end();
    life.share();
    assert.deepEqual(says, ['begins', 'unref', 'ends', 'begins']);
    assert.equal(life.isReferenced, true);
  });

  it('has nobody who needs it where it cannot begin', () => {
    const life = new SharedLife(() => {
      throw new Error('on purpose');
    });
    assert.throws(() => life.share(), /on purpose/);
    assert.deepEqual([life.users, life.isReferenced], [0, false]);
  });
});
