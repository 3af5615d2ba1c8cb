import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { defaultQpCap, queueFullProblem, recvProblem, srqRecvProblem } from '../index.js';

describe('a receive request', () => {
  const cap = { ...defaultQpCap, maxRecvSge: 2 };
  const sge = { addr: 0x1000, length: 16, lkey: 7 };

  it('can have no pieces, or as many as the QP takes', () => {
    assert.equal(recvProblem(cap, {}), undefined);
    assert.equal(recvProblem(cap, { wrId: 3n, sgList: [sge, sge] }), undefined);
  });

  it('cannot have more', () => {
    assert.match(recvProblem(cap, { sgList: [sge, sge, sge] })?.message ?? '', /3 pieces, but the QP takes 2/);
  });

  it('names memory by its key, never by bytes', () => {
    const bytes = { bytes: new Uint8Array(4) };
    assert.match(recvProblem(cap, { sgList: [bytes] })?.message ?? '', /sgList\[0\]\.addr is missing/);
  });

  it('of a shared queue has at most as many pieces as that takes', () => {
    assert.equal(srqRecvProblem(1, { sgList: [sge] }), undefined);
    assert.match(srqRecvProblem(1, { sgList: [sge, sge] })?.message ?? '', /2 pieces, but the SRQ takes 1/);
  });

  it('has an id of 64 bits', () => assert.match(recvProblem(cap, { wrId: 2n ** 64n })?.message ?? '', /wrId/));
});

describe('a full queue', () => {
  for (const queue of ['receive', 'shared receive'] as const) {
    it(`says which it is: ${queue}`, () => {
      assert.match(queueFullProblem(queue, 4).message, new RegExp(`^the ${queue} queue is full`));
    });
  }

  it('is ENOMEM, as in C, and says how many are outstanding', () => {
    const problem = queueFullProblem('send', 16);
    assert.equal(problem.errno, 'ENOMEM');
    assert.match(problem.message, /all of its 16 requests/);
  });
});
