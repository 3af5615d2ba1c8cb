import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  AccessFlags,
  PostError,
  QpState,
  SendFlags,
  type SendWr,
  type WrOpcode as Opcode,
  WrOpcode,
} from '../../src/entry/index.js';
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
import { bringTo, Workshop } from './qp-support.js';
import { assertEmpty, assertErrno, assertSuccess, Pair, pollUntil, remoteOf, useDevices } from './support.js';

const { INLINE, SIGNALED, IP_CSUM } = SendFlags;
const INLINE_BYTES = 64;
const PIECES = 4;

type Part = Readonly<Record<string, unknown>>;

/** A request that is in order, of each opcode that RC has. */
function goodRequest(world: World, opcode: Opcode): Part {
  const { local, rc, own } = world;
  const rdma = remoteOf(rc.remote.mr);
  const sgList = [local.mr.sge(0, 8)];
  switch (opcode) {
    case WrOpcode.SEND_WITH_IMM:
      return { opcode, sgList, immData: 1 };
    case WrOpcode.SEND_WITH_INV:
      return { opcode, sgList, invalidateRkey: 1 };
    case WrOpcode.RDMA_WRITE:
    case WrOpcode.RDMA_READ:
    case WrOpcode.ATOMIC_WRITE:
      return { opcode, sgList, rdma };
    case WrOpcode.RDMA_WRITE_WITH_IMM:
      return { opcode, sgList, rdma, immData: 1 };
    case WrOpcode.ATOMIC_CMP_AND_SWP:
      return { opcode, sgList, atomic: { ...rdma, compareAdd: 1n, swap: 2n } };
    case WrOpcode.ATOMIC_FETCH_AND_ADD:
      return { opcode, sgList, atomic: { ...rdma, compareAdd: 1n } };
    case WrOpcode.LOCAL_INV:
      return { opcode, invalidateRkey: 1 };
    case WrOpcode.BIND_MW:
      return { opcode, bindMw: { mw: own.type2, rkey: own.type2.rkey, bindInfo: {} } };
    case WrOpcode.FLUSH:
      return { opcode, rdma, flush: { length: 8, type: 1, level: 0 } };
    default:
      return { opcode, sgList };
  }
}

const post = (world: World, opcode: Opcode, part: Part): void =>
  world.local.qp.postSend(untyped({ ...goodRequest(world, opcode), ...part }));

/** As {@link post}, for a part inside a part. */
const postInside = (world: World, opcode: Opcode, name: 'rdma' | 'atomic' | 'flush' | 'bindMw', part: Part): void => {
  const inside = goodRequest(world, opcode)[name] as Part; // an object in each request that has it
  post(world, opcode, { [name]: { ...inside, ...part } });
};

const nameOf = (opcode: Opcode): string => Object.entries(WrOpcode).find(([, value]) => value === opcode)?.[0] ?? '';
const callOf = (opcode: Opcode): string => `postSend of ${nameOf(opcode)}`;

const { SEND, SEND_WITH_IMM, SEND_WITH_INV, RDMA_WRITE, RDMA_WRITE_WITH_IMM, RDMA_READ, LOCAL_INV, BIND_MW } = WrOpcode;
const { ATOMIC_CMP_AND_SWP, ATOMIC_FETCH_AND_ADD, FLUSH, ATOMIC_WRITE, TSO } = WrOpcode;

const heads: readonly Row[] = [
  ['postSend', 'there is nothing', 'EINVAL', ({ local }) => local.qp.postSend(untyped())],
  ['postSend', 'the request is null', 'EINVAL', ({ local }) => local.qp.postSend(untyped([null]))],
  ['postSend', 'the opcode is missing', 'EINVAL', ({ local }) => local.qp.postSend(untyped({}))],
  ...each('postSend', 'the opcode is', notUnsigned(32), (world, opcode) => post(world, RDMA_WRITE, { opcode: opcode })),
  ['postSend', 'the opcode is none', 'EINVAL', (world) => post(world, RDMA_WRITE, { opcode: 13 })],
  [
    'postSend',
    'an RC QP is to segment TCP',
    ['EINVAL', 'EOPNOTSUPP'],
    (world) => post(world, RDMA_WRITE, { opcode: TSO }),
  ],
  ...each(
    'postSend',
    'wrId is',
    [
      ['of more than 64 bits', untyped(2n ** 64n)],
      ['a number that is not exact', untyped(2 ** 53)],
      ['a fraction', untyped(0.5)],
      ['text', untyped('1')],
    ],
    (world, wrId) => post(world, RDMA_WRITE, { wrId: wrId }),
  ),
  ...each('postSend', 'sendFlags are', notUnsigned(32), (world, sendFlags) =>
    post(world, RDMA_WRITE, { sendFlags: sendFlags }),
  ),
  ['postSend', 'a flag means nothing', 'EINVAL', (world) => post(world, RDMA_WRITE, { sendFlags: 1 << 10 })],
  ['postSend', 'a checksum is to be computed', 'EINVAL', (world) => post(world, RDMA_WRITE, { sendFlags: IP_CSUM })],
];

