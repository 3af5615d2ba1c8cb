import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Qp, QpState, SendFlags, WrOpcode } from '../../src/entry/index.js';
import {
  each,
  NO_ADDRESS,
  NO_OBJECT,
  notUnsigned,
  others,
  refusals,
  type Row,
  untyped,
  type World,
} from './bad-input.js';
import { conformance } from './provider.js';
import { assertEmpty, assertErrno, assertSuccess, Pair, perform, remoteOf, useDevices } from './support.js';

/** Builds a batch of which `wrong` is the last part but for a good request; the batch ends whatever comes of it. */
function batch(qp: Qp, wrong: () => unknown): void {
  qp.wrStart();
  try {
    wrong();
    qp.wrComplete();
  } catch (error) {
    qp.wrAbort();
    throw error;
  }
}

type Step = (world: World, qp: Qp) => unknown;

/** In a batch of the local RC queue pair. */
const building =
  (step: Step): Row[3] =>
  (world) =>
    batch(world.local.qp, () => step(world, world.local.qp));

const wrongIn = (call: string, wrong: string, step: Step, errno: Row[2] = 'EINVAL'): Row => [
  call,
  wrong,
  errno,
  building(step),
];

const eachIn = (
  call: string,
  what: string,
  values: readonly (readonly [string, never])[],
  step: (world: World, qp: Qp, value: never) => unknown,
): readonly Row[] =>
  values.map(([name, value]) => wrongIn(call, `${what} ${name}`, (world, qp) => step(world, qp, value)));

const key = ({ rc }: World): number => rc.remote.mr.rkey;
const addr = ({ rc }: World): bigint => rc.remote.mr.iova;
const EIGHT = new Uint8Array(8);

/** The calls that name memory of the peer, each with everything in order but for what is given. */
const REMOTE: readonly (readonly [string, (qp: Qp, rkey: number, at: bigint) => void])[] = [
  ['wrRdmaWrite', (qp, rkey, at) => qp.wrRdmaWrite(rkey, at)],
  ['wrRdmaWriteImm', (qp, rkey, at) => qp.wrRdmaWriteImm(rkey, at, 1)],
  ['wrRdmaRead', (qp, rkey, at) => qp.wrRdmaRead(rkey, at)],
  ['wrAtomicCmpSwp', (qp, rkey, at) => qp.wrAtomicCmpSwp(rkey, at, 1n, 2n)],
  ['wrAtomicFetchAdd', (qp, rkey, at) => qp.wrAtomicFetchAdd(rkey, at, 1n)],
  ['wrFlush', (qp, rkey, at) => qp.wrFlush(rkey, at, 8, 1, 0)],
  ['wrAtomicWrite', (qp, rkey, at) => qp.wrAtomicWrite(rkey, at, EIGHT)],
];

const NO_WR_ID: readonly (readonly [string, never])[] = [
  ['of more than 64 bits', untyped(2n ** 64n)],
  ['a fraction', untyped(0.5)],
  ['text', untyped('1')],
];

