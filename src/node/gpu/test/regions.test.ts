import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { GpuBuffer, GpuContext } from '../../../entry/gpu.js';
import {
  AccessFlags,
  alloc,
  type HostKind,
  MwType,
  openDevice,
  PostError,
  type SendWr,
  SendFlags,
  VerbsError,
  WcStatus,
  WrOpcode,
} from '../../../entry/index.js';
import { SimulatedCluster } from '../../../entry/sim.js';
import { loopback, NET } from '../../../../test/support/loopback.js';
import { ALL_ACCESS, drainOne, pattern, type Side } from '../../../providers/soft/test/support/pair.js';
import { Devices, GPU_HOSTINGS, KIND, openGpuDevice, withoutGpu } from './support.js';

const BYTES = 8192;
const LONG_BYTES = 4 * 2 ** 20;
const { SUCCESS, REM_ACCESS_ERR, LOC_PROT_ERR } = WcStatus;

function assertErrno(errno: string, call: () => unknown, message = /./): void {
  assert.throws(call, (error) => error instanceof VerbsError && error.errno === errno && message.test(error.message));
}

function contentOf(buffer: GpuBuffer): Uint8Array {
  const bytes = new Uint8Array(buffer.length);
  buffer.readSync(bytes);
  return bytes;
}

function perform({ qp, cq }: Side, request: SendWr): WcStatus {
  qp.postSend({ ...request, sendFlags: SendFlags.SIGNALED });
  return drainOne(cq).status;
}

