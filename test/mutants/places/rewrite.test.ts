import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { rewriteRule } from './rewrite.js';

const TABLE = `export const rules = [
  { name: 'a', in: 'A.b', from: 'x', to: '' },
  { name: 'b', in: 'A.b', from: \`y\`, to: '', games: ['tests'] },
];
`;

describe('a rule of a table', () => {
  it('gets new values, and nothing else changes', () => {
    const changes = { in: "B['c']", from: 'say("it\'s")', to: 'a\\b\n`${c}`' };
    assert.equal(
      rewriteRule(TABLE, 'b', changes),
      TABLE.replace(
        "in: 'A.b', from: `y`, to: ''",
        "in: \"B['c']\", from: 'say(\"it\\'s\")', to: `a\\\\b\n\\`\\${c}\\``",
      ),
    );
  });

  it('is found by its name alone', () => {
    assert.equal(rewriteRule(TABLE, 'c', { in: 'B' }), undefined);
    assert.throws(() => rewriteRule(TABLE, 'a', { games: 'x' }), /the rule a has no property 'games'/);
  });
});
