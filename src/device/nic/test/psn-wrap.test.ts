import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Mtu } from '../../ibta/index.js';
import { assertCompleted, dropping, Pair, pattern } from './pair.js';

/** protocol/reliable.md 2.1: PSNs are 24 bits and wrap; so does the count of messages, which starts anew with each connection. */

const SIZE = 2000;

function nearTheEnd(sqPsn: number, rqPsn = 0x5000) {
  const pair = new Pair();
  const { a, b } = pair.connect({ both: { pathMtu: Mtu.MTU_256, timeout: 8 }, a: { sqPsn, rqPsn } });
  return { pair, a, b };
}

describe('PSNs that wrap', () => {
  for (const sqPsn of [0xffffff, 0xfffffe, 0xfffffc, 0xfffff9, 0x7ffffc, 0x800000]) {
    it(`from 0x${sqPsn.toString(16)} are no hindrance to SEND, WRITE, READ and atomics`, () => {
      const { pair, a, b } = nearTheEnd(sqPsn);
      const source = pair.a.mrOf(pattern(SIZE));
      const target = pair.b.mr(SIZE);
      const other = pair.b.mr(SIZE);
      const fetched = pair.a.mr(SIZE);
      const received = b.recv(target);
      const wrIds = [
        a.send(source),
        a.write(source, other),
        a.read(fetched, other),
        a.fetchAdd(fetched, other, 0n, { sgList: [fetched.sge(0, 8)] }),
        a.write(source, other, { sgList: [source.sge(0, 1)] }),
      ];
      pair.drive();
      assertCompleted(a.sent(), wrIds);
      assertCompleted(b.received(), [received]);
      assert.deepEqual(target.bytes, source.bytes);
      assert.deepEqual(fetched.bytes, source.bytes);
    });
  }

  it('go from 0xffffff to 0', () => {
    const { pair, a } = nearTheEnd(0xfffffe);
    a.write(pair.a.mr(1000), pair.b.mr(1000));
    pair.drive();
    assert.deepEqual(
      pair.fromA().map(({ psn }) => psn),
      [0xfffffe, 0xffffff, 0, 1],
    );
  });

  it('of lost packets on either side of the wrap are sent again', () => {
    for (const lost of [1, 2, 3, 4, 5, 8]) {
      const { pair, a, b } = nearTheEnd(0xfffffd);
      pair.script = dropping((packet) => packet.from === pair.a.ip, lost);
      const source = pair.a.mrOf(pattern(SIZE));
      const target = pair.b.mr(SIZE);
      const received = b.recv(target);
      const sent = a.send(source);
      pair.drive();
      assertCompleted(a.sent(), [sent]);
      assertCompleted(b.received(), [received]);
      assert.deepEqual(target.bytes, source.bytes);
    }
  });

  it('of lost READ responses on either side of the wrap are asked for again', () => {
    for (const lost of [1, 2, 3, 4, 5, 8]) {
      const { pair, a } = nearTheEnd(0xfffffd);
      pair.script = dropping((packet) => packet.from === pair.b.ip, lost);
      const remote = pair.b.mrOf(pattern(SIZE));
      const local = pair.a.mr(SIZE);
      const wrId = a.read(local, remote);
      pair.drive();
      assertCompleted(a.sent(), [wrId]);
      assert.deepEqual(local.bytes, remote.bytes);
    }
  });

  it('in the midst of a message that fills the window more than once change nothing', () => {
    const pair = new Pair({ network: { capture: false } });
    const { a } = pair.connect({ both: { pathMtu: Mtu.MTU_256 }, a: { sqPsn: 0xffff00 } });
    const source = pair.a.mrOf(pattern(600 * 256));
    const target = pair.b.mr(600 * 256);
    const wrId = a.write(source, target);
    pair.drive();
    assertCompleted(a.sent(), [wrId]);
    assert.deepEqual(target.bytes, source.bytes);
  });
});
