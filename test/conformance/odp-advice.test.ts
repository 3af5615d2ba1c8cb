import { test } from 'node:test';
import {
  AccessFlags,
  AdviseMrAdvice,
  AdviseMrFlags,
  alloc,
  type Mr,
  type Pd,
  type Sge,
} from '../../src/entry/index.js';
import { pingPong, sendThrough } from './memory-support.js';
import { conformance } from './provider.js';
import { ALL_ACCESS, assertErrno, BOGUS_KEY, type End, Pair, useDevices } from './support.js';

const { PREFETCH, PREFETCH_WRITE, PREFETCH_NO_FAULT } = AdviseMrAdvice;
const { FLUSH } = AdviseMrFlags;
const BYTES = 1024;

const ADVICE = [
  ['PREFETCH', PREFETCH],
  ['PREFETCH_WRITE', PREFETCH_WRITE],
  ['PREFETCH_NO_FAULT', PREFETCH_NO_FAULT],
] as const;

conformance('advice about memory on demand', (provider) => {
  const devices = useDevices(provider, 1);

  const onDemand = (end: End): Mr => end.region(BYTES, ALL_ACCESS | AccessFlags.ON_DEMAND);

  for (const [name, advice] of ADVICE) {
    for (const [how, flags] of [
      ['when it is done', FLUSH],
      ['when it is noted', 0],
    ] as const) {
      test(`${name} that returns ${how} is taken before each message`, () => {
        using pair = new Pair(devices);
        const { local, remote } = pair;
        const [here, there] = [onDemand(local), onDemand(remote)];
        for (let round = 0; round < 3; round += 1) {
          local.pd.adviseMr(advice, flags, [here.sge()]);
          remote.pd.adviseMr(advice, flags, [there.sge()]);
          sendThrough(local, remote, here, there, BYTES, round);
          sendThrough(remote, local, there, here, BYTES, round + 100);
        }
      });
    }
  }

  test('is taken for several pieces of several regions', () => {
    using pair = new Pair(devices);
    const { local } = pair;
    const [first, second] = [onDemand(local), onDemand(local)];
    local.pd.adviseMr(PREFETCH_WRITE, FLUSH, [first.sge(0, 8), first.sge(100, 0), second.sge(1000)]);
    for (const mr of [first, second]) pingPong(pair, mr);
  });

  const refusals: readonly (readonly [string, 'EINVAL' | 'EFAULT' | 'EOPNOTSUPP', (pd: Pd, mr: Mr) => void])[] = [
    // What a program that no compiler has checked might say.
    ['of a kind that does not exist', 'EOPNOTSUPP', (pd, mr) => pd.adviseMr(3 as AdviseMrAdvice, 0, [mr.sge()])],
    ['with flags that do not exist', 'EINVAL', (pd, mr) => pd.adviseMr(PREFETCH, 2, [mr.sge()])],
    ['about nothing', 'EINVAL', (pd) => pd.adviseMr(PREFETCH, 0, [])],
    [
      'about a key that nothing has',
      'EFAULT',
      (pd, mr) => pd.adviseMr(PREFETCH, 0, [{ ...mr.sge(), lkey: BOGUS_KEY }]),
    ],
    [
      'about more than the region',
      'EFAULT',
      (pd, mr) => pd.adviseMr(PREFETCH, 0, [{ ...mr.sge(), length: BYTES + 1 }]),
    ],
    ['about what is before the region', 'EFAULT', (pd, mr) => pd.adviseMr(PREFETCH, 0, [before(mr)])],
  ];
  const before = ({ iova, lkey }: Mr): Sge => ({ addr: iova - 1n, length: 8, lkey });
  for (const [what, errno, call] of refusals) {
    test(`${what} is refused`, () => {
      using pd = devices[0].allocPd();
      using mr = pd.regMr(alloc(BYTES), ALL_ACCESS | AccessFlags.ON_DEMAND);
      assertErrno(errno, () => call(pd, mr));
    });
  }

  test('about a region of another domain is refused', () => {
    using pd = devices[0].allocPd();
    using other = devices[0].allocPd();
    using mr = other.regMr(alloc(BYTES), ALL_ACCESS | AccessFlags.ON_DEMAND);
    assertErrno('EFAULT', () => pd.adviseMr(PREFETCH, 0, [mr.sge()]));
  });
});
