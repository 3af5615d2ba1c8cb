import assert from 'node:assert/strict';
import { test } from 'node:test';
import { alloc, type Context, type DeviceAttr, MwType, QpType, WcExFlags } from '../../src/entry/index.js';
import { conformance, ON_A_MACHINE, type Provider, providers } from './provider.js';
import { assertErrno, LOCAL_ONLY } from './support.js';

/** What makes one more each time it is called. */
type Maker = (context: Context) => () => unknown;

const KINDS: Readonly<Record<string, readonly [keyof DeviceAttr, Maker]>> = {
  'protection domains': ['maxPd', (context) => () => context.allocPd()],
  'completion queues, every other one extended': [
    'maxCq',
    (context) => {
      let count = 0;
      const extended = { cqe: 1, wcFlags: WcExFlags.WITH_COMPLETION_TIMESTAMP };
      return () => context.createCq((count += 1) % 2 === 0 ? extended : { cqe: 1 });
    },
  ],
  'shared receive queues': [
    'maxSrq',
    (context) => {
      const pd = context.allocPd();
      return () => pd.createSrq({ maxWr: 1 });
    },
  ],
  'address handles': [
    'maxAh',
    (context) => {
      const pd = context.allocPd();
      const attr = { grh: { dgid: context.queryGid(1, 0) } };
      return () => pd.createAh(attr);
    },
  ],
  'queue pairs': [
    'maxQp',
    (context) => {
      const pd = context.allocPd();
      const cq = context.createCq({ cqe: 1 });
      const init = { qpType: QpType.RC, sendCq: cq, recvCq: cq, cap: { maxSendWr: 1, maxRecvWr: 1 } };
      return () => pd.createQp(init);
    },
  ],
  'memory regions': [
    'maxMr',
    (context) => {
      const pd = context.allocPd();
      const memory = [alloc(4096), alloc(4096)];
      let count = 0;
      return () => pd.regMr(memory[(count += 1) % 2], LOCAL_ONLY);
    },
  ],
  'memory windows, every other one of type 1': [
    'maxMw',
    (context) => {
      const pd = context.allocPd();
      let count = 0;
      return () => pd.allocMw((count += 1) % 2 === 0 ? MwType.TYPE_1 : MwType.TYPE_2);
    },
  ],
};

/** How far a device may be off: it may need some itself. */
const SLACK = 200;

/** Kinds of which a device has so many that to make them all takes half a minute. */
const SLOW: readonly string[] = ['memory regions', 'memory windows, every other one of type 1'];
/** Counting is the NIC's own, which is the same in every provider: two kinds show that the others ask it, too. */
const EVERYWHERE: readonly string[] = ['protection domains', 'shared receive queues'];
const [FIRST] = providers;

function skipped(what: string, provider: Provider): string | false {
  const short = !SLOW.includes(what) && (provider === FIRST || EVERYWHERE.includes(what));
  return short || process.env['VERBENA_TEST_LIMITS'] === 'all'
    ? false
    : 'takes long: VERBENA_TEST_LIMITS=all runs it, too';
}

conformance(
  'a device has as many as it tells',
  (provider) => {
    for (const [what, [limit, makerOf]] of Object.entries(KINDS)) {
      test(what, { skip: skipped(what, provider) }, () => {
        // Of its own, and gone with all that was made of it.
        using context = provider.open();
        const told = Number(context.queryDevice()[limit]);
        const make = makerOf(context);
        let made = 0;
        assertErrno('ENOMEM', () => {
          for (; made < told + SLACK; made += 1) make();
        });
        assert.ok(made >= told - SLACK, `${made} of ${told}`);
      });
    }
  },
  ON_A_MACHINE,
);
