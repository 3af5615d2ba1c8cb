import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hasReceiveQueue, qpInitProblem, rateLimitProblem, sendOpOf, sendOpProblem, sendOpsOf } from '../index.js';
import { nameOf, QpCreateFlags, QpCreateSendOpsFlags, QpType, SrqType, WrOpcode } from '../../../device/ibta/index.js';

const { RC, UC, UD, RAW_PACKET, XRC_SEND, XRC_RECV } = QpType;
const sendCq = {};
const recvCq = sendCq;
const srq = { srqType: SrqType.BASIC };

describe('the parts of a queue pair (protocol/services.md 3.9)', () => {
  for (const qpType of [RC, UC, UD, RAW_PACKET]) {
    const name = nameOf(QpType, qpType);
    it(`are two CQs for ${name}`, () => {
      assert.equal(qpInitProblem({ qpType, sendCq, recvCq }), undefined);
      assert.match(qpInitProblem({ qpType, recvCq })?.message ?? '', /sendCq is missing/);
      assert.match(qpInitProblem({ qpType, sendCq })?.message ?? '', /recvCq is missing/);
    });
  }

  it('are one CQ for XRC_SEND', () => {
    assert.equal(qpInitProblem({ qpType: XRC_SEND, sendCq }), undefined);
    assert.equal(qpInitProblem({ qpType: XRC_SEND, sendCq, recvCq }), undefined);
    assert.equal(qpInitProblem({ qpType: XRC_SEND, recvCq })?.errno, 'EINVAL');
  });

  it('are given by the XRC domain for XRC_RECV', () => {
    const problem = qpInitProblem({ qpType: XRC_RECV, sendCq, recvCq });
    assert.deepEqual([problem?.errno, problem?.advice], ['EINVAL', 'Make it by xrcd.createQp']);
  });

  it('are EOPNOTSUPP for a type that does not exist', () => {
    assert.equal(qpInitProblem({ qpType: 7, sendCq, recvCq })?.errno, 'EOPNOTSUPP');
  });

  for (const qpType of [RC, UC, UD]) {
    it(`can be a shared receive queue for ${nameOf(QpType, qpType)}`, () => {
      assert.equal(qpInitProblem({ qpType, sendCq, recvCq, srq }), undefined);
    });
  }

  for (const qpType of [RAW_PACKET, XRC_SEND]) {
    it(`cannot be a shared receive queue for ${nameOf(QpType, qpType)}`, () => {
      assert.equal(qpInitProblem({ qpType, sendCq, recvCq, srq })?.errno, 'EINVAL');
    });
  }

  it('cannot be an SRQ of type XRC, which requests of peers choose', () => {
    const init = { qpType: RC, sendCq, recvCq, srq: { srqType: SrqType.XRC } };
    assert.match(qpInitProblem(init)?.message ?? '', /of type XRC/);
  });

  it('cannot be something else for an SRQ', () => {
    for (const wrong of [{}, 7, null])
      assert.equal(qpInitProblem({ qpType: RC, sendCq, recvCq, srq: wrong })?.errno, 'EINVAL');
  });

  it('include a receive queue for all but XRC', () => {
    assert.deepEqual(Object.values(QpType).filter(hasReceiveQueue), [RC, UC, UD, RAW_PACKET]);
  });
});

