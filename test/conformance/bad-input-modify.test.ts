import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ErrnoName, gidFromIp, type QpModifyAttr, QpState, type QpType } from '../../src/entry/index.js';
import { notUnsigned, untyped } from './bad-input.js';
import { conformance } from './provider.js';
import { attributesOf, bringTo, type DomainType, type Letter, Workshop } from './qp-support.js';
import { assertErrno, useDevices } from './support.js';

const { RESET, INIT, RTR, RTS, SQD } = QpState;

/** What a step of an RC queue pair needs, or of a UD one where Q_Keys are concerned. */
const STEPS = {
  'RESET to INIT': { type: 'RC', from: RESET, to: INIT, needed: ['K', 'P', 'F'] },
  'UD RESET to INIT': { type: 'UD', from: RESET, to: INIT, needed: ['K', 'P', 'y'] },
  'INIT to RTR': { type: 'RC', from: INIT, to: RTR, needed: ['A', 'M', 'D', 'Q', 'R', 'N'] },
  'RTR to RTS': { type: 'RC', from: RTR, to: RTS, needed: ['T', 'c', 'n', 'S', 'r'] },
  'RTS to RTS': { type: 'RC', from: RTS, to: RTS, needed: [] },
  'RTS to SQD': { type: 'RC', from: RTS, to: SQD, needed: [] },
} as const satisfies Record<
  string,
  {
    readonly type: DomainType & keyof typeof QpType;
    readonly from: QpState;
    readonly to: QpState;
    readonly needed: readonly Letter[];
  }
>;
type Step = keyof typeof STEPS;

type Wrong = readonly [step: Step, what: string, attr: QpModifyAttr, errno?: ErrnoName];

const values = (
  step: Step,
  field: keyof QpModifyAttr,
  wrong: readonly (readonly [string, never])[],
): readonly Wrong[] => wrong.map(([name, value]) => [step, `${field} is ${name}`, { [field]: value }]);

/** Numbers beyond a limit that is not a power of two, or that no type has. */
const above = (limit: number): readonly (readonly [string, never])[] => [
  [`above ${limit}`, untyped(limit + 1)],
  ...notUnsigned(32),
];

const dgid = gidFromIp('127.0.0.1');
const route = (part: object): QpModifyAttr => ({ ahAttr: untyped({ grh: { dgid, ...part } }) });

const WRONG: readonly Wrong[] = [
  ...values('RESET to INIT', 'pkeyIndex', notUnsigned(16)),
  ['RESET to INIT', 'pkeyIndex is of an empty entry', { pkeyIndex: 1 }],
  ...values('RESET to INIT', 'portNum', [['0', untyped(0)], ['2', untyped(2)], ...notUnsigned(8)]),
  ...values('RESET to INIT', 'qpAccessFlags', [['of no flag', untyped(1 << 12)], ...notUnsigned(32)]),
  ...values('UD RESET to INIT', 'qkey', notUnsigned(32)),
  ['UD RESET to INIT', 'qkey is a controlled one', { qkey: 0x8000_0000 }, 'EPERM'],
  ...values('RESET to INIT', 'qpState', [['7', untyped(7)], ...notUnsigned(32)]),
  ['RESET to INIT', 'an attribute does not exist', untyped({ speed: 1 })],
  ['RESET to INIT', 'sqDraining is set', untyped({ sqDraining: 1 })],
  ['RESET to INIT', 'ahAttr is too much', route({})],
  ...values('INIT to RTR', 'pathMtu', [['0', untyped(0)], ...above(5)]),
  ...values('INIT to RTR', 'destQpNum', notUnsigned(24)),
  ...values('INIT to RTR', 'rqPsn', notUnsigned(24)),
  ...values('INIT to RTR', 'maxDestRdAtomic', above(128)),
  ...values('INIT to RTR', 'minRnrTimer', above(31)),
  ['INIT to RTR', 'ahAttr is null', { ahAttr: untyped(null) }],
  ['INIT to RTR', 'ahAttr has no route', { ahAttr: {} }],
  ['INIT to RTR', 'ahAttr is not global', { ahAttr: { isGlobal: false, grh: { dgid } } }],
  ['INIT to RTR', 'ahAttr.grh is null', { ahAttr: { grh: untyped(null) } }],
  ['INIT to RTR', 'dgid is missing', { ahAttr: { grh: untyped({}) } }],
  ['INIT to RTR', 'dgid is short', route({ dgid: dgid.subarray(1) })],
  ['INIT to RTR', 'dgid is zeros', route({ dgid: new Uint8Array(16) })],
  ['INIT to RTR', 'sgidIndex is of an empty entry', route({ sgidIndex: 3 })],
  ['INIT to RTR', 'sgidIndex is negative', route({ sgidIndex: -1 })],
  ['INIT to RTR', 'hopLimit is 256', route({ hopLimit: 256 })],
  ['INIT to RTR', 'trafficClass is 256', route({ trafficClass: 256 })],
  ['INIT to RTR', 'flowLabel is of 21 bits', route({ flowLabel: 2 ** 20 })],
  ['INIT to RTR', 'ahAttr.portNum is another port', { ahAttr: { portNum: 2, grh: { dgid } } }],
  ['INIT to RTR', 'ahAttr.portNum is 0', { ahAttr: { portNum: 0, grh: { dgid } } }],
  ['INIT to RTR', 'ahAttr.sl is 16', { ahAttr: { sl: 16, grh: { dgid } } }],
  ['INIT to RTR', 'there is an alternate path', { altAhAttr: untyped({ grh: { dgid } }) }],
  ...values('RTR to RTS', 'timeout', above(31)),
  ...values('RTR to RTS', 'retryCnt', above(7)),
  ...values('RTR to RTS', 'rnrRetry', above(7)),
  ...values('RTR to RTS', 'sqPsn', notUnsigned(24)),
  ...values('RTR to RTS', 'maxRdAtomic', above(128)),
  ...values('RTS to RTS', 'curQpState', [['SQD', untyped(SQD)], ...above(6)]),
  ...values('RTS to RTS', 'pathMigState', above(2)),
  ...values('RTS to SQD', 'enSqdAsyncNotify', above(1)),
];

conformance('modify of a QP', (provider) => {
  const devices = useDevices(provider, 1);

  for (const [step, what, attr, errno = 'EINVAL'] of WRONG) {
    const { type, from, to, needed } = STEPS[step];
    test(`from ${step} gives ${errno} when ${what}`, () => {
      using shop = new Workshop(devices[0]);
      const qp = shop.make(type);
      bringTo(qp, from);
      const before = qp.query().attr;
      const good = { ...attributesOf(needed, shop.context, from), qpState: to };
      assertErrno(errno, () => qp.modify({ ...good, ...attr }));
      assert.deepEqual(qp.query().attr, before);
      // What was wrong was that alone.
      qp.modify(good);
      assert.equal(qp.query().attr.qpState, to);
    });
  }

  for (const [what, value] of [
    ['nothing', untyped()],
    ['null', untyped(null)],
    ['text', untyped('RTS')],
  ] as const) {
    test(`gives EINVAL in RESET when there is ${what}`, () => {
      using shop = new Workshop(devices[0]);
      const qp = shop.make('RC');
      assertErrno('EINVAL', () => qp.modify(value));
    });
  }
});
