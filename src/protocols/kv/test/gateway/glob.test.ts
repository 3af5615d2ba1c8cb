import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isGlobMatch } from '../../gateway/commands/glob.js';

describe('a pattern of keys', () => {
  const MATCHES: readonly (readonly [string, string, boolean])[] = [
    ['*', '', true],
    ['*', 'anything', true],
    ['h?llo', 'hello', true],
    ['h?llo', 'hllo', false],
    ['h*llo', 'heeeello', true],
    ['h*llo', 'heeeell', false],
    ['h[ae]llo', 'hallo', true],
    ['h[ae]llo', 'hillo', false],
    ['h[^e]llo', 'hallo', true],
    ['h[^e]llo', 'hello', false],
    ['h[a-c]llo', 'hbllo', true],
    ['h[c-a]llo', 'hbllo', true],
    ['h[a-c]llo', 'hdllo', false],
    ['h\\*llo', 'h*llo', true],
    ['h\\*llo', 'hello', false],
    ['[\\]]', ']', true],
    ['[\\a-c]', 'b', false],
    ['[\\a-c]', 'a', true],
    ['[\\a-c]', '-', true],
    ['[\\a-c]', 'c', true],
    ['[\\?-^?', 'A', false],
    ['[\\?-^?', '^', true],
    ['[a-\\c]', 'b', false],
    ['user:*:name', 'user:17:name', true],
    ['user:*:name', 'user:17:names', false],
    ['', '', true],
    ['', 'x', false],
    ['[', '[', false],
  ];
  for (const [glob, text, isMatch] of MATCHES)
    it(`${glob} ${isMatch ? 'is' : 'is not'} ${JSON.stringify(text)}`, () =>
      assert.equal(isGlobMatch(glob, text), isMatch));

  it('of many stars is tried in time in proportion to both lengths', () => {
    // By going back at each star it would take longer than the universe is old.
    assert.equal(isGlobMatch(`${'*a'.repeat(500)}b`, 'a'.repeat(20_000)), false);
  });
});
