import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AttackRun, Insider } from './attack-run.js';
import { attacks, KNOWERS } from './attacks/index.js';
import { GOALS } from './judge.js';

/** What `npm test` tries; `npm run adversary` tries as often as one likes. */
const ATTEMPTS = 20_000;
const SEED = Number(process.env['VERBENA_SEED'] ?? 1);

describe('an adversary', () => {
  it(`comes to nothing in ${ATTEMPTS} attempts of seed ${SEED}`, () => {
    const attackRun = new AttackRun(SEED);
    attackRun.run(ATTEMPTS);
    assert.equal(attackRun.attempts, ATTEMPTS);
  });

  it('tries everything there is', () => {
    assert.deepEqual([...new Set(attacks.map(({ knower }) => knower))].sort(), [...KNOWERS].sort());
    assert.deepEqual([...new Set(attacks.map(({ goal }) => goal))].sort(), [...GOALS].sort());
    assert.equal(new Set(attacks.map(({ knower, name }) => `${knower} ${name}`)).size, attacks.length);
  });
});

describe('who is told the numbers, or has leave,', () => {
  const insider = new Insider(SEED);
  for (const attack of attacks)
    it(`comes to '${attack.goal}' by ${attack.name} as a ${attack.knower}, and is noticed`, () => {
      assert.ok(insider.attempt(attack).includes(attack.goal));
    });
});
