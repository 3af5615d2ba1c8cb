import { describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { QpState } from '../../ibta/index.js';
import { assertCompleted, Pair, pattern } from './pair.js';

describe('a change of depths in SQD', () => {
  it('does not lose the READ of the peer that is being answered', () => {
    const pair = new Pair();
    const { a, b } = pair.connect({ both: { timeout: 8 } });
    const source = pair.b.mrOf(pattern(100));
    let lost = 0;
    pair.script = ({ isReadResponse }) => (isReadResponse && lost++ === 0 ? 'drop' : 'pass');
    const wrId = a.read(pair.a.mr(100), source);
    pair.run(50);
    b.modify({ qpState: QpState.SQD });
    b.modify({ qpState: QpState.SQD, maxDestRdAtomic: 32 });
    pair.drive();
    assertCompleted(a.sent(), [wrId]);
  });

  it('to no READs at all leaves no request without an end', () => {
    const pair = new Pair();
    const { a } = pair.connect({ both: { timeout: 8, retryCnt: 2 } });
    const source = pair.b.mrOf(pattern(100));
    let lost = 0;
    pair.script = ({ isReadResponse }) => (isReadResponse && lost++ === 0 ? 'drop' : 'pass');
    a.read(pair.a.mr(100), source);
    pair.run(50);
    a.modify({ qpState: QpState.SQD });
    try {
      a.modify({ qpState: QpState.SQD, maxRdAtomic: 0 });
    } catch {
      return; // refused while it drains: as good
    }
    pair.drive();
    assert.equal(a.sent().length, 1);
  });
});
