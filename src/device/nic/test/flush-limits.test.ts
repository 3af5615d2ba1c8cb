import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { QpState, QpType } from '../../ibta/index.js';
import { Ring } from '../rings/layout.js';
import type { DriverQueue } from './rings.js';
import { Pair } from './pair.js';
import type { TestQp } from './qp.js';
import { connectUc } from './uc.js';

const ENTRIES = 64;
const CLAIMED = 1000;

function rc(pair: Pair): TestQp {
  return pair.connect({ qpA: { sendCq: pair.a.cq(2 * CLAIMED), recvCq: pair.a.cq(2 * CLAIMED) } }).a;
}

function uc(pair: Pair): TestQp {
  const qp = pair.a.qp({ type: QpType.UC, sendCq: pair.a.cq(2 * CLAIMED), recvCq: pair.a.cq(2 * CLAIMED) });
  connectUc(qp, pair.b.qp({ type: QpType.UC }).peer);
  return qp;
}

const queues: Readonly<Record<string, (qp: TestQp) => DriverQueue>> = { send: (qp) => qp.sq, receive: (qp) => qp.rq };

/** Flushing takes one turn of the NIC, which others wait for: a driver that claims 2^31 entries would stop it for minutes. */
describe('a driver that claims more entries than its ring holds', () => {
  for (const [service, make] of Object.entries({ RC: rc, UC: uc }))
    for (const [name, queueOf] of Object.entries(queues))
      it(`has one ring of them flushed for each doorbell: the ${name} queue of ${service}`, () => {
        const pair = new Pair();
        const qp = make(pair);
        qp.modify({ qpState: QpState.ERR });
        const { words } = queueOf(qp);
        for (let doorbells = 1; doorbells <= 2; doorbells += 1) {
          words[Ring.PRODUCER] = words[Ring.CONSUMER] + CLAIMED;
          qp.host.doorbell.ring(qp.sq.words, qp.qpn);
          pair.turn();
          assert.equal(pair.a.nic.counters.completions, doorbells * ENTRIES);
        }
      });
});
