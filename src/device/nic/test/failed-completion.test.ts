import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { QpState, QpType, WcStatus } from '../../ibta/index.js';
import type { QpOptions, TestHost, TestMr } from './host.js';
import { Pair } from './pair.js';
import type { TestQp } from './qp.js';
import { connectUc } from './uc.js';
import { ahTo, HEADER_BYTES, postTo, udQp } from './ud.js';

/** A queue pair whose next request fails. */
interface Failing {
  readonly qp: TestQp;
  /** Posts two: one that fails, and one that is flushed behind it. */
  readonly fail: () => void;
}

const { ERR, SQE } = QpState;

/** Completion queues that give notice of their first completion. */
function armed(host: TestHost): QpOptions {
  const [sendCq, recvCq] = [host.cq(64, host.channel()), host.cq(64, host.channel())];
  sendCq.arm(false);
  recvCq.arm(false);
  return { sendCq, recvCq };
}

/** Memory that requests may not name, since it is in another protection domain. */
function forbidden(host: TestHost): TestMr {
  return host.mr(HEADER_BYTES + 8, { pd: host.nic.control.allocPd() });
}

function rc(pair: Pair, local: (host: TestHost) => TestMr, remote: (host: TestHost) => TestMr): Failing {
  const { a } = pair.connect({ qpA: armed(pair.a), both: { timeout: 5, retryCnt: 1 } });
  const fail = (): void => {
    a.write(local(pair.a), remote(pair.b));
    a.send(pair.a.mr(8));
  };
  return { qp: a, fail };
}

function uc(pair: Pair, receives: boolean): Failing {
  const qp = pair.a.qp({ type: QpType.UC, ...armed(pair.a) });
  const peer = pair.b.qp({ type: QpType.UC });
  connectUc(qp, peer.peer, { sqPsn: 0x1000, rqPsn: 0x2000 });
  connectUc(peer, qp.peer, { sqPsn: 0x2000, rqPsn: 0x1000 });
  const fail = (): void => {
    if (receives) for (let i = 0; i < 2; i += 1) qp.recv(forbidden(pair.a));
    if (receives) peer.send(pair.b.mr(8));
    else for (let i = 0; i < 2; i += 1) qp.send(forbidden(pair.a));
  };
  return { qp, fail };
}

function ud(pair: Pair, receives: boolean): Failing {
  const qp = udQp(pair.a, armed(pair.a));
  const peer = udQp(pair.b);
  const fail = (): void => {
    const sgList = [forbidden(pair.a).sge()];
    if (receives) for (let i = 0; i < 2; i += 1) qp.postRecv({ sgList });
    if (receives) postTo(peer, { ah: ahTo(pair.b, pair.a.gid), qpn: qp.qpn }, { inline: new Uint8Array(8) });
    else for (let i = 0; i < 2; i += 1) postTo(qp, { ah: ahTo(pair.a, pair.b.gid), qpn: peer.qpn }, { sgList });
  };
  return { qp, fail };
}

function rcReceive(pair: Pair): Failing {
  const { a: peer, b: qp } = pair.connect({ qpB: armed(pair.b) });
  const fail = (): void => {
    for (let i = 0; i < 2; i += 1) qp.recv(pair.b.mr(4));
    peer.send(pair.a.mr(8));
  };
  return { qp, fail };
}

const own = (host: TestHost): TestMr => host.mr(8);

const CASES: readonly (readonly [what: string, state: QpState, make: (pair: Pair) => Failing])[] = [
  ['an RC request whose memory is of another domain', ERR, (pair) => rc(pair, forbidden, own)],
  ['an RC request that the peer refuses', ERR, (pair) => rc(pair, own, forbidden)],
  ['an RC receive request that is too short', ERR, rcReceive],
  ['a UC request whose memory is of another domain', SQE, (pair) => uc(pair, false)],
  ['a UC receive request whose memory is of another domain', ERR, (pair) => uc(pair, true)],
  ['a UD request whose memory is of another domain', SQE, (pair) => ud(pair, false)],
  ['a UD receive request whose memory is of another domain', ERR, (pair) => ud(pair, true)],
];

/** The driver may be in another thread, and looks whenever it likes. */
describe('a program that sees the completion of a request that failed finds its queue pair', () => {
  for (const [what, state, make] of CASES) {
    it(`in ${state === ERR ? 'ERR' : 'SQE'}: ${what}`, () => {
      const pair = new Pair();
      const { qp, fail } = make(pair);
      const seen: { readonly status: WcStatus; readonly queue: number; readonly queried: number }[] = [];
      qp.host.onNotice = () => {
        const [completion] = [...qp.sent(), ...qp.received()];
        seen.push({ status: completion.status, queue: qp.sq.state, queried: qp.state });
      };
      fail();
      pair.drive();
      assert.equal(seen.length, 1);
      const [{ status, ...states }] = seen;
      assert.ok(status !== WcStatus.SUCCESS && status !== WcStatus.WR_FLUSH_ERR, `status ${status}`);
      assert.deepEqual(states, { queue: state, queried: state });
      const behind = [...qp.sent(), ...qp.received()].map((completion) => completion.status);
      assert.ok(behind.length > 0 && behind.every((each) => each === WcStatus.WR_FLUSH_ERR), behind.join());
    });
  }
});
