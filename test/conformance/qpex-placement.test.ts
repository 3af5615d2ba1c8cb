import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  AccessFlags,
  incRkey,
  MwType,
  PlacementType,
  type Qp,
  QpCreateSendOpsFlags,
  SelectivityLevel,
  SendFlags,
  WcOpcode,
  WcStatus,
  type WorkCompletion,
} from '../../src/entry/index.js';
import { conformance } from './provider.js';
import {
  ALL_ACCESS,
  assertStatus,
  assertSuccess,
  type End,
  Pair,
  pattern,
  pollOne,
  REMOTE_ACCESS,
  remoteOf,
  useDevices,
} from './support.js';

const { FLUSH_GLOBAL, FLUSH_PERSISTENT } = AccessFlags;
const { FLUSH_RANGE, FLUSH_MR } = SelectivityLevel;
const Ops = QpCreateSendOpsFlags;
const BYTES = 1024;

/** Posts one SIGNALED request and waits for it. */
function perform({ qp, cq }: End, build: (qp: Qp) => void): WorkCompletion {
  qp.wrStart();
  qp.wrFlags = SendFlags.SIGNALED;
  build(qp);
  qp.wrComplete();
  return pollOne(cq);
}

conformance('placement requests', (provider) => {
  const devices = useDevices(provider);

  /** The peer's memory may be flushed for all to see, and its QP allows either flush. */
  const open = (): Pair =>
    new Pair(devices, {
      access: ALL_ACCESS | FLUSH_GLOBAL,
      qpAccess: REMOTE_ACCESS | FLUSH_GLOBAL | FLUSH_PERSISTENT,
      sendOpsFlags: Ops.WITH_RDMA_WRITE | Ops.WITH_FLUSH | Ops.WITH_ATOMIC_WRITE,
    });

  test('wrFlush succeeds after a WRITE: of its range, and of the whole region whatever length is named', () => {
    using pair = open();
    const { local, remote } = pair;
    const { rkey, remoteAddr } = remoteOf(remote.mr);
    local.mr.bytes.set(pattern(BYTES));
    const written = perform(local, (qp) => {
      qp.wrRdmaWrite(rkey, remoteAddr);
      qp.wrSetSgeList([local.mr.sge(0, BYTES)]);
    });
    assertSuccess(local, written);
    for (const [length, level] of [
      [BYTES, FLUSH_RANGE],
      [0, FLUSH_MR],
      [remote.mr.length * 3, FLUSH_MR],
    ] as const) {
      const wc = perform(local, (qp) => qp.wrFlush(rkey, remoteAddr, length, PlacementType.FLUSH_GLOBAL, level));
      assertSuccess(local, wc);
      assert.equal(wc.opcode, WcOpcode.FLUSH);
    }
    assert.deepEqual(remote.mr.bytes.subarray(0, BYTES), pattern(BYTES));
  });

  test('wrFlush for persistence ends in REM_ACCESS_ERR where the region has FLUSH_GLOBAL alone', () => {
    using pair = open();
    const { local, remote } = pair;
    const { rkey, remoteAddr } = remoteOf(remote.mr);
    const wc = perform(local, (qp) => {
      qp.wrFlush(rkey, remoteAddr, BYTES, PlacementType.FLUSH_PERSISTENT, FLUSH_RANGE);
    });
    assertStatus(local, wc, WcStatus.REM_ACCESS_ERR);
  });

  test('wrFlush of a range that is not all inside the region ends in REM_ACCESS_ERR', () => {
    using pair = open();
    const { local, remote } = pair;
    const { rkey, remoteAddr } = remoteOf(remote.mr, 8);
    const wc = perform(local, (qp) => {
      qp.wrFlush(rkey, remoteAddr, remote.mr.length, PlacementType.FLUSH_GLOBAL, FLUSH_RANGE);
    });
    assertStatus(local, wc, WcStatus.REM_ACCESS_ERR);
  });

  test('wrAtomicWrite puts 8 bytes in place, which it takes at once', () => {
    using pair = open();
    const { local, remote } = pair;
    const { rkey, remoteAddr } = remoteOf(remote.mr, 16);
    remote.mr.bytes.fill(0x62);
    const data = pattern(8, 3);
    const wc = perform(local, (qp) => {
      qp.wrAtomicWrite(rkey, remoteAddr, data);
      data.fill(0);
    });
    assertSuccess(local, wc);
    assert.equal(wc.opcode, WcOpcode.ATOMIC_WRITE);
    const expected = new Uint8Array(64).fill(0x62);
    expected.set(pattern(8, 3), 16);
    assert.deepEqual(remote.mr.bytes.subarray(0, 64), expected);
  });

  test('wrBindMw binds a window, and a WRITE that it does not allow ends in REM_ACCESS_ERR', () => {
    using pair = new Pair(devices, { sendOpsFlags: Ops.WITH_BIND_MW | Ops.WITH_RDMA_WRITE });
    const { local, remote } = pair;
    const mw = remote.keep(remote.pd.allocMw(MwType.TYPE_2));
    const rkey = incRkey(mw.rkey);
    const { mr } = remote;
    const bound = perform(remote, (qp) => {
      qp.wrBindMw(mw, rkey, { mr, addr: mr.iova, length: mr.length, mwAccessFlags: AccessFlags.LOCAL_WRITE });
    });
    assertSuccess(remote, bound);
    assert.equal(bound.opcode, WcOpcode.BIND_MW);
    local.mr.bytes.set(pattern(BYTES));
    const written = perform(local, (qp) => {
      qp.wrRdmaWrite(rkey, mr.iova);
      qp.wrSetSgeList([local.mr.sge(0, BYTES)]);
    });
    assertStatus(local, written, WcStatus.REM_ACCESS_ERR);
    assert.deepEqual(mr.bytes, new Uint8Array(mr.length));
  });
});
