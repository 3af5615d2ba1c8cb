import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AH_ATTR } from '../structs/addresses.js';
import { Structs } from '../uverbs/structs.js';
import { AccessFlags, Errno, MwType, QpAttrMask, QpState, QpType, SrqType } from '../../entry/index.js';
import { nativeHostProblem } from '../../node/system/index.js';
import type { UverbsCommand } from './fuzz/uverbs-frame.js';
import { uverbsGame } from './uverbs-game.js';

const UNKNOWN = 0x7777;
const { HANDLE, HANDLE_BEHIND } = Structs;

type Game = ReturnType<typeof uverbsGame>;
type Handles = Readonly<Record<'pd' | 'cq' | 'srq' | 'qp' | 'mr' | 'mw' | 'ah', number>>;

const CAP = { maxSendWr: 4, maxRecvWr: 4, maxSendSge: 1, maxRecvSge: 1, maxInlineData: 0 };

function qpRequest(handles: { pd: number; sendCq: number; recvCq: number; srq?: number }, more: object = {}) {
  const request = { userHandle: 1n, qpType: QpType.RC, isSrq: handles.srq === undefined ? 0 : 1, ...CAP, ...handles };
  return { number: 24, request: Structs.CREATE_QP.request.encodePadded({ ...request, ...more }) };
}

function regMr(game: Game, pd: number): UverbsCommand {
  const start = BigInt(game.memory.open.at);
  const access = AccessFlags.LOCAL_WRITE;
  return { number: 9, request: Structs.REG_MR.request.encodePadded({ start, length: 64n, iova: start, pd, access }) };
}

function createAh(game: Game, pd: number): UverbsCommand {
  const dgid = game.context.queryGid(1, 0);
  const attr = AH_ATTR.readPadded(AH_ATTR.encodePadded({ dgid, isGlobal: 1, portNum: 1, hopLimit: 64 }));
  return { number: 5, request: Structs.CREATE_AH.request.encodePadded({ pd, attr }) };
}

const createSrq = (pd: number, more: object = {}) =>
  ({ number: 32, request: Structs.CREATE_SRQ.request.encodePadded({ pd, maxWr: 4, maxSge: 1, ...more }) }) as const;
const allocMw = (pd: number) =>
  ({ number: 14, request: Structs.ALLOC_MW.request.encodePadded({ pd, type: MwType.TYPE_2 }) }) as const;
const createCq = (channel = -1) =>
  ({ number: 18, request: Structs.CREATE_CQ.request.encodePadded({ cqe: 8, channel }) }) as const;

/** One object of each kind. */
function makeAll(game: Game, { make }: Pick<Game, 'make'> = game): Handles {
  const pd = make({ number: 3, request: Structs.EMPTY.encodePadded({}) });
  const cq = make(createCq());
  const srq = make(createSrq(pd));
  const qp = make(qpRequest({ pd, sendCq: cq, recvCq: cq }));
  return { pd, cq, srq, qp, mr: make(regMr(game, pd)), mw: make(allocMw(pd)), ah: make(createAh(game, pd)) };
}

/** The commands that end objects, in an order in which none is in use. */
const ENDS: readonly (readonly [name: string, number: number, kind: keyof Handles, isBehind: boolean])[] = [
  ['DESTROY_AH', 8, 'ah', false],
  ['DEALLOC_MW', 16, 'mw', false],
  ['DEREG_MR', 13, 'mr', false],
  ['DESTROY_QP', 27, 'qp', true],
  ['DESTROY_SRQ', 35, 'srq', true],
  ['DESTROY_CQ', 20, 'cq', true],
  ['DEALLOC_PD', 4, 'pd', false],
];

