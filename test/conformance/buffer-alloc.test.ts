import assert from 'node:assert/strict';
import { test } from 'node:test';
import { alloc, type Mr, QpType, WcFlags, WcOpcode, WrOpcode } from '../../src/entry/index.js';
import { ONE_SIDED, PAGE, pingPong } from './memory-support.js';
import { conformance } from './provider.js';
import {
  ALL_ACCESS,
  assertSuccess,
  type End,
  Pair,
  pattern,
  perform,
  pollOne,
  readU64,
  remoteOf,
  useDevices,
  writeU64,
} from './support.js';

// `alloc()` is what `ibv_alloc_buf` is elsewhere: memory that suits the device, to be registered by the piece.

conformance('memory from alloc()', (provider) => {
  const devices = useDevices(provider, 2);

  /** The last `bytes` of memory that is `before` longer. */
  const regionIn = (end: End, bytes: number, before = 0): Mr =>
    end.keep(end.pd.regMr(alloc(before + bytes).subarray(before), ALL_ACCESS));

  test('can be registered page by page, each page with keys and an address of its own', () => {
    using pair = new Pair(devices);
    const { pd } = pair.local;
    const memory = alloc(2 * PAGE);
    using first = pd.regMr(memory.subarray(0, PAGE), ALL_ACCESS);
    using second = pd.regMr(memory.subarray(PAGE), ALL_ACCESS);
    assert.notEqual(first.lkey, second.lkey);
    assert.notEqual(first.rkey, second.rkey);
    assert.equal(second.addr, first.addr + BigInt(PAGE));
    assert.equal(first.addr % BigInt(PAGE), 0n);
    first.bytes.fill(1);
    second.bytes.fill(2);
    assert.deepEqual([memory[0], memory[PAGE - 1], memory[PAGE], memory[2 * PAGE - 1]], [1, 1, 2, 2]);
  });

  test('is of no domain: any may register it, also several', () => {
    const [context] = devices;
    using one = context.allocPd();
    using other = context.allocPd();
    const memory = alloc(PAGE);
    using first = one.regMr(memory, ALL_ACCESS);
    using second = other.regMr(memory, ALL_ACCESS);
    first.bytes[9] = 4;
    assert.equal(second.bytes[9], 4);
  });

  for (const bytes of [1024, 16384]) {
    test(`RC sends ${bytes} bytes from it and receives into it`, () => {
      using pair = new Pair(devices);
      pingPong(pair, regionIn(pair.local, bytes), regionIn(pair.remote, bytes), bytes);
    });
  }

  test('RC sends from a region that begins a page into it', () => {
    using pair = new Pair(devices);
    pingPong(pair, regionIn(pair.local, 8192, PAGE), regionIn(pair.remote, 8192, PAGE), 8192);
  });

  test('RC writes into it with immediate data', () => {
    using pair = new Pair(devices);
    const { local, remote } = pair;
    const source = regionIn(local, 1024);
    const target = regionIn(remote, 1024);
    source.bytes.set(pattern(1024));
    remote.qp.postRecv({});
    const sgList = [source.sge()];
    const rdma = remoteOf(target);
    assertSuccess(local, perform(local, { opcode: WrOpcode.RDMA_WRITE_WITH_IMM, immData: 0x89abcdef, sgList, rdma }));
    const { opcode, byteLen, immData, wcFlags } = pollOne(remote.cq);
    assert.deepEqual([opcode, byteLen, immData], [WcOpcode.RECV_RDMA_WITH_IMM, 1024, 0x89abcdef]);
    assert.equal(wcFlags & WcFlags.WITH_IMM, WcFlags.WITH_IMM);
    assert.deepEqual(target.bytes, pattern(1024));
  });

  test('RC reads from it', () => {
    using pair = new Pair(devices);
    const { local, remote } = pair;
    const here = regionIn(local, 1024);
    const there = regionIn(remote, 1024);
    there.bytes.set(pattern(1024));
    assertSuccess(local, perform(local, ONE_SIDED.READ(here.sge(), remoteOf(there))));
    assert.deepEqual(here.bytes, pattern(1024));
  });

  test('RC adds to it and fetches what was there', () => {
    using pair = new Pair(devices);
    const { local, remote } = pair;
    const here = regionIn(local, 8);
    const there = regionIn(remote, 8);
    writeU64(there, 41n);
    assertSuccess(local, perform(local, ONE_SIDED.FETCH_ADD(here.sge(), remoteOf(there))));
    assert.deepEqual([readU64(here), readU64(there)], [41n, 42n]);
  });

  test('UD sends from it and receives into it', () => {
    using pair = new Pair(devices, { qpType: QpType.UD });
    pingPong(pair, regionIn(pair.local, 1064), regionIn(pair.remote, 1064));
  });
});
