import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  CmEventType,
  type CmId,
  CmOption,
  createId,
  gidFromIp,
  McJoinFlag,
  PortSpace,
  RDMA_UDP_QKEY,
  SendFlags,
  SidrStatus,
  type UdParamReceived,
  WcStatus,
} from '../../../entry/index.js';
import { assertErrno, message, next, Pair, PASSIVE, PORT, textOf } from './support.js';

const GROUP = { host: '239.7.7.7' };
/** Bytes before a datagram that its IP header takes (protocol/packets.md 1.6). */
const GRH = 40;

/** Sends a datagram to whom an event names. */
function sendTo(id: CmId, to: UdParamReceived | undefined, text: string): void {
  assert.ok(to !== undefined && id.pd !== undefined);
  const ah = id.pd.createAh(to.ahAttr);
  const mr = message(id, text);
  id.postUdSend(1, mr.sge(0, text.length), SendFlags.SIGNALED, ah, to.qpNum);
  assert.equal(id.getSendComp().status, WcStatus.SUCCESS);
}

/** Room for a datagram, and what is in it once one has come. */
function receiver(id: CmId): () => string {
  const mr = message(id, '');
  id.postRecv(1, mr.sge());
  return () => {
    const { byteLen } = id.getRecvComp(1000);
    return Buffer.from(mr.bytes).toString('utf8', GRH, byteLen);
  };
}

describe('the port space UDP', () => {
  it('tells where to send datagrams', () => {
    using pair = new Pair();
    pair.listen(PORT, PortSpace.UDP);
    const id = pair.resolve(PORT, PortSpace.UDP);
    id.createQp();
    id.connect({ privateData: Buffer.from('who is there?') });
    const request = next(pair.passive, CmEventType.CONNECT_REQUEST);
    assert.equal(textOf(request.param.ud?.privateData), 'who is there?');
    assert.equal(request.param.ud?.privateData.length, 180);
    request.id.createQp();
    const received = receiver(request.id);
    request.id.accept({ privateData: Buffer.from('it is me') });
    const { ud } = next(pair.active, CmEventType.ESTABLISHED).param;
    assert.deepEqual([ud?.qpNum, ud?.qkey], [request.id.qp?.qpNum, RDMA_UDP_QKEY]);
    assert.deepEqual(ud?.ahAttr, {
      grh: { dgid: gidFromIp(PASSIVE), flowLabel: 0, sgidIndex: 0, hopLimit: 64, trafficClass: 0 },
      isGlobal: true,
      portNum: 1,
      dlid: 0,
      sl: 0,
      srcPathBits: 0,
      staticRate: 0,
    });
    assert.equal(textOf(ud.privateData), 'it is me');
    sendTo(id, ud, 'hello');
    assert.equal(received(), 'hello');
  });

  it('says who asks', () => {
    using pair = new Pair();
    pair.listen(PORT, PortSpace.UDP);
    const id = pair.resolve(PORT, PortSpace.UDP);
    id.connect();
    const request = next(pair.passive, CmEventType.CONNECT_REQUEST);
    assert.deepEqual(request.id.peerAddr, id.localAddr);
  });

  it('says that nobody is there', () => {
    using pair = new Pair();
    const id = pair.resolve(PORT, PortSpace.UDP);
    id.connect();
    assert.equal(next(pair.active, CmEventType.UNREACHABLE).status, SidrStatus.UNSUPPORTED);
  });

  it('says that it was refused', () => {
    using pair = new Pair();
    pair.listen(PORT, PortSpace.UDP);
    const id = pair.resolve(PORT, PortSpace.UDP);
    id.connect();
    next(pair.passive, CmEventType.CONNECT_REQUEST).id.reject(Buffer.from('busy'));
    const event = next(pair.active, CmEventType.UNREACHABLE);
    assert.equal(event.status, SidrStatus.REJECT);
    assert.equal(textOf(event.param.ud?.privateData), 'busy');
  });

  it('refuses with as many bytes as its message has room for', () => {
    using pair = new Pair();
    pair.listen(PORT, PortSpace.UDP);
    pair.resolve(PORT, PortSpace.UDP).connect();
    const { id } = next(pair.passive, CmEventType.CONNECT_REQUEST);
    assertErrno('EINVAL', () => id.reject(new Uint8Array(137)));
    id.reject(new Uint8Array(136));
    assert.equal(next(pair.active, CmEventType.UNREACHABLE).param.ud?.privateData.length, 136);
  });

  it('has no acknowledgements to wait for', () => {
    using pair = new Pair();
    assertErrno('EINVAL', () => createId(pair.active, PortSpace.UDP).setOption(CmOption.ACK_TIMEOUT, 14));
  });
});