/** The commands that name objects and end none, each with one handle that may be wrong. */
const USES: readonly (readonly [name: string, command: (game: Game, all: Handles, wrong: number) => UverbsCommand])[] =
  [
    ['CREATE_AH of a PD', (game, _, pd) => createAh(game, pd)],
    ['REG_MR of a PD', (game, _, pd) => regMr(game, pd)],
    ['ALLOC_MW of a PD', (_, __, pd) => allocMw(pd)],
    ['CREATE_SRQ of a PD', (_, __, pd) => createSrq(pd)],
    [
      'CREATE_XSRQ of a PD',
      (_, __, pd) => ({ number: 39, request: Structs.CREATE_XSRQ.request.encodePadded({ pd, maxWr: 4, maxSge: 1 }) }),
    ],
    ['CREATE_QP of a PD', (_, { cq }, pd) => qpRequest({ pd, sendCq: cq, recvCq: cq })],
    ['CREATE_QP of a send CQ', (_, { pd, cq }, sendCq) => qpRequest({ pd, sendCq, recvCq: cq })],
    ['CREATE_QP of a receive CQ', (_, { pd, cq }, recvCq) => qpRequest({ pd, sendCq: cq, recvCq })],
    ['CREATE_QP of an SRQ', (_, { pd, cq }, srq) => qpRequest({ pd, sendCq: cq, recvCq: cq, srq })],
    [
      'RESIZE_CQ',
      (_, __, handle) => ({ number: 19, request: Structs.RESIZE_CQ.request.encodePadded({ handle, cqe: 16 }) }),
    ],
    [
      'REQ_NOTIFY_CQ',
      (_, __, handle) => ({ number: 23, request: Structs.REQ_NOTIFY_CQ.request.encodePadded({ handle }) }),
    ],
    ['QUERY_QP', (_, __, handle) => ({ number: 25, request: Structs.QUERY_QP.request.encodePadded({ handle }) })],
    [
      'MODIFY_QP',
      (_, __, handle) => ({
        number: 26,
        request: Structs.MODIFY_QP.request.encodePadded({ handle, mask: QpAttrMask.STATE, qpState: QpState.ERR }),
      }),
    ],
    ['ATTACH_MCAST', (_, __, handle) => ({ number: 30, request: Structs.MCAST.request.encodePadded({ handle }) })],
    ['DETACH_MCAST', (_, __, handle) => ({ number: 31, request: Structs.MCAST.request.encodePadded({ handle }) })],
    ['MODIFY_SRQ', (_, __, handle) => ({ number: 33, request: Structs.MODIFY_SRQ.request.encodePadded({ handle }) })],
    ['QUERY_SRQ', (_, __, handle) => ({ number: 34, request: HANDLE_BEHIND.encodePadded({ handle }) })],
  ];

const end = (number: number, isBehind: boolean, handle: number): UverbsCommand => ({
  number,
  request: (isBehind ? HANDLE_BEHIND : HANDLE).encodePadded({ handle }),
});

describe('a command that ends an object', { skip: nativeHostProblem() ?? false }, () => {
  for (const [name, number, kind, isBehind] of ENDS) {
    it(`${name} of no handle is ENOENT, and of another kind's EINVAL`, () => {
      using game = uverbsGame();
      const all = makeAll(game);
      const errnoOf = (handle: number) => game.give(end(number, isBehind, handle)).errno;
      assert.deepEqual([UNKNOWN, 0, 0xffffffff].map(errnoOf), [Errno.ENOENT, Errno.ENOENT, Errno.ENOENT]);
      const others = Object.entries(all).filter(([other]) => other !== kind);
      assert.deepEqual(
        others.map(([, handle]) => errnoOf(handle)),
        others.map(() => Errno.EINVAL),
      );
    });
  }

  it('is ENOENT the second time', () => {
    using game = uverbsGame();
    const all = makeAll(game);
    for (const [name, number, kind, isBehind] of ENDS) {
      const errnos = [0, 1].map(() => game.give(end(number, isBehind, all[kind])).errno);
      assert.deepEqual(errnos, [0, Errno.ENOENT], name);
    }
  });

  it('is ENOENT for an object of another opened device', () => {
    using game = uverbsGame();
    const other = game.open();
    // So the numbers of the others are none here.
    const others = makeAll(game);
    for (const [name, number, kind, isBehind] of ENDS)
      assert.equal(other.give(end(number, isBehind, others[kind])).errno, Errno.ENOENT, name);
  });

  it('is EBUSY for what is in use, and leaves that as it is', () => {
    using game = uverbsGame();
    const { pd, cq, qp } = makeAll(game);
    assert.equal(game.give(end(20, true, cq)).errno, Errno.EBUSY);
    assert.equal(game.give(end(4, false, pd)).errno, Errno.EBUSY);
    assert.equal(game.give(end(27, true, qp)).errno, 0);
  });
});

