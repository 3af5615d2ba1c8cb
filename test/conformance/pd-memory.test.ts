import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  alloc,
  type Mr,
  type Pd,
  QpType,
  SendFlags,
  type Srq,
  WcOpcode,
  WcStatus,
  WrOpcode,
} from '../../src/entry/index.js';
import { ONE_SIDED_REQUESTS, strangeRegion } from './memory-support.js';
import { conformance } from './provider.js';
import {
  assertEmpty,
  assertStatus,
  assertSuccess,
  type End,
  handleTo,
  Pair,
  pattern,
  perform,
  pollOne,
  QKEY,
  remoteOf,
  useDevices,
} from './support.js';

conformance('memory of another protection domain than the queue pair’s', (provider) => {
  const devices = useDevices(provider, 1);

  for (const [name, request] of ONE_SIDED_REQUESTS) {
    test(`is not there for a ${name} at home`, () => {
      using pair = new Pair(devices);
      const { local, remote } = pair;
      const foreign = strangeRegion(local);
      foreign.bytes.fill(7);
      assertStatus(local, perform(local, request(foreign.sge(0, 8), remoteOf(remote.mr))), WcStatus.LOC_PROT_ERR);
      assert.deepEqual(foreign.bytes, new Uint8Array(64).fill(7));
    });

    test(`is not there for a ${name} of a peer`, () => {
      using pair = new Pair(devices);
      const { local, remote } = pair;
      const foreign = strangeRegion(remote);
      local.mr.bytes.fill(7);
      assertStatus(local, perform(local, request(local.mr.sge(0, 8), remoteOf(foreign))), WcStatus.REM_ACCESS_ERR);
      assert.deepEqual(foreign.bytes, new Uint8Array(64));
      assert.deepEqual(local.mr.bytes.subarray(0, 8), new Uint8Array(8).fill(7));
    });
  }

  test('cannot be sent', () => {
    using pair = new Pair(devices);
    const { local, remote } = pair;
    remote.qp.postRecv({ sgList: [remote.mr.sge(0, 64)] });
    const sgList = [strangeRegion(local).sge(0, 8)];
    assertStatus(local, perform(local, { opcode: WrOpcode.SEND, sgList }), WcStatus.LOC_PROT_ERR);
    assertEmpty(remote.cq);
  });

  test('cannot be received into: both sides fail', () => {
    using pair = new Pair(devices);
    const { local, remote } = pair;
    const foreign = strangeRegion(remote);
    remote.qp.postRecv({ sgList: [foreign.sge(0, 64)] });
    local.mr.bytes.fill(7);
    const sgList = [local.mr.sge(0, 8)];
    assertStatus(local, perform(local, { opcode: WrOpcode.SEND, sgList }), WcStatus.REM_OP_ERR);
    assertStatus(remote, pollOne(remote.cq), WcStatus.LOC_PROT_ERR);
    assert.deepEqual(foreign.bytes, new Uint8Array(64));
  });
});

conformance('an address handle of another protection domain than the queue pair’s', (provider) => {
  const devices = useDevices(provider, 1);

  test('takes no datagram anywhere', () => {
    using pair = new Pair(devices, { qpType: QpType.UD });
    const { local, remote } = pair;
    remote.qp.postRecv({ wrId: 1, sgList: [remote.mr.sge(0, 64)] });
    const pd = local.keep(local.context.allocPd());
    const foreign = local.keep(pd.createAh({ grh: { dgid: remote.context.queryGid(1, 0) } }));
    const to = { remoteQpn: remote.qp.qpNum, remoteQkey: QKEY };
    const sgList = [local.mr.sge(0, 8)];
    const refused = perform(local, { opcode: WrOpcode.SEND, sgList, ud: { ...to, ah: foreign } });
    assertStatus(local, refused, WcStatus.LOC_QP_OP_ERR);
    // Had it gone out, it would come in before what another queue pair sends now.
    using other = new Pair(devices, { qpType: QpType.UD });
    const ah = handleTo(other.local, remote);
    const wr = { opcode: WrOpcode.SEND, sgList: [other.local.mr.sge(0, 9)], ud: { ...to, ah } } as const;
    assertSuccess(other.local, perform(other.local, wr));
    assert.equal(pollOne(remote.cq).byteLen, 49);
  });
});

conformance('a shared receive queue of another protection domain than the queue pair’s', (provider) => {
  const devices = useDevices(provider, 1);

  interface SrqWorld extends Disposable {
    readonly pair: Pair;
    /** Of the domain that only the queue is in. */
    readonly srqPd: Pd;
    readonly srq: Srq;
  }

  /** Queue pairs whose remote end takes from an SRQ of a domain of its own. */
  function makeWorld(): SrqWorld {
    const srqPd = devices[0].allocPd();
    const srq = srqPd.createSrq({ maxWr: 4 });
    const pair = new Pair(devices, { remote: { srq } });
    const end = (): void => {
      pair[Symbol.dispose]();
      srq.destroy();
      srqPd.dealloc();
    };
    return { pair, srqPd, srq, [Symbol.dispose]: end };
  }

  const send = ({ mr }: End, bytes: number) => ({ opcode: WrOpcode.SEND, sgList: [mr.sge(0, bytes)] }) as const;

  const regionOf = (pd: Pd): Mr => pd.regMr(alloc(64), 1);

  test('can serve it', () => {
    using world = makeWorld();
    assert.equal(world.pair.remote.qp.srq, world.srq);
    assert.notEqual(world.pair.remote.qp.pd, world.srq.pd);
  });

  test('receives into memory of its own domain', () => {
    using world = makeWorld();
    const { local, remote } = world.pair;
    using target = regionOf(world.srqPd);
    local.mr.bytes.set(pattern(32));
    world.srq.postRecv({ wrId: 5, sgList: [target.sge()] });
    assertSuccess(local, perform(local, send(local, 32)));
    const received = pollOne(remote.cq);
    assertSuccess(remote, received);
    assert.deepEqual([received.wrId, received.byteLen, received.qpNum], [5n, 32, remote.qp.qpNum]);
    assert.deepEqual(target.bytes.subarray(0, 32), pattern(32));
  });

  test('does not receive into memory of the queue pair’s domain', () => {
    using world = makeWorld();
    const { local, remote } = world.pair;
    world.srq.postRecv({ sgList: [remote.mr.sge(0, 64)] });
    assertStatus(local, perform(local, send(local, 32)), WcStatus.REM_OP_ERR);
    assertStatus(remote, pollOne(remote.cq), WcStatus.LOC_PROT_ERR);
  });

  test('tells of immediate data that comes with a WRITE to the queue pair’s domain', () => {
    using world = makeWorld();
    const { local, remote } = world.pair;
    using target = regionOf(world.srqPd);
    local.mr.bytes.set(pattern(48));
    world.srq.postRecv({ sgList: [target.sge()] });
    local.qp.postSend({
      opcode: WrOpcode.RDMA_WRITE_WITH_IMM,
      immData: 9,
      sgList: [local.mr.sge(0, 48)],
      rdma: remoteOf(remote.mr),
      sendFlags: SendFlags.SIGNALED,
    });
    assertSuccess(local, pollOne(local.cq));
    const { opcode, immData, byteLen } = pollOne(remote.cq);
    assert.deepEqual([opcode, immData, byteLen], [WcOpcode.RECV_RDMA_WITH_IMM, 9, 48]);
    assert.deepEqual(remote.mr.bytes.subarray(0, 48), pattern(48));
    assert.deepEqual(target.bytes, new Uint8Array(64));
  });
});