const pieces: readonly Row[] = [
  ['postSend', 'sgList is not a list', 'EINVAL', (world) => post(world, RDMA_WRITE, { sgList: 7 })],
  ['postSend', 'a piece is null', 'EINVAL', (world) => post(world, RDMA_WRITE, { sgList: [null] })],
  [
    'postSend',
    'there is one piece too many',
    'EINVAL',
    (world) => post(world, RDMA_WRITE, { sgList: new Array<unknown>(PIECES + 1).fill(world.local.mr.sge(0, 1)) }),
  ],
  ...each('postSend', 'an address is', NO_ADDRESS, (world, addr) =>
    post(world, RDMA_WRITE, { sgList: [{ ...world.local.mr.sge(0, 8), addr: addr as unknown }] }),
  ),
  ...each('postSend', 'a length is', notUnsigned(32), (world, length) =>
    post(world, RDMA_WRITE, { sgList: [{ ...world.local.mr.sge(0, 8), length: length as unknown }] }),
  ),
  ...each('postSend', 'an L_Key is', notUnsigned(32), (world, lkey) =>
    post(world, RDMA_WRITE, { sgList: [{ ...world.local.mr.sge(0, 8), lkey: lkey as unknown }] }),
  ),
  ['postSend', 'a piece is empty of fields', 'EINVAL', (world) => post(world, RDMA_WRITE, { sgList: [{}] })],
  [
    'postSend',
    'a message is longer than the port takes',
    'EINVAL',
    (world) =>
      post(world, RDMA_WRITE, { sgList: new Array<unknown>(2).fill({ ...world.local.mr.sge(), length: 0xffff_ffff }) }),
  ],
  [
    'postSend',
    'bytes are not inline',
    'EINVAL',
    (world) => post(world, RDMA_WRITE, { sgList: [{ bytes: new Uint8Array(1) }] }),
  ],
  [
    'postSend',
    'inline data are no bytes',
    'EINVAL',
    (world) => post(world, RDMA_WRITE, { sendFlags: INLINE, sgList: [{ bytes: 'text' }] }),
  ],
  [
    'postSend',
    'there are too many bytes inline',
    'EINVAL',
    (world) => post(world, RDMA_WRITE, { sendFlags: INLINE, sgList: [{ bytes: new Uint8Array(INLINE_BYTES + 1) }] }),
  ],
  [
    'postSend',
    'there are too many registered bytes inline',
    'EINVAL',
    (world) => post(world, RDMA_WRITE, { sendFlags: INLINE, sgList: [world.local.mr.sge(0, INLINE_BYTES + 1)] }),
  ],
  ...[RDMA_READ, ATOMIC_CMP_AND_SWP, ATOMIC_FETCH_AND_ADD, LOCAL_INV, BIND_MW, FLUSH].map((opcode): Row => [
    callOf(opcode),
    'it is inline',
    'EINVAL',
    (world) => post(world, opcode, { sendFlags: INLINE }),
  ]),
  ...[LOCAL_INV, BIND_MW, FLUSH].map((opcode): Row => [
    callOf(opcode),
    'it has a piece',
    'EINVAL',
    (world) => post(world, opcode, { sgList: [world.local.mr.sge(0, 8)] }),
  ]),
];

