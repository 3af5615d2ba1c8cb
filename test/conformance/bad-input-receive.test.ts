import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gidFromIp, PostError, QpState, QpType, type RecvWr, type Sge, WrOpcode } from '../../src/entry/index.js';
import { each, NO_ADDRESS, notUnsigned, refusals, type Row, untyped, type World } from './bad-input.js';
import { conformance } from './provider.js';
import { bringTo, Workshop } from './qp-support.js';
import { assertErrno, assertSuccess, Pair, perform, pollUntil, toInit, useDevices } from './support.js';

const GROUP = gidFromIp('239.1.2.3');

const NO_WR_ID: readonly (readonly [string, never])[] = [
  ['of more than 64 bits', untyped(2n ** 64n)],
  ['a number that is not exact', untyped(2 ** 53)],
  ['a fraction', untyped(0.5)],
  ['text', untyped('1')],
];

interface Receiving {
  readonly call: string;
  readonly pieces: number;
  readonly post: (world: World, wr: unknown) => void;
  readonly postSge: (world: World, wrId: never, lkey: never, addr: never, length: never) => void;
}

const QUEUES: readonly Receiving[] = [
  {
    call: 'of a QP',
    pieces: 4,
    post: ({ local }, wr) => local.qp.postRecv(untyped(wr)),
    postSge: ({ local }, ...args) => local.qp.postRecvSge(...args),
  },
  {
    call: 'of an SRQ',
    pieces: 2,
    post: ({ own }, wr) => own.srq.postRecv(untyped(wr)),
    postSge: ({ own }, ...args) => own.srq.postRecvSge(...args),
  },
];

const piece = (world: World, part: Readonly<Record<keyof Sge, unknown>> | object): object => ({
  ...world.local.mr.sge(0, 8),
  ...part,
});

const receives: readonly Row[] = QUEUES.flatMap(({ call: queue, pieces, post, postSge }): readonly Row[] => {
  const call = `postRecv ${queue}`;
  const short = `postRecvSge ${queue}`;
  const good = (world: World): readonly [never, never, never, never] => {
    const { addr, length, lkey } = world.local.mr.sge(0, 8);
    return [untyped(0), untyped(lkey), untyped(addr), untyped(length)];
  };
  return [
    [call, 'there is nothing', 'EINVAL', (world) => post(world, undefined)],
    [call, 'the request is null', 'EINVAL', (world) => post(world, [null])],
    [call, 'the request is a number', 'EINVAL', (world) => post(world, 7)],
    ...each(call, 'wrId is', NO_WR_ID, (world, wrId) => post(world, { wrId: wrId as unknown })),
    [call, 'sgList is not a list', 'EINVAL', (world) => post(world, { sgList: 7 })],
    [call, 'a piece is null', 'EINVAL', (world) => post(world, { sgList: [null] })],
    [call, 'a piece is empty of fields', 'EINVAL', (world) => post(world, { sgList: [{}] })],
    [
      call,
      'there is one piece too many',
      'EINVAL',
      (world) => post(world, { sgList: new Array<unknown>(pieces + 1).fill(piece(world, {})) }),
    ],
    [call, 'a piece gives bytes', 'EINVAL', (world) => post(world, { sgList: [{ bytes: new Uint8Array(8) }] })],
    ...each(call, 'an address is', NO_ADDRESS, (world, addr) => post(world, { sgList: [piece(world, { addr })] })),
    ...each(call, 'a length is', notUnsigned(32), (world, length) =>
      post(world, { sgList: [piece(world, { length })] }),
    ),
    ...each(call, 'an L_Key is', notUnsigned(32), (world, lkey) => post(world, { sgList: [piece(world, { lkey })] })),
    ...each(short, 'wrId is', NO_WR_ID, (world, wrId) => {
      const [, lkey, addr, length] = good(world);
      postSge(world, wrId, lkey, addr, length);
    }),
    ...each(short, 'the L_Key is', notUnsigned(32), (world, lkey) => {
      const [wrId, , addr, length] = good(world);
      postSge(world, wrId, lkey, addr, length);
    }),
    ...each(short, 'the address is', NO_ADDRESS, (world, addr) => {
      const [wrId, lkey, , length] = good(world);
      postSge(world, wrId, lkey, addr, length);
    }),
    ...each(short, 'the length is', notUnsigned(32), (world, length) => {
      const [wrId, lkey, addr] = good(world);
      postSge(world, wrId, lkey, addr, length);
    }),
  ];
});

