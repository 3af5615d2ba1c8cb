import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SeededRandom } from '../../../device/link/index.js';
import { WaitingLine } from '../protocol/index.js';

interface Waiting {
  place: number;
  readonly name: number;
}

const waiting = (name: number): Waiting => ({ place: 0, name });

describe('a line of requests that wait for a slot', () => {
  it('is as a list would be, whoever comes, is next, or gives up', () => {
    const random = new SeededRandom(7);
    const line = new WaitingLine<Waiting>();
    let list: Waiting[] = [];
    let names = 0;
    for (let step = 0; step < 50_000; step += 1) {
      // It becomes long, and short again.
      const isGrowing = step % 10_000 < 5000;
      const what = random.below(10);
      if (what < (isGrowing ? 6 : 2)) {
        const one = waiting(names++);
        line.add(one);
        list.push(one);
      } else if (what < 9) {
        assert.equal(line.shift(), list.shift());
      } else if (list.length > 0) {
        const one = list[random.below(list.length)];
        line.remove(one);
        list = list.filter((other) => other !== one);
      }
      assert.equal(line.length, list.length);
    }
    assert.deepEqual(line.drain(), list);
    assert.equal(line.shift(), undefined);
  });

  it('does not take out who is not in it any more, though another stands where it stood', () => {
    const line = new WaitingLine<Waiting>();
    const [gone, other] = [waiting(1), waiting(2)];
    line.add(gone);
    assert.equal(line.shift(), gone);
    line.add(other);
    line.remove(gone);
    assert.equal(line.shift(), other);
  });

  it('has room again for who was taken out with all others', () => {
    const line = new WaitingLine<Waiting>();
    const one = waiting(1);
    line.add(one);
    assert.deepEqual(line.drain(), [one]);
    line.remove(one);
    line.add(one);
    assert.equal(line.length, 1);
    assert.equal(line.shift(), one);
  });
});
