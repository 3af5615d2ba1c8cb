import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { checkTransition, nameOf, QpAttrMask, QpState, QpType, transitionRule } from '../index.js';
import { allBits, everyPair, expectedRule } from './transition-table.js';

const { STATE, ALT_PATH, CUR_STATE } = QpAttrMask;
const title = (type: QpType, from: QpState, to: QpState): string =>
  `${nameOf(QpType, type)} ${nameOf(QpState, from)} to ${nameOf(QpState, to)}`;

describe('the transition table', () => {
  it('has exactly the transitions of protocol/services.md 3.10, with its masks', () => {
    for (const [type, from, to] of everyPair()) {
      assert.deepEqual(transitionRule(type, from, to), expectedRule(type, from, to), title(type, from, to));
    }
  });

  it('keeps required and optional attributes apart', () => {
    for (const [type, from, to] of everyPair()) {
      const rule = transitionRule(type, from, to);
      if (rule !== undefined) assert.equal(rule.required & rule.optional, 0, title(type, from, to));
    }
  });

  it('lets CUR_STATE be named only from RTR, RTS, SQD and SQE', () => {
    for (const [type, from, to] of everyPair()) {
      if (from === QpState.RTR || from === QpState.RTS || from === QpState.SQD || from === QpState.SQE) continue;
      const rule = transitionRule(type, from, to);
      if (rule !== undefined) assert.equal((rule.required | rule.optional) & CUR_STATE, 0, title(type, from, to));
    }
  });
});

describe('checkTransition', () => {
  it('allows each transition with its required attributes, with and without STATE', () => {
    for (const [type, from, to] of everyPair()) {
      const rule = expectedRule(type, from, to);
      if (rule === undefined) continue;
      assert.equal(checkTransition(type, from, to, rule.required | STATE), undefined, title(type, from, to));
      assert.equal(checkTransition(type, from, to, rule.required), undefined, title(type, from, to));
    }
  });

  it('allows each optional attribute but ALT_PATH', () => {
    for (const [type, from, to] of everyPair()) {
      const rule = expectedRule(type, from, to);
      if (rule === undefined) continue;
      for (const [name, bit] of allBits) {
        if ((rule.optional & bit) === 0 || bit === ALT_PATH) continue;
        assert.equal(
          checkTransition(type, from, to, rule.required | bit),
          undefined,
          `${title(type, from, to)} ${name}`,
        );
      }
    }
  });

  it('names each required attribute that is missing, and no other', () => {
    for (const [type, from, to] of everyPair()) {
      const rule = expectedRule(type, from, to);
      if (rule === undefined) continue;
      for (const [name, bit] of allBits) {
        if ((rule.required & bit) === 0) continue;
        const sentence = checkTransition(type, from, to, (rule.required & ~bit) | STATE);
        const named = [...(sentence ?? '').matchAll(/IBV_QP_(\w+)/g)].map((match) => match[1]);
        assert.deepEqual(named, [name], `${title(type, from, to)}: ${sentence}`);
      }
    }
  });

  it('names each attribute that is too much', () => {
    for (const [type, from, to] of everyPair()) {
      const rule = expectedRule(type, from, to);
      if (rule === undefined) continue;
      for (const [name, bit] of allBits) {
        if (((rule.required | rule.optional | STATE) & bit) !== 0) continue;
        const sentence = checkTransition(type, from, to, rule.required | bit);
        const named = [...(sentence ?? '').matchAll(/IBV_QP_(\w+)/g)].map((match) => match[1]);
        assert.deepEqual(named, [name], `${title(type, from, to)}: ${sentence}`);
      }
    }
  });

  it('refuses what is not in the table, naming both states', () => {
    for (const [type, from, to] of everyPair()) {
      if (expectedRule(type, from, to) !== undefined) continue;
      const sentence = checkTransition(type, from, to, STATE) ?? '';
      assert.ok(sentence.includes(nameOf(QpState, from)), `${title(type, from, to)}: ${sentence}`);
      assert.ok(
        from === to || sentence.includes(`go to ${nameOf(QpState, to)}`),
        `${title(type, from, to)}: ${sentence}`,
      );
    }
  });

  it('refuses ALT_PATH wherever the table has it', () => {
    for (const [type, from, to] of everyPair()) {
      const rule = expectedRule(type, from, to);
      if (rule === undefined || (rule.optional & ALT_PATH) === 0) continue;
      const sentence = checkTransition(type, from, to, rule.required | ALT_PATH);
      assert.match(sentence ?? '', /IBV_QP_ALT_PATH .*RoCE/, title(type, from, to));
    }
  });

  it('says both what is missing and what is too much', () => {
    assert.equal(
      checkTransition(QpType.RC, QpState.RESET, QpState.INIT, STATE | QpAttrMask.PORT | QpAttrMask.QKEY),
      'RESET to INIT of a QP of type RC needs IBV_QP_ACCESS_FLAGS (qpAccessFlags), IBV_QP_PKEY_INDEX (pkeyIndex) ' +
        'and does not allow IBV_QP_QKEY (qkey)',
    );
  });

  it('says where else a QP can go', () => {
    assert.equal(
      checkTransition(QpType.RC, QpState.ERR, QpState.RTS, STATE),
      'a QP in ERR cannot go to RTS, only to RESET or ERR',
    );
  });
});
