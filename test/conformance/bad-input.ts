/** Wrong calls: tables of them, and a world of objects that none of them may change; by the public API alone. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type Ah,
  type AhAttrInit,
  alloc,
  type CompChannel,
  type Context,
  type Cq,
  type ErrnoName,
  type Mr,
  type Mw,
  MwType,
  type Pd,
  type Qp,
  type QpBase,
  QpType,
  type Srq,
  type Td,
  WrOpcode,
  type Xrcd,
} from '../../src/entry/index.js';
import { bind, wholeOf } from './memory-support.js';
import { conformance } from './provider.js';
import { Belongings } from './sides.js';
import {
  ALL_ACCESS,
  assertErrno,
  assertSuccess,
  bringUp,
  type End,
  handleTo,
  Pair,
  pendingEvents,
  perform,
  pollOne,
  QKEY,
  remoteOf,
  useDevices,
} from './support.js';
import { XrcPair } from './xrc.js';

const PAGE = 4096;
/** After so many wrong calls everything is exercised, not just one queue pair. */
const ROWS_PER_ROUND = 16;

/** One object of each kind that stands for itself. */
export interface Specimens {
  readonly pd: Pd;
  readonly mr: Mr;
  readonly type1: Mw;
  readonly type2: Mw;
  readonly channel: CompChannel;
  readonly cq: Cq;
  readonly srq: Srq;
  readonly ah: Ah;
  readonly td: Td;
  readonly xrcd: Xrcd;
  readonly qp: Qp;
}

/** An address that leads back to the device itself. */
export const homeAddress = (context: Context): AhAttrInit => ({ grh: { dgid: context.queryGid(1, 0) } });

/** One of each kind, none of them in use; they end with `keeper`. */
export function specimensOf(context: Context, keeper: Belongings): Specimens {
  const pd = keeper.keep(context.allocPd());
  const channel = keeper.keep(context.createCompChannel());
  const cq = keeper.keep(context.createCq({ cqe: 8, channel }));
  return {
    pd,
    channel,
    cq,
    mr: keeper.keep(pd.regMr(alloc(PAGE), ALL_ACCESS)),
    type1: keeper.keep(pd.allocMw(MwType.TYPE_1)),
    type2: keeper.keep(pd.allocMw(MwType.TYPE_2)),
    srq: keeper.keep(pd.createSrq({ maxWr: 4, maxSge: 2 })),
    ah: keeper.keep(pd.createAh(homeAddress(context))),
    td: keeper.keep(context.allocTd()),
    xrcd: keeper.keep(context.openXrcd()),
    qp: keeper.keep(pd.createQp({ qpType: QpType.RC, sendCq: cq, recvCq: cq, cap: { maxSendSge: 2, maxRecvSge: 2 } })),
  };
}

/** Everything that a wrong call could be made with, and that it must leave as it is. */
export class World extends Belongings {
  readonly context: Context;
  /** Connected and in RTS, both ends. */
  readonly rc: Pair;
  readonly uc: Pair;
  readonly ud: Pair;
  readonly xrc: XrcPair;
  /** The local ends, whose queue pairs take 4 pieces and 64 bytes inline. */
  readonly local: End;
  /** A queue pair that receives from {@link srq}, in RTS toward nobody. */
  readonly sharing: Qp;
  readonly srq: Srq;
  /** A region with a window of type 1 bound to it. */
  readonly bound: Mr;
  readonly own: Specimens;
  readonly ended: Specimens;
  readonly strange: Specimens;

  constructor(readonly devices: readonly Context[]) {
    super();
    [this.context] = devices;
    const { context } = this;
    this.rc = this.keep(new Pair(devices));
    this.local = this.rc.local;
    this.uc = this.keep(new Pair(devices, { qpType: QpType.UC }));
    this.ud = this.keep(new Pair(devices, { qpType: QpType.UD }));
    this.xrc = this.keep(new XrcPair(devices));
    this.own = specimensOf(context, this);
    this.strange = specimensOf(devices[1], this);
    const passing = new Belongings();
    this.ended = specimensOf(context, passing);
    passing[Symbol.dispose]();
    const { pd, cq } = this.own;
    this.srq = this.keep(pd.createSrq({ maxWr: 4, maxSge: 2, srqLimit: 1 }));
    this.sharing = this.keep(pd.createQp({ qpType: QpType.RC, sendCq: cq, recvCq: cq, srq: this.srq }));
    bringUp(this.sharing, { context, qpNum: this.sharing.qpNum });
    this.bound = this.local.region(PAGE);
    const window = this.local.keep(this.local.pd.allocMw(MwType.TYPE_1));
    assertSuccess(this.local, bind(this.local, window, wholeOf(this.bound)).wc);
    this.srq.postRecv([{ wrId: 1 }, { wrId: 2 }]);
  }

  get pairs(): readonly QpBase[] {
    const { rc, uc, ud, xrc, own, sharing } = this;
    const ends = [rc, uc, ud].flatMap(({ local, remote }) => [local.qp, remote.qp]);
    return [...ends, xrc.local.qp, xrc.remote.qp, own.qp, sharing];
  }

  snapshot(): unknown {
    const { context, devices, own, srq, xrc, bound, local, strange } = this;
    return {
      attributes: this.pairs.map((qp) => qp.query().attr),
      queues: [srq, own.srq, xrc.remote.srq].map((queue) => queue.query()),
      sizes: [own.cq.cqe, local.cq.cqe],
      regions: [own.mr, bound, strange.mr].map(({ iova, addr, length, access }) => [iova, addr, length, access]),
      domains: [own.mr.pd === own.pd, bound.pd === local.pd],
      windows: [own.type1.rkey, own.type2.rkey],
      port: context.queryPort(),
      gids: context.queryGidTable(),
      events: devices.flatMap((device) => pendingEvents(device)),
      completions: [own.cq, local.cq, this.ud.local.cq].map((cq) => cq.poll()),
    };
  }

