import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AccessFlags, alloc, type Mr, WcStatus, WrOpcode } from '../../src/entry/index.js';
import { ONE_SIDED, ONE_SIDED_REQUESTS, PAGE, pingPong } from './memory-support.js';
import { conformance } from './provider.js';
import {
  ALL_ACCESS,
  assertErrno,
  assertStatus,
  assertSuccess,
  type End,
  Pair,
  pattern,
  perform,
  pollOne,
  remoteOf,
  useDevices,
} from './support.js';

const IOVAS = [
  ['0', 0n],
  ['a low address', 0x10000n],
  ['an address of more than 53 bits', 0x7fff_1234_5678_9000n],
  ['an address with the top bit set', 0xffff_8000_0000_0000n],
] as const;

conformance('regions that are named by an address of the program’s choice', (provider) => {
  const synthetic =
    provider.isVirtual && 'in virtual time addresses are synthetic, and memory begins where a page does';
  const devices = useDevices(provider, 1);

  const place = (end: End, iova: bigint): Mr => end.keep(end.pd.regMr(alloc(PAGE), ALL_ACCESS, { iova }));

  for (const [name, iova] of IOVAS) {
    test(`tell it: ${name}`, () => {
      using pair = new Pair(devices);
      const mr = place(pair.local, iova);
      assert.equal(mr.iova, iova);
      assert.notEqual(mr.addr, iova);
      assert.equal(BigInt(mr.sge(8, 8).addr), iova + 8n);
    });

    test(`are sent from and received into: ${name}`, () => {
      using pair = new Pair(devices);
      pingPong(pair, place(pair.local, iova), place(pair.remote, iova));
    });

    test(`are written by peers: ${name}`, () => {
      using pair = new Pair(devices);
      const { local, remote } = pair;
      const mr = place(remote, iova);
      local.mr.bytes.set(pattern(100));
      const rdma = { remoteAddr: iova + 11n, rkey: mr.rkey };
      assertSuccess(local, perform(local, ONE_SIDED.WRITE(local.mr.sge(0, 100), rdma)));
      assert.deepEqual(mr.bytes.subarray(11, 111), pattern(100));
    });
  }

  for (const [name, request] of ONE_SIDED_REQUESTS) {
    test(`are not there under the real address: ${name}`, () => {
      using pair = new Pair(devices);
      const { local, remote } = pair;
      const { addr: remoteAddr, rkey } = place(remote, 0x10000n);
      const wc = perform(local, request(local.mr.sge(0, 8), { remoteAddr, rkey }));
      assertStatus(local, wc, WcStatus.REM_ACCESS_ERR);
    });
  }

  test('need LOCAL_WRITE for rights of peers to change them', () => {
    using pd = devices[0].allocPd();
    for (const access of [AccessFlags.REMOTE_WRITE, AccessFlags.REMOTE_ATOMIC]) {
      assertErrno('EINVAL', () => pd.regMr(alloc(PAGE), access, { iova: 0x10000n }));
    }
  });

  test('lie in their pages as the memory does', { skip: synthetic }, () => {
    using pd = devices[0].allocPd();
    const memory = alloc(2 * PAGE).subarray(24, 124);
    assertErrno('EINVAL', () => pd.regMr(memory, ALL_ACCESS, { iova: 0x10000n }));
    using mr = pd.regMr(memory, ALL_ACCESS, { iova: 0x10018n });
    assert.equal(mr.iova, 0x10018n);
  });

  test('do not reach past the end of the address space', () => {
    using pd = devices[0].allocPd();
    assertErrno('EINVAL', () => pd.regMr(alloc(2 * PAGE), ALL_ACCESS, { iova: 2n ** 64n - BigInt(PAGE) }));
    for (const iova of [-1n, 2n ** 64n, -4096, 0.5]) {
      assertErrno('EINVAL', () => pd.regMr(alloc(PAGE), ALL_ACCESS, { iova }));
    }
  });
});

conformance('zero-based regions', (provider) => {
  const devices = useDevices(provider, 1);

  const zeroBased = (end: End, bytes = 1024): Mr => end.region(bytes, ALL_ACCESS | AccessFlags.ZERO_BASED);

  test('begin at address 0', () => {
    using pair = new Pair(devices);
    const mr = zeroBased(pair.local);
    assert.equal(mr.iova, 0n);
    assert.notEqual(mr.addr, 0n);
  });

  test('are sent from and received into', () => {
    using pair = new Pair(devices);
    pingPong(pair, zeroBased(pair.local), zeroBased(pair.remote));
  });

  for (const [name, request] of ONE_SIDED_REQUESTS) {
    test(`are open to a peer’s ${name} at address 0`, () => {
      using pair = new Pair(devices);
      const { local, remote } = pair;
      const { rkey } = zeroBased(remote);
      assertSuccess(local, perform(local, request(local.mr.sge(0, 8), { remoteAddr: 0, rkey })));
    });
  }

  test('end where their length says', () => {
    using pair = new Pair(devices);
    const { local, remote } = pair;
    const { rkey } = zeroBased(remote);
    const wc = perform(local, ONE_SIDED.READ(local.mr.sge(0, 8), { remoteAddr: 1017, rkey }));
    assertStatus(local, wc, WcStatus.REM_ACCESS_ERR);
  });
});

conformance('null regions', (provider) => {
  const devices = useDevices(provider, 1);

  const nullRegion = (end: End): Mr => end.keep(end.pd.allocNullMr());

  test('are zeros to those who send from them, at any address', () => {
    using pair = new Pair(devices);
    const { local, remote } = pair;
    const { lkey } = nullRegion(local);
    remote.mr.bytes.fill(9, 0, 3000);
    remote.qp.postRecv({ sgList: [remote.mr.sge(0, 3000)] });
    const sgList = [{ addr: 0x123456789n, length: 3000, lkey }];
    assertSuccess(local, perform(local, { opcode: WrOpcode.SEND, sgList }));
    assert.equal(pollOne(remote.cq).byteLen, 3000);
    assert.deepEqual(remote.mr.bytes.subarray(0, 3000), new Uint8Array(3000));
  });

  test('swallow what is received between two other pieces', () => {
    using pair = new Pair(devices);
    const { local, remote } = pair;
    const { lkey } = nullRegion(remote);
    local.mr.bytes.set(pattern(3000));
    remote.qp.postRecv({
      sgList: [remote.mr.sge(0, 1000), { addr: 0, length: 1000, lkey }, remote.mr.sge(1000, 1000)],
    });
    assertSuccess(local, perform(local, { opcode: WrOpcode.SEND, sgList: [local.mr.sge(0, 3000)] }));
    assertSuccess(remote, pollOne(remote.cq));
    assert.deepEqual(remote.mr.bytes.subarray(0, 1000), pattern(3000).subarray(0, 1000));
    assert.deepEqual(remote.mr.bytes.subarray(1000, 2000), pattern(3000).subarray(2000));
  });

  test('swallow what a READ fetches', () => {
    using pair = new Pair(devices);
    const { local, remote } = pair;
    const { lkey } = nullRegion(local);
    const piece = { addr: 0, length: 3000, lkey };
    assertSuccess(local, perform(local, ONE_SIDED.READ(piece, remoteOf(remote.mr))));
  });

  test('open nothing to peers', () => {
    using pair = new Pair(devices);
    const { local, remote } = pair;
    const { rkey } = nullRegion(remote);
    const wc = perform(local, ONE_SIDED.READ(local.mr.sge(0, 8), { remoteAddr: 0, rkey }));
    assertStatus(local, wc, WcStatus.REM_ACCESS_ERR);
  });
});
