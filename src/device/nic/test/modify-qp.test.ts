import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type AhAttr, type GlobalRoute, MigState, Mtu, type QpAttr, QpState } from '../../ibta/index.js';
import { assertRefused, Pair } from './pair.js';
import { ahAttrTo, type TestQp } from './qp.js';

/** The table of protocol/services.md 3.10 for RC, with its letters, written down a second time on purpose. */

interface Row {
  readonly from: keyof typeof QpState;
  readonly to: keyof typeof QpState;
  readonly required: string;
  readonly optional: string;
}

const TABLE: readonly Row[] = [
  { from: 'RESET', to: 'INIT', required: 'K P F', optional: '' },
  { from: 'INIT', to: 'INIT', required: '', optional: 'K P F' },
  { from: 'INIT', to: 'RTR', required: 'A M D Q R N', optional: 'F K' },
  { from: 'RTR', to: 'RTS', required: 'T c n S r', optional: 'C F N G' },
  { from: 'RTS', to: 'RTS', required: '', optional: 'C F G N' },
  { from: 'RTS', to: 'SQD', required: '', optional: 'E' },
  { from: 'SQD', to: 'RTS', required: '', optional: 'C F N G' },
  { from: 'SQD', to: 'SQD', required: '', optional: 'P A T c n r R F K N G' },
  { from: 'RESET', to: 'RESET', required: '', optional: '' },
  { from: 'INIT', to: 'RESET', required: '', optional: '' },
  { from: 'RTR', to: 'RESET', required: '', optional: '' },
  { from: 'RTS', to: 'RESET', required: '', optional: '' },
  { from: 'SQD', to: 'RESET', required: '', optional: '' },
  { from: 'ERR', to: 'RESET', required: '', optional: '' },
  { from: 'INIT', to: 'ERR', required: '', optional: '' },
  { from: 'RTR', to: 'ERR', required: '', optional: '' },
  { from: 'RTS', to: 'ERR', required: '', optional: '' },
  { from: 'SQD', to: 'ERR', required: '', optional: '' },
  { from: 'ERR', to: 'ERR', required: '', optional: '' },
];

/** Good values for each letter; C depends on the state. */
function valueOf(letter: string, pair: Pair, from: keyof typeof QpState): Partial<QpAttr> {
  switch (letter) {
    case 'A':
      return { ahAttr: ahAttrTo(pair.b.gid) };
    case 'M':
      return { pathMtu: Mtu.MTU_1024 };
    case 'D':
      return { destQpNum: 0x99 };
    case 'Q':
      return { rqPsn: 5 };
    case 'S':
      return { sqPsn: 6 };
    case 'K':
      return { pkeyIndex: 0 };
    case 'P':
      return { portNum: 1 };
    case 'F':
      return { qpAccessFlags: 7 };
    case 'R':
      return { maxDestRdAtomic: 3 };
    case 'r':
      return { maxRdAtomic: 2 };
    case 'N':
      return { minRnrTimer: 11 };
    case 'T':
      return { timeout: 13 };
    case 'c':
      return { retryCnt: 4 };
    case 'n':
      return { rnrRetry: 3 };
    case 'G':
      return { pathMigState: MigState.MIGRATED };
    case 'C':
      return { curQpState: QpState[from] };
    case 'E':
      return { enSqdAsyncNotify: 1 };
    case 'y':
      return { qkey: 0x11111111 };
    case 'L':
      return { altAhAttr: ahAttrTo(pair.b.gid) };
    case 'X':
      return { cap: { maxSendWr: 1, maxRecvWr: 1, maxSendSge: 1, maxRecvSge: 1, maxInlineData: 0 } };
    case 'Z':
      return { rateLimit: 1000 };
    default:
      throw new Error(`no letter ${letter}`);
  }
}

const LETTERS = 'A M D Q S K P F y R r N T c n L G C E X Z'.split(' ');

function qpIn(state: keyof typeof QpState): { pair: Pair; qp: TestQp } {
  const pair = new Pair();
  const qp = pair.a.qp();
  const peer = { gid: pair.b.gid, qpn: 0x77 };
  if (state === 'INIT') qp.toInit();
  if (state === 'RTR') qp.toRtr(peer);
  if (state === 'RTS' || state === 'SQD' || state === 'ERR') qp.toRts(peer);
  if (state === 'SQD' || state === 'ERR') qp.modify({ qpState: QpState[state] });
  pair.drive();
  return { pair, qp };
}

