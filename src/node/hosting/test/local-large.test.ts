import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { bthPsn, crc32, datagramIcrc, parseFrame, readCapture, storedIcrc } from '../../../device/wire/index.js';
import { type Context, openDevice, SendFlags, WcStatus, WrOpcode } from '../../../entry/index.js';
import { connectTo, infoOf } from '../../../providers/soft/test/support/ends.js';
import { drain, drainOne, makeSide, Pair, pattern, type Side } from '../../../providers/soft/test/support/pair.js';
import { loopback, NET } from '../../../../test/support/loopback.js';

const HALF = 1 << 20;
const OPTIONS = { bytes: 2 * HALF };
/** Around the path MTU and the large segment, and beyond what may be under way. */
const LENGTHS = [1, 1024, 1025, 32767, 32768, 32769, 100_003, HALF];
const OPCODES = { SEND: WrOpcode.SEND, WRITE: WrOpcode.RDMA_WRITE, READ: WrOpcode.RDMA_READ } as const;
type Opcode = (typeof OPCODES)[keyof typeof OPCODES];

const folder = mkdtempSync(join(tmpdir(), 'verbena-large-'));
after(() => rmSync(folder, { recursive: true }));

/** Has a message go from the first half of one side's memory to the second half of the other's; a READ has it come. */
function move(from: Side, to: Side, opcode: Opcode, length: number): void {
  const reads = opcode === WrOpcode.RDMA_READ;
  const [source, target] = reads ? [to, from] : [from, to];
  const data = pattern(length, length);
  source.mr.bytes.set(data);
  target.mr.bytes.fill(0, HALF);
  if (opcode === WrOpcode.SEND) to.qp.postRecv({ sgList: [to.mr.sge(HALF, HALF)] });
  const sendFlags = SendFlags.SIGNALED;
  const sgList = [reads ? from.mr.sge(HALF, length) : from.mr.sge(0, length)];
  const rdma = { remoteAddr: reads ? to.mr.addr : to.mr.addr + BigInt(HALF), rkey: to.mr.rkey };
  from.qp.postSend(opcode === WrOpcode.SEND ? { opcode, sendFlags, sgList } : { opcode, sendFlags, sgList, rdma });
  const completion = drainOne(from.cq);
  assert.equal(completion.status, WcStatus.SUCCESS, from.context.explain(completion));
  if (opcode === WrOpcode.SEND) assert.equal(drainOne(to.cq).byteLen, length);
  assert.deepEqual(Buffer.compare(target.mr.bytes.subarray(HALF, HALF + length), data), 0);
  if (length < HALF) assert.equal(target.mr.bytes[HALF + length], 0);
}

function connected(first: Context, second: Context): { readonly a: Side; readonly b: Side } {
  const pair = { a: makeSide(first, OPTIONS), b: makeSide(second, OPTIONS) };
  connectTo(pair.a, infoOf(pair.b));
  connectTo(pair.b, infoOf(pair.a));
  return pair;
}

/** Small messages both ways, after which each side has the other's ring. */
function meet({ a, b }: { readonly a: Side; readonly b: Side }): void {
  move(a, b, WrOpcode.SEND, 1);
  move(b, a, WrOpcode.SEND, 1);
}

/**
 * Into how many pieces a capture shows the long message cut. A piece that is lost, or comes behind one that was, goes again
 * under its own PSN.
 */
function pieces(file: string): number {
  const psns = new Set<number>();
  for (const { linkType, data } of readCapture(readFileSync(file))) {
    const found = parseFrame(linkType, data);
    assert.ok(typeof found === 'object', 'it is not a RoCE packet');
    if (found.length > 1024) psns.add(bthPsn(data, found.offset));
  }
  return psns.size;
}

