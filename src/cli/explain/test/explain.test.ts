import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nameOf, WcStatus } from '../../../entry/index.js';
import { type Stories, storiesIn, wordsOf } from './captured.js';
import type { Expected, Failure } from './failure.js';
import { locals } from './locals.js';
import { refusals } from './refusals.js';
import { silences } from './silences.js';
import { A } from './testbed.js';
import { ways } from './ways.js';

const failures: readonly Failure[] = [...silences, ...ways, ...refusals, ...locals];

/** What captures tell of the requests of the first side. */
const told = (...captures: readonly Uint8Array[]): Stories =>
  storiesIn(...captures).filter(({ study }) => study.half.requester === A);

function assertTold(stories: Stories, expected: Expected | undefined): void {
  if (expected === undefined) {
    assert.deepEqual(stories, []);
    return;
  }
  assert.equal(stories.length, 1);
  const [{ verdict }] = stories;
  assert.equal(verdict.cause, expected.cause, verdict.text);
  assert.match(wordsOf(verdict), expected.words);
}

describe('a failure is explained by its completion, by a capture, and better by two', () => {
  it('for thirty of them at least', () => {
    assert.ok(failures.length >= 30);
    assert.equal(new Set(failures.map(({ name }) => name)).size, failures.length);
  });

  for (const { name, script, status, completion, oneSide, bothSides = oneSide } of failures)
    it(name, () => {
      const { testbed, completion: wc } = script();
      assert.equal(nameOf(WcStatus, wc.status), nameOf(WcStatus, status));
      assert.match(testbed.a.context.explain(wc), completion);
      assertTold(told(testbed.a.capture), oneSide);
      assertTold(told(testbed.a.capture, testbed.b.capture), bothSides);
      assertTold(told(testbed.a.capture, testbed.b.undirected), bothSides);
      assertTold(told(testbed.a.undirected, testbed.b.capture), bothSides);
      assertTold(told(testbed.b.undirected, testbed.a.undirected), bothSides);
    });
});
