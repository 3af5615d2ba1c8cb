import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hunt } from './hunt.js';
import { mutate, sources } from './mutant.js';
import { mutants } from './table.js';

/** Two that are found at once, by different games; `npm run mutants` plays them all. */
const QUICK = ['psn-ahead', 'peer-address'];

describe('the table of mutants', () => {
  it('names each rule once', () => {
    assert.equal(new Set(mutants.map(({ name }) => name)).size, mutants.length);
  });

  it('finds each rule in the source, once', (t) => {
    const moved: string[] = [];
    const wrong = mutants.flatMap((mutant) => {
      try {
        const { file, text } = mutate(mutant);
        if (sources().named(mutant.in).length === 0) moved.push(mutant.name);
        return text === sources().textOf(file) ? [`mutant ${mutant.name} changes nothing: edit its 'to'`] : [];
      } catch (error) {
        return [error instanceof Error ? error.message : String(error)];
      }
    });
    if (moved.length > 0)
      t.diagnostic(`found by their code alone: ${moved.join(', ')}. Run 'npm run mutants -- --update'.`);
    assert.deepEqual(wrong, []);
  });
});

describe('a rule of the NIC that is switched off is noticed', () => {
  for (const mutant of mutants.filter(({ name }) => QUICK.includes(name)))
    it(`such as: ${mutant.rule}`, async () => {
      const verdict = await hunt(mutant);
      assert.equal(verdict.kind, 'found', JSON.stringify(verdict));
    });
});
