import assert from 'node:assert/strict';
import { test } from 'node:test';
import { XioError, XioStatus } from '../../../../entry/xio.js';

test('a failure has its code in its sentence once, also where it tells of another', () => {
  const first = new XioError('XIO_E_SESSION_REFUSED', 'nobody listens there');
  const second = new XioError(first.code, first.message);
  assert.equal(second.message, 'nobody listens there (XIO_E_SESSION_REFUSED)');
  assert.deepEqual([second.status, second.mayHaveRun], [XioStatus.XIO_E_SESSION_REFUSED, false]);
});
