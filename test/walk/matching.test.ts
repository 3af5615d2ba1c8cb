import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Matching } from './matching.js';

describe('messages that look alike', () => {
  it('are taken for one another until one could be nothing else', () => {
    const matching = new Matching<string, string>();
    assert.equal(matching.add('first', ['A', 'B'], 1), 'A');
    // It can only be A, so the first was B.
    assert.equal(matching.add('second', ['A'], 1), 'B');
  });

  it('are too few when no way is left to give each its own', () => {
    const matching = new Matching<string, string>();
    matching.add('first', ['A', 'B'], 1);
    matching.add('second', ['A', 'B'], 1);
    assert.equal(matching.add('third', ['A', 'B'], 1), undefined);
  });

  it('come as often as packets may be doubled', () => {
    const matching = new Matching<string, string>();
    const came = ['first', 'second', 'third'].map((receive) => matching.add(receive, ['A'], 2));
    assert.deepEqual(came, ['A', 'A', undefined]);
  });

  it('change hands along a chain', () => {
    const matching = new Matching<string, string>();
    matching.add('first', ['A', 'B'], 1);
    matching.add('second', ['B', 'C'], 1);
    matching.add('third', ['C', 'D'], 1);
    assert.equal(matching.add('fourth', ['A'], 1), 'D');
  });
});
