import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Mr, type SendWr, WcStatus, WrOpcode } from '../../src/entry/index.js';
import { ONE_SIDED_REQUESTS, readOf, Stream, writeOf } from './memory-support.js';
import { conformance } from './provider.js';
import { assertEmpty, assertStatus, Pair, perform, pollOne, remoteOf, useDevices } from './support.js';

const DEPTH = 100;
/** Of these requests some complete before the region ends, and some are posted after it. */
const BEFORE = 150;
const ALL = 400;

conformance('ending a region under work', (provider) => {
  const devices = useDevices(provider, 1);

  /** Runs requests over `mr`, ends it in their midst, and goes on posting; the first that finds it gone has `status`. */
  function endUnder(pair: Pair, mr: Mr, wr: SendWr, status: WcStatus): void {
    const stream = new Stream(pair.local, DEPTH, wr);
    stream.runUntil(BEFORE);
    stream.fill();
    mr.dereg();
    stream.runUntil(ALL);
    stream.drain();
    stream.assertBrokeOff(BEFORE, status);
  }

  for (const [name, make] of [
    ['READs', readOf],
    ['WRITEs', writeOf],
  ] as const) {
    test(`${name} that use it at home break off, and none of them is lost`, () => {
      using pair = new Pair(devices);
      const { local, remote } = pair;
      const mr = local.region(64);
      endUnder(pair, mr, make(mr, remoteOf(remote.mr)), WcStatus.LOC_PROT_ERR);
    });

    test(`${name} that use it at the peer’s break off, and none of them is lost`, () => {
      using pair = new Pair(devices);
      const { local, remote } = pair;
      const mr = remote.region(64);
      endUnder(pair, mr, make(local.mr, remoteOf(mr)), WcStatus.REM_ACCESS_ERR);
    });
  }

  test('a posted receive request does not stand in the way, and completes nothing', () => {
    using pair = new Pair(devices);
    const { local, remote } = pair;
    const mr = remote.region(64);
    remote.qp.postRecv({ sgList: [mr.sge()] });
    mr.dereg();
    assertEmpty(local.cq);
    assertEmpty(remote.cq);
  });

  test('what arrives for such a receive request fails at both ends', () => {
    using pair = new Pair(devices);
    const { local, remote } = pair;
    const mr = remote.region(64);
    remote.qp.postRecv({ sgList: [mr.sge()] });
    mr.dereg();
    const wc = perform(local, { opcode: WrOpcode.SEND, sgList: [local.mr.sge(0, 8)] });
    assertStatus(local, wc, WcStatus.REM_OP_ERR);
    assertStatus(remote, pollOne(remote.cq), WcStatus.LOC_PROT_ERR);
  });

  for (const [name, request] of ONE_SIDED_REQUESTS) {
    test(`a ${name} that comes after is refused`, () => {
      using pair = new Pair(devices);
      const { local, remote } = pair;
      const mr = remote.region(64);
      const { bytes } = mr;
      const target = remoteOf(mr);
      mr.dereg();
      local.mr.bytes.fill(7);
      const wc = perform(local, request(local.mr.sge(0, 8), target));
      assertStatus(local, wc, WcStatus.REM_ACCESS_ERR);
      assert.deepEqual(bytes, new Uint8Array(64));
    });
  }
});
