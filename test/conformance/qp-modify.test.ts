import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type QpBase, type QpModifyAttr, QpState, qpStateStr, QpType } from '../../src/entry/index.js';
import { conformance } from './provider.js';
import {
  attributeOf,
  attributesOf,
  bringTo,
  deviceFor,
  failSending,
  type Letter,
  LETTERS,
  STATES,
  type TypeName,
  Workshop,
} from './qp-support.js';
import { assertErrno, End, useDevices } from './support.js';

const { RESET, INIT, RTR, RTS, SQD, SQE, ERR } = QpState;
const TYPES = Object.keys(QpType) as TypeName[]; // the keys of that very table

type Cells = Readonly<Record<TypeName, string>>;

/**
 * Attributes that a transition needs, and behind the stroke those that it allows, by the letters of protocol/services.md 3.10;
 * X is RATE_LIMIT, and L, which RoCE never takes, is left out.
 */
const TRANSITIONS: readonly (readonly [QpState, QpState, Cells])[] = [
  [RESET, INIT, { RC: 'KPF/', UC: 'KPF/', UD: 'KPy/', RAW_PACKET: 'P/', XRC_SEND: 'KPF/', XRC_RECV: 'KPF/' }],
  [INIT, INIT, { RC: '/KPF', UC: '/KPF', UD: '/KPy', RAW_PACKET: '/', XRC_SEND: '/KPF', XRC_RECV: '/KPF' }],
  [
    INIT,
    RTR,
    { RC: 'AMDQRN/FK', UC: 'AMDQ/FK', UD: '/Ky', RAW_PACKET: '/', XRC_SEND: 'AMDQ/FK', XRC_RECV: 'AMDQRN/FK' },
  ],
  [
    RTR,
    RTS,
    { RC: 'TcnSr/CFNG', UC: 'S/CFG', UD: 'S/Cy', RAW_PACKET: '/X', XRC_SEND: 'TcnSr/CFG', XRC_RECV: 'TS/CFNG' },
  ],
  [RTS, RTS, { RC: '/CFGN', UC: '/CFG', UD: '/Cy', RAW_PACKET: '/X', XRC_SEND: '/CFG', XRC_RECV: '/CFGN' }],
  [RTS, SQD, { RC: '/E', UC: '/E', UD: '/E', RAW_PACKET: '/', XRC_SEND: '/E', XRC_RECV: '/E' }],
  [SQD, RTS, { RC: '/CFNG', UC: '/CFG', UD: '/Cy', RAW_PACKET: '/', XRC_SEND: '/CFG', XRC_RECV: '/CFNG' }],
  [
    SQD,
    SQD,
    { RC: '/PATcnrRFKNG', UC: '/AFKG', UD: '/Ky', RAW_PACKET: '/', XRC_SEND: '/PATcnrFKG', XRC_RECV: '/PATRFKNG' },
  ],
];

/** Where a queue pair can go from each state that modify brings it to. */
const WAYS: Readonly<Record<QpState, readonly QpState[]>> = {
  [RESET]: [RESET, INIT],
  [INIT]: [RESET, INIT, RTR, ERR],
  [RTR]: [RESET, RTS, ERR],
  [RTS]: [RESET, RTS, SQD, ERR],
  [SQD]: [RESET, RTS, SQD, ERR],
  [SQE]: [RESET, RTS, ERR],
  [ERR]: [RESET, ERR],
};

const lettersOf = (text: string): readonly Letter[] => LETTERS.filter((letter) => text.includes(letter));

function assertRefused(qp: QpBase, attr: QpModifyAttr, what: string, before = qp.query().attr): void {
  assert.throws(() => qp.modify(attr), { name: 'VerbsError', errno: 'EINVAL' }, what);
  assert.deepEqual(qp.query().attr, before, what);
}

