import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Mtu, mtuBytes, WcOpcode } from '../../ibta/index.js';
import { assertCompleted, Pair, pattern } from './pair.js';

/** protocol/reliable.md 2.2: where one packet becomes two, for every path MTU. */

const MTUS = [Mtu.MTU_256, Mtu.MTU_512, Mtu.MTU_1024, Mtu.MTU_2048, Mtu.MTU_4096];

for (const mtu of MTUS) {
  const bytes = mtuBytes(mtu);
  const sizes = [0, 1, 3, bytes - 1, bytes, bytes + 1, 2 * bytes - 1, 2 * bytes, 2 * bytes + 1, 7 * bytes + 5];

  describe(`with a path MTU of ${bytes}`, () => {
    it('a SEND of any size arrives whole in the receive buffer', () => {
      for (const size of sizes) {
        const pair = new Pair();
        const { a, b } = pair.connect({ both: { pathMtu: mtu } });
        const source = pair.a.mrOf(pattern(Math.max(1, size)));
        const target = pair.b.mr(8 * bytes);
        const received = b.recv(target);
        const sent = a.send(source, { sgList: [source.sge(0, size)] });
        pair.drive();
        assertCompleted(a.sent(), [sent]);
        const completions = b.received();
        assertCompleted(completions, [received]);
        assert.equal(completions[0].byteLen, size);
        assert.equal(completions[0].opcode, WcOpcode.RECV);
        assert.deepEqual(target.bytes.subarray(0, size), source.bytes.subarray(0, size));
        assert.ok(target.bytes.subarray(size).every((byte) => byte === 0));
      }
    });

    it('an RDMA WRITE of any size arrives whole and consumes no receive', () => {
      for (const size of sizes) {
        const pair = new Pair();
        const { a, b } = pair.connect({ both: { pathMtu: mtu } });
        const source = pair.a.mrOf(pattern(Math.max(1, size)));
        const target = pair.b.mr(8 * bytes);
        b.recv(target);
        const wrId = a.write(source, target, { sgList: [source.sge(0, size)], ...target.at(3) });
        pair.drive();
        assertCompleted(a.sent(), [wrId]);
        assert.deepEqual(b.received(), []);
        assert.deepEqual(target.bytes.subarray(3, 3 + size), source.bytes.subarray(0, size));
        assert.ok(target.bytes.subarray(3 + size).every((byte) => byte === 0));
      }
    });

    it('an RDMA READ of any size fetches all of it and touches nothing else', () => {
      for (const size of sizes) {
        const pair = new Pair();
        const { a } = pair.connect({ both: { pathMtu: mtu } });
        const remote = pair.b.mrOf(pattern(8 * bytes));
        const local = pair.a.mr(8 * bytes);
        const wrId = a.read(local, remote, { sgList: [local.sge(5, size)], ...remote.at(1) });
        pair.drive();
        const completions = a.sent();
        assertCompleted(completions, [wrId]);
        assert.equal(completions[0].byteLen, size);
        assert.deepEqual(local.bytes.subarray(5, 5 + size), remote.bytes.subarray(1, 1 + size));
        assert.ok(local.bytes.subarray(0, 5).every((byte) => byte === 0));
        assert.ok(local.bytes.subarray(5 + size).every((byte) => byte === 0));
      }
    });

    it('messages are cut into FIRST, MIDDLE ... LAST of exactly one MTU, or are an ONLY', () => {
      for (const size of sizes) {
        const pair = new Pair();
        const { a, b } = pair.connect({ both: { pathMtu: mtu } });
        const source = pair.a.mr(Math.max(1, size));
        b.recv(pair.b.mr(8 * bytes));
        a.send(source, { sgList: [source.sge(0, size)] });
        pair.drive();
        const requests = pair.fromA();
        const count = Math.max(1, Math.ceil(size / bytes));
        const names = [
          'RC_SEND_FIRST',
          ...new Array<string>(Math.max(0, count - 2)).fill('RC_SEND_MIDDLE'),
          'RC_SEND_LAST',
        ];
        assert.deepEqual(
          requests.map(({ name, payload, padCount, psn }) => ({ name, length: payload.length, padCount, psn })),
          (count === 1 ? ['RC_SEND_ONLY'] : names).map((name, i) => {
            const length = Math.min(bytes, size - i * bytes);
            return { name, length, padCount: -length & 3, psn: 0x1000 + i };
          }),
        );
        assert.equal(requests[requests.length - 1].ackRequest, true);
      }
    });
  });
}

describe('a transfer of thousands of packets', () => {
  it('arrives whole by WRITE, SEND and READ', () => {
    const size = 3_000_001;
    const pair = new Pair({ network: { capture: false } });
    const { a, b } = pair.connect({ both: { pathMtu: Mtu.MTU_1024 } });
    const source = pair.a.mrOf(pattern(size));
    const written = pair.b.mr(size);
    const received = pair.b.mr(size);
    const fetched = pair.a.mr(size);
    b.recv(received);
    const wrIds = [a.write(source, written), a.send(source), a.read(fetched, written)];
    pair.drive();
    assertCompleted(a.sent(), wrIds);
    assert.equal(Buffer.compare(written.bytes, source.bytes), 0);
    assert.equal(Buffer.compare(received.bytes, source.bytes), 0);
    assert.equal(Buffer.compare(fetched.bytes, source.bytes), 0);
  });
});
