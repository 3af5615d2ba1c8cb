import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { WcStatus } from '../../ibta/index.js';
import { Opcode } from '../../wire/index.js';
import { assertStatuses, Puppet } from './pair.js';

describe('two SENDs that arrive together in the wrong order', () => {
  it('are not both taken for delivered: the peer hears which one is missing', () => {
    const puppet = new Puppet();
    puppet.qp.postRecv();
    puppet.qp.postRecv();
    for (const psn of [0x2001, 0x2000])
      puppet.network.inject(
        puppet.peerAddress,
        puppet.host1.ip,
        puppet.crafted({ opcode: Opcode.RC_SEND_ONLY, psn, ackRequest: true }),
      );
    puppet.network.advanceTo(puppet.nowUs);
    puppet.turn();
    assert.deepEqual(
      puppet.heard().map(({ psn, syndrome }) => [psn, syndrome]),
      [[0x2001, 0x60]],
    );
  });
});

describe('a peer that asks for the same packet again and again', () => {
  it('is given up though it asks at the very moment when the time is up', () => {
    const puppet = new Puppet({ timeout: 8, retryCnt: 2 });
    const wrId = puppet.qp.post({ opcode: 2 });
    puppet.turn();
    for (let i = 0; i < 50; i += 1) {
      puppet.network.advanceTo(puppet.nowUs + 3000);
      puppet.say({ opcode: Opcode.RC_ACKNOWLEDGE, psn: 0x1000, aeth: { syndrome: 0x60, msn: 0 } });
    }
    assertStatuses(puppet.qp.sent(), [[wrId, WcStatus.RETRY_EXC_ERR]]);
  });
});
