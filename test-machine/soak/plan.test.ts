import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { cardsOf, lanePlans } from './lanes.js';
import { Planner } from './plan.js';

const CARDS = cardsOf(lanePlans({ server: '10.0.0.1', client: '10.0.0.2' }, ''));

function faults(seed: number, count = CARDS.length) {
  const planner = new Planner(seed, CARDS);
  return Array.from({ length: count }, () => planner.next());
}

describe('the plan of faults', () => {
  it('is the same for the same seed', () => {
    assert.deepEqual(faults(5), faults(5));
  });

  it('is another for another seed', () => {
    assert.notDeepEqual(faults(5), faults(6));
  });

  it('has everything that can be done to anybody once before anything is done again', () => {
    const dealt = faults(9).map(({ lane, member, kind, moment = '' }) => [lane, member, kind, moment].join(' '));
    assert.equal(new Set(dealt).size, CARDS.length);
  });

  it('stops programs for longer than a retry time, which is about a second', () => {
    const stops = faults(3, 1000).filter(({ kind }) => kind === 'stop');
    assert.ok(stops.length > 0 && stops.every(({ lastsMs }) => lastsMs >= 4000));
  });

  it('has each kind of death, at every moment', () => {
    const moments = new Set(CARDS.map(({ moment }) => moment));
    for (const moment of ['write', 'send', 'read', 'atomic', 'connect', 'accept', 'close'] as const)
      assert.ok(moments.has(moment), moment);
  });
});
