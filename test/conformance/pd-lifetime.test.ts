import assert from 'node:assert/strict';
import { test } from 'node:test';
import { alloc, type Context, MwType, type Pd, QpType } from '../../src/entry/index.js';
import { conformance } from './provider.js';
import { assertErrno, useDevices } from './support.js';

type Maker = (pd: Pd, context: Context) => Disposable;

/** What can be in a domain. What else it takes ends with it. */
const MEMBERS: readonly (readonly [string, Maker])[] = [
  ['an address handle', (pd, context) => pd.createAh({ grh: { dgid: context.queryGid(1, 0) } })],
  ['a region', (pd) => pd.regMr(alloc(64))],
  ['a null region', (pd) => pd.allocNullMr()],
  ['a window of type 1', (pd) => pd.allocMw(MwType.TYPE_1)],
  ['a window of type 2', (pd) => pd.allocMw(MwType.TYPE_2)],
  ['a shared receive queue', (pd) => pd.createSrq({ maxWr: 1 })],
  [
    'a queue pair',
    (pd, context) => {
      const cq = context.createCq({ cqe: 1 });
      try {
        const qp = pd.createQp({ qpType: QpType.RC, sendCq: cq, recvCq: cq });
        return {
          [Symbol.dispose]: () => {
            qp.destroy();
            cq.destroy();
          },
        };
      } catch (error) {
        cq.destroy();
        throw error;
      }
    },
  ],
];

conformance('protection domains', (provider) => {
  const devices = useDevices(provider, 1);

  test('name their device and can be ended', () => {
    const [context] = devices;
    const pd = context.allocPd();
    assert.equal(pd.context, context);
    pd.dealloc();
  });

  test('can be made and ended by the hundreds, one after the other and all at once', () => {
    const [context] = devices;
    for (let i = 0; i < 200; i += 1) context.allocPd().dealloc();
    const together = Array.from({ length: 200 }, () => context.allocPd());
    for (const pd of together) pd.dealloc();
  });

  test('cannot be ended twice', () => {
    const pd = devices[0].allocPd();
    pd.dealloc();
    assertErrno('EINVAL', () => pd.dealloc());
  });

  test('may be disposed of as often as one likes', () => {
    const pd = devices[0].allocPd();
    pd[Symbol.dispose]();
    pd[Symbol.dispose]();
    assertErrno('EINVAL', () => pd.dealloc());
  });

  for (const [name, make] of MEMBERS) {
    test(`cannot be ended while ${name} is in them`, () => {
      const [context] = devices;
      const pd = context.allocPd();
      const member = make(pd, context);
      assertErrno('EBUSY', () => pd.dealloc());
      member[Symbol.dispose]();
      pd.dealloc();
    });

    test(`take no ${name.replace(/^an? /, '')} after their end`, () => {
      const [context] = devices;
      const pd = context.allocPd();
      pd.dealloc();
      assertErrno('EINVAL', () => make(pd, context));
    });
  }
});
