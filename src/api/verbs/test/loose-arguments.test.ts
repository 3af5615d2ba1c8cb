import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  adviseProblem,
  ahAttrFromWc,
  ahInitProblem,
  bindMwProblem,
  bytesProblem,
  cqInitProblem,
  listProblem,
  modifyInitProblem,
  modifyProblem,
  mwTypeProblem,
  objectProblem,
  type Problem,
  qpInitProblem,
  rateLimitProblem,
  recvProblem,
  sendProblem,
  srqInitProblem,
  srqModifyProblem,
  srqRecvProblem,
  wrFlagsProblem,
} from '../index.js';
import { MwType, QpType, SendFlags } from '../../../device/ibta/index.js';

const NO_OBJECTS: readonly unknown[] = [undefined, null, 7, 7n, 'text', true, Symbol('x'), () => 1];
const untyped = (value: unknown): never => value as never; // what a program without types may pass
const cap = { maxSendWr: 1, maxRecvWr: 1, maxSendSge: 2, maxRecvSge: 2, maxInlineData: 8 };
const limits = { maxSrqWr: 8, maxSrqSge: 2 };
const pacing = { qpRateLimitMin: 1, qpRateLimitMax: 9, supportedQpts: 1 << QpType.RAW_PACKET };
const send = (wr: unknown): Problem | undefined => sendProblem(QpType.RC, cap, 64, untyped(wr));

const CHECKS: Readonly<Record<string, (value: unknown) => Problem | undefined>> = {
  objectProblem: (value) => objectProblem('it', value),
  ahInitProblem: (value) => ahInitProblem('attr', value),
  'ahInitProblem, its route': (value) => ahInitProblem('attr', { grh: value ?? null }),
  ahAttrFromWc: (value) => {
    const answer = ahAttrFromWc(1, untyped(value), new Uint8Array(40), []);
    return 'problem' in answer ? answer.problem : undefined;
  },
  bindMwProblem: (value) => bindMwProblem(QpType.RC, { type: MwType.TYPE_1 }, value),
  cqInitProblem,
  modifyInitProblem,
  'modifyInitProblem, its address': (value) => modifyInitProblem({ ahAttr: value ?? null }),
  qpInitProblem,
  rateLimitProblem: (value) => rateLimitProblem(value, QpType.RAW_PACKET, pacing),
  srqInitProblem: (value) => srqInitProblem(value, limits),
  srqModifyProblem: (value) => srqModifyProblem(value, 1, limits),
  sendProblem: send,
  'sendProblem, its piece': (value) => send({ opcode: 2, sgList: [value] }),
  'sendProblem, its memory of the peer': (value) => send({ opcode: 0, rdma: value }),
  recvProblem: (value) => recvProblem(cap, untyped(value)),
  'recvProblem, its piece': (value) => recvProblem(cap, { sgList: [value] }),
  srqRecvProblem: (value) => srqRecvProblem(1, untyped(value)),
  'adviseProblem, its piece': (value) => adviseProblem(0, 0, [value]),
};

describe('what is not an object where one is asked for', () => {
  for (const [name, check] of Object.entries(CHECKS)) {
    it(`is found by ${name}`, () => {
      for (const value of NO_OBJECTS) assert.equal(check(value)?.errno, 'EINVAL', String(value));
    });
  }

  it('is named', () => {
    assert.equal(objectProblem('init', undefined)?.message, 'init is missing');
    assert.equal(objectProblem('init', null)?.message, 'init is null');
    assert.equal(objectProblem('init', 7)?.message, 'init is not an object');
    assert.equal(objectProblem('init', {}), undefined);
  });
});

describe('what is not a list where one is asked for', () => {
  for (const sgList of [null, 7, 'text', {}, { length: 0 }]) {
    it(`is found: ${JSON.stringify(sgList)}`, () => {
      assert.equal(listProblem('sgList', sgList)?.errno, 'EINVAL');
      assert.equal(send({ opcode: 2, sgList })?.errno, 'EINVAL');
      assert.equal(recvProblem(cap, { sgList })?.errno, 'EINVAL');
      assert.equal(srqRecvProblem(1, { sgList })?.errno, 'EINVAL');
      assert.equal(adviseProblem(0, 0, sgList)?.errno, 'EINVAL');
    });
  }
});

describe('values of another kind', () => {
  it('are no opcode', () => {
    for (const opcode of [undefined, null, 2n, '2', Symbol('x')]) assert.equal(send({ opcode })?.errno, 'EINVAL');
  });

  it('are no bytes', () => {
    for (const bytes of [undefined, null, 'text', [1], new Int8Array(1)])
      assert.equal(bytesProblem('it', bytes)?.errno, 'EINVAL');
    assert.equal(bytesProblem('it', new Uint8Array(1)), undefined);
  });

  it('are no flags of a request that is built', () => {
    for (const flags of [2 ** 32, 1.5, NaN, '1', null, SendFlags.INLINE, 1 << 10])
      assert.equal(wrFlagsProblem(flags)?.errno, 'EINVAL');
    assert.equal(wrFlagsProblem(SendFlags.FENCE | SendFlags.SIGNALED | SendFlags.SOLICITED), undefined);
  });

  it('are no type of a window', () => {
    for (const type of [0, 3, null, Symbol('x')]) assert.equal(mwTypeProblem(type)?.errno, 'EINVAL');
    assert.equal(mwTypeProblem(MwType.TYPE_2), undefined);
  });

  it('do not say whether all requests are signalled', () => {
    const init = { qpType: QpType.RC, sendCq: {}, recvCq: {} };
    for (const sqSigAll of [0, 1, null, 'yes', () => 1])
      assert.equal(qpInitProblem({ ...init, sqSigAll })?.errno, 'EINVAL');
    for (const sqSigAll of [undefined, true, false]) assert.equal(qpInitProblem({ ...init, sqSigAll }), undefined);
  });

  it('are no sizes, nor an alternate path, that a queue pair could be given', () => {
    assert.equal(modifyProblem({ cap: untyped(() => 1) })?.errno, 'EINVAL');
    assert.equal(modifyProblem({ altAhAttr: untyped(() => 1) })?.errno, 'EINVAL');
  });
});
