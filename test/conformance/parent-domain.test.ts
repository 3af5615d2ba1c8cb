import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  alloc,
  type Context,
  type Cq,
  type Mr,
  MwType,
  type ParentDomain,
  type Pd,
  type Qp,
  QpType,
  SendFlags,
  type Srq,
  WcExFlags,
  WcStatus,
  WrOpcode,
} from '../../src/entry/index.js';
import { GRH_BYTES, PAGE } from './memory-support.js';
import { conformance } from './provider.js';
import {
  ALL_ACCESS,
  assertErrno,
  assertStatus,
  assertSuccess,
  bringUp,
  pattern,
  pollOne,
  QKEY,
  targetOf,
  useDevices,
} from './support.js';

function withDomains(context: Context, threads: boolean, body: (parent: ParentDomain, pd: Pd) => void): void {
  using pd = context.allocPd();
  using td = threads ? context.allocTd() : undefined;
  using parent = context.allocParentDomain(td === undefined ? { pd } : { pd, td });
  body(parent, pd);
}

conformance('parent domains', (provider) => {
  const devices = useDevices(provider, 1);

  test('name device, domain and thread domain', () => {
    const [context] = devices;
    const pd = context.allocPd();
    const td = context.allocTd();
    const parent = context.allocParentDomain({ pd, td });
    assert.equal(parent.context, context);
    assert.equal(parent.pd, pd);
    assert.equal(parent.td, td);
    parent.dealloc();
    td.dealloc();
    pd.dealloc();
  });

  test('can do without a thread domain', () => {
    withDomains(devices[0], false, (parent) => assert.equal(parent.td, undefined));
  });

  test('keep both from ending', () => {
    const [context] = devices;
    const pd = context.allocPd();
    const td = context.allocTd();
    const parent = context.allocParentDomain({ pd, td });
    assertErrno('EBUSY', () => pd.dealloc());
    assertErrno('EBUSY', () => td.dealloc());
    parent.dealloc();
    td.dealloc();
    pd.dealloc();
  });

  test('cannot be ended twice', () => {
    using pd = devices[0].allocPd();
    const parent = devices[0].allocParentDomain({ pd });
    parent.dealloc();
    assertErrno('EINVAL', () => parent.dealloc());
  });

  test('cannot be made from domains that have ended', () => {
    const [context] = devices;
    const pd = context.allocPd();
    const td = context.allocTd();
    td.dealloc();
    assertErrno('EINVAL', () => context.allocParentDomain({ pd, td }));
    pd.dealloc();
    assertErrno('EINVAL', () => context.allocParentDomain({ pd }));
  });

  test('cannot be made from domains of another device', () => {
    const [context] = devices;
    const other = provider.open();
    using pd = context.allocPd();
    const [theirPd, theirTd] = [other.allocPd(), other.allocTd()];
    assertErrno('EINVAL', () => context.allocParentDomain({ pd: theirPd }));
    assertErrno('EINVAL', () => context.allocParentDomain({ pd, td: theirTd }));
    other.close();
  });

  const MEMBERS: readonly (readonly [string, (pd: Pd, context: Context) => Disposable])[] = [
    ['a region', (pd) => pd.regMr(alloc(PAGE))],
    ['a window', (pd) => pd.allocMw(MwType.TYPE_1)],
    ['an address handle', (pd, context) => pd.createAh({ grh: { dgid: context.queryGid(1, 0) } })],
    ['a shared receive queue', (pd) => pd.createSrq({ maxWr: 1 })],
  ];
  for (const [name, make] of MEMBERS) {
    test(`cannot be ended while ${name} is in them`, () => {
      withDomains(devices[0], false, (parent) => {
        using member = make(parent, devices[0]);
        assert.ok(member);
        assertErrno('EBUSY', () => parent.dealloc());
      });
    });
  }
});

