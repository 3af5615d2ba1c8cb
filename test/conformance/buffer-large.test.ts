import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AccessFlags, alloc, type Mr, Mtu, type SendWr, WrOpcode } from '../../src/entry/index.js';
import { conformance } from './provider.js';
import { ALL_ACCESS, assertSuccess, type End, Pair, pattern, perform, pollOne, useDevices } from './support.js';

const MIB = 2 ** 20;
/** Aligned as huge pages are, and as long as a good many of them. */
const HUGE_PAGE = 2 * MIB;
const LENGTH = 16 * HUGE_PAGE;
/** Where the bytes of each MiB begin in a pattern, so that no two of them are the same. */
const STRIDE = 977;

conformance('large memory', (provider) => {
  const devices = useDevices(provider, 1);

  const largeRegion = (end: End): Mr =>
    end.keep(end.pd.regMr(alloc(LENGTH, { align: HUGE_PAGE }), ALL_ACCESS | AccessFlags.HUGETLB));

  const data = pattern(2 * MIB);

  /** Sends all of one region to the other and compares them. */
  function sendAll(pieces: (mr: Mr) => SendWr): void {
    using pair = new Pair(devices, { pathMtu: Mtu.MTU_4096 });
    const { local, remote } = pair;
    const source = largeRegion(local);
    const target = largeRegion(remote);
    for (let at = 0; at < LENGTH; at += MIB) {
      const from = (at / MIB) * STRIDE;
      source.bytes.set(data.subarray(from, from + MIB), at);
    }
    remote.qp.postRecv({ sgList: [target.sge()] });
    assertSuccess(local, perform(local, pieces(source)));
    const received = pollOne(remote.cq);
    assertSuccess(remote, received);
    assert.equal(received.byteLen, LENGTH);
    assert.equal(Buffer.compare(target.bytes, source.bytes), 0);
  }

  test('is sent as one message of one piece', () => {
    sendAll((mr) => ({ opcode: WrOpcode.SEND, sgList: [mr.sge()] }));
  });

  test('is sent as one message of four pieces', () => {
    const piece = LENGTH / 4;
    sendAll((mr) => ({ opcode: WrOpcode.SEND, sgList: [0, 1, 2, 3].map((i) => mr.sge(i * piece, piece)) }));
  });
});