const contents: readonly Row[] = [
  ...[SEND_WITH_IMM, RDMA_WRITE_WITH_IMM].flatMap((opcode) => [
    [
      callOf(opcode),
      'immData is missing',
      'EINVAL',
      (world: World) => post(world, opcode, { immData: undefined }),
    ] satisfies Row,
    ...each(callOf(opcode), 'immData is', notUnsigned(32), (world, immData) =>
      post(world, opcode, { immData: immData }),
    ),
  ]),
  ...[SEND_WITH_INV, LOCAL_INV].flatMap((opcode) => [
    [
      callOf(opcode),
      'invalidateRkey is missing',
      'EINVAL',
      (world: World) => post(world, opcode, { invalidateRkey: undefined }),
    ] satisfies Row,
    ...each(callOf(opcode), 'invalidateRkey is', notUnsigned(32), (world, invalidateRkey) =>
      post(world, opcode, { invalidateRkey: invalidateRkey }),
    ),
  ]),
  ...([RDMA_WRITE, RDMA_WRITE_WITH_IMM, RDMA_READ, FLUSH, ATOMIC_WRITE] as const).flatMap((opcode) => [
    [
      callOf(opcode),
      'rdma is missing',
      'EINVAL',
      (world: World) => post(world, opcode, { rdma: undefined }),
    ] satisfies Row,
    [callOf(opcode), 'rdma is empty', 'EINVAL', (world: World) => post(world, opcode, { rdma: {} })] satisfies Row,
    ...each(callOf(opcode), 'rdma.remoteAddr is', NO_ADDRESS, (world, remoteAddr) =>
      postInside(world, opcode, 'rdma', { remoteAddr: remoteAddr }),
    ),
    ...each(callOf(opcode), 'rdma.rkey is', notUnsigned(32), (world, rkey) =>
      postInside(world, opcode, 'rdma', { rkey: rkey }),
    ),
  ]),
  ...([ATOMIC_CMP_AND_SWP, ATOMIC_FETCH_AND_ADD] as const).flatMap((opcode) => [
    [
      callOf(opcode),
      'atomic is missing',
      'EINVAL',
      (world: World) => post(world, opcode, { atomic: undefined }),
    ] satisfies Row,
    [
      callOf(opcode),
      'there is no piece',
      'EINVAL',
      (world: World) => post(world, opcode, { sgList: [] }),
    ] satisfies Row,
    [
      callOf(opcode),
      'there are 4 bytes',
      'EINVAL',
      (world: World) => post(world, opcode, { sgList: [world.local.mr.sge(0, 4)] }),
    ] satisfies Row,
    [
      callOf(opcode),
      'the address is not a multiple of 8',
      'EINVAL',
      (world: World) => postInside(world, opcode, 'atomic', { remoteAddr: world.rc.remote.mr.iova + 4n }),
    ] satisfies Row,
    ...each(callOf(opcode), 'atomic.remoteAddr is', NO_ADDRESS, (world, remoteAddr) =>
      postInside(world, opcode, 'atomic', { remoteAddr: remoteAddr }),
    ),
    ...each(callOf(opcode), 'atomic.rkey is', notUnsigned(32), (world, rkey) =>
      postInside(world, opcode, 'atomic', { rkey: rkey }),
    ),
    [
      callOf(opcode),
      'compareAdd is missing',
      'EINVAL',
      (world: World) => postInside(world, opcode, 'atomic', { compareAdd: undefined }),
    ] satisfies Row,
  ]),
  [
    callOf(ATOMIC_CMP_AND_SWP),
    'swap is missing',
    'EINVAL',
    (world) => postInside(world, ATOMIC_CMP_AND_SWP, 'atomic', { swap: undefined }),
  ],
  [
    callOf(ATOMIC_CMP_AND_SWP),
    'swap is of more than 64 bits',
    'EINVAL',
    (world) => postInside(world, ATOMIC_CMP_AND_SWP, 'atomic', { swap: 2n ** 64n }),
  ],
  [
    callOf(ATOMIC_WRITE),
    'there are 4 bytes',
    'EINVAL',
    (world) => post(world, ATOMIC_WRITE, { sgList: [world.local.mr.sge(0, 4)] }),
  ],
  [
    callOf(ATOMIC_WRITE),
    'the address is not a multiple of 8',
    'EINVAL',
    (world) => postInside(world, ATOMIC_WRITE, 'rdma', { remoteAddr: world.rc.remote.mr.iova + 1n }),
  ],
  [callOf(FLUSH), 'flush is missing', 'EINVAL', (world) => post(world, FLUSH, { flush: undefined })],
  ...each(callOf(FLUSH), 'flush.length is', notUnsigned(32), (world, length) =>
    postInside(world, FLUSH, 'flush', { length: length }),
  ),
  ...each(callOf(FLUSH), 'flush.type is', [['0', untyped(0)], ['4', untyped(4)], ...notUnsigned(32)], (world, type) =>
    postInside(world, FLUSH, 'flush', { type: type }),
  ),
  ...each(callOf(FLUSH), 'flush.level is', [['2', untyped(2)], ...notUnsigned(32)], (world, level) =>
    postInside(world, FLUSH, 'flush', { level: level }),
  ),
];

const bindInfo = (world: World, info: Part): Part => ({
  mr: world.bound,
  addr: world.bound.iova,
  length: 8,
  mwAccessFlags: AccessFlags.REMOTE_READ,
  ...info,
});

