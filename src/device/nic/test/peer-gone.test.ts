import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Syndrome, WcStatus } from '../../ibta/index.js';
import { assertCompleted, Pair, Puppet } from './pair.js';

/** The simulated network has one way only. */
const WAY = 0;
const MOMENT_US = 1_000_000;

/** A queue pair without a retry timer whose peer's NIC is gone, and which has sent something to it. */
function abandoned() {
  const puppet = new Puppet({ timeout: 0, retryCnt: 7 });
  const wrId = puppet.qp.send(puppet.host1.mr(10));
  puppet.drive({ untilUs: 1000 });
  puppet.host1.nic.onGone(WAY);
  return { puppet, wrId };
}

describe('a queue pair whose peer is gone', () => {
  it('leaves its program the time to end, and then fails what was sent', () => {
    const { puppet, wrId } = abandoned();
    puppet.drive({ untilUs: 50_000 });
    assert.deepEqual(puppet.qp.sent(), []);
    puppet.drive({ untilUs: MOMENT_US });
    const [first, ...others] = puppet.qp.sent();
    assert.deepEqual([first.wrId, first.status, first.vendorErr], [wrId, WcStatus.RETRY_EXC_ERR, Syndrome.PEER_GONE]);
    assert.deepEqual(others, []);
    assert.equal(puppet.heard().length, 1, 'nothing is sent again');
  });

  it('gives a program the answer that has come, though it waits for memory', () => {
    const pair = new Pair();
    const { a } = pair.connect({ both: { timeout: 0 } });
    const to = pair.a.mr(64, { manner: { delayUs: () => 300_000 } });
    const wrId = a.read(to, pair.b.mr(64));
    pair.drive({ untilUs: 1000 });
    pair.a.nic.onGone(WAY);
    pair.drive({ untilUs: MOMENT_US });
    assertCompleted(a.sent(), [wrId]);
  });
});
