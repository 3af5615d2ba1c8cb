import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as verbena from '../../../entry/portable.js';

const { CmEventType, EventType, WcOpcode, WcStatus } = verbena;

test('a value in a table of constants gives its name', () => {
  assert.equal(WcStatus[WcStatus.RETRY_EXC_ERR], 'RETRY_EXC_ERR');
  assert.equal(WcOpcode[WcOpcode.RECV], 'RECV');
  assert.equal(EventType[EventType.QP_FATAL], 'QP_FATAL');
  assert.equal(CmEventType[CmEventType.ESTABLISHED], 'ESTABLISHED');
});

test('every constant has its name, and lists have no more than the constants', () => {
  for (const constants of [CmEventType, EventType, WcOpcode, WcStatus]) {
    const entries = Object.entries(constants);
    for (const [name, value] of entries) {
      assert.equal(typeof value, 'number');
      assert.equal(Reflect.get(constants, value), name);
    }
    assert.deepEqual(
      entries.map(([name]) => name),
      Object.keys(JSON.parse(JSON.stringify(constants)) as object),
    );
  }
});

test('nameOf takes them as before', () => {
  assert.equal(verbena.nameOf(WcStatus, 12), 'RETRY_EXC_ERR');
  assert.equal(verbena.nameOf(WcStatus, 99), '99');
});
