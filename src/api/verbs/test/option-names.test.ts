import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { VerbsError } from '../index.js';
import {
  alloc,
  connect,
  createEventChannel,
  createId,
  listen,
  openDevice,
  PortSpace,
  QpType,
} from '../../../entry/index.js';
import { loopback } from '../../../../test/support/loopback.js';

const untyped = (value: unknown): never => value as never; // what a program without types may pass

describe('a name that an option does not have is refused, with the one that was meant', () => {
  const context = openDevice({ host: 'inline', address: loopback(1) });
  const pd = context.allocPd();
  const cq = context.createCq({ cqe: 1 });
  const queues = { qpType: QpType.RC, sendCq: cq, recvCq: cq };
  const mr = pd.regMr(alloc(8));
  const CASES: readonly (readonly [call: string, meant: string, wrong: () => unknown])[] = [
    ['ibv_open_device', 'address', () => openDevice(untyped({ adress: '127.0.0.1' }))],
    ['ibv_create_cq', 'cqe', () => context.createCq(untyped({ cqes: 1 }))],
    ['ibv_modify_cq', 'moderate', () => cq.modify(untyped({ moderation: {} }))],
    ['ibv_create_qp', 'sqSigAll', () => pd.createQp(untyped({ ...queues, sqSigall: true }))],
    ['ibv_create_qp', 'maxSendWr', () => pd.createQp(untyped({ ...queues, cap: { maxSendWR: 1 } }))],
    ['ibv_create_srq', 'maxSge', () => pd.createSrq(untyped({ maxWr: 1, maxSGE: 1 }))],
    ['ibv_create_ah', 'sgidIndex', () => pd.createAh(untyped({ grh: { dgid: context.queryGid(1, 0), gidIndex: 0 } }))],
    ['ibv_reg_mr', 'iova', () => pd.regMr(alloc(8), 0, untyped({ iov: 0 }))],
    ['ibv_rereg_mr', 'access', () => mr.rereg(untyped({ acess: 0 }))],
    ['ibv_alloc_parent_domain', 'td', () => context.allocParentDomain(untyped({ pd, tdd: 1 }))],
    ['ibv_open_xrcd', 'oFlags', () => context.openXrcd(untyped({ oflags: 0 }))],
    ['alloc', 'align', () => alloc(8, untyped({ alignment: 64 }))],
    ['rdma_create_event_channel', 'contexts', () => createEventChannel(untyped({ context }))],
    ['rdma_create_id', 'qpType', () => createId(undefined, PortSpace.TCP, untyped({ qptype: QpType.RC }))],
    ['rdma_listen', 'port', () => listen(untyped({ prot: 1 }))],
  ];
  for (const [call, meant, wrong] of CASES)
    it(`${call}: ${meant}`, () => {
      assert.throws(wrong, (error) => {
        assert.ok(error instanceof VerbsError);
        assert.deepEqual({ call: error.call, errno: error.errno }, { call, errno: 'EINVAL' });
        assert.match(error.advice, new RegExp(`\\b${meant}\\b`));
        return true;
      });
    });

  it('rdma_connect: timeoutMs', async () => {
    await assert.rejects(connect(untyped({ host: loopback(1), port: 1, timeout: 1 })), /Is it timeoutMs\?/);
  });

  it('a piece outside its region is refused under the name of what was called', () => {
    assert.throws(() => mr.sge(9, 1), { call: 'mr.sge', errno: 'EINVAL' });
  });

  it('a queue pair without a type says that it is missing', () => {
    assert.throws(() => pd.createQp(untyped({})), /^VerbsError: ibv_create_qp: qpType is missing \(EINVAL\)/);
  });
});
