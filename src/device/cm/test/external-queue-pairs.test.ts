import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CmEventType, PrivateDataBytes, QpState, QpType } from '../../ibta/index.js';
import { ask, PORT, twoDevices } from './support/two-devices.js';

const { CONNECT_REQUEST, CONNECT_RESPONSE } = CmEventType;

describe('a queue pair made elsewhere', () => {
  test('is not moved; the program is told what the peer answered', () => {
    const s = twoDevices();
    const { id, qp } = s.a.connect(s.b, PORT, { qp: s.a.qp({ managed: false }) });
    s.network.settle();
    const { qpNum } = s.b.accept(s.b.takeOnly(CONNECT_REQUEST).id, { privateData: Buffer.from('yes') });
    s.network.settle();
    const event = s.a.takeOnly(CONNECT_RESPONSE);
    assert.deepEqual([event.id, event.conn?.qpNum, s.a.statesOf(qp)], [id, qpNum, '']);
    assert.deepEqual(Buffer.from(event.privateData).toString(), 'yes'.padEnd(PrivateDataBytes.ACCEPT, '\0'));
  });

  test('is told the attributes for each of its states', () => {
    const s = twoDevices();
    const { id } = s.a.connect(s.b, PORT, { qp: s.a.qp({ managed: false }) });
    s.network.settle();
    const passive = s.b.accept(s.b.takeOnly(CONNECT_REQUEST).id);
    s.network.settle();
    const ask = (qpState: QpState) => s.a.commands.cmInitQpAttr({ id, qpType: QpType.RC, qpState });
    assert.equal(ask(QpState.INIT).portNum, 1);
    assert.equal(ask(QpState.RTR).destQpNum, passive.qpNum);
    assert.equal(ask(QpState.RTS).sqPsn, s.b.moveTo(passive, QpState.RTR).rqPsn);
    assert.throws(() => ask(QpState.SQD), { errno: 'EINVAL' });
  });

  test('is connected when the program says so, and then only', () => {
    const s = twoDevices();
    const { id } = s.a.connect(s.b, PORT, { qp: s.a.qp({ managed: false }) });
    s.network.settle();
    s.b.accept(s.b.takeOnly(CONNECT_REQUEST).id);
    s.network.settle();
    assert.equal(s.network.story(), 'a REQ, b REP');
    s.a.commands.cmEstablish(id);
    s.network.settle();
    assert.equal(s.network.story(), 'a REQ, b REP, a RTU');
    assert.equal(s.b.takeNames(), 'ESTABLISHED');
  });

  test('does as well on the passive side', () => {
    const s = twoDevices();
    const { childId } = ask(s);
    const qp = s.b.accept(childId, { qp: s.b.qp({ managed: false }) });
    s.network.settle();
    assert.deepEqual([s.a.takeNames(), s.b.takeNames(), s.b.statesOf(qp)], ['ESTABLISHED', 'ESTABLISHED', '']);
  });
});
