import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AddrInfo, CmEventType, PortSpace, RDMA_UDP_QKEY, SendFlags } from '../../src/entry/index.js';
import { GRH_BYTES } from './datagrams.js';
import { conformance } from './provider.js';
import {
  assertArrived,
  BYTES,
  CmPair,
  CmSide,
  PATIENCE_MS,
  postForDatagram,
  ROUNDS,
  sendDatagram,
  type Talker,
} from './rdmacm-support.js';
import { assertSuccess, pattern, useDevices } from './support.js';

/** Answers the datagram whose completion comes next, by an address that is made of it. */
function answer(from: Talker, peer: Talker, round: number): void {
  const { id, mr } = from;
  const received = id.getRecvComp(PATIENCE_MS);
  assertSuccess(from, received);
  assert.equal(received.srcQp, peer.id.qp?.qpNum);
  assert.deepEqual(mr.bytes.subarray(GRH_BYTES, GRH_BYTES + BYTES), pattern(BYTES, round));
  assert.ok(id.pd !== undefined);
  using ah = id.pd.createAhFromWc(received, mr.bytes);
  id.postUdSend(round, mr.sge(GRH_BYTES, BYTES), SendFlags.SIGNALED, ah, received.srcQp);
  assertSuccess(from, id.getSendComp(PATIENCE_MS));
}

/** Finds the queue pair of the listener, and sends datagrams there and back. */
function exchangeDatagrams(active: CmSide, passive: CmSide): void {
  active.id.createQp();
  active.id.connect();
  const child = passive.expectRequest().id;
  child.createQp();
  child.accept();
  const { ud } = active.expect(CmEventType.ESTABLISHED).param;
  assert.ok(ud !== undefined);
  assert.deepEqual([ud.qpNum, ud.qkey], [child.qp?.qpNum, RDMA_UDP_QKEY]);
  const one = active.talkerOn(active.id);
  const other = passive.talkerOn(child);
  for (let round = 0; round < ROUNDS; round += 1) {
    postForDatagram(other, round);
    sendDatagram(one, ud, round);
    postForDatagram(one, round);
    answer(other, one, round);
    assertArrived(one, round, GRH_BYTES);
  }
}

function found(side: CmSide): AddrInfo {
  side.expect(CmEventType.ADDRINFO_RESOLVED);
  const list = side.id.queryAddrInfo();
  assert.equal(list.length, 1);
  return list[0];
}

conformance('datagrams of the port space UDP', (provider) => {
  const devices = useDevices(provider);

  test('reach the queue pair that the event names, and answers the one that the completion names', () => {
    using pair = new CmPair(devices, PortSpace.UDP);
    pair.active.resolve(pair.passive);
    exchangeDatagrams(pair.active, pair.passive);
  });

  test('reach an address that the identifiers have looked up', () => {
    const { UDP } = PortSpace;
    using passive = new CmSide(devices[1], UDP);
    using active = new CmSide(devices[0], UDP);
    passive.id.resolveAddrInfo(devices[1].address, 0, { passive: true, portSpace: UDP });
    const { src } = found(passive);
    assert.ok(src !== undefined);
    passive.id.bindAddr(src);
    passive.id.listen();
    active.id.resolveAddrInfo(devices[1].address, passive.id.getSrcPort(), { portSpace: UDP });
    const { dst } = found(active);
    assert.ok(dst !== undefined);
    active.id.resolveAddr(dst);
    active.expect(CmEventType.ADDR_RESOLVED);
    active.id.resolveRoute();
    active.expect(CmEventType.ROUTE_RESOLVED);
    exchangeDatagrams(active, passive);
  });
});
