import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nameOf, WcStatus } from '../../src/index.js';
import { storiesOf } from '../../src/cli/explain/read.js';
import { Sightings } from '../../src/cli/explain/sightings.js';
import type { Story } from '../../src/cli/explain/story.js';
import { readCapture } from '../../src/wire/index.js';
import type { Expected, Failure } from './failure.js';
import { locals } from './locals.js';
import { refusals } from './refusals.js';
import { silences } from './silences.js';
import { A } from './stage.js';
import { ways } from './ways.js';

const failures: readonly Failure[] = [...silences, ...ways, ...refusals, ...locals];

/** What captures tell of the requests of the first side. */
function storiesIn(...captures: readonly Uint8Array[]): Story[] {
  const sightings = new Sightings();
  for (const capture of captures) {
    sightings.beginFile();
    for (const record of readCapture(capture)) sightings.add(record);
  }
  sightings.end();
  return storiesOf(sightings).filter(({ study }) => study.half.requester === A);
}

function assertTold(stories: readonly Story[], expected: Expected | undefined): void {
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
      assertTold(storiesIn(stage.a.capture), oneSide);
      assertTold(storiesIn(stage.a.capture, stage.b.capture), bothSides);
    });
});