const lettersOf = (text: string): string[] => text.split(' ').filter((letter) => letter !== '');

function attrOf(letters: readonly string[], pair: Pair, { from, to }: Row): Partial<QpAttr> {
  let attr: Partial<QpAttr> = { qpState: QpState[to] };
  for (const letter of letters) attr = { ...attr, ...valueOf(letter, pair, from) };
  return attr;
}

function expectUnchanged(pair: Pair, qp: TestQp, attr: Partial<QpAttr>): void {
  const before = pair.a.nic.control.queryQp(qp.qpn);
  assertRefused('EINVAL', () => qp.modify(attr));
  assert.deepEqual(pair.a.nic.control.queryQp(qp.qpn), before);
}

for (const row of TABLE) {
  const required = lettersOf(row.required);
  const optional = lettersOf(row.optional);

  describe(`${row.from} to ${row.to}`, () => {
    it('is done with what it requires', () => {
      const { pair, qp } = qpIn(row.from);
      qp.modify(attrOf(required, pair, row));
      assert.equal(qp.state, QpState[row.to]);
    });

    it('takes each optional attribute, and all of them', () => {
      for (const extra of [...optional.map((letter) => [letter]), optional]) {
        const { pair, qp } = qpIn(row.from);
        const attr = attrOf([...required, ...extra], pair, row);
        qp.modify(attr);
        const { curQpState, ...rest } = attr;
        assert.ok(curQpState === undefined || extra.includes('C'));
        const now = pair.a.nic.control.queryQp(qp.qpn);
        assert.deepEqual({ ...now, ...rest }, now);
      }
    });

    it('is refused without any one of what it requires', () => {
      for (const missing of required) {
        const { pair, qp } = qpIn(row.from);
        expectUnchanged(
          pair,
          qp,
          attrOf(
            required.filter((letter) => letter !== missing),
            pair,
            row,
          ),
        );
      }
    });

    it('is refused with any one attribute too many', () => {
      for (const surplus of LETTERS.filter((letter) => !required.includes(letter) && !optional.includes(letter))) {
        const { pair, qp } = qpIn(row.from);
        expectUnchanged(pair, qp, attrOf([...required, surplus], pair, row));
      }
    });
  });
}

describe('a transition that is not in the table', () => {
  const states = ['RESET', 'INIT', 'RTR', 'RTS', 'SQD', 'SQE', 'ERR'] as const;
  for (const from of states.filter((state) => state !== 'SQE')) {
    it(`from ${from} is refused`, () => {
      for (const to of states) {
        if (TABLE.some((row) => row.from === from && row.to === to)) continue;
        const { pair, qp } = qpIn(from);
        expectUnchanged(pair, qp, { qpState: QpState[to] });
        expectUnchanged(
          pair,
          qp,
          attrOf(['K', 'P', 'F', 'A', 'M', 'D', 'Q', 'R', 'N'], pair, { from, to, required: '', optional: '' }),
        );
      }
    });
  }
});

/** A good step and one attribute of it that is not. */
const BAD_VALUES: readonly (readonly [string, keyof typeof QpState, Partial<QpAttr>])[] = [
  ['a port that does not exist', 'RESET', { portNum: 2 }],
  ['port 0', 'RESET', { portNum: 0 }],
  ['a P_Key index that does not exist', 'RESET', { pkeyIndex: 1 }],
  ['access flags that do not exist', 'RESET', { qpAccessFlags: 0x8000 }],
  // What a program without type checks could pass.
  ['path MTU 0', 'INIT', { pathMtu: 0 as Mtu }],
  ['path MTU 6', 'INIT', { pathMtu: 6 as Mtu }],
  ['a QP number of more than 24 bits', 'INIT', { destQpNum: 2 ** 24 }],
  ['a PSN of more than 24 bits', 'INIT', { rqPsn: 2 ** 24 }],
  ['a negative PSN', 'INIT', { rqPsn: -1 }],
  ['a PSN that is not a whole number', 'INIT', { rqPsn: 1.5 }],
  ['more responder resources than the device has', 'INIT', { maxDestRdAtomic: 129 }],
  ['an RNR timer code of 32', 'INIT', { minRnrTimer: 32 }],
  ['a timeout of 32', 'RTR', { timeout: 32 }],
  ['a retry count of 8', 'RTR', { retryCnt: 8 }],
  ['an RNR retry count of 8', 'RTR', { rnrRetry: 8 }],
  ['a send PSN of more than 24 bits', 'RTR', { sqPsn: 2 ** 24 }],
  ['a depth above the device’s', 'RTR', { maxRdAtomic: 129 }],
  ['a current state that is not the current one', 'RTR', { curQpState: QpState.INIT }],
];

