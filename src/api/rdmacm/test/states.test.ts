import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  CmEventType,
  type CmId,
  CmOption,
  createId,
  EventType,
  PortSpace,
  QpState,
  SrqType,
} from '../../../entry/index.js';
import { next, Pair, PASSIVE, PORT } from './support.js';
import { refusalOf } from '../../../../test/support/refusal.js';

/** How an identifier comes into each state. */
const states: Readonly<Record<string, (pair: Pair) => CmId>> = {
  IDLE: (pair) => createId(pair.active, PortSpace.TCP),
  ADDR_BOUND: (pair) => {
    const id = createId(pair.active, PortSpace.TCP);
    id.bindAddr({});
    return id;
  },
  ADDR_RESOLVED: (pair) => {
    const id = createId(pair.active, PortSpace.TCP);
    id.resolveAddr({ host: PASSIVE, port: PORT });
    next(pair.active, CmEventType.ADDR_RESOLVED);
    return id;
  },
  ROUTE_RESOLVED: (pair) => pair.resolve(),
  CONNECT: (pair) => {
    pair.listen();
    return pair.connect()[0];
  },
  DISCONNECT: (pair) => {
    pair.listen();
    const [a, b] = pair.connect();
    b.disconnect();
    next(pair.active, CmEventType.DISCONNECTED);
    return a;
  },
  LISTEN: (pair) => pair.listen(),
  DESTROYED: (pair) => {
    const id = createId(pair.active, PortSpace.TCP);
    id.destroy();
    return id;
  },
};

interface Call {
  readonly make: (id: CmId) => unknown;
  /** Where it is not refused for the state. */
  readonly states: readonly (keyof typeof states)[];
}

const WITH_DEVICE = ['ADDR_BOUND', 'ADDR_RESOLVED', 'ROUTE_RESOLVED', 'CONNECT', 'DISCONNECT', 'LISTEN'];

const calls: Readonly<Record<string, Call>> = {
  rdma_bind_addr: { make: (id) => id.bindAddr({}), states: ['IDLE'] },
  rdma_resolve_addr: {
    make: (id) => id.resolveAddr({ host: PASSIVE, port: PORT }),
    states: ['IDLE', 'ADDR_BOUND'],
  },
  rdma_resolve_route: { make: (id) => id.resolveRoute(), states: ['ADDR_RESOLVED'] },
  rdma_create_qp: { make: (id) => id.createQp(), states: WITH_DEVICE },
  rdma_create_srq: { make: (id) => id.createSrq(undefined, { srqType: SrqType.BASIC, maxWr: 1 }), states: WITH_DEVICE },
  rdma_connect: { make: (id) => id.connect({ qpNum: 5 }), states: ['ROUTE_RESOLVED'] },
  rdma_listen: { make: (id) => id.listen(), states: ['IDLE', 'ADDR_BOUND'] },
  rdma_accept: { make: (id) => id.accept({ qpNum: 5 }), states: ['CONNECT'] },
  rdma_reject: { make: (id) => id.reject(), states: ['CONNECT'] },
  rdma_establish: { make: (id) => id.establish(), states: ['CONNECT'] },
  rdma_notify: { make: (id) => id.notify(EventType.COMM_EST), states: ['CONNECT', 'DISCONNECT'] },
  rdma_disconnect: { make: (id) => id.disconnect(), states: ['CONNECT', 'DISCONNECT'] },
  rdma_join_multicast: {
    make: (id) => id.joinMulticast({ host: '239.1.1.1' }),
    states: ['ADDR_BOUND', 'ADDR_RESOLVED'],
  },
  rdma_leave_multicast: { make: (id) => id.leaveMulticast({ host: '239.1.1.1' }), states: ['IDLE', ...WITH_DEVICE] },
  rdma_init_qp_attr: { make: (id) => id.initQpAttr(QpState.INIT), states: WITH_DEVICE },
  rdma_set_option: { make: (id) => id.setOption(CmOption.TOS, 1), states: ['IDLE', ...WITH_DEVICE] },
  rdma_write_cm_event: {
    make: (id) => id.writeCmEvent(CmEventType.USER, 0, 0n),
    states: ['IDLE', ...WITH_DEVICE],
  },
  rdma_destroy_id: { make: (id) => id.destroy(), states: ['IDLE', ...WITH_DEVICE] },
};

describe('calls that come too early or too late are EINVAL under their names', () => {
  for (const [name, { make, states: allowed }] of Object.entries(calls)) {
    it(name, () => {
      for (const [state, reach] of Object.entries(states)) {
        using pair = new Pair();
        const id = reach(pair);
        const refusal = refusalOf(() => make(id));
        const isStateRefusal = refusal?.message.includes(`the identifier is in state ${state}`) === true;
        assert.equal(isStateRefusal, !allowed.includes(state), `${name} in ${state}: ${refusal?.message ?? 'done'}`);
        if (isStateRefusal) assert.deepEqual([refusal.call, refusal.errno], [name, 'EINVAL']);
      }
    });
  }
});