for (const host of ['inline', 'thread'] as const) {
  describe(`messages between devices of one machine, hosted ${host}`, () => {
    for (const [name, opcode] of Object.entries(OPCODES)) {
      test(`${name}s of all lengths arrive whole`, () => {
        using pair = new Pair(host, NET, OPTIONS);
        meet(pair);
        for (const length of LENGTHS) move(pair.a, pair.b, opcode, length);
      });

      test(`${name}s are cut into large pieces where memory carries them, and by the path MTU elsewhere`, () => {
        for (const [link, count] of [
          ['shm', HALF / 32768],
          ['udp', HALF / 1024],
        ] as const) {
          const capture = join(folder, `${host}-${name}-${link}.pcapng`);
          {
            using first = openDevice({ host, address: loopback(1), link, capture });
            using second = openDevice({ host, address: loopback(2), link });
            const pair = connected(first, second);
            meet(pair);
            move(pair.a, pair.b, opcode, HALF);
          }
          assert.equal(pieces(capture), count);
        }
      });
    }

    test('many at once wait for room, and nothing is lost for want of it', () => {
      using pair = new Pair(host, NET, OPTIONS);
      meet(pair);
      const { a, b } = pair;
      const pairs = Array.from(
        { length: 32 },
        () => [makeSide(a.context, OPTIONS), makeSide(b.context, OPTIONS)] as const,
      );
      for (const [near, far] of pairs) {
        connectTo(near, infoOf(far));
        connectTo(far, infoOf(near));
      }
      const data = pattern(HALF);
      for (const [near, far] of pairs) {
        near.mr.bytes.set(data);
        const rdma = { remoteAddr: far.mr.addr + BigInt(HALF), rkey: far.mr.rkey };
        const request = {
          opcode: WrOpcode.RDMA_WRITE,
          sendFlags: SendFlags.SIGNALED,
          sgList: [near.mr.sge(0, HALF)],
          rdma,
        };
        near.qp.postSend([request, request, request, request]);
      }
      for (const [near, far] of pairs) {
        const ends = drain(near.cq, 4).map(({ status }) => status);
        assert.deepEqual(ends, new Array(4).fill(WcStatus.SUCCESS));
        assert.equal(Buffer.compare(far.mr.bytes.subarray(HALF), data), 0);
      }
      assert.equal(a.context.counters()['link_local_full'], 0);
    });

    test('what may not be written to is not, in large pieces either', () => {
      using pair = new Pair(host, NET, OPTIONS);
      meet(pair);
      const { a, b } = pair;
      const rdma = { remoteAddr: b.mr.addr + BigInt(HALF + 1), rkey: b.mr.rkey };
      b.mr.bytes.fill(9, HALF);
      a.mr.bytes.fill(1);
      a.qp.postSend({ opcode: WrOpcode.RDMA_WRITE, sgList: [a.mr.sge(0, HALF)], rdma });
      assert.equal(drainOne(a.cq).status, WcStatus.REM_ACCESS_ERR);
      assert.ok(b.mr.bytes.subarray(HALF).every((byte) => byte === 9));
    });
  });
}

test('a capture shows large pieces as packets that IP can carry, with right ICRCs', () => {
  const files = [1, 2].map((n) => join(folder, `${n}.pcapng`));
  {
    const [one, two] = files;
    using first = openDevice({ host: 'inline', address: loopback(1), capture: one, link: 'shm' });
    using second = openDevice({ host: 'inline', address: loopback(2), capture: two, link: 'shm' });
    const pair = connected(first, second);
    meet(pair);
    for (const opcode of Object.values(OPCODES)) move(pair.a, pair.b, opcode, 100_003);
  }
  for (const file of files) {
    const records = [...readCapture(readFileSync(file))];
    assert.ok(records.some(({ data }) => data.length > 32768));
    for (const { linkType, data } of records) {
      const found = parseFrame(linkType, data);
      assert.ok(typeof found === 'object', 'it is not a RoCE packet');
      assert.equal(datagramIcrc(crc32, data, found), storedIcrc(data, found.offset, found.length));
    }
  }
});