const NEXT: Readonly<Record<string, Row | undefined>> = { RESET: TABLE[0], INIT: TABLE[2], RTR: TABLE[3] };

describe('a modification is refused, and changes nothing, with', () => {
  for (const [name, from, change] of BAD_VALUES) {
    it(name, () => {
      const row = NEXT[from];
      assert.ok(row);
      const { pair, qp } = qpIn(from);
      expectUnchanged(pair, qp, { ...attrOf(lettersOf(row.required), pair, row), ...change });
    });
  }

  const badAddress: readonly (readonly [string, (good: AhAttr & { grh: GlobalRoute }) => AhAttr])[] = [
    ['an address without a GRH', ({ grh, ...rest }) => (assert.ok(grh), rest)],
    ['an address that is not global', (good) => ({ ...good, isGlobal: false })],
    ['an address on another port', (good) => ({ ...good, portNum: 2 })],
    ['a GID index that is empty', (good) => ({ ...good, grh: { ...good.grh, sgidIndex: 9 } })],
    ['a GID of all zeros', (good) => ({ ...good, grh: { ...good.grh, dgid: new Uint8Array(16) } })],
  ];
  for (const [name, spoil] of badAddress) {
    it(name, () => {
      const row = TABLE[2];
      const { pair, qp } = qpIn('INIT');
      const good = attrOf(lettersOf(row.required), pair, row);
      expectUnchanged(pair, qp, { ...good, ahAttr: spoil(ahAttrTo(pair.b.gid)) });
    });
  }

  it('a GID of the other IP version', () => {
    const row = TABLE[2];
    const { pair, qp } = qpIn('INIT');
    const good = attrOf(lettersOf(row.required), pair, row);
    expectUnchanged(pair, qp, { ...good, ahAttr: ahAttrTo(Uint8Array.from({ length: 16 }, (_, i) => 0xfd - i)) });
  });

  it('a path MTU above the port’s', () => {
    const pair = new Pair({ host: { portMtu: Mtu.MTU_1024 } });
    const qp = pair.a.qp();
    qp.toInit();
    const row = TABLE[2];
    expectUnchanged(pair, qp, { ...attrOf(lettersOf(row.required), pair, row), pathMtu: Mtu.MTU_2048 });
  });

  it('a QP number that does not exist', () => {
    const pair = new Pair();
    assertRefused('EINVAL', () => pair.a.nic.control.modifyQp(0x123456, { qpState: QpState.INIT }));
  });
});

describe('a QP', () => {
  it('tells with a query what it was given', () => {
    const pair = new Pair();
    const { a, b } = pair.connect({ a: { timeout: 11, retryCnt: 3, rnrRetry: 2, maxRdAtomic: 5, minRnrTimer: 8 } });
    const attr = pair.a.nic.control.queryQp(a.qpn);
    assert.deepEqual(
      [attr.qpState, attr.curQpState, attr.destQpNum, attr.sqPsn, attr.rqPsn, attr.pathMtu],
      [QpState.RTS, QpState.RTS, b.qpn, 0x1000, 0x2000, Mtu.MTU_1024],
    );
    assert.deepEqual(
      [attr.timeout, attr.retryCnt, attr.rnrRetry, attr.maxRdAtomic, attr.minRnrTimer],
      [11, 3, 2, 5, 8],
    );
    assert.deepEqual(attr.ahAttr.grh?.dgid, pair.b.gid);
  });

  it('begins in RESET', () => {
    assert.equal(new Pair().a.qp().state, QpState.RESET);
  });

  it('shows its state to the driver in both queues', () => {
    const pair = new Pair();
    const { a } = pair.connect();
    assert.deepEqual([a.sq.state, a.rq.state], [QpState.RTS, QpState.RTS]);
    a.modify({ qpState: QpState.ERR });
    assert.deepEqual([a.sq.state, a.rq.state], [QpState.ERR, QpState.ERR]);
  });
});