const places: readonly Row[] = [
  ['postRecv of a QP', 'the QP is in RESET', 'EINVAL', ({ own }) => own.qp.postRecv({})],
  ['postRecv of a QP', 'it shares a receive queue', 'EINVAL', ({ sharing }) => sharing.postRecv({})],
  ['postRecvSge of a QP', 'it shares a receive queue', 'EINVAL', ({ sharing }) => sharing.postRecvSge(0, 0, 0, 0)],
  ['postRecv of a QP', 'it is of type XRC_SEND', 'EINVAL', ({ xrc }) => xrc.local.qp.postRecv({})],
];

const sharedQueues: readonly Row[] = [
  ['modify of an SRQ', 'there is nothing', 'EINVAL', ({ srq }) => srq.modify(untyped())],
  ['modify of an SRQ', 'the attribute does not exist', 'EINVAL', ({ srq }) => srq.modify(untyped({ maxSge: 2 }))],
  ['modify of an SRQ', 'maxWr is 0', 'EINVAL', ({ srq }) => srq.modify({ maxWr: 0 })],
  ['modify of an SRQ', 'maxWr is below what is posted', 'EINVAL', ({ srq }) => srq.modify({ maxWr: 1 })],
  [
    'modify of an SRQ',
    'maxWr is above the device’s',
    'EINVAL',
    ({ srq, context }) => srq.modify({ maxWr: context.queryDevice().maxSrqWr + 1 }),
  ],
  ...each('modify of an SRQ', 'maxWr is', notUnsigned(32), ({ srq }, maxWr) => srq.modify({ maxWr })),
  ['modify of an SRQ', 'srqLimit is above its size', 'EINVAL', ({ srq }) => srq.modify({ srqLimit: srq.maxWr + 1 })],
  ['modify of an SRQ', 'srqLimit is above the new size', 'EINVAL', ({ srq }) => srq.modify({ maxWr: 8, srqLimit: 9 })],
  ...each('modify of an SRQ', 'srqLimit is', notUnsigned(32), ({ srq }, srqLimit) => srq.modify({ srqLimit })),
  ['destroy of an SRQ', 'a QP uses it', 'EBUSY', ({ srq }) => srq.destroy()],
  ['close of an XRC domain', 'objects are in it', 'EBUSY', ({ xrc }) => xrc.remote.xrcd.close()],
  ['openQp', 'there is nothing', 'EINVAL', ({ own }) => own.xrcd.openQp(untyped())],
  ['openQp', 'the number is missing', 'EINVAL', ({ own }) => own.xrcd.openQp(untyped({}))],
  ...each('openQp', 'the number is', notUnsigned(24), ({ own }, qpNum) => own.xrcd.openQp({ qpNum })),
  ['openQp', 'no QP has the number', 'EINVAL', ({ own }) => own.xrcd.openQp({ qpNum: 0 })],
  ['openQp', 'the QP is of another type', 'EINVAL', ({ own, local }) => own.xrcd.openQp({ qpNum: local.qp.qpNum })],
  [
    'openQp',
    'the QP is of another domain',
    'EINVAL',
    ({ strange, xrc }) => strange.xrcd.openQp({ qpNum: xrc.remote.qp.qpNum }),
  ],
  ['createQp of an XRC domain', 'there is null', 'EINVAL', ({ own }) => own.xrcd.createQp(untyped(null))],
];

const NO_GROUP: readonly (readonly [string, never])[] = [
  ['missing', untyped()],
  ['text', untyped('239.1.2.3')],
  ['short', untyped(GROUP.subarray(1))],
  ['one of no group', untyped(gidFromIp('10.0.0.1'))],
  ['zeros', untyped(new Uint8Array(16))],
];

const membership: readonly Row[] = [
  ...each('attachMcast', 'the GID is', NO_GROUP, ({ ud }, gid) => ud.local.qp.attachMcast(gid)),
  ...each('detachMcast', 'the GID is', NO_GROUP, ({ ud }, gid) => ud.local.qp.detachMcast(gid)),
  ['attachMcast', 'the QP is of type RC', 'EINVAL', ({ local }) => local.qp.attachMcast(GROUP)],
  ['attachMcast', 'the QP is of type UC', 'EINVAL', ({ uc }) => uc.local.qp.attachMcast(GROUP)],
  ['detachMcast', 'the QP is in no group', 'EINVAL', ({ ud }) => ud.local.qp.detachMcast(GROUP)],
];

