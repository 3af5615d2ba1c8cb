import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { explainStatus } from '../index.js';
import { Syndrome, WcOpcode, WcStatus } from '../../../device/ibta/index.js';

describe('what a status says by itself', () => {
  it('names the vendor error of any adapter and gives it no meaning', () => {
    const wc = { status: WcStatus.RETRY_EXC_ERR, opcode: WcOpcode.SEND, byteLen: 0, detail: [1, 2, 3, 4] };
    assert.match(
      explainStatus({ ...wc, vendorErr: Syndrome.RETRY_TIMEOUT }),
      new RegExp(`^transport retry count exceeded \\(status 12, vendor error ${Syndrome.RETRY_TIMEOUT}\\); `),
    );
  });
});