describe('a command that uses an object', { skip: nativeHostProblem() ?? false }, () => {
  for (const [name, command] of USES) {
    it(`${name} is EINVAL for no handle, and for one of another kind`, () => {
      using game = uverbsGame();
      const all = makeAll(game);
      // No command here takes an address handle.
      for (const wrong of [UNKNOWN, 0, all.ah])
        assert.equal(game.give(command(game, all, wrong)).errno, Errno.EINVAL, String(wrong));
    });
  }

  it('CREATE_CQ is EBADF for a descriptor that is no completion channel of this opened device', () => {
    using game = uverbsGame();
    const other = game.open();
    const channel = other.make({ number: 17, request: Structs.EMPTY.encodePadded({}) });
    for (const fd of [0, 0x7fffffff, channel]) assert.equal(game.give(createCq(fd)).errno, Errno.EBADF, String(fd));
    assert.equal(other.give(createCq(channel)).errno, 0);
  });

  it('CREATE_XSRQ is EINVAL for an XRC domain, which no program has, and EOPNOTSUPP for tag matching', () => {
    using game = uverbsGame();
    const { pd, cq } = makeAll(game);
    const errnoOf = (srqType: number, names: object) =>
      game.give({
        number: 39,
        request: Structs.CREATE_XSRQ.request.encodePadded({ srqType, maxWr: 4, maxSge: 1, ...names }),
      }).errno;
    assert.deepEqual(
      [errnoOf(SrqType.XRC, { pd, cq }), errnoOf(SrqType.TM, { pd, cq: UNKNOWN }), errnoOf(SrqType.TM, { pd, cq })],
      [Errno.EINVAL, Errno.EINVAL, Errno.EOPNOTSUPP],
    );
  });
});

describe('a command of the write ABI', { skip: nativeHostProblem() ?? false }, () => {
  it('GET_CONTEXT is EINVAL the second time', () => {
    using game = uverbsGame();
    const command = { number: 0, request: Structs.EMPTY.encodePadded({}) };
    assert.deepEqual([game.give(command).errno, game.give(command).errno], [0, Errno.EINVAL]);
  });

  it('is ENOSPC where its request is shorter than its structure, and does nothing', () => {
    using game = uverbsGame();
    const { pd } = makeAll(game);
    const before = [...game.file.mrs].length;
    const { number, request } = regMr(game, pd);
    assert.equal(game.give({ number, request: request.subarray(0, 36) }).errno, Errno.ENOSPC);
    assert.equal([...game.file.mrs].length, before);
  });

  it('tells the version of the firmware that sysfs tells', () => {
    using game = uverbsGame();
    const { answer } = game.give({ number: 1, request: Structs.EMPTY.encodePadded({}) });
    const { fwVer } = Structs.QUERY_DEVICE.answer.readPadded(answer);
    const parts = [32n, 16n, 0n].map((at) => (fwVer >> at) & 0xffffn);
    assert.equal(parts.join('.'), game.context.queryDevice().fwVer);
  });
});

