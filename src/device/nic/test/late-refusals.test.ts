import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Mtu, mtuBytes, QpState, Syndrome, WcStatus, WrOpcode } from '../../ibta/index.js';
import type { Verdict } from '../../link/simulated/index.js';
import { Aeth, NakCode, Opcode } from '../../wire/index.js';
import { assertCompleted, assertStatuses, Pair, pattern, Puppet } from './pair.js';
import type { Captured, Crafted } from './packets.js';
import { RxeWorld } from './rxe.js';

/** A NAK for a request that is complete at the requester (protocol/reliable.md 2.4). */

const PSN = 0x1000;
const { REMOTE_ACCESS_ERROR, INVALID_REQUEST, REMOTE_OPERATIONAL_ERROR, PSN_SEQUENCE_ERROR } = NakCode;

type Said = Omit<Crafted, 'destQp'>;

const acknowledged = (psn: number, syndrome = 0x1f): Said => ({
  opcode: Opcode.RC_ACKNOWLEDGE,
  psn,
  aeth: { syndrome, msn: 1 },
});
const refused = (psn: number, code: number): Said => acknowledged(psn, Aeth.NAK | code);

const requests: Readonly<Record<string, { opcode: WrOpcode; lengthBytes: number; answer: Said }>> = {
  WRITE: { opcode: WrOpcode.RDMA_WRITE, lengthBytes: 8, answer: acknowledged(PSN) },
  READ: {
    opcode: WrOpcode.RDMA_READ,
    lengthBytes: 8,
    answer: {
      opcode: Opcode.RC_READ_RESP_ONLY,
      psn: PSN,
      aeth: { syndrome: 0x1f, msn: 1 },
      payload: new Uint8Array(8),
    },
  },
  ATOMIC: {
    opcode: WrOpcode.ATOMIC_FETCH_AND_ADD,
    lengthBytes: 8,
    answer: { opcode: Opcode.RC_ATOMIC_ACKNOWLEDGE, psn: PSN, aeth: { syndrome: 0x1f, msn: 1 }, atomicAck: 1n },
  },
};

/** A requester one request of which is complete. `next` posts a SEND, which takes one packet. */
function completed(what: string) {
  const puppet = new Puppet({ timeout: 8, retryCnt: 1, maxRdAtomic: 4 });
  const { opcode, lengthBytes, answer } = requests[what];
  const local = puppet.host1.mr(lengthBytes);
  const wrId = puppet.qp.post({ opcode, sgList: [local.sge()], remoteAddr: 0x5000n, rkey: 7 });
  puppet.turn();
  puppet.say(answer);
  assertCompleted(puppet.qp.sent(), [wrId]);
  const next = (): bigint => {
    const id = puppet.qp.send(local);
    puppet.turn();
    return id;
  };
  return { puppet, next };
}

describe('a NAK for a request that is complete, and then silence', () => {
  for (const [what, code, status] of [
    ['READ', REMOTE_ACCESS_ERROR, WcStatus.REM_ACCESS_ERR],
    ['WRITE', REMOTE_ACCESS_ERROR, WcStatus.REM_ACCESS_ERR],
    ['ATOMIC', INVALID_REQUEST, WcStatus.REM_INV_REQ_ERR],
    ['READ', REMOTE_OPERATIONAL_ERROR, WcStatus.REM_OP_ERR],
  ] as const)
    it(`ends the oldest request with the status of the NAK when its retries have run out: ${what}, NAK ${code}`, () => {
      const { puppet, next } = completed(what);
      const oldest = next();
      puppet.say(refused(PSN, code));
      const behind = next();
      assert.deepEqual(puppet.qp.sent(), [], 'not before its retries have run out');
      puppet.drive();
      const sent = puppet.qp.sent();
      assertStatuses(sent, [
        [oldest, status],
        [behind, WcStatus.WR_FLUSH_ERR],
      ]);
      const { vendorErr, detail } = sent[0];
      assert.equal(vendorErr, Syndrome.REFUSED_BEFORE);
      const [psn, transmissions, , peerQpn, refusedPsn, nakCode] = detail;
      assert.deepEqual([psn, transmissions, peerQpn, refusedPsn, nakCode], [PSN + 1, 2, puppet.peerQpn, PSN, code]);
    });

  it('counts for a request that is posted later', () => {
    const { puppet, next } = completed('READ');
    puppet.say(refused(PSN, REMOTE_ACCESS_ERROR));
    const wrId = next();
    puppet.drive();
    assertStatuses(puppet.qp.sent(), [[wrId, WcStatus.REM_ACCESS_ERR]]);
  });

  it('changes nothing that is sent', () => {
    const heard = [true, false].map((refuses) => {
      const { puppet, next } = completed('READ');
      next();
      if (refuses) puppet.say(refused(PSN, REMOTE_ACCESS_ERROR));
      puppet.drive();
      return puppet.heard().map(String);
    });
    assert.deepEqual(heard[0], heard[1]);
  });
});