const requests: readonly Row[] = [
  ['wrStart', 'a batch is open', 'EINVAL', ({ local: { qp } }) => batch(qp, () => qp.wrStart())],
  ['wrComplete', 'no batch is open', 'EINVAL', ({ local }) => local.qp.wrComplete()],
  ['wrSend', 'no batch is open', 'EINVAL', ({ local }) => local.qp.wrSend()],
  [
    'postSend',
    'a batch is open',
    'EINVAL',
    ({ local: { qp } }) => batch(qp, () => qp.postSend({ opcode: WrOpcode.SEND })),
  ],
  ...eachIn('wrId', 'it is', NO_WR_ID, (_, qp, value) => {
    qp.wrId = value;
    qp.wrSend();
  }),
  ...eachIn('wrFlags', 'they are', [['INLINE', untyped(SendFlags.INLINE)], ...notUnsigned(32)], (_, qp, value) => {
    qp.wrFlags = value;
    qp.wrSend();
  }),
  ...eachIn('wrSendImm', 'the number is', notUnsigned(32), (_, qp, value) => qp.wrSendImm(value)),
  ...eachIn('wrSendInv', 'the key is', notUnsigned(32), (_, qp, value) => qp.wrSendInv(value)),
  ...eachIn('wrLocalInv', 'the key is', notUnsigned(32), (_, qp, value) => qp.wrLocalInv(value)),
  ...eachIn('wrRdmaWriteImm', 'the number is', notUnsigned(32), (world, qp, value) =>
    qp.wrRdmaWriteImm(key(world), addr(world), value),
  ),
  ...REMOTE.flatMap(([call, act]) => [
    ...eachIn(call, 'the key is', notUnsigned(32), (world, qp, value) => {
      act(qp, value, addr(world));
      qp.wrSetSge(world.local.mr.lkey, world.local.mr.addr, 8);
    }),
    ...eachIn(call, 'the address is', NO_ADDRESS, (world, qp, value) => {
      act(qp, key(world), value);
      qp.wrSetSge(world.local.mr.lkey, world.local.mr.addr, 8);
    }),
  ]),
  wrongIn('wrAtomicFetchAdd', 'it has no data', (world, qp) => qp.wrAtomicFetchAdd(key(world), addr(world), 1n)),
  wrongIn('wrAtomicCmpSwp', 'its data are 4 bytes', (world, qp) => {
    qp.wrAtomicCmpSwp(key(world), addr(world), 1n, 2n);
    qp.wrSetSge(world.local.mr.lkey, world.local.mr.addr, 4);
  }),
  ...['compare', 'swap'].flatMap((operand) =>
    eachIn('wrAtomicCmpSwp', `${operand} is`, NO_WR_ID, (world, qp, value) => {
      const operands: [never, never] = operand === 'compare' ? [value, untyped(1n)] : [untyped(1n), value];
      qp.wrAtomicCmpSwp(key(world), addr(world), ...operands);
      qp.wrSetSge(world.local.mr.lkey, world.local.mr.addr, 8);
    }),
  ),
  ...eachIn('wrFlush', 'the length is', notUnsigned(32), (world, qp, value) =>
    qp.wrFlush(key(world), addr(world), value, 1, 0),
  ),
  ...eachIn(
    'wrFlush',
    'the type is',
    [
      ['0', untyped(0)],
      ['4', untyped(4)],
    ],
    (world, qp, value) => qp.wrFlush(key(world), addr(world), 8, value, 0),
  ),
  ...eachIn('wrFlush', 'the level is', [['2', untyped(2)], ...notUnsigned(32)], (world, qp, value) =>
    qp.wrFlush(key(world), addr(world), 8, 1, value),
  ),
  ...eachIn(
    'wrAtomicWrite',
    'the data are',
    [
      ['7 bytes', untyped(new Uint8Array(7))],
      ['missing', untyped()],
      ['text', untyped('12345678')],
    ],
    (world, qp, value) => qp.wrAtomicWrite(key(world), addr(world), value),
  ),
  wrongIn('wrAtomicWrite', 'the address is not a multiple of 8', (world, qp) =>
    qp.wrAtomicWrite(key(world), addr(world) + 4n, EIGHT),
  ),
  wrongIn('wrSendTso', 'the device has none', (_, qp) => qp.wrSendTso(), ['EINVAL', 'EOPNOTSUPP']),
  ...eachIn('wrBindMw', 'the window is', NO_OBJECT, (_, qp, mw) => qp.wrBindMw(mw, 1, {})),
  wrongIn('wrBindMw', 'the window is of type 1', ({ own }, qp) => qp.wrBindMw(own.type1, own.type1.rkey, {})),
  ...others('wrBindMw', 'the window', 'type2', ({ local: { qp } }, mw) => batch(qp, () => qp.wrBindMw(mw, 1, {}))),
  ...eachIn('wrBindMw', 'the new key is', notUnsigned(32), ({ own }, qp, value) => qp.wrBindMw(own.type2, value, {})),
  wrongIn('wrBindMw', 'bindInfo is missing', ({ own }, qp) => qp.wrBindMw(own.type2, 1, untyped())),
  ...others('wrBindMw', 'the region', 'mr', ({ local: { qp }, own }, mr) =>
    batch(qp, () => qp.wrBindMw(own.type2, own.type2.rkey, { mr, addr: mr.iova, length: 8 })),
  ),
];

const data: readonly Row[] = [
  ...(
    [
      ['wrSetSge', (qp: Qp) => qp.wrSetSge(1, 0n, 8)],
      ['wrSetSgeList', (qp: Qp) => qp.wrSetSgeList([])],
      ['wrSetInlineData', (qp: Qp) => qp.wrSetInlineData(EIGHT)],
      ['wrSetInlineDataList', (qp: Qp) => qp.wrSetInlineDataList([EIGHT])],
    ] as const
  ).flatMap(([call, act]) => [
    wrongIn(call, 'there is no request yet', (_, qp) => act(qp)),
    wrongIn(call, 'the request takes no data', (_, qp) => {
      qp.wrLocalInv(1);
      act(qp);
    }),
    wrongIn(call, 'the request has its data', (world, qp) => {
      qp.wrAtomicWrite(key(world), addr(world), EIGHT);
      act(qp);
    }),
  ]),
  ...eachIn('wrSetSge', 'the key is', notUnsigned(32), ({ local }, qp, value) => {
    qp.wrSend();
    qp.wrSetSge(value, local.mr.addr, 8);
  }),
  ...eachIn('wrSetSge', 'the address is', NO_ADDRESS, ({ local }, qp, value) => {
    qp.wrSend();
    qp.wrSetSge(local.mr.lkey, value, 8);
  }),
  ...eachIn('wrSetSge', 'the length is', notUnsigned(32), ({ local }, qp, value) => {
    qp.wrSend();
    qp.wrSetSge(local.mr.lkey, local.mr.addr, value);
  }),
  ...eachIn(
    'wrSetSgeList',
    'the list is',
    [
      ['missing', untyped()],
      ['one of null', untyped([null])],
      ['one of nothing', untyped([{}])],
    ],
    (_, qp, value) => {
      qp.wrSend();
      qp.wrSetSgeList(value);
    },
  ),
  wrongIn('wrSetSgeList', 'there is one piece too many', ({ local }, qp) => {
    qp.wrSend();
    qp.wrSetSgeList(Array.from({ length: 5 }, () => local.mr.sge(0, 1)));
  }),
  ...eachIn(
    'wrSetInlineData',
    'the data are',
    [
      ['missing', untyped()],
      ['text', untyped('text')],
      ['too many', untyped(new Uint8Array(65))],
    ],
    (_, qp, value) => {
      qp.wrSend();
      qp.wrSetInlineData(value);
    },
  ),
  ...eachIn(
    'wrSetInlineDataList',
    'the list is',
    [
      ['missing', untyped()],
      ['one of null', untyped([null])],
      ['one of text', untyped(['text'])],
      ['too long together', untyped([new Uint8Array(40), new Uint8Array(40)])],
    ],
    (_, qp, value) => {
      qp.wrSend();
      qp.wrSetInlineDataList(value);
    },
  ),
  wrongIn('wrSetInlineData', 'the request is a READ', (world, qp) => {
    qp.wrRdmaRead(key(world), addr(world));
    qp.wrSetInlineData(EIGHT);
  }),
];