describe('limits of what a program makes', { skip: nativeHostProblem() ?? false }, () => {
  const TOO_MUCH = { maxRecvWr: 100_000, maxRecvSge: 20 };

  it('do not apply to the receive queue that a queue pair with an SRQ does not have', () => {
    using game = uverbsGame();
    const { pd, cq, srq } = makeAll(game);
    for (const qpType of [QpType.RC, QpType.UC, QpType.UD]) {
      const created = game.give(qpRequest({ pd, sendCq: cq, recvCq: cq, srq }, { ...TOO_MUCH, qpType }));
      assert.equal(created.errno, 0);
      const { maxRecvWr, maxRecvSge } = Structs.CREATE_QP.answer.readPadded(created.answer);
      assert.deepEqual([maxRecvWr, maxRecvSge], [0, 0]);
      assert.equal(game.give(qpRequest({ pd, sendCq: cq, recvCq: cq }, { ...TOO_MUCH, qpType })).errno, Errno.EINVAL);
    }
  });

  it('apply to the send queue, with an SRQ or without', () => {
    using game = uverbsGame();
    const { pd, cq, srq } = makeAll(game);
    for (const more of [{ maxSendWr: 16384 }, { maxSendSge: 20 }, { maxInlineData: 305 }])
      for (const names of [
        { pd, sendCq: cq, recvCq: cq },
        { pd, sendCq: cq, recvCq: cq, srq },
      ])
        assert.equal(game.give(qpRequest(names, more)).errno, Errno.EINVAL);
  });

  it('do not apply to the limit that an SRQ is made with, which programs leave uninitialised', () => {
    using game = uverbsGame();
    const { pd } = makeAll(game);
    assert.equal(game.give(createSrq(pd, { srqLimit: 0xdeadbeef })).errno, 0);
  });

  it('are all checked before an SRQ is changed', () => {
    using game = uverbsGame();
    const { srq } = makeAll(game);
    const placeAddress = BigInt(game.memory.commands.at + 16384);
    const driver = Structs.MODIFY_SRQ.driverRequest.encodePadded({ placeAddress });
    const modify = (mask: number, maxWr: number, srqLimit: number) =>
      game.give({
        number: 33,
        request: Structs.MODIFY_SRQ.request.encodePadded({ handle: srq, mask, maxWr, srqLimit }),
        driver,
      }).errno;
    const size = () =>
      Structs.QUERY_SRQ.answer.readPadded(
        game.give({ number: 34, request: HANDLE_BEHIND.encodePadded({ handle: srq }) }).answer,
      );
    const before = size().maxWr;
    assert.equal(modify(3, 100, 50), Errno.EINVAL, 'a limit above the size now');
    assert.equal(size().maxWr, before);
    assert.equal(modify(2, 0, 3), 0);
    assert.equal(modify(1, 2, 0), Errno.EINVAL, 'smaller than the limit');
    assert.equal(modify(1, 100, 0), 0);
    assert.deepEqual([size().maxWr, size().srqLimit], [127, 3]);
  });

  it('refuse types of queue pairs as the kernel does', () => {
    using game = uverbsGame();
    const { pd, cq } = makeAll(game);
    const errnoOf = (qpType: number) => game.give(qpRequest({ pd, sendCq: cq, recvCq: cq }, { qpType })).errno;
    assert.deepEqual([0, 7, QpType.XRC_RECV, 77].map(errnoOf), Array(4).fill(Errno.EINVAL));
    assert.deepEqual([QpType.XRC_SEND, 255].map(errnoOf), Array(2).fill(Errno.EOPNOTSUPP));
  });

  it('ignore what rxe ignores when a queue pair is modified, and refuse unknown attributes', () => {
    using game = uverbsGame();
    const { qp } = makeAll(game);
    const modify = (mask: number, values: object) =>
      game.give({
        number: 26,
        request: Structs.MODIFY_QP.request.encodePadded({ handle: qp, mask, portNum: 1, ...values }),
      }).errno;
    const { STATE, PKEY_INDEX, PORT, ACCESS_FLAGS, AV, PATH_MTU, DEST_QPN, RQ_PSN } = QpAttrMask;
    const { MAX_DEST_RD_ATOMIC, MIN_RNR_TIMER } = QpAttrMask;
    assert.equal(modify(STATE | (1 << 21), { qpState: QpState.INIT }), Errno.EOPNOTSUPP);
    const qpAccessFlags = AccessFlags.REMOTE_READ | AccessFlags.RELAXED_ORDERING | AccessFlags.ON_DEMAND;
    assert.equal(modify(STATE | PKEY_INDEX | PORT | ACCESS_FLAGS, { qpState: QpState.INIT, qpAccessFlags }), 0);
    const dest = { dgid: game.context.queryGid(1, 0), isGlobal: 1, portNum: 1, sl: 0xff, srcPathBits: 0xff };
    const toRtr = STATE | AV | PATH_MTU | DEST_QPN | RQ_PSN | MAX_DEST_RD_ATOMIC | MIN_RNR_TIMER;
    const numbers = { rqPsn: 0xff000001, destQpNum: 0xff000002 };
    assert.equal(modify(toRtr, { qpState: QpState.RTR, pathMtu: 3, dest, ...numbers, minRnrTimer: 12 }), 0);
    const { answer } = game.give({ number: 25, request: Structs.QUERY_QP.request.encodePadded({ handle: qp }) });
    const found = Structs.QUERY_QP.answer.readPadded(answer);
    assert.deepEqual([found.rqPsn, found.destQpNum, found.qpAccessFlags], [1, 2, AccessFlags.REMOTE_READ]);
  });
});
