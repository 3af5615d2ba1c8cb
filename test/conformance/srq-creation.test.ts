import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  alloc,
  type Context,
  DeviceCapFlags,
  type Pd,
  type Qp,
  QpType,
  type Srq,
  SrqType,
} from '../../src/entry/index.js';
import { conformance } from './provider.js';
import { Belongings } from './sides.js';
import { assertErrno, LOCAL_ONLY, toInit, useDevices } from './support.js';

const MAX_WR = 200;

/** A domain with a shared receive queue, and queue pairs on it. */
class Shared extends Belongings {
  readonly pd: Pd;
  readonly srq: Srq;

  constructor(
    readonly context: Context,
    maxWr = MAX_WR,
  ) {
    super();
    this.pd = this.keep(context.allocPd());
    this.srq = this.keep(this.pd.createSrq({ maxWr }));
  }

  qp(qpType: QpType = QpType.RC): Qp {
    const cq = this.keep(this.context.createCq({ cqe: 16 }));
    return this.keep(this.pd.createQp({ qpType, sendCq: cq, recvCq: cq, srq: this.srq }));
  }
}

conformance('shared receive queues', (provider) => {
  const devices = useDevices(provider);

  test('belong to their domain, have at least the sizes that were asked for, and tell of them', () => {
    const [context] = devices;
    using pd = context.allocPd();
    const srqContext = { anything: true };
    using srq = pd.createSrq({ maxWr: MAX_WR, maxSge: 1, srqContext });
    assert.deepEqual([srq.context, srq.pd, srq.srqContext, srq.srqType], [context, pd, srqContext, SrqType.BASIC]);
    assert.ok(srq.maxWr >= MAX_WR);
    assert.ok(srq.maxSge >= 1);
    assert.deepEqual(srq.query(), { maxWr: srq.maxWr, maxSge: srq.maxSge, srqLimit: 0 });
  });

  test('that were ended can be neither ended again nor used', () => {
    using shared = new Shared(devices[0]);
    const { pd } = shared;
    const srq = pd.createSrq({ maxWr: MAX_WR });
    srq.destroy();
    assertErrno('EINVAL', () => srq.destroy());
    assertErrno('EINVAL', () => srq.query());
    assertErrno('EINVAL', () => srq.modify({ srqLimit: 1 }));
    assertErrno('EINVAL', () => srq.postRecv({}));
    using cq = devices[0].createCq({ cqe: 16 });
    assertErrno('EINVAL', () => pd.createQp({ qpType: QpType.RC, sendCq: cq, recvCq: cq, srq }));
  });

  test('cannot be made in a domain that has ended', () => {
    const pd = devices[0].allocPd();
    pd.dealloc();
    assertErrno('EINVAL', () => pd.createSrq({ maxWr: MAX_WR }));
  });

  test('can be as large as the device allows', () => {
    const [context] = devices;
    const { maxSrqWr, maxSrqSge } = context.queryDevice();
    using pd = context.allocPd();
    using srq = pd.createSrq({ maxWr: maxSrqWr, maxSge: maxSrqSge });
    assert.ok(srq.maxWr >= maxSrqWr);
    assert.ok(srq.maxSge >= maxSrqSge);
  });

  test('with more requests than the device allows, or none, are refused', () => {
    const [context] = devices;
    using pd = context.allocPd();
    for (const maxWr of [context.queryDevice().maxSrqWr + 1, 0, -1])
      assertErrno('EINVAL', () => pd.createSrq({ maxWr }));
  });

  test('with more pieces than the device allows are refused', () => {
    const [context] = devices;
    using pd = context.allocPd();
    const { maxSrqSge } = context.queryDevice();
    assertErrno('EINVAL', () => pd.createSrq({ maxWr: MAX_WR, maxSge: maxSrqSge + 1 }));
  });

  test('are named by the queue pairs that use them, and cannot end before those', () => {
    using shared = new Shared(devices[0]);
    const { srq } = shared;
    for (const type of [QpType.RC, QpType.UC, QpType.UD]) {
      const qp = shared.qp(type);
      assert.equal(qp.srq, srq);
      assert.equal(qp.query().initAttr.srq, srq);
      assertErrno('EBUSY', () => srq.destroy());
      qp.destroy();
    }
    srq.destroy();
  });

  test('of another context are refused for queue pairs', () => {
    using mine = new Shared(devices[0]);
    using theirs = new Shared(devices[1]);
    using cq = devices[0].createCq({ cqe: 16 });
    const { srq } = theirs;
    assertErrno('EINVAL', () => mine.pd.createQp({ qpType: QpType.RC, sendCq: cq, recvCq: cq, srq }));
  });

  test('take requests that their queue pairs then refuse', () => {
    using shared = new Shared(devices[0]);
    const mr = shared.keep(shared.pd.regMr(alloc(64), LOCAL_ONLY));
    const qp = shared.qp();
    toInit(qp);
    assertErrno('EINVAL', () => qp.postRecv({ sgList: [mr.sge()] }));
    shared.srq.postRecv({ sgList: [mr.sge()] });
  });
});

conformance('sizes of shared receive queues that change', (provider) => {
  const devices = useDevices(provider, 1);

  test('are what the device says it can do', () => {
    assert.notEqual(devices[0].queryDevice().deviceCapFlags & DeviceCapFlags.SRQ_RESIZE, 0);
  });

  test('make room in a queue that was full', () => {
    using shared = new Shared(devices[0]);
    const { srq } = shared;
    const { maxWr } = srq;
    for (let wrId = 0; wrId < maxWr; wrId += 1) srq.postRecv({ wrId });
    assertErrno('ENOMEM', () => srq.postRecv({ wrId: maxWr }));
    srq.modify({ maxWr: maxWr + 10 });
    assert.ok(srq.query().maxWr >= maxWr + 10);
    srq.postRecv({ wrId: maxWr });
  });

  test('can double', () => {
    using shared = new Shared(devices[0], 20);
    const { srq } = shared;
    const wanted = Math.min(2 * srq.maxWr, devices[0].queryDevice().maxSrqWr);
    srq.modify({ maxWr: wanted });
    assert.ok(srq.query().maxWr >= wanted);
    assert.equal(srq.maxWr, srq.query().maxWr);
  });

  test('cannot become less than what is posted, nor than 1, nor more than the device allows', () => {
    using shared = new Shared(devices[0]);
    const { srq } = shared;
    const { maxWr } = srq;
    for (let wrId = 0; wrId < maxWr; wrId += 1) srq.postRecv({ wrId });
    for (const wanted of [1, 0, devices[0].queryDevice().maxSrqWr + 1])
      assertErrno('EINVAL', () => srq.modify({ maxWr: wanted }));
    assert.equal(srq.query().maxWr, maxWr);
  });
});
