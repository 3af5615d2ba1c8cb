import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { alloc, openDevice, type Pd, VerbsError } from '../../../entry/index.js';
import { SimulatedCluster } from '../../../entry/sim.js';
import { registerMemory } from '../index.js';
import { SlowMemory } from '../../../../test/support/foreign-memory.js';
import { NET } from '../../../../test/support/loopback.js';
import { ALL_ACCESS } from './support/pair.js';

const IOVA = 0x6000_0000_0000;
const memory = (): SlowMemory => new SlowMemory(new Uint8Array(64));
const openPd = (): Pd => new SimulatedCluster({ seed: 1 }).open('10.0.0.1').allocPd();

function assertErrno(errno: string, call: () => unknown): void {
  assert.throws(call, (error) => error instanceof VerbsError && error.errno === errno);
}

describe('registerMemory', () => {
  it('gives a region that is named from iova on, and has no bytes here', () => {
    const mr = registerMemory(openPd(), memory(), { iova: IOVA, access: ALL_ACCESS });
    assert.deepEqual([mr.iova, mr.length, mr.bytes.length], [BigInt(IOVA), 64, 0]);
    assert.deepEqual(mr.sge(8, 4), { addr: BigInt(IOVA + 8), length: 4, lkey: mr.lkey });
  });

  it('gives a region that holds its domain until it ends', () => {
    const pd = openPd();
    const mr = registerMemory(pd, memory(), { iova: IOVA, access: 0 });
    assertErrno('EBUSY', () => pd.dealloc());
    mr.dereg();
    pd.dealloc();
  });

  it('gives a region of which access and domain can change, and the memory cannot', () => {
    const pd = openPd();
    const mr = registerMemory(pd, memory(), { iova: IOVA, access: 0 });
    const other = pd.context.allocPd();
    mr.rereg({ pd: other, access: ALL_ACCESS });
    assert.deepEqual([mr.pd, mr.access], [other, ALL_ACCESS]);
    pd.dealloc();
    assertErrno('EOPNOTSUPP', () => mr.rereg({ memory: alloc(64) }));
  });

  it('takes memory without a byte', () => {
    const pd = openPd();
    const mr = registerMemory(pd, new SlowMemory(new Uint8Array(0)), { iova: IOVA, access: ALL_ACCESS });
    assert.equal(mr.length, 0);
    mr.dereg();
  });

  it('refuses an address that is none, and access that cannot be', () => {
    const pd = openPd();
    assertErrno('EINVAL', () => registerMemory(pd, memory(), { iova: -1, access: 0 }));
    assertErrno('EINVAL', () => registerMemory(pd, memory(), { iova: IOVA, access: 2 }));
  });

  it('is refused where the NIC is in a thread of its own', () => {
    using context = openDevice({ host: 'thread', address: `${NET}.1` });
    assertErrno('EOPNOTSUPP', () => registerMemory(context.allocPd(), memory(), { iova: IOVA, access: 0 }));
  });
});
