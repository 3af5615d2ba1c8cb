import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { completeQpAttr, modifyProblem } from '../index.js';
import { gidFromIp, QpState } from '../../../device/ibta/index.js';

describe('attributes of modify', () => {
  const dgid = gidFromIp('127.0.0.2');

  it('get what an address leaves out', () => {
    assert.deepEqual(completeQpAttr({ ahAttr: { grh: { dgid } } }), {
      ahAttr: {
        dlid: 0,
        sl: 0,
        srcPathBits: 0,
        staticRate: 0,
        isGlobal: true,
        portNum: 1,
        grh: { dgid, flowLabel: 0, sgidIndex: 0, hopLimit: 64, trafficClass: 0 },
      },
    });
  });

  it('keep what an address says', () => {
    const ahAttr = {
      dlid: 1,
      sl: 3,
      srcPathBits: 2,
      staticRate: 1,
      isGlobal: true,
      portNum: 2,
      grh: { dgid, flowLabel: 5, sgidIndex: 1, hopLimit: 1, trafficClass: 8 },
    };
    assert.deepEqual(completeQpAttr({ ahAttr }), { ahAttr });
  });

  it('count as absent when they are undefined', () => {
    const attr: Record<string, number | undefined> = { qpState: QpState.RTS, timeout: undefined };
    assert.deepEqual(Object.keys(completeQpAttr(attr)), ['qpState']);
  });

  it('must exist', () => {
    const misspelt: Record<string, number> = { qpstate: QpState.RTS };
    assert.match(modifyProblem(misspelt)?.message ?? '', /'qpstate' is not an attribute/);
  });

  it('must be in range', () => assert.match(modifyProblem({ timeout: 32 })?.message ?? '', /timeout is 32/));

  it('pass when they are', () => assert.equal(modifyProblem({ qpState: QpState.RTS, timeout: 14 }), undefined));
});