function assertSet(qp: QpBase, { ahAttr, curQpState, ...attr }: QpModifyAttr, what: string): void {
  const now = qp.query().attr;
  for (const [field, value] of Object.entries(attr))
    assert.deepEqual(Object.entries(now).find(([name]) => name === field)?.[1], value, `${what}: ${field}`);
  if (ahAttr !== undefined) assert.equal(now.ahAttr.grh?.trafficClass, ahAttr.grh?.trafficClass, what);
  if (curQpState !== undefined) assert.equal(now.curQpState, attr.qpState ?? curQpState);
}

for (const type of TYPES) {
  conformance(`${type} queue pairs`, (provider) => {
    const devices = useDevices(provider, 1);

    for (const [from, to, cells] of TRANSITIONS) {
      const [needed, allowed] = cells[type].split('/').map(lettersOf);
      const name = `${qpStateStr(from)} to ${qpStateStr(to)}`;

      const at = (shop: Workshop): QpBase => {
        const qp = shop.makeAny(type);
        bringTo(qp, from);
        return qp;
      };
      const attributes = (shop: Workshop, letters: readonly Letter[]): QpModifyAttr => ({
        ...attributesOf(letters, shop.context, from),
        qpState: to,
      });

      test(`${name}: need ${needed.length === 0 ? 'nothing else' : 'all that the transition asks for'}`, () => {
        using shop = new Workshop(deviceFor(type, devices[0]));
        const qp = at(shop);
        for (const letter of needed) {
          const others = needed.filter((other) => other !== letter);
          assertRefused(qp, attributes(shop, others), `without ${letter}`);
          if (others.length > 0) assertRefused(qp, attributes(shop, [letter]), `${letter} alone`);
        }
        if (needed.length > 0) assertRefused(qp, { qpState: to }, 'nothing');
        const all = attributes(shop, needed);
        qp.modify(all);
        assertSet(qp, all, 'all');
      });

      test(`${name}: take each attribute that the transition allows`, () => {
        using shop = new Workshop(deviceFor(type, devices[0]));
        const qp = at(shop);
        for (const letter of allowed) {
          bringTo(qp, from);
          const attr = attributes(shop, [...needed, letter]);
          qp.modify(attr);
          assertSet(qp, attr, letter);
        }
      });

      test(`${name}: refuse each attribute that the transition does not allow`, () => {
        using shop = new Workshop(deviceFor(type, devices[0]));
        const qp = at(shop);
        for (const letter of LETTERS) {
          if (needed.includes(letter) || allowed.includes(letter)) continue;
          assertRefused(qp, attributes(shop, [...needed, letter]), letter);
        }
      });
    }

    for (const from of STATES.filter((each) => each !== SQE)) {
      const ways = WAYS[from].map((state) => qpStateStr(state)).join(', ');
      test(`in ${qpStateStr(from)} go to ${ways} alone`, () => {
        using shop = new Workshop(deviceFor(type, devices[0]));
        const { context } = shop;
        const qp = shop.makeAny(type);
        bringTo(qp, from);
        for (const to of STATES) {
          if (WAYS[from].includes(to)) continue;
          const { attr } = qp.query();
          assertRefused(qp, { qpState: to }, qpStateStr(to), attr);
          for (const letter of LETTERS) {
            const wrong = { ...attributeOf(letter, context, from), qpState: to };
            assertRefused(qp, wrong, `${qpStateStr(to)} ${letter}`, attr);
          }
        }
        for (const to of [RESET, ERR].filter((state) => WAYS[from].includes(state))) {
          bringTo(qp, from);
          for (const letter of LETTERS) {
            const attr = attributeOf(letter, context, from);
            assertRefused(qp, { ...attr, qpState: to }, `${qpStateStr(to)} ${letter}`);
          }
          qp.modify({ qpState: to });
          assert.equal(qp.query().attr.qpState, to);
        }
      });
    }

    test('are refused a modification that takes them to be in another state', () => {
      using shop = new Workshop(deviceFor(type, devices[0]));
      const qp = shop.makeAny(type);
      bringTo(qp, RTS);
      assertRefused(qp, { qpState: RTS, curQpState: SQD }, 'SQD');
    });

    test('are as new after RESET', () => {
      using shop = new Workshop(deviceFor(type, devices[0]));
      const qp = shop.makeAny(type);
      const before = qp.query().attr;
      bringTo(qp, SQD);
      qp.modify({ qpState: RESET });
      assert.deepEqual(qp.query().attr, before);
    });
  });
}