describe('a NAK for a request that is complete', () => {
  it('is forgotten as soon as the peer acknowledges another', () => {
    const { puppet, next } = completed('WRITE');
    const oldest = next();
    puppet.say(refused(PSN, REMOTE_ACCESS_ERROR));
    puppet.say(acknowledged(PSN + 1));
    assertCompleted(puppet.qp.sent(), [oldest]);
    const lost = next();
    puppet.drive();
    assertStatuses(puppet.qp.sent(), [[lost, WcStatus.RETRY_EXC_ERR]]);
  });

  it('says nothing once the peer was not ready for the next request, or has missed it: it lives', () => {
    for (const [syndrome, status] of [
      [Aeth.RNR_NAK | 1, WcStatus.RETRY_EXC_ERR],
      [Aeth.NAK | PSN_SEQUENCE_ERROR, WcStatus.RETRY_EXC_ERR],
    ] as const) {
      const { puppet, next } = completed('WRITE');
      const lost = next();
      puppet.say(refused(PSN, REMOTE_ACCESS_ERROR));
      puppet.say(acknowledged(PSN + 1, syndrome));
      puppet.drive();
      assertStatuses(puppet.qp.sent(), [[lost, status]]);
    }
  });

  const answered: Said = { ...requests['READ'].answer, psn: PSN + 2 };
  for (const [what, second, said] of [
    ['an ACK', WrOpcode.SEND, acknowledged(PSN + 2)],
    ['an RNR NAK', WrOpcode.SEND, acknowledged(PSN + 2, Aeth.RNR_NAK | 1)],
    ['a NAK of a gap', WrOpcode.SEND, acknowledged(PSN + 2, Aeth.NAK | PSN_SEQUENCE_ERROR)],
    ['the answer of a READ', WrOpcode.RDMA_READ, answered],
  ] as const)
    it(`says nothing once ${what} has come behind a lost answer: the peer lives`, () => {
      const { puppet } = completed('WRITE');
      const local = puppet.host1.mr(8);
      const post = (opcode: WrOpcode): bigint =>
        puppet.qp.post({ opcode, sgList: [local.sge()], remoteAddr: 0x5000n, rkey: 7 });
      const lost = post(WrOpcode.RDMA_READ);
      const behind = post(second);
      puppet.turn();
      puppet.say(refused(PSN, REMOTE_ACCESS_ERROR));
      puppet.say(said);
      puppet.drive();
      assertStatuses(puppet.qp.sent(), [
        [lost, WcStatus.RETRY_EXC_ERR],
        [behind, WcStatus.WR_FLUSH_ERR],
      ]);
    });

  it('says nothing where the peer is known to be gone', () => {
    const { puppet, next } = completed('WRITE');
    puppet.say(refused(PSN, REMOTE_ACCESS_ERROR));
    const lost = next();
    puppet.host1.nic.onGone(0);
    puppet.drive();
    const sent = puppet.qp.sent();
    assertStatuses(sent, [[lost, WcStatus.RETRY_EXC_ERR]]);
    assert.equal(sent[0].vendorErr, Syndrome.PEER_GONE);
  });

  it('says nothing when it asks for packets again', () => {
    const { puppet, next } = completed('WRITE');
    const lost = next();
    puppet.say(refused(PSN, PSN_SEQUENCE_ERROR));
    puppet.drive();
    assertStatuses(puppet.qp.sent(), [[lost, WcStatus.RETRY_EXC_ERR]]);
  });

  it('says nothing for a PSN that the requester has not sent', () => {
    for (const psn of [PSN - 1, PSN + 2, PSN + 0x800000]) {
      const { puppet, next } = completed('WRITE');
      const lost = next();
      puppet.say(refused(psn, REMOTE_ACCESS_ERROR));
      puppet.drive();
      assertStatuses(puppet.qp.sent(), [[lost, WcStatus.RETRY_EXC_ERR]]);
    }
  });

  it('says nothing about the next connection of the queue pair', () => {
    const { puppet, next } = completed('WRITE');
    puppet.say(refused(PSN, REMOTE_ACCESS_ERROR));
    puppet.qp.modify({ qpState: 0 });
    puppet.qp.toRts(
      { gid: puppet.network.attach('10.0.0.8').gid, qpn: 1 },
      { sqPsn: PSN, rqPsn: 1, timeout: 8, retryCnt: 1 },
    );
    const lost = next();
    puppet.drive();
    assertStatuses(puppet.qp.sent(), [[lost, WcStatus.RETRY_EXC_ERR]]);
  });
});

