import assert from 'node:assert/strict';
import { test } from 'node:test';
import { alloc, type Context, getDeviceList, QpType } from '../../src/entry/index.js';
import { conformance, ON_A_MACHINE } from './provider.js';
import { assertErrno, useDevices } from './support.js';
import { useThreads } from './threads.js';

const MANY = 16;
const THREADS = 8;

conformance('devices', (provider) => {
  const devices = useDevices(provider);

  test('are listed, each once', () => {
    const names = getDeviceList().map(({ name }) => name);
    assert.ok(names.length > 0);
    assert.equal(new Set(names).size, names.length);
  });

  test('open to contexts that name them', () => {
    const [{ device }] = devices;
    assert.ok(getDeviceList().some(({ name }) => name === device.name));
    assert.equal(device.nodeType, getDeviceList()[0].nodeType);
  });

  test('close once, and nothing can be made of them then', () => {
    const context = provider.open();
    const pd = context.allocPd();
    context.close();
    assertErrno('EINVAL', () => context.close());
    assertErrno('EINVAL', () => context.allocPd());
    assertErrno('EINVAL', () => context.createCq({ cqe: 1 }));
    assertErrno('EINVAL', () => pd.regMr(alloc(64)));
  });

  test(`can be open ${MANY} times at once`, () => {
    const contexts: Context[] = [];
    try {
      while (contexts.length < MANY) contexts.push(provider.open());
      assert.equal(new Set(contexts.map(({ address }) => address)).size, MANY);
      for (const context of contexts) context.allocPd().dealloc();
    } finally {
      for (const context of contexts) context.close();
    }
  });

  test('take nothing that belongs to another context', () => {
    const [mine, theirs] = devices;
    using pd = mine.allocPd();
    using cq = mine.createCq({ cqe: 1 });
    using strangeCq = theirs.createCq({ cqe: 1 });
    using strangePd = theirs.allocPd();
    using strangeChannel = theirs.createCompChannel();
    using strangeSrq = strangePd.createSrq({ maxWr: 1 });
    using strangeMr = strangePd.regMr(alloc(64));
    const qp = { qpType: QpType.RC };
    assertErrno('EINVAL', () => mine.createCq({ cqe: 1, channel: strangeChannel }));
    assertErrno('EINVAL', () => pd.createQp({ ...qp, sendCq: strangeCq, recvCq: cq }));
    assertErrno('EINVAL', () => pd.createQp({ ...qp, sendCq: cq, recvCq: strangeCq }));
    assertErrno('EINVAL', () => pd.createQp({ ...qp, sendCq: cq, recvCq: cq, srq: strangeSrq }));
    assertErrno('EINVAL', () => mine.allocParentDomain({ pd: strangePd }));
    assertErrno('EINVAL', () => strangeMr.rereg({ pd }));
  });
});

for (const [title, threads] of [
  ['a device that another thread opens', 1],
  [`devices that ${THREADS} threads open at the same time`, THREADS],
] as const) {
  conformance(
    title,
    (provider) => {
      const tellAll = useThreads(provider, threads);

      test(threads === 1 ? 'works' : 'work', async () => {
        await tellAll({ name: 'lifecycles', rounds: 1, reads: 1 });
      });
    },
    ON_A_MACHINE,
  );
}
