import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Qp, SendFlags, type SendWr, WrOpcode } from '../../../entry/index.js';
import { drain, drainOne, Pair } from '../../../providers/soft/test/support/pair.js';
import { NET } from '../../../../test/support/loopback.js';
import { cannotHold, hold, interruptAfter, interruptHeld } from './interrupt.js';

/** A program that is interrupted while it posts, at each place where that makes a difference. */

/** Numbers of the request that is interrupted, and of the one after it. */
const FIRST = 1;
const SECOND = 2;

const writeOf = ({ b }: Pair, wrId: number): SendWr => ({
  opcode: WrOpcode.RDMA_WRITE,
  wrId,
  sendFlags: SendFlags.SIGNALED,
  rdma: { remoteAddr: b.mr.addr, rkey: b.mr.rkey },
});

function buildWrite(pair: Pair, wrId: number): void {
  const { a, b } = pair;
  a.qp.wrStart();
  a.qp.wrId = wrId;
  a.qp.wrFlags = SendFlags.SIGNALED;
  a.qp.wrRdmaWrite(b.mr.rkey, b.mr.addr);
  a.qp.wrComplete();
}

type Post = (pair: Pair, wrId: number) => void;

const POSTS: Readonly<Record<string, Post>> = {
  'as an object': (pair, wrId) => pair.a.qp.postSend(writeOf(pair, wrId)),
  'in steps': buildWrite,
};

/** Numbers of the requests that complete, up to the second. */
function untilSecond({ a }: Pair): readonly number[] {
  const seen: number[] = [];
  while (seen.at(-1) !== SECOND) seen.push(Number(drainOne(a.cq).wrId));
  return seen;
}

for (const [style, post] of Object.entries(POSTS))
  describe(
    `a request that is posted ${style}, and interrupted after any of its atomic operations,`,
    { skip: cannotHold },
    () => {
      /** Those after which it is posted. */
      const posted: number[] = [];

      it('is posted or not, and holds up nobody', () => {
        using pair = new Pair('thread', NET);
        for (let n = 1; interruptAfter(n, () => post(pair, FIRST)); n += 1) {
          // What was being built is given up by whoever was interrupted.
          pair.a.qp.wrAbort();
          post(pair, SECOND);
          const ids = untilSecond(pair);
          assert.deepEqual(ids, ids.length === 1 ? [SECOND] : [FIRST, SECOND]);
          if (ids.length === 2) posted.push(n);
        }
        assert.ok(posted.length > 1);
      });

      it('completes, where it was posted, though nothing is posted after it', () => {
        using pair = new Pair('thread', NET);
        for (const n of posted) {
          interruptAfter(n, () => post(pair, FIRST));
          pair.a.qp.wrAbort();
          assert.equal(drainOne(pair.a.cq).wrId, BigInt(FIRST));
          // Where its completion was there at the first look, the next post rings for it first: that one is not to be counted.
          post(pair, SECOND);
          assert.equal(drainOne(pair.a.cq).wrId, BigInt(SECOND));
        }
      });
    },
  );

/** Two requests; whoever looks at the number of the second never comes back. */
function held<Wr extends object>(wr: Wr): readonly Wr[] {
  const second = {
    ...wr,
    get wrId(): number {
      return hold();
    },
  };
  return [{ ...wr, wrId: FIRST }, second];
}

describe('a list of requests in the midst of which a call is interrupted is forgotten:', { skip: cannotHold }, () => {
  it('requests to send', () => {
    using pair = new Pair('thread', NET);
    const { qp, cq } = pair.a;
    interruptHeld(() => qp.postSend(held(writeOf(pair, FIRST))));
    qp.postSend(writeOf(pair, SECOND));
    assert.equal(drainOne(cq).wrId, BigInt(SECOND));
  });

  const RECEIVES: Readonly<Record<string, (qp: Qp) => void>> = {
    objects: (qp) => qp.postRecv({ wrId: SECOND }),
    numbers: (qp) => qp.postRecvSge(SECOND, 0, 0n, 0),
  };
  for (const [style, postRecv] of Object.entries(RECEIVES))
    it(`requests to receive, before others that are posted as ${style}`, () => {
      using pair = new Pair('thread', NET);
      const { a, b } = pair;
      interruptHeld(() => b.qp.postRecv(held({})));
      postRecv(b.qp);
      a.qp.postSend({ opcode: WrOpcode.SEND, sendFlags: SendFlags.SIGNALED });
      drain(a.cq, 1);
      assert.equal(drainOne(b.cq).wrId, BigInt(SECOND));
    });
});
