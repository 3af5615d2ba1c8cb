import assert from 'node:assert/strict';
import { describe, it, mock } from 'node:test';
import { Overdue } from '../launcher/overdue.js';

/** What is said within so many seconds. */
function saidAfter(seconds: number, names: readonly string[], act: (overdue: Overdue) => void): readonly string[] {
  mock.timers.enable({ apis: ['setTimeout'] });
  try {
    const said: string[] = [];
    act(
      new Overdue(
        () => names,
        (sentence) => said.push(sentence),
      ),
    );
    mock.timers.tick(seconds * 1000);
    return said;
  } finally {
    mock.timers.reset();
  }
}

describe('a launcher that does not end', () => {
  it('says who did not end when it was told to', () => {
    const said = saidAfter(10, ['sh (7)', 'rping (9)'], (overdue) => overdue.onSignal('SIGTERM'));
    assert.deepEqual(said, ['10 s after SIGTERM the launcher has not ended: waits for sh (7), rping (9)']);
  });

  it('says so once, however often it is told', () => {
    const said = saidAfter(100, ['sh (7)'], (overdue) => {
      overdue.onSignal('SIGINT');
      overdue.onSignal('SIGTERM');
    });
    assert.equal(said.length, 1);
  });

  it('says whom the program has left behind', () => {
    const said = saidAfter(1, ['sleep (8)'], (overdue) => overdue.onProgramEnd());
    assert.deepEqual(said, ['the program has ended; what it has started goes on, and is served: sleep (8)']);
  });

  it('says what there is to say of itself where nobody is left', () => {
    const [sentence = ''] = saidAfter(1, [], (overdue) => overdue.onProgramEnd());
    assert.match(sentence, /the launcher has not: it knows of no process that is left; threads .* filter: none$/);
  });

  it('says nothing once it ends', () => {
    const said = saidAfter(100, ['sh (7)'], (overdue) => {
      overdue.onSignal('SIGTERM');
      overdue.onProgramEnd();
      overdue.stop();
    });
    assert.deepEqual(said, []);
  });
});
