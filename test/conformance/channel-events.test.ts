import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AccessFlags, type Context, incRkey, MwType, SendFlags, type SendWr, WrOpcode } from '../../src/entry/index.js';
import { conformance } from './provider.js';
import { assertNoEvent, Belongings, SidePair, takeEvent } from './sides.js';
import { assertSuccess, BOGUS_KEY, pollOne, remoteOf, useDevices } from './support.js';

/** A pair of which the requester's and the receiver's completion queues have channels of their own. */
function withChannels(devices: readonly Context[]) {
  const belongings = new Belongings();
  const [sending, receiving] = [devices[0], devices[1]].map((context) => belongings.keep(context.createCompChannel()));
  const pair = belongings.keep(
    new SidePair(devices, { sendCq: { cqe: 64, channel: sending } }, { recvCq: { cqe: 64, channel: receiving } }),
  );
  const { local, remote } = pair;
  return {
    [Symbol.dispose]: () => belongings[Symbol.dispose](),
    pair,
    sending,
    receiving,
    local,
    remote,
    write: (): void => {
      local.qp.postSend(writeOf(pair));
      assertSuccess(local, pollOne(local.sendCq));
    },
    /** One message whose completions are there, and read, at both ends. */
    message: (sendFlags: number): void => {
      remote.qp.postRecv({ sgList: [remote.mr.sge(0, 64)] });
      local.qp.postSend({
        opcode: WrOpcode.SEND,
        sendFlags: SendFlags.SIGNALED | sendFlags,
        sgList: [local.mr.sge(0, 64)],
      });
      assertSuccess(remote, pollOne(remote.recvCq));
      assertSuccess(local, pollOne(local.sendCq));
    },
  };
}

const writeOf = ({ local, remote }: SidePair): SendWr => ({
  opcode: WrOpcode.RDMA_WRITE,
  sendFlags: SendFlags.SIGNALED,
  sgList: [local.mr.sge(0, 8)],
  rdma: remoteOf(remote.mr),
});

const REQUESTS: Readonly<Record<string, (pair: SidePair) => SendWr>> = {
  'an atomic': ({ local, remote }) => ({
    opcode: WrOpcode.ATOMIC_FETCH_AND_ADD,
    sendFlags: SendFlags.SIGNALED,
    sgList: [local.mr.sge(0, 8)],
    atomic: { ...remoteOf(remote.mr), compareAdd: 0n },
  }),
  'a bind': ({ local }) => {
    const mw = local.keep(local.pd.allocMw(MwType.TYPE_2));
    const { mr } = local;
    const bindInfo = { mr, addr: mr.iova, length: mr.length, mwAccessFlags: AccessFlags.REMOTE_READ };
    return {
      opcode: WrOpcode.BIND_MW,
      sendFlags: SendFlags.SIGNALED,
      bindMw: { mw, rkey: incRkey(mw.rkey), bindInfo },
    };
  },
  'a WRITE': writeOf,
};

conformance('events of completion queues', (provider) => {
  const devices = useDevices(provider);

  for (const [name, request] of Object.entries(REQUESTS)) {
    test(`tell that ${name} has completed`, () => {
      using world = withChannels(devices);
      const { pair, local, sending } = world;
      local.sendCq.reqNotify();
      assertNoEvent(sending);
      local.qp.postSend(request(pair));
      assert.equal(takeEvent(sending), local.sendCq);
      assertSuccess(local, pollOne(local.sendCq));
      assertNoEvent(sending);
    });
  }

  for (const [asked, solicitedOnly] of [
    ['any completion', false],
    ['solicited ones', true],
  ] as const) {
    for (const [kind, flag] of [
      ['a solicited', SendFlags.SOLICITED],
      ['an unsolicited', 0],
    ] as const) {
      const comes = !solicitedOnly || flag !== 0;
      test(`asked of ${asked} ${comes ? 'tell' : 'do not tell'} of ${kind} message, and only at the end that asked`, () => {
        using world = withChannels(devices);
        world.remote.recvCq.reqNotify(solicitedOnly);
        assertNoEvent(world.receiving);
        world.message(flag);
        if (comes) assert.equal(takeEvent(world.receiving), world.remote.recvCq);
        assertNoEvent(world.receiving);
        assertNoEvent(world.sending);
      });
    }
  }

  test('asked of solicited completions tell of failures', () => {
    using world = withChannels(devices);
    const { local, remote, sending } = world;
    local.sendCq.reqNotify(true);
    local.qp.postSend({
      opcode: WrOpcode.RDMA_WRITE,
      sgList: [local.mr.sge(0, 8)],
      rdma: { ...remoteOf(remote.mr), rkey: BOGUS_KEY },
    });
    assert.equal(takeEvent(sending), local.sendCq);
  });

  test('asked of any completion stay so when solicited ones are asked for as well', () => {
    using world = withChannels(devices);
    const { recvCq } = world.remote;
    recvCq.reqNotify();
    recvCq.reqNotify(true);
    world.message(0);
    assert.equal(takeEvent(world.receiving), recvCq);
  });

  test('asked of solicited completions become those of any', () => {
    using world = withChannels(devices);
    const { recvCq } = world.remote;
    recvCq.reqNotify(true);
    recvCq.reqNotify();
    world.message(0);
    assert.equal(takeEvent(world.receiving), recvCq);
  });

  for (const times of [2, 1000]) {
    test(`that nobody takes while ${times} requests are asked for and complete are there afterwards`, () => {
      using world = withChannels(devices);
      const { sendCq } = world.local;
      for (let i = 0; i < times; i += 1) {
        sendCq.reqNotify();
        world.write();
      }
      assert.equal(takeEvent(world.sending), sendCq);
      // Whether they are as many as were asked for is the provider's affair.
      for (let cq = world.sending.tryGetCqEvent(); cq !== undefined; cq = world.sending.tryGetCqEvent()) {
        assert.equal(cq, sendCq);
        cq.ackEvents();
      }
    });
  }

  test('name each of 20 queues that share a channel, and none of the others', () => {
    const PAIRS = 20;
    using belongings = new Belongings();
    const [context] = devices;
    const channel = belongings.keep(context.createCompChannel());
    const pairs = Array.from({ length: PAIRS }, (_, i) =>
      belongings.keep(
        new SidePair([context], {
          sendCq: { cqe: 8, channel, cqContext: i },
          recvCq: { cqe: 8, channel, cqContext: -1 },
        }),
      ),
    );
    for (const { local, remote } of pairs) {
      for (const cq of [local.sendCq, local.recvCq, remote.sendCq, remote.recvCq]) cq.reqNotify();
    }
    for (const pair of pairs) pair.local.qp.postSend(writeOf(pair));
    const events = pairs.map(() => takeEvent(channel));
    assert.deepEqual(new Set(events), new Set(pairs.map(({ local }) => local.sendCq)));
    assert.deepEqual(
      events.map(({ cqContext }) => cqContext).sort((a, b) => Number(a) - Number(b)),
      pairs.map((_, i) => i),
    );
    for (const { local } of pairs) assertSuccess(local, pollOne(local.sendCq));
    assertNoEvent(channel);
  });

  test('are one for each time they are asked for, and none for what completed before', () => {
    using world = withChannels(devices);
    const { sendCq } = world.local;
    sendCq.reqNotify();
    world.write();
    assert.equal(takeEvent(world.sending), sendCq);
    world.write();
    sendCq.reqNotify();
    assertNoEvent(world.sending);
    world.write();
    assert.equal(takeEvent(world.sending), sendCq);
    assertNoEvent(world.sending);
  });
});
