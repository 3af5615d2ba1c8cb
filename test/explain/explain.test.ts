import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nameOf, WcStatus } from '../../src/index.js';
import { type Stories, storiesIn } from './captured.js';
import type { Expected, Failure } from './failure.js';
import { locals } from './locals.js';
import { refusals } from './refusals.js';
import { silences } from './silences.js';
import { A } from './stage.js';
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
  assert.match(verdict.text, expected.words);
}

describe('a failure is explained by its completion, by a capture, and better by two', () => {
  it('for thirty of them at least', () => {
    assert.ok(failures.length >= 30);
    assert.equal(new Set(failures.map(({ name }) => name)).size, failures.length);
  });

  for (const { name, script, status, completion, oneSide, bothSides = oneSide } of failures)
    it(name, () => {
      const { stage, completion: wc } = script();
      assert.equal(nameOf(WcStatus, wc.status), nameOf(WcStatus, status));
      assert.match(stage.a.context.explain(wc), completion);
      assertTold(told(stage.a.capture), oneSide);
      assertTold(told(stage.a.capture, stage.b.capture), bothSides);
      assertTold(told(stage.a.capture, stage.b.undirected), bothSides);
      assertTold(told(stage.a.undirected, stage.b.capture), bothSides);
      assertTold(told(stage.b.undirected, stage.a.undirected), bothSides);
    });
});