  /** That the queue pair of most wrong calls still works, both its ends. */
  exerciseOne({ local, remote } = this.rc): void {
    remote.qp.postRecv({ sgList: [remote.mr.sge(0, 64)] });
    assertSuccess(local, perform(local, { opcode: WrOpcode.SEND, sgList: [local.mr.sge(0, 64)] }));
    assertSuccess(remote, pollOne(remote.cq));
  }

  /** That all of it still works. */
  exercise(): void {
    const { rc, uc, ud, xrc } = this;
    this.exerciseOne(rc);
    this.exerciseOne(uc);
    const sgList = [rc.local.mr.sge(0, 8)];
    assertSuccess(rc.local, perform(rc.local, { opcode: WrOpcode.RDMA_WRITE, sgList, rdma: remoteOf(rc.remote.mr) }));
    ud.remote.qp.postRecv({ sgList: [ud.remote.mr.sge(0, 64)] });
    assertSuccess(ud.local, perform(ud.local, { opcode: WrOpcode.SEND, ud: this.datagram() }));
    assertSuccess(ud.remote, pollOne(ud.remote.cq));
    xrc.remote.srq.postRecv({});
    assertSuccess(xrc.local, perform(xrc.local, { opcode: WrOpcode.SEND, xrc: xrc.remote.destination }));
    assertSuccess(xrc.remote, pollOne(xrc.remote.cq));
  }

  datagram(): { readonly ah: Ah; readonly remoteQpn: number; readonly remoteQkey: number } {
    this.#ah ??= handleTo(this.ud.local, this.ud.remote);
    return { ah: this.#ah, remoteQpn: this.ud.remote.qp.qpNum, remoteQkey: QKEY };
  }
  #ah: Ah | undefined;
}

/** A wrong call: what is called, what is wrong with it, what must come of it. */
export type Row = readonly [
  call: string,
  wrong: string,
  errno: ErrnoName | readonly ErrnoName[],
  act: (world: World) => unknown,
];

/** A value that the types do not allow, as a program without types may pass it. */
export const untyped = (value?: unknown): never => value as never; // that is the point of it

/** Numbers that are none of `bits` bits, and what is not a number at all. */
export const notUnsigned = (bits: 8 | 16 | 20 | 24 | 32): readonly (readonly [string, never])[] => [
  ['negative', untyped(-1)],
  [`of more than ${bits} bits`, untyped(2 ** bits)],
  ['a fraction', untyped(1.5)],
  ['not a number', untyped(NaN)],
  ['text', untyped('1')],
];

/** What is not an address. */
export const NO_ADDRESS: readonly (readonly [string, never])[] = [
  ['negative', untyped(-1)],
  ['of more than 64 bits', untyped(2n ** 64n)],
  ['a number that is not exact', untyped(2 ** 53)],
  ['text', untyped('4096')],
];

/** What is not an object of the kind that is asked for. */
export const NO_OBJECT: readonly (readonly [string, never])[] = [
  ['null', untyped(null)],
  ['a number', untyped(7)],
  ['an object of no kind', untyped({})],
];

/** One row for each of several wrong values. */
export function each(
  call: string,
  what: string,
  values: readonly (readonly [string, never])[],
  act: (world: World, value: never) => unknown,
  errno: Row[2] = 'EINVAL',
): readonly Row[] {
  return values.map(([name, value]) => [call, `${what} ${name}`, errno, (world) => act(world, value)]);
}

/** One row for the object that was ended and one for the object of another device. */
export function others<K extends keyof Specimens>(
  call: string,
  what: string,
  kind: K,
  act: (world: World, object: Specimens[K]) => unknown,
): readonly Row[] {
  return [
    [call, `${what} was ended`, 'EINVAL', (world) => act(world, world.ended[kind])],
    [call, `${what} is of another device`, 'EINVAL', (world) => act(world, world.strange[kind])],
  ];
}

/** One test for each wrong call: its errno, nothing changed, queues still work; and nothing is left behind in the end. */
export function refusals(title: string, rows: readonly Row[]): void {
  conformance(title, (provider) => {
    const devices = useDevices(provider);
    /** The world as the last good test has left it, and how it looked. A call that does harm ends it. */
    let kept: { readonly world: World; readonly seen: unknown } | undefined;
    const take = (): { readonly world: World; readonly seen: unknown } => {
      const taken = kept;
      kept = undefined;
      if (taken !== undefined) return taken;
      const world = new World(devices);
      return { world, seen: world.snapshot() };
    };
    for (const [number, [call, wrong, errno, act]] of rows.entries()) {
      const expected = typeof errno === 'string' ? errno : errno.join(' or ');
      test(`${call} gives ${expected} when ${wrong}`, () => {
        const { world, seen } = take();
        assertErrno(errno, () => act(world));
        assert.deepEqual(world.snapshot(), seen);
        if (number % ROWS_PER_ROUND === 0) world.exercise();
        else world.exerciseOne();
        kept = { world, seen };
      });
    }

    test('and in the end nothing keeps any of the objects from being ended', () => {
      const { world } = take();
      world.exercise();
      world[Symbol.dispose]();
    });
  });
}