conformance('traffic in a parent domain', (provider) => {
  const devices = useDevices(provider, 2);

  interface SideOptions {
    readonly qpType?: QpType;
    readonly shared?: boolean;
    readonly threads?: boolean;
    /** Ask for fields that only extended completions have. */
    readonly wcFlags?: number;
  }

  class Side implements Disposable {
    readonly pd: Pd;
    readonly parent: ParentDomain;
    readonly mr: Mr;
    readonly cq: Cq;
    readonly srq: Srq | undefined;
    readonly qp: Qp;
    readonly #kept: Disposable[] = [];

    constructor(
      readonly context: Context,
      { qpType = QpType.RC, shared = false, threads = false, wcFlags }: SideOptions = {},
    ) {
      this.pd = this.#keep(context.allocPd());
      const td = threads ? { td: this.#keep(context.allocTd()) } : {};
      const parent = this.#keep(context.allocParentDomain({ pd: this.pd, ...td }));
      this.parent = parent;
      this.mr = this.#keep(parent.regMr(alloc(PAGE), ALL_ACCESS));
      this.cq = this.#keep(context.createCq({ cqe: 16, ...(wcFlags === undefined ? {} : { wcFlags }) }));
      this.srq = shared ? this.#keep(parent.createSrq({ maxWr: 4 })) : undefined;
      const srq = this.srq === undefined ? {} : { srq: this.srq };
      this.qp = this.#keep(parent.createQp({ qpType, sendCq: this.cq, recvCq: this.cq, ...srq }));
    }

    #keep<T extends Disposable>(object: T): T {
      this.#kept.push(object);
      return object;
    }

    [Symbol.dispose](): void {
      for (const object of this.#kept.splice(0).reverse()) object[Symbol.dispose]();
    }
  }

  /** Runs a test between two ends in parent domains, which are connected. */
  function between(options: SideOptions, body: (local: Side, remote: Side) => void): void {
    using local = new Side(devices[0], options);
    using remote = new Side(devices[1], options);
    const datagrams = options.qpType === QpType.UD;
    bringUp(remote.qp, datagrams ? undefined : targetOf(local));
    bringUp(local.qp, datagrams ? undefined : targetOf(remote));
    body(local, remote);
  }

  /** Sends one message, which must arrive. */
  function send(from: Side, to: Side, salt: number): void {
    const before = to.qp.qpType === QpType.UD ? GRH_BYTES : 0;
    const recv = { sgList: [to.mr.sge(0, before + 1000)] };
    if (to.srq === undefined) to.qp.postRecv(recv);
    else to.srq.postRecv(recv);
    from.mr.bytes.set(pattern(1000, salt));
    const wr = { opcode: WrOpcode.SEND, sgList: [from.mr.sge(0, 1000)], sendFlags: SendFlags.SIGNALED } as const;
    if (before === 0) {
      from.qp.postSend(wr);
    } else {
      using ah = from.parent.createAh({ grh: { dgid: to.context.queryGid(1, 0) } });
      from.qp.postSend({ ...wr, ud: { ah, remoteQpn: to.qp.qpNum, remoteQkey: QKEY } });
      assertSuccess(to, pollOne(to.cq));
    }
    assertSuccess(from, pollOne(from.cq));
    if (before === 0) assertSuccess(to, pollOne(to.cq));
    assert.deepEqual(to.mr.bytes.subarray(before, before + 1000), pattern(1000, salt));
  }

  const KINDS: readonly (readonly [string, SideOptions])[] = [
    ['RC', {}],
    ['RC with a thread domain', { threads: true }],
    ['UC', { qpType: QpType.UC }],
    ['UD', { qpType: QpType.UD }],
    [
      'RC with a shared receive queue and extended completions',
      { shared: true, wcFlags: WcExFlags.WITH_BYTE_LEN | WcExFlags.WITH_COMPLETION_TIMESTAMP },
    ],
  ];
  for (const [name, options] of KINDS) {
    test(`works both ways: ${name}`, () => {
      between(options, (local, remote) => {
        for (let round = 0; round < 10; round += 1) {
          send(local, remote, 2 * round);
          send(remote, local, 2 * round + 1);
        }
      });
    });
  }

  test('works both ways over parts of one large piece of memory', () => {
    between({}, (local, remote) => {
      const memory = alloc(2 ** 21);
      const parts = [local, remote].map(({ parent }, i) =>
        parent.regMr(memory.subarray(i * PAGE, (i + 1) * PAGE), ALL_ACCESS),
      );
      for (let round = 0; round < 3; round += 1) {
        parts[0].bytes.set(pattern(1000, round));
        const rdma = { remoteAddr: parts[1].iova, rkey: parts[1].rkey };
        const sgList = [parts[0].sge(0, 1000)];
        local.qp.postSend({ opcode: WrOpcode.RDMA_WRITE, sgList, rdma, sendFlags: SendFlags.SIGNALED });
        assertSuccess(local, pollOne(local.cq));
        assert.deepEqual(memory.subarray(PAGE, PAGE + 1000), pattern(1000, round));
      }
      for (const mr of parts) mr.dereg();
    });
  });

  test('takes keys of the domain that the parent was made from', () => {
    between({}, (local, remote) => {
      using here = local.pd.regMr(alloc(64), ALL_ACCESS);
      using there = remote.pd.regMr(alloc(64), ALL_ACCESS);
      const rdma = { remoteAddr: there.iova, rkey: there.rkey };
      here.bytes.fill(3);
      local.qp.postSend({ opcode: WrOpcode.RDMA_WRITE, sgList: [here.sge()], rdma, sendFlags: SendFlags.SIGNALED });
      assertSuccess(local, pollOne(local.cq));
      assert.deepEqual(there.bytes, new Uint8Array(64).fill(3));
    });
  });

  test('does not take keys of other domains', () => {
    between({}, (local, remote) => {
      using other = remote.context.allocPd();
      using there = other.regMr(alloc(64), ALL_ACCESS);
      const rdma = { remoteAddr: there.iova, rkey: there.rkey };
      local.qp.postSend({ opcode: WrOpcode.RDMA_WRITE, sgList: [local.mr.sge(0, 8)], rdma });
      assertStatus(local, pollOne(local.cq), WcStatus.REM_ACCESS_ERR);
    });
  });
});