conformance('queue pairs whose sending failed', (provider) => {
  const devices = useDevices(provider, 1);

  for (const [type, letter, refused] of [
    ['UC', 'F', 'y'],
    ['UD', 'y', 'F'],
  ] as const) {
    test(`of type ${type} go to ${WAYS[SQE].map((state) => qpStateStr(state)).join(', ')} alone`, () => {
      using end = new End(devices[0], { qpType: QpType[type] });
      const { qp, context } = end;
      const fail = (): void => {
        bringTo(qp, RTS);
        failSending(end);
      };
      fail();
      for (const to of [INIT, RTR, SQD, SQE]) assertRefused(qp, { qpState: to }, qpStateStr(to));
      assertRefused(qp, { ...attributeOf(refused, context, SQE), qpState: RTS }, refused);
      const attr = { ...attributesOf(['C', letter], context, SQE), qpState: RTS };
      qp.modify(attr);
      assertSet(qp, attr, letter);
      for (const to of [RESET, ERR]) {
        fail();
        qp.modify({ qpState: to });
        assert.equal(qp.query().attr.qpState, to);
      }
    });
  }
});

conformance('modified queue pairs', (provider) => {
  const devices = useDevices(provider, 1);

  test('of type UD tell their Q_Key after INIT and their PSN after RTS, and can go back to RESET', () => {
    using shop = new Workshop(devices[0]);
    const qp = shop.make('UD');
    qp.modify({ qpState: INIT, pkeyIndex: 0, portNum: 1, qkey: 0x123 });
    assert.equal(qp.query().attr.qkey, 0x123);
    qp.modify({ qpState: RTR });
    qp.modify({ qpState: RTS, sqPsn: 0x45 });
    assert.equal(qp.query().attr.sqPsn, 0x45);
    qp.modify({ qpState: RESET });
    assert.equal(qp.query().attr.qpState, RESET);
  });

  test('of type UD cannot have a Q_Key with its top bit set', () => {
    using shop = new Workshop(devices[0]);
    const qp = shop.make('UD');
    const before = qp.query().attr;
    assertErrno('EPERM', () => qp.modify({ qpState: INIT, pkeyIndex: 0, portNum: 1, qkey: 0x80000000 }));
    assert.deepEqual(qp.query().attr, before);
  });

  test('of type RC have at least as many READs outstanding as was asked for', () => {
    using shop = new Workshop(devices[0]);
    const { context } = shop;
    const qp = shop.make('RC');
    bringTo(qp, INIT);
    const rtr = attributesOf(lettersOf('AMDQRN'), context, INIT);
    qp.modify({ ...rtr, qpState: RTR, maxDestRdAtomic: 12 });
    qp.modify({ ...attributesOf(lettersOf('TcnSr'), context, RTR), qpState: RTS, maxRdAtomic: 12 });
    const { maxRdAtomic, maxDestRdAtomic } = qp.query().attr;
    assert.ok(maxRdAtomic >= 12 && maxDestRdAtomic >= 12);
  });

  test('of type RAW_PACKET take a rate on their way to RTS, and another one there', () => {
    using shop = new Workshop(deviceFor('RAW_PACKET', devices[0]));
    const qp = shop.make('RAW_PACKET');
    bringTo(qp, RTR);
    qp.modify({ qpState: RTS, rateLimit: 5000 });
    assert.equal(qp.query().attr.rateLimit, 5000);
    qp.modifyRateLimit({ rateLimit: 0 });
    assert.equal(qp.query().attr.rateLimit, 0);
  });
});
