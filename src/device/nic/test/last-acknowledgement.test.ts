import { describe, it } from 'node:test';
import { QpState } from '../../ibta/index.js';
import { assertCompleted, Pair } from './pair.js';
import type { TestQp } from './qp.js';

/** A program may end a queue pair once it has seen the last message complete, and its peer still waits for the answer. */

function destroy({ host, qpn }: TestQp): void {
  host.nic.control.destroyQp(qpn);
}

const ENDS: readonly (readonly [how: string, end: (qp: TestQp) => void])[] = [
  ['destroyed', destroy],
  ['RESET', (qp) => qp.modify({ qpState: QpState.RESET })],
  [
    'set to ERR and destroyed',
    (qp) => {
      qp.modify({ qpState: QpState.ERR });
      destroy(qp);
    },
  ],
];

describe('a queue pair whose last message has completed', () => {
  for (const [how, end] of ENDS) {
    it(`acknowledges that, though it is ${how} before the NIC has sent`, () => {
      const pair = new Pair();
      const { a, b } = pair.connect({ both: { timeout: 5, retryCnt: 1 } });
      const wrId = a.send(pair.a.mr(100));
      const received = b.recv(pair.b.mr(100));
      pair.turn();
      pair.network.advanceTo(pair.network.nextEventUs());
      // In the midst of a turn: what has arrived was taken, and nothing was sent.
      pair.b.link.receive(pair.b.nic, 1);
      assertCompleted(b.received(), [received]);
      end(b);
      pair.drive({ untilUs: 1e7 });
      assertCompleted(a.sent(), [wrId]);
    });
  }
});