/** Both ways of binding a window: by a request, type 2, and by the verb, type 1. */
const WAYS = [
  [
    callOf(BIND_MW),
    'type2',
    (world: World, info: unknown) => postInside(world, BIND_MW, 'bindMw', { mw: world.own.type2, bindInfo: info }),
  ],
  [
    'bindMw',
    'type1',
    (world: World, info: unknown) => world.local.qp.bindMw(world.own.type1, untyped({ bindInfo: info })),
  ],
] as const;

const binds: readonly Row[] = [
  [callOf(BIND_MW), 'bindMw is missing', 'EINVAL', (world) => post(world, BIND_MW, { bindMw: undefined })],
  ...each(callOf(BIND_MW), 'the window is', NO_OBJECT, (world, mw) => postInside(world, BIND_MW, 'bindMw', { mw: mw })),
  ...others(callOf(BIND_MW), 'the window', 'type2', (world, mw) => postInside(world, BIND_MW, 'bindMw', { mw })),
  [
    callOf(BIND_MW),
    'the window is of type 1',
    'EINVAL',
    (world) => postInside(world, BIND_MW, 'bindMw', { mw: world.own.type1 }),
  ],
  ...each(callOf(BIND_MW), 'the new key is', notUnsigned(32), (world, rkey) =>
    postInside(world, BIND_MW, 'bindMw', { rkey: rkey }),
  ),
  ['bindMw', 'there is nothing', 'EINVAL', ({ local }) => local.qp.bindMw(untyped(), untyped())],
  ['bindMw', 'the bind is missing', 'EINVAL', ({ local, own }) => local.qp.bindMw(own.type1, untyped())],
  ...each('bindMw', 'the window is', NO_OBJECT, ({ local }, mw) => local.qp.bindMw(mw, { bindInfo: {} })),
  ...others('bindMw', 'the window', 'type1', ({ local }, mw) => local.qp.bindMw(mw, { bindInfo: {} })),
  ['bindMw', 'the window is of type 2', 'EINVAL', ({ local, own }) => local.qp.bindMw(own.type2, { bindInfo: {} })],
  [
    'bindMw',
    'the window begins at 0',
    'EINVAL',
    (world) => WAYS[1][2](world, bindInfo(world, { mwAccessFlags: AccessFlags.ZERO_BASED })),
  ],
  ['bindMw', 'window and region are of two domains', 'EPERM', (world) => WAYS[1][2](world, bindInfo(world, {}))],
  ['bindMw', 'a UD QP is to bind', 'EINVAL', ({ ud, own }) => ud.local.qp.bindMw(own.type1, { bindInfo: {} })],
  ...each('bindMw', 'sendFlags are', [['INLINE', untyped(INLINE)], ...notUnsigned(32)], ({ local, own }, sendFlags) =>
    local.qp.bindMw(own.type1, { bindInfo: {}, sendFlags }),
  ),
  ...each('bindMw', 'wrId is', [['text', untyped('1')]], ({ local, own }, wrId) =>
    local.qp.bindMw(own.type1, { bindInfo: {}, wrId }),
  ),
  ...WAYS.flatMap(([call, , act]) => [
    [call, 'bindInfo is missing', 'EINVAL', (world: World) => act(world, undefined)] satisfies Row,
    [call, 'bindInfo is null', 'EINVAL', (world: World) => act(world, null)] satisfies Row,
    ...each(call, 'the region is', NO_OBJECT, (world, mr) => act(world, bindInfo(world, { mr: mr }))),
    ...others(call, 'the region', 'mr', (world, mr) => act(world, bindInfo(world, { mr }))).map(
      // A region that is gone or elsewhere is of another domain, too.
      ([name, wrong, , run]): Row => [name, wrong, ['EINVAL', 'EPERM'], run],
    ),
    [call, 'there is an address but no region', 'EINVAL', (world: World) => act(world, { addr: 4096n })] satisfies Row,
    [call, 'there is a length but no region', 'EINVAL', (world: World) => act(world, { length: 8 })] satisfies Row,
    ...each(call, 'the address is', NO_ADDRESS, (world, addr) => act(world, bindInfo(world, { addr: addr }))),
    ...each(
      call,
      'the length is',
      notUnsigned(32).filter(([name]) => !name.startsWith('of more')),
      (world, length) => act(world, bindInfo(world, { length: length })),
    ),
    ...each(call, 'the access is', [['of no flag', untyped(1 << 12)], ...notUnsigned(32)], (world, mwAccessFlags) =>
      act(world, bindInfo(world, { mwAccessFlags: mwAccessFlags })),
    ),
  ]),
];

const datagram = (world: World, part: Part): void =>
  world.ud.local.qp.postSend(untyped({ opcode: SEND, ud: { ...world.datagram(), ...part } }));