/** The answer to a READ comes when the requester has asked again, and before the answer to that. */
function lateAnswer({ isReadResponse, syndrome }: Captured): Verdict {
  if (isReadResponse) return { delayUs: 10_008 };
  return syndrome === (Aeth.NAK | REMOTE_ACCESS_ERROR) ? { delayUs: 100 } : 'pass';
}

describe('a READ that rxe is asked for again, whose region is deregistered meanwhile,', () => {
  it('leaves the status of the NAK to the request behind it', () => {
    const world: RxeWorld = new RxeWorld(
      { psn: PSN, mtuBytes: mtuBytes(Mtu.MTU_1024), depth: 16, memoryBytes: 4096 },
      {},
      () => qp.qpn,
    );
    const { host1, rxe } = world;
    const qp = host1.qp();
    qp.toRts(rxe.peer, { pathMtu: Mtu.MTU_1024, sqPsn: PSN, rqPsn: 0x2000, timeout: 14, retryCnt: 1 });
    const local = host1.mrOf(pattern(1000));
    const post = (opcode: WrOpcode): bigint => qp.post({ opcode, sgList: [local.sge()], ...rxe.at(0) });
    post(WrOpcode.RDMA_WRITE);
    world.drive({ until: () => qp.sent().length > 0 });
    world.script = lateAnswer;
    const read = post(WrOpcode.RDMA_READ);
    world.run(1000);
    rxe.deregister();
    world.drive({ until: () => rxe.hasEnded });
    assert.equal(host1.nic.counters.lossProbes, 1);
    const write = post(WrOpcode.RDMA_WRITE);
    world.drive();
    assertStatuses(qp.sent(), [
      [read, WcStatus.SUCCESS],
      [write, WcStatus.REM_ACCESS_ERR],
    ]);
  });
});

describe('a READ that our responder is asked for again, whose region is deregistered meanwhile,', () => {
  it('leaves the request behind it alone', () => {
    const pair = new Pair();
    const { a } = pair.connect({ both: { timeout: 14, retryCnt: 1 } });
    const source = pair.b.mrOf(pattern(100));
    const local = pair.a.mr(100);
    const target = pair.b.mr(100);
    a.write(local, target);
    pair.drive({ until: () => a.sent().length > 0 });
    pair.script = lateAnswer;
    const read = a.read(local, source);
    pair.run(1000);
    pair.b.nic.control.deregMr(source.handle);
    pair.drive({
      until: () =>
        a
          .sent()
          .map(({ wrId }) => wrId)
          .includes(read),
    });
    assert.equal(pair.a.nic.counters.lossProbes, 1);
    const write = a.write(local, target);
    pair.drive({ untilUs: pair.nowUs + 50 });
    assertCompleted(a.sent(), [write]);
    pair.drive();
    assert.equal(a.state, QpState.RTS);
  });
});