const rates: readonly Row[] = [
  ['modifyRateLimit', 'there is nothing', 'EINVAL', ({ ud }) => ud.local.qp.modifyRateLimit(untyped())],
  ['modifyRateLimit', 'the rate is missing', 'EINVAL', ({ ud }) => ud.local.qp.modifyRateLimit(untyped({}))],
  ...each('modifyRateLimit', 'the rate is', notUnsigned(32), ({ ud }, rateLimit) =>
    ud.local.qp.modifyRateLimit({ rateLimit }),
  ),
  [
    'modifyRateLimit',
    'the rate is above the device’s',
    'EINVAL',
    ({ ud, context }) =>
      ud.local.qp.modifyRateLimit({ rateLimit: context.queryDeviceEx().packetPacingCaps.qpRateLimitMax + 1 }),
  ],
  ...each('modifyRateLimit', 'maxBurstSize is', notUnsigned(32), ({ ud }, maxBurstSize) =>
    ud.local.qp.modifyRateLimit({ rateLimit: 0, maxBurstSize }),
  ),
  ...each('modifyRateLimit', 'typicalPktSize is', notUnsigned(16), ({ ud }, typicalPktSize) =>
    ud.local.qp.modifyRateLimit({ rateLimit: 0, typicalPktSize }),
  ),
  ['createFlow', 'the device has none', 'EOPNOTSUPP', ({ ud }) => ud.local.qp.createFlow()],
];

refusals('wrong receive requests', [...receives, ...places]);
refusals('wrong calls of shared receive queues and XRC domains', sharedQueues);
refusals('wrong groups', membership);
refusals('wrong rates', rates);

conformance('a rate', (provider) => {
  const devices = useDevices(provider, 1);

  for (const state of ['RESET', 'INIT', 'RTR'] as const) {
    test(`cannot be limited in ${state}`, () => {
      using shop = new Workshop(devices[0]);
      const qp = shop.make('UD');
      bringTo(qp, QpState[state]);
      assertErrno('EINVAL', () => qp.modifyRateLimit({ rateLimit: 5000 }));
    });
  }
});

conformance('a list of receive requests', (provider) => {
  const devices = useDevices(provider);

  test('is posted up to the wrong one, which the error names', () => {
    using pair = new Pair(devices);
    const { local, remote } = pair;
    const bad: RecvWr = { wrId: 9, sgList: untyped([{}]) };
    assert.throws(
      () => remote.qp.postRecv([{ wrId: 1 }, { wrId: 2 }, bad, { wrId: 3 }]),
      (error) => error instanceof PostError && error.errno === 'EINVAL' && error.index === 2 && error.badWr === bad,
    );
    remote.qp.postRecv({ wrId: 4 });
    for (let i = 0; i < 3; i += 1) assertSuccess(local, perform(local, { opcode: WrOpcode.SEND }));
    assert.deepEqual(
      pollUntil(remote.cq, 3).map(({ wrId }) => wrId),
      [1n, 2n, 4n],
    );
  });

  for (const [name, shared] of [
    ['a QP', false],
    ['an SRQ', true],
  ] as const) {
    test(`longer than ${name} takes is posted as far as it goes, and then gives ENOMEM`, () => {
      using shop = new Workshop(devices[0]);
      const srq = shop.keep(shop.pd.createSrq({ maxWr: 4 }));
      const qp = shop.make('RC', { cap: { maxRecvWr: 4 } });
      toInit(qp);
      const target = shared ? srq : qp;
      const room = shared ? srq.maxWr : qp.cap.maxRecvWr;
      const list = Array.from({ length: room + 2 }, (_, i): RecvWr => ({ wrId: i }));
      assert.throws(
        () => target.postRecv(list),
        (error) =>
          error instanceof PostError && error.errno === 'ENOMEM' && error.index === room && error.badWr === list[room],
      );
      assertErrno('ENOMEM', () => target.postRecvSge(1, 0, 0, 0));
    });
  }

  test('of a QP that was made without room for any gives ENOMEM', () => {
    using shop = new Workshop(devices[0]);
    const qp = shop.make('RC', { cap: { maxRecvWr: 0 } });
    assert.equal(qp.qpType, QpType.RC);
    toInit(qp);
    assertErrno('ENOMEM', () => qp.postRecv({}));
  });
});