function suite(host: HostKind): void {
  let devices: Devices;
  let gpu: GpuContext;
  before(() => {
    devices = new Devices(host, NET);
    ({ gpu } = devices);
  });
  after(() => devices[Symbol.dispose]());

  it('is named by its address, and its region has no bytes here', () => {
    using pair = devices.connect();
    using buffer = gpu.alloc(BYTES);
    using mr = pair.a.pd.regMr(buffer, ALL_ACCESS);
    assert.deepEqual([mr.addr, mr.iova, mr.length, mr.bytes.length], [buffer.address, buffer.address, BYTES, 0]);
    assert.deepEqual(mr.sge(8, 4), { addr: buffer.address + 8n, length: 4, lkey: mr.lkey });
  });

  it('may be named otherwise, as far from a page as it is', () => {
    using pair = devices.connect();
    using buffer = gpu.alloc(BYTES);
    using named = pair.a.pd.regMr(buffer, ALL_ACCESS, { iova: 0x7000 });
    using zeroBased = pair.a.pd.regMr(buffer, ALL_ACCESS | AccessFlags.ZERO_BASED);
    assert.deepEqual([named.iova, named.addr, zeroBased.iova], [0x7000n, buffer.address, 0n]);
    assertErrno('EINVAL', () => pair.a.pd.regMr(buffer, ALL_ACCESS, { iova: 0x7001 }));
  });

  it('is not freed while it is registered, and keeps its domain', () => {
    using pair = devices.connect();
    const buffer = gpu.alloc(BYTES);
    const pd = pair.a.context.allocPd();
    const mr = pd.regMr(buffer);
    assertErrno('EBUSY', () => buffer.free(), /in use by MR 0x/);
    assertErrno('EBUSY', () => pd.dealloc());
    mr.dereg();
    buffer.free();
    pd.dealloc();
    assertErrno('EINVAL', () => pair.a.pd.regMr(buffer), /given back/);
  });

  it('can be freed when the device of its region was closed', () => {
    const context = openDevice({ host, address: loopback(3) });
    const buffer = gpu.alloc(BYTES);
    context.allocPd().regMr(buffer);
    context.close();
    buffer.free();
  });

  it('is refused where access needs what is missing', () => {
    using pair = devices.connect();
    using buffer = gpu.alloc(BYTES);
    assertErrno('EINVAL', () => pair.a.pd.regMr(buffer, AccessFlags.REMOTE_WRITE));
  });

  it('opens no byte before or behind it, nor anything to a key with too little access', () => {
    for (const [offset, length, access, expected] of [
      [0n, BYTES, ALL_ACCESS, SUCCESS],
      [1n, BYTES, ALL_ACCESS, REM_ACCESS_ERR],
      [-1n, 8, ALL_ACCESS, REM_ACCESS_ERR],
      [0n, 8, AccessFlags.REMOTE_READ, REM_ACCESS_ERR],
    ] as const) {
      using pair = devices.connect();
      using buffer = gpu.alloc(BYTES);
      buffer.fill(5);
      using mr = pair.b.pd.regMr(buffer, access);
      const rdma = { remoteAddr: mr.iova + offset, rkey: mr.rkey };
      const status = perform(pair.a, { opcode: WrOpcode.RDMA_WRITE, sgList: [pair.a.mr.sge(0, length)], rdma });
      assert.equal(status, expected);
      assert.ok(contentOf(buffer).every((byte) => byte === (expected === SUCCESS ? 0 : 5)));
    }
  });

  it('cannot be sent inline', () => {
    using pair = devices.connect();
    using buffer = gpu.alloc(BYTES);
    using mr = pair.a.pd.regMr(buffer, ALL_ACCESS);
    const request = { opcode: WrOpcode.SEND, sgList: [mr.sge(0, 8)], sendFlags: SendFlags.INLINE } as const;
    assert.throws(() => pair.a.qp.postSend(request), PostError);
  });

  it('takes what atomics and READs bring only with LOCAL_WRITE', () => {
    using pair = devices.connect();
    using buffer = gpu.alloc(BYTES);
    using mr = pair.a.pd.regMr(buffer, AccessFlags.REMOTE_READ);
    const rdma = { remoteAddr: pair.b.mr.iova, rkey: pair.b.mr.rkey };
    assert.equal(perform(pair.a, { opcode: WrOpcode.RDMA_READ, sgList: [mr.sge()], rdma }), LOC_PROT_ERR);
  });

  it('is open by a window, and closed when that is', () => {
    using pair = devices.connect();
    using buffer = gpu.alloc(BYTES);
    using mr = pair.b.pd.regMr(buffer, ALL_ACCESS | AccessFlags.MW_BIND);
    using mw = pair.b.pd.allocMw(MwType.TYPE_1);
    const mwAccessFlags = AccessFlags.REMOTE_WRITE;
    const bindInfo = { mr, addr: mr.iova + 100n, length: 50, mwAccessFlags };
    pair.b.qp.bindMw(mw, { bindInfo, sendFlags: SendFlags.SIGNALED });
    assert.equal(drainOne(pair.b.cq).status, SUCCESS);
    pair.a.mr.bytes.set(pattern(50));
    const write = (): WcStatus =>
      perform(pair.a, {
        opcode: WrOpcode.RDMA_WRITE,
        sgList: [pair.a.mr.sge(0, 50)],
        rdma: { remoteAddr: mr.iova + 100n, rkey: mw.rkey },
      });
    assert.equal(write(), SUCCESS);
    assert.deepEqual(contentOf(buffer).subarray(100, 150), pattern(50));
    mw.dealloc();
    assert.equal(write(), REM_ACCESS_ERR);
  });

  it('gives its region to another buffer by re-registration, and is free then', () => {
    using pair = devices.connect();
    const first = gpu.alloc(BYTES);
    using second = gpu.alloc(2 * BYTES);
    using mr = pair.b.pd.regMr(first, ALL_ACCESS);
    mr.rereg({ memory: second });
    first.free();
    assert.deepEqual([mr.length, mr.iova], [2 * BYTES, second.address]);
    pair.a.mr.bytes.set(pattern(BYTES));
    const rdma = { remoteAddr: mr.iova + BigInt(BYTES), rkey: mr.rkey };
    assert.equal(perform(pair.a, { opcode: WrOpcode.RDMA_WRITE, sgList: [pair.a.mr.sge(0, BYTES)], rdma }), SUCCESS);
    assert.deepEqual(contentOf(second).subarray(BYTES), pattern(BYTES));
    assertErrno('EBUSY', () => second.free());
  });

  it('and memory of the program do not take each other’s place', () => {
    using pair = devices.connect();
    using buffer = gpu.alloc(BYTES);
    using mr = pair.a.pd.regMr(buffer);
    assertErrno('EOPNOTSUPP', () => mr.rereg({ memory: alloc(BYTES) }));
    assertErrno('EOPNOTSUPP', () => pair.a.mr.rereg({ memory: buffer }));
  });

  it('is touched by nobody once it was deregistered, whatever is under way', () => {
    for (const polls of [1, 5, 20]) {
      using pair = devices.connect({ bytes: LONG_BYTES });
      using buffer = gpu.alloc(LONG_BYTES);
      buffer.fill(0);
      const mr = pair.b.pd.regMr(buffer, ALL_ACCESS);
      pair.a.mr.bytes.fill(7);
      const rdma = { remoteAddr: mr.iova, rkey: mr.rkey };
      pair.a.qp.postSend({
        opcode: WrOpcode.RDMA_WRITE,
        sgList: [pair.a.mr.sge()],
        rdma,
        sendFlags: SendFlags.SIGNALED,
      });
      for (let i = 0; i < polls; i += 1) pair.a.cq.poll(1);
      mr.dereg();
      const then = contentOf(buffer);
      assert.equal(drainOne(pair.a.cq).status, REM_ACCESS_ERR);
      assert.deepEqual(contentOf(buffer), then);
    }
  });

  it('is given up by a queue pair that ends while it copies from and to it', () => {
    using pair = devices.connect({ bytes: LONG_BYTES });
    using from = gpu.alloc(LONG_BYTES);
    using to = gpu.alloc(LONG_BYTES);
    using source = pair.a.pd.regMr(from, ALL_ACCESS);
    using target = pair.b.pd.regMr(to, ALL_ACCESS);
    const rdma = { remoteAddr: target.iova, rkey: target.rkey };
    pair.a.qp.postSend({ opcode: WrOpcode.RDMA_WRITE, sgList: [source.sge()], rdma });
    for (let i = 0; i < 10; i += 1) pair.a.cq.poll(1);
    pair.a.qp.destroy();
    pair.b.qp.destroy();
    const then = contentOf(to);
    assert.deepEqual(contentOf(to), then);
  });
}

for (const host of GPU_HOSTINGS)
  describe(`a buffer of a GPU, by ${KIND}, with a NIC hosted ${host}`, { skip: withoutGpu }, () => suite(host));

describe('a buffer of a GPU', { skip: withoutGpu }, () => {
  it('is nothing that a simulated NIC reaches', () => {
    using gpu = openGpuDevice();
    using buffer = gpu.alloc(64);
    const pd = new SimulatedCluster({ seed: 1 }).open('10.0.0.1').allocPd();
    assertErrno('EOPNOTSUPP', () => pd.regMr(buffer));
    assertErrno('EINVAL', () => pd.regMr({ ...buffer, length: 64, address: 0n, [Symbol.dispose]: () => undefined }));
  });
});