const toUd = ({ ud: { local } }: World, act: (qp: Qp) => unknown): void =>
  batch(local.qp, () => {
    local.qp.wrSend();
    act(local.qp);
  });
const toXrc = ({ xrc: { local } }: World, act: (qp: Qp) => unknown): void =>
  batch(local.qp, () => {
    local.qp.wrSend();
    act(local.qp);
  });

const destinations: readonly Row[] = [
  wrongIn('wrSetUdAddr', 'the QP is of type RC', (world, qp) => {
    qp.wrSend();
    qp.wrSetUdAddr(world.own.ah, 1, 1);
  }),
  ['wrSetUdAddr', 'it is missing', 'EINVAL', (world) => toUd(world, () => {})],
  ...each('wrSetUdAddr', 'the handle is', NO_OBJECT, (world, ah) => toUd(world, (qp) => qp.wrSetUdAddr(ah, 1, 1))),
  ...others('wrSetUdAddr', 'the handle', 'ah', (world, ah) => toUd(world, (qp) => qp.wrSetUdAddr(ah, 1, 1))),
  ...each('wrSetUdAddr', 'the QP number is', notUnsigned(24), (world, qpn) =>
    toUd(world, (qp) => qp.wrSetUdAddr(world.own.ah, qpn, 1)),
  ),
  ...each('wrSetUdAddr', 'the Q_Key is', notUnsigned(32), (world, qkey) =>
    toUd(world, (qp) => qp.wrSetUdAddr(world.own.ah, 1, qkey)),
  ),
  wrongIn('wrSetXrcSrqn', 'the QP is of type RC', (_, qp) => {
    qp.wrSend();
    qp.wrSetXrcSrqn(1);
  }),
  ['wrSetXrcSrqn', 'it is missing', 'EINVAL', (world) => toXrc(world, () => {})],
  ...each('wrSetXrcSrqn', 'the number is', notUnsigned(24), (world, srqn) =>
    toXrc(world, (qp) => qp.wrSetXrcSrqn(srqn)),
  ),
  [
    'wrRdmaRead',
    'the QP is of type UC',
    'EINVAL',
    (world) => batch(world.uc.local.qp, () => world.uc.local.qp.wrRdmaRead(key(world), addr(world))),
  ],
  [
    'wrRdmaWrite',
    'the QP is of type UD',
    'EINVAL',
    (world) => batch(world.ud.local.qp, () => world.ud.local.qp.wrRdmaWrite(key(world), addr(world))),
  ],
];

refusals('wrong requests of a batch', requests);
refusals('wrong data of a batch', data);
refusals('wrong destinations of a batch', destinations);

conformance('a batch of requests', (provider) => {
  const devices = useDevices(provider);

  test('with a wrong one among them is not posted at all', () => {
    using pair = new Pair(devices);
    const { local, remote } = pair;
    const { qp } = local;
    remote.qp.postRecv([{ wrId: 1 }, { wrId: 2 }]);
    assertErrno('EINVAL', () => {
      qp.wrStart();
      qp.wrFlags = SendFlags.SIGNALED;
      qp.wrSend();
      qp.wrSendImm(untyped(-1));
      qp.wrSend();
      qp.wrComplete();
    });
    assert.equal(qp.query().attr.qpState, QpState.RTS);
    assertSuccess(local, perform(local, { opcode: WrOpcode.RDMA_WRITE, rdma: remoteOf(remote.mr), wrId: 3 }));
    assertEmpty(remote.cq);
    assertEmpty(local.cq);
  });

  test('that was given up is not posted at all', () => {
    using pair = new Pair(devices);
    const { local, remote } = pair;
    remote.qp.postRecv({});
    local.qp.wrStart();
    local.qp.wrSend();
    local.qp.wrAbort();
    assertSuccess(local, perform(local, { opcode: WrOpcode.RDMA_WRITE, rdma: remoteOf(remote.mr) }));
    assertEmpty(remote.cq);
  });
});