describe('a multicast group', () => {
  function joined(pair: Pair, side: 'active' | 'passive'): { id: CmId; ud: UdParamReceived | undefined } {
    const id = createId(pair[side], PortSpace.UDP);
    id.bindAddr({});
    id.createQp();
    id.joinMulticast(GROUP, 'mine');
    const event = next(pair[side], CmEventType.MULTICAST_JOIN);
    assert.equal(event.multicastContext, 'mine');
    return { id, ud: event.param.ud };
  }

  it('tells how to send to it, and brings what others send', () => {
    using pair = new Pair();
    const sender = joined(pair, 'active');
    const { id } = joined(pair, 'passive');
    assert.deepEqual([sender.ud?.qpNum, sender.ud?.qkey], [0xffffff, RDMA_UDP_QKEY]);
    assert.deepEqual(sender.ud?.ahAttr.grh?.dgid, gidFromIp(GROUP.host));
    const received = receiver(id);
    sendTo(sender.id, sender.ud, 'to all');
    assert.equal(received(), 'to all');
  });

  it('brings nothing after it was left', () => {
    using pair = new Pair();
    const sender = joined(pair, 'active');
    const { id } = joined(pair, 'passive');
    const received = receiver(id);
    id.leaveMulticast(GROUP);
    sendTo(sender.id, sender.ud, 'to all');
    assertErrno('ETIMEDOUT', received);
    assertErrno('EADDRNOTAVAIL', () => id.leaveMulticast(GROUP));
  });

  it('that is joined twice brings what comes until it was left twice', () => {
    using pair = new Pair();
    const sender = joined(pair, 'active');
    const { id } = joined(pair, 'passive');
    id.joinMulticast(GROUP);
    next(pair.passive, CmEventType.MULTICAST_JOIN);
    id.leaveMulticast(GROUP);
    const received = receiver(id);
    sendTo(sender.id, sender.ud, 'still');
    assert.equal(received(), 'still');
    id.leaveMulticast(GROUP);
    assertErrno('EADDRNOTAVAIL', () => id.leaveMulticast(GROUP));
  });

  it('that is joined first brings what comes once there is a queue pair', () => {
    using pair = new Pair();
    const sender = joined(pair, 'active');
    const id = createId(pair.passive, PortSpace.UDP);
    id.bindAddr({});
    id.joinMulticast(GROUP);
    next(pair.passive, CmEventType.MULTICAST_JOIN);
    id.createQp();
    const received = receiver(id);
    sendTo(sender.id, sender.ud, 'later');
    assert.equal(received(), 'later');
  });

  it('that is joined to send only brings nothing', () => {
    using pair = new Pair();
    const sender = joined(pair, 'active');
    const id = createId(pair.passive, PortSpace.UDP);
    id.bindAddr({});
    id.createQp();
    id.joinMulticastEx({ addr: GROUP, joinFlags: McJoinFlag.SENDONLY_FULLMEMBER });
    next(pair.passive, CmEventType.MULTICAST_JOIN);
    const received = receiver(id);
    sendTo(sender.id, sender.ud, 'to all');
    assertErrno('ETIMEDOUT', received);
  });

  it('may be reached by resolving its address', () => {
    using pair = new Pair();
    const id = createId(pair.active, PortSpace.UDP);
    id.resolveAddr(GROUP);
    next(pair.active, CmEventType.ADDR_RESOLVED);
    id.createQp();
    id.joinMulticast(GROUP);
    next(pair.active, CmEventType.MULTICAST_JOIN);
  });

  it('does not keep queue pair and identifier from ending', () => {
    using pair = new Pair();
    const { id } = joined(pair, 'active');
    id.destroyQp();
    const other = joined(pair, 'active');
    other.id.destroyEp();
    id.destroy();
  });

  for (const [how, end] of Object.entries({
    destroy: (id: CmId) => id.destroy(),
    destroyEp: (id: CmId) => id.destroyEp(),
    destroyQp: (id: CmId) => id.destroyQp(),
    dispose: (id: CmId) => id[Symbol.dispose](),
  }))
    it(`does not keep the identifier of a device that was closed from ending: ${how}`, () => {
      const pair = new Pair();
      const { id } = joined(pair, 'active');
      pair.a.close();
      next(pair.active, CmEventType.DEVICE_REMOVAL);
      end(id);
      pair.b.close();
    });

  it('is left though the program has detached the queue pair by itself', () => {
    using pair = new Pair();
    const { id } = joined(pair, 'active');
    id.qp?.detachMcast(gidFromIp(GROUP.host));
    id.leaveMulticast(GROUP);
    assertErrno('EADDRNOTAVAIL', () => id.leaveMulticast(GROUP));
  });

  it('is not left while its event is not acknowledged', () => {
    using pair = new Pair();
    const id = createId(pair.active, PortSpace.UDP);
    id.bindAddr({});
    id.joinMulticast(GROUP);
    const event = pair.active.getCmEvent();
    assertErrno('EBUSY', () => id.leaveMulticast(GROUP));
    event.ack();
    id.leaveMulticast(GROUP);
  });

  it('is for datagrams, has a group’s address, and of the device’s version of IP', () => {
    using pair = new Pair();
    const connected = createId(pair.active, PortSpace.TCP);
    connected.bindAddr({});
    assertErrno('EINVAL', () => connected.joinMulticast(GROUP));
    const id = createId(pair.active, PortSpace.UDP);
    id.bindAddr({});
    assertErrno('EINVAL', () => id.joinMulticast({ host: PASSIVE }));
    assertErrno('EINVAL', () => id.joinMulticast({}));
    assertErrno('EINVAL', () => id.joinMulticast({ host: 'ff0e::1' }));
    // @ts-expect-error as a program that no compiler has checked may write
    assertErrno('EINVAL', () => id.joinMulticastEx({ addr: GROUP, joinFlags: 2 }));
  });
});