const XRC_CALL = 'postSend of XRC';
const UD_CALL = 'postSend of UD';

const destinations: readonly Row[] = [
  [UD_CALL, 'ud is missing', 'EINVAL', ({ ud }) => ud.local.qp.postSend({ opcode: SEND })],
  [UD_CALL, 'ud is empty', 'EINVAL', ({ ud }) => ud.local.qp.postSend({ opcode: SEND, ud: untyped({}) })],
  ...each(UD_CALL, 'the handle is', NO_OBJECT, (world, ah) => datagram(world, { ah: ah })),
  ...others(UD_CALL, 'the handle', 'ah', (world, ah) => datagram(world, { ah })),
  ...each(UD_CALL, 'remoteQpn is', notUnsigned(24), (world, remoteQpn) => datagram(world, { remoteQpn: remoteQpn })),
  ...each(UD_CALL, 'remoteQkey is', notUnsigned(32), (world, remoteQkey) =>
    datagram(world, { remoteQkey: remoteQkey }),
  ),
  ...(['SEND_WITH_INV', 'RDMA_WRITE', 'RDMA_READ', 'ATOMIC_FETCH_AND_ADD', 'LOCAL_INV', 'FLUSH'] as const).map(
    (name): Row => [
      UD_CALL,
      `it is ${name}`,
      'EINVAL',
      (world) => world.ud.local.qp.postSend(untyped({ ...goodRequest(world, WrOpcode[name]), ud: world.datagram() })),
    ],
  ),
  ...(['SEND_WITH_INV', 'RDMA_READ', 'ATOMIC_CMP_AND_SWP', 'FLUSH', 'ATOMIC_WRITE'] as const).map((name): Row => [
    'postSend of UC',
    `it is ${name}`,
    'EINVAL',
    (world) => world.uc.local.qp.postSend(untyped(goodRequest(world, WrOpcode[name]))),
  ]),
  [XRC_CALL, 'xrc is missing', 'EINVAL', ({ xrc }) => xrc.local.qp.postSend({ opcode: SEND })],
  [XRC_CALL, 'xrc is empty', 'EINVAL', ({ xrc }) => xrc.local.qp.postSend({ opcode: SEND, xrc: untyped({}) })],
  ...each(XRC_CALL, 'remoteSrqn is', notUnsigned(24), ({ xrc }, remoteSrqn) =>
    xrc.local.qp.postSend({ opcode: SEND, xrc: { remoteSrqn } }),
  ),
  ...(['FLUSH', 'ATOMIC_WRITE'] as const).map((name): Row => [
    XRC_CALL,
    `it is ${name}`,
    'EINVAL',
    (world) =>
      world.xrc.local.qp.postSend(
        untyped({ ...goodRequest(world, WrOpcode[name]), xrc: world.xrc.remote.destination }),
      ),
  ]),
  ['postSend', 'the QP is in RESET', 'EINVAL', ({ own }) => own.qp.postSend({ opcode: SEND })],
];

refusals('wrong send requests', heads);
refusals('send requests with wrong pieces', pieces);
refusals('send requests with wrong contents', contents);
refusals('wrong binds of windows', binds);
refusals('send requests to nowhere', destinations);

conformance('a list of send requests', (provider) => {
  const devices = useDevices(provider);

  test('is posted up to the wrong one, which the error names', () => {
    using pair = new Pair(devices);
    const { local, remote } = pair;
    const good: SendWr = { opcode: SEND, sendFlags: SIGNALED };
    const bad: SendWr = { ...good, sgList: untyped([{}]) };
    remote.qp.postRecv([{}, {}, {}]);
    assert.throws(
      () => local.qp.postSend([good, good, bad, good]),
      (error) => error instanceof PostError && error.errno === 'EINVAL' && error.index === 2 && error.badWr === bad,
    );
    for (const wc of pollUntil(local.cq, 2)) assertSuccess(local, wc);
    pollUntil(remote.cq, 2);
    assertEmpty(local.cq);
  });

  for (const state of ['RESET', 'INIT', 'RTR'] as const) {
    test(`is posted not at all in ${state}`, () => {
      using shop = new Workshop(devices[0]);
      const qp = shop.make('RC');
      bringTo(qp, QpState[state]);
      assertErrno('EINVAL', () => qp.postSend([{ opcode: SEND }, { opcode: SEND }]));
      assertErrno('EINVAL', () => {
        qp.wrStart();
        qp.wrSend();
        qp.wrComplete();
      });
      assert.equal(qp.query().attr.qpState, QpState[state]);
    });
  }
});
