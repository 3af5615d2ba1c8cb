import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ruleIn } from './table.js';

const RULE = { name: 'a', rule: 'a rule', source: 'IBTA', in: 'A.b', from: 'x', to: '', games: ['tests'] };

describe('a rule in a table of mutants', () => {
  it('is what its JSON says', () => assert.deepEqual(ruleIn(RULE), RULE));

  for (const [what, value, problem] of [
    ['that is none', 5, /games are undefined/],
    ['without code', { ...RULE, from: undefined }, /from is no text/],
    ['without a game', { ...RULE, games: [] }, /games are \[\]/],
    ['with a game that there is not', { ...RULE, games: ['chess'] }, /games are \["chess"\]. Name some of traffic, /],
  ] as const)
    it(`${what} is refused`, () => {
      assert.throws(() => ruleIn(value), problem);
    });
});
