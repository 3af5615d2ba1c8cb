import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CmEventType, type CmId, QpState, WrOpcode } from '../../src/entry/index.js';
import { conformance } from './provider.js';
import { BYTES, CmPair, ROUNDS } from './rdmacm-support.js';
import { assertSuccess, End, pattern, perform, pollOne, useDevices } from './support.js';

/** Brings a queue pair up as the connection that it is for wants it. */
function bringUp({ qp }: End, id: CmId): void {
  for (const qpState of [QpState.INIT, QpState.RTR, QpState.RTS]) qp.modify(id.initQpAttr(qpState));
}

function deliver(from: End, to: End, round: number): void {
  to.qp.postRecv({ wrId: round, sgList: [to.mr.sge(0, BYTES)] });
  from.mr.bytes.set(pattern(BYTES, round));
  assertSuccess(from, perform(from, { opcode: WrOpcode.SEND, sgList: [from.mr.sge(0, BYTES)] }));
  assertSuccess(to, pollOne(to.cq));
  assert.deepEqual(to.mr.bytes.subarray(0, BYTES), pattern(BYTES, round));
}

conformance('queue pairs that were made elsewhere', (provider) => {
  const devices = useDevices(provider);

  test('are connected with the attributes that the identifiers give', () => {
    using pair = new CmPair(devices);
    const { active, passive } = pair;
    using mine = new End(devices[0]);
    using theirs = new End(devices[1]);
    active.resolve(passive);
    active.id.connect({ qpNum: mine.qp.qpNum });
    const { id } = passive.expectRequest();
    bringUp(theirs, id);
    id.accept({ qpNum: theirs.qp.qpNum });
    active.expect(CmEventType.CONNECT_RESPONSE);
    bringUp(mine, active.id);
    active.id.establish();
    passive.expect(CmEventType.ESTABLISHED);
    for (let round = 0; round < ROUNDS; round += 1) {
      deliver(mine, theirs, round);
      deliver(theirs, mine, round);
    }
  });
});
