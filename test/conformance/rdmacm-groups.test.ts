import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  CmEventType,
  type Context,
  McJoinFlag,
  PortSpace,
  RDMA_UDP_QKEY,
  type UdParamReceived,
} from '../../src/entry/index.js';
import { loopbackGroup } from '../support/loopback.js';
import { GRH_BYTES } from './datagrams.js';
import { conformance } from './provider.js';
import { assertArrived, CmSide, postForDatagram, ROUNDS, sendDatagram, type Talker } from './rdmacm-support.js';
import { assertEmpty, useDevices } from './support.js';

const MULTICAST_QPN = 0xffffff;
const GROUP = { host: loopbackGroup(1) };

const JOINS: readonly (readonly [string, (side: CmSide, context: unknown) => void])[] = [
  ['rdma_join_multicast', ({ id }, context) => id.joinMulticast(GROUP, context)],
  [
    'rdma_join_multicast_ex, as a full member',
    ({ id }, context) => id.joinMulticastEx({ addr: GROUP, joinFlags: McJoinFlag.FULLMEMBER }, context),
  ],
];

class Member extends CmSide {
  readonly talker: Talker;
  readonly ud: UdParamReceived;

  constructor(context: Context, join: (side: CmSide, context: unknown) => void) {
    super(context, PortSpace.UDP);
    this.id.bindAddr({ host: context.address });
    this.id.resolveAddr(GROUP);
    this.expect(CmEventType.ADDR_RESOLVED);
    this.id.createQp();
    join(this, this);
    const { multicastContext, param } = this.expect(CmEventType.MULTICAST_JOIN);
    assert.equal(multicastContext, this);
    assert.ok(param.ud !== undefined);
    assert.deepEqual([param.ud.qpNum, param.ud.qkey], [MULTICAST_QPN, RDMA_UDP_QKEY]);
    this.ud = param.ud;
    this.talker = this.talkerOn(this.id);
  }
}

conformance('multicast groups', (provider) => {
  const devices = useDevices(provider);

  for (const [way, join] of JOINS) {
    test(`that are joined by ${way} carry datagrams to their members`, () => {
      using sender = new Member(devices[0], join);
      using receiver = new Member(devices[1], join);
      for (let round = 0; round < ROUNDS; round += 1) {
        postForDatagram(receiver.talker, round);
        sendDatagram(sender.talker, sender.ud, round);
        assertArrived(receiver.talker, round, GRH_BYTES);
      }
      for (const { id } of [sender, receiver]) id.leaveMulticast(GROUP);
    });

    test(`that were joined by ${way} carry nothing any more to who has left`, () => {
      using sender = new Member(devices[0], join);
      using leaver = new Member(devices[1], join);
      // One of the same device that stays: it tells that the datagram has been there.
      using stayer = new Member(devices[1], join);
      postForDatagram(leaver.talker, 0);
      postForDatagram(stayer.talker, 0);
      leaver.id.leaveMulticast(GROUP);
      sendDatagram(sender.talker, sender.ud, 0);
      assertArrived(stayer.talker, 0, GRH_BYTES);
      assert.ok(leaver.id.recvCq !== undefined);
      assertEmpty(leaver.id.recvCq);
    });
  }
});
