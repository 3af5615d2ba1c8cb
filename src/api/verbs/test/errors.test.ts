import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { adviceFor, invalid, PostError, refuse, VerbsError } from '../index.js';
import { WrOpcode } from '../../../device/ibta/index.js';

const problem = { errno: 'ENOMEM', message: 'the send queue is full', advice: 'Poll the send CQ' } as const;

describe('VerbsError', () => {
  it('says the call, what is wrong, its errno and what to do', () => {
    assert.equal(
      new VerbsError('ibv_post_send', problem).message,
      'ibv_post_send: the send queue is full (ENOMEM). Poll the send CQ',
    );
  });

  it('ends after the errno when there is no advice', () => {
    assert.equal(new VerbsError('ibv_poll_cq', invalid('no')).message, 'ibv_poll_cq: no (EINVAL)');
  });

  it('carries the errno by name, as Node names it, and by number', () => {
    const { errno, code, errnoNumber, call, advice } = new VerbsError('ibv_post_send', problem);
    assert.deepEqual([errno, code, errnoNumber], ['ENOMEM', 'ENOMEM', 12]);
    assert.deepEqual([call, advice], ['ibv_post_send', 'Poll the send CQ']);
  });

  it('keeps its cause', () => {
    const cause = new Error('the device said no');
    assert.equal(new VerbsError('ibv_reg_mr', problem, { cause }).cause, cause);
  });
});

describe('PostError', () => {
  const wr = { opcode: WrOpcode.SEND };

  it('is a VerbsError that names the request', () => {
    const error = new PostError('ibv_post_send', problem, wr, 2);
    assert.ok(error instanceof VerbsError);
    assert.equal(error.badWr, wr);
    assert.equal(error.index, 2);
    assert.match(error.message, /^ibv_post_send: request 2: the send queue is full/);
  });

  it('does not count when it was the first', () => {
    assert.match(new PostError('ibv_post_send', problem, wr, 0).message, /^ibv_post_send: the send queue/);
  });
});

describe('refuse', () => {
  it('throws a problem', () =>
    assert.throws(() => refuse('ibv_reg_mr', problem), { code: 'ENOMEM', call: 'ibv_reg_mr' }));
  it('does nothing without one', () => refuse('ibv_reg_mr', undefined));
});

describe('adviceFor', () => {
  it('knows what to do about an error of a call', () =>
    assert.match(adviceFor('ibv_modify_qp', 'EINVAL'), /RESET to INIT/));
  it('falls back to what the errno says', () => assert.match(adviceFor('ibv_alloc_pd', 'ENOMEM'), /no longer needed/));
  it('has nothing to say of the rest', () => assert.equal(adviceFor('toString', 'EIO'), ''));
});