describe('flags of a queue pair (man ibv_create_qp_ex)', () => {
  const base = { qpType: UD, sendCq, recvCq };

  it('can keep a group’s datagrams from coming back, on UD', () => {
    const createFlags = QpCreateFlags.BLOCK_SELF_MCAST_LB;
    assert.equal(qpInitProblem({ ...base, createFlags }), undefined);
    assert.equal(qpInitProblem({ ...base, qpType: RC, createFlags })?.errno, 'EINVAL');
  });

  for (const [name, createFlags] of Object.entries(QpCreateFlags)) {
    if (createFlags === QpCreateFlags.BLOCK_SELF_MCAST_LB) continue;
    it(`cannot be ${name}, which the device lacks`, () => {
      assert.equal(qpInitProblem({ ...base, createFlags })?.errno, 'EOPNOTSUPP');
    });
  }

  it('cannot be ones that do not exist', () => {
    for (const createFlags of [1, -2, 0.5, 'all']) {
      assert.equal(qpInitProblem({ ...base, createFlags })?.errno, 'EINVAL', String(createFlags));
    }
  });

  it('cannot name another QP to send under', () => {
    assert.equal(qpInitProblem({ ...base, sourceQpn: 0x12 })?.errno, 'EOPNOTSUPP');
  });
});

describe('the requests that a queue pair may build', () => {
  const { WITH_SEND, WITH_SEND_WITH_IMM, WITH_RDMA_READ, WITH_TSO } = QpCreateSendOpsFlags;
  const base = { qpType: UD, sendCq, recvCq };

  it('have a bit for each opcode, of the same name', () => {
    for (const [name, opcode] of Object.entries(WrOpcode)) {
      assert.equal(nameOf(QpCreateSendOpsFlags, sendOpOf(opcode)), `WITH_${name}`);
    }
  });

  it('are those that its type has', () => {
    assert.equal(sendOpsOf(UD), WITH_SEND | WITH_SEND_WITH_IMM);
    assert.equal(sendOpsOf(RC), Object.values(QpCreateSendOpsFlags).reduce((mask, bit) => mask | bit, 0) & ~WITH_TSO);
    assert.equal(sendOpsOf(XRC_RECV), 0);
  });

  it('can be few, or none', () => {
    for (const sendOpsFlags of [WITH_SEND, 0]) assert.equal(qpInitProblem({ ...base, sendOpsFlags }), undefined);
  });

  it('cannot be ones that the type or the device lacks', () => {
    for (const sendOpsFlags of [WITH_RDMA_READ, WITH_TSO]) {
      assert.equal(qpInitProblem({ ...base, sendOpsFlags })?.errno, 'EOPNOTSUPP', String(sendOpsFlags));
    }
  });

  it('cannot be ones that do not exist', () => {
    assert.equal(qpInitProblem({ ...base, sendOpsFlags: 1 << 13 })?.errno, 'EINVAL');
  });

  it('are named when one is missing', () => {
    assert.match(sendOpProblem(WrOpcode.FLUSH).message, /made without WITH_FLUSH/);
  });
});

describe('a rate limit (man ibv_modify_qp_rate_limit)', () => {
  const caps = { qpRateLimitMin: 10, qpRateLimitMax: 1000, supportedQpts: (1 << RC) | (1 << UD) };

  it('can be the device’s least and most, and none', () => {
    for (const rateLimit of [10, 1000, 0]) assert.equal(rateLimitProblem({ rateLimit }, RC, caps), undefined);
  });

  it('can say how bursts look', () => {
    assert.equal(rateLimitProblem({ rateLimit: 100, maxBurstSize: 65536, typicalPktSize: 1500 }, UD, caps), undefined);
  });

  for (const rateLimit of [9, 1001, -1, 10.5, NaN]) {
    it(`cannot be ${rateLimit}`, () => assert.equal(rateLimitProblem({ rateLimit }, RC, caps)?.errno, 'EINVAL'));
  }

  it('cannot have bursts or packets out of range', () => {
    assert.match(rateLimitProblem({ rateLimit: 100, maxBurstSize: -1 }, RC, caps)?.message ?? '', /maxBurstSize/);
    assert.match(
      rateLimitProblem({ rateLimit: 100, typicalPktSize: 65536 }, RC, caps)?.message ?? '',
      /typicalPktSize/,
    );
  });

  it('is EOPNOTSUPP on types that the device does not limit', () => {
    assert.equal(rateLimitProblem({ rateLimit: 100 }, UC, caps)?.errno, 'EOPNOTSUPP');
  });
});
