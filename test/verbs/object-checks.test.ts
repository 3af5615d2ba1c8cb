import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AccessFlags, gidFromIp, type QpCap, QpState } from '../../src/spec/index.js';
import {
  accessProblem,
  capProblem,
  completeQpAttr,
  completeQpCap,
  cqeProblem,
  defaultQpCap,
  modifyProblem,
  pieceOfRegionProblem,
  queueFullProblem,
  recvProblem,
} from '../../src/verbs/index.js';

const { LOCAL_WRITE, REMOTE_WRITE, REMOTE_READ, REMOTE_ATOMIC, ON_DEMAND, RELAXED_ORDERING } = AccessFlags;
const supported = LOCAL_WRITE | REMOTE_WRITE | REMOTE_READ | REMOTE_ATOMIC;

describe('access flags (PROTOCOL.md 3.6)', () => {
  const good = [0, REMOTE_READ, supported, LOCAL_WRITE | REMOTE_WRITE, RELAXED_ORDERING, 1 << 29];
  for (const access of good)
    it(`can be 0x${access.toString(16)}`, () => assert.equal(accessProblem(access, supported), undefined));

  const bad: readonly [what: string, access: number, errno: string][] = [
    ['REMOTE_WRITE without LOCAL_WRITE', REMOTE_WRITE, 'EINVAL'],
    ['REMOTE_ATOMIC without LOCAL_WRITE', REMOTE_ATOMIC | REMOTE_READ, 'EINVAL'],
    ['a bit that does not exist', 1 << 15, 'EINVAL'],
    ['a bit above the optional ones', 1 << 30, 'EINVAL'],
    ['what the device lacks', ON_DEMAND, 'EOPNOTSUPP'],
    ['a fraction', 1.5, 'EINVAL'],
    ['a negative number', -1, 'EINVAL'],
  ];
  for (const [what, access, errno] of bad) {
    it(`cannot be ${what}`, () => assert.equal(accessProblem(access, supported)?.errno, errno));
  }
});

describe('queue sizes', () => {
  const device = { maxQpWr: 100, maxSge: 4 };
  const largest: QpCap = { maxSendWr: 100, maxRecvWr: 100, maxSendSge: 4, maxRecvSge: 4, maxInlineData: 64 };

  it('have defaults for what is absent', () => {
    assert.deepEqual(completeQpCap({ maxSendWr: 5 }), { ...defaultQpCap, maxSendWr: 5 });
  });

  it('can be the device’s largest', () => assert.equal(capProblem(largest, device, 64), undefined));

  for (const field of ['maxSendWr', 'maxRecvWr', 'maxSendSge', 'maxRecvSge', 'maxInlineData'] as const) {
    it(`cannot exceed it in ${field}`, () => {
      const cap = { ...largest, [field]: largest[field] + 1 };
      assert.match(capProblem(cap, device, 64)?.message ?? '', new RegExp(`^cap\\.${field} is `));
    });
  }

  it('cannot be negative or fractions', () => {
    assert.match(capProblem({ ...largest, maxSendWr: -1 }, device, 64)?.message ?? '', /maxSendWr/);
    assert.match(capProblem({ ...largest, maxRecvSge: 0.5 }, device, 64)?.message ?? '', /maxRecvSge/);
  });

  it('of a CQ run from 1 to the device’s largest', () => {
    assert.equal(cqeProblem(1, 10), undefined);
    assert.equal(cqeProblem(10, 10), undefined);
    for (const cqe of [0, 11, 1.5, -1, NaN]) assert.equal(cqeProblem(cqe, 10)?.errno, 'EINVAL', String(cqe));
  });
});

describe('a piece of a region', () => {
  it('can be all of it, or nothing at its end', () => {
    assert.equal(pieceOfRegionProblem(0, 100, 100), undefined);
    assert.equal(pieceOfRegionProblem(100, 0, 100), undefined);
  });

  it('cannot reach outside', () => {
    for (const [offset, length] of [
      [0, 101],
      [1, 100],
      [101, 0],
      [-1, 1],
      [0, -1],
      [0.5, 1],
      [0, NaN],
    ]) {
      assert.equal(pieceOfRegionProblem(offset, length, 100)?.errno, 'EINVAL', `${offset}+${length}`);
    }
  });

  it('is at most 2^32 - 1 bytes, as an sge is', () => {
    assert.equal(pieceOfRegionProblem(0, 2 ** 32, 2 ** 33)?.errno, 'EINVAL');
  });
});

describe('a receive request', () => {
  const cap = { ...defaultQpCap, maxRecvSge: 2 };
  const sge = { addr: 0x1000, length: 16, lkey: 7 };

  it('can have no pieces, or as many as the QP takes', () => {
    assert.equal(recvProblem(cap, {}), undefined);
    assert.equal(recvProblem(cap, { wrId: 3n, sgList: [sge, sge] }), undefined);
  });

  it('cannot have more', () => {
    assert.match(recvProblem(cap, { sgList: [sge, sge, sge] })?.message ?? '', /3 pieces, but the QP takes 2/);
  });

  it('names memory by its key, never by bytes', () => {
    const bytes = { bytes: new Uint8Array(4) };
    assert.match(recvProblem(cap, { sgList: [bytes] })?.message ?? '', /sgList\[0\]\.addr is missing/);
  });

  it('has an id of 64 bits', () => assert.match(recvProblem(cap, { wrId: 2n ** 64n })?.message ?? '', /wrId/));
});

describe('a full queue', () => {
  it('is ENOMEM, as in C, and says how many are outstanding', () => {
    const problem = queueFullProblem('send', 16);
    assert.equal(problem.errno, 'ENOMEM');
    assert.match(problem.message, /all of its 16 requests/);
  });
});

describe('attributes of modify', () => {
  const dgid = gidFromIp('127.0.0.2');

  it('get what an address leaves out', () => {
    assert.deepEqual(completeQpAttr({ ahAttr: { grh: { dgid } } }), {
      ahAttr: {
        dlid: 0,
        sl: 0,
        srcPathBits: 0,
        staticRate: 0,
        isGlobal: true,
        portNum: 1,
        grh: { dgid, flowLabel: 0, sgidIndex: 0, hopLimit: 64, trafficClass: 0 },
      },
    });
  });

  it('keep what an address says', () => {
    const ahAttr = {
      dlid: 1,
      sl: 3,
      srcPathBits: 2,
      staticRate: 1,
      isGlobal: true,
      portNum: 2,
      grh: { dgid, flowLabel: 5, sgidIndex: 1, hopLimit: 1, trafficClass: 8 },
    };
    assert.deepEqual(completeQpAttr({ ahAttr }), { ahAttr });
  });

  it('count as absent when they are undefined', () => {
    const attr: Record<string, number | undefined> = { qpState: QpState.RTS, timeout: undefined };
    assert.deepEqual(Object.keys(completeQpAttr(attr)), ['qpState']);
  });

  it('must exist', () => {
    const misspelt: Record<string, number> = { qpstate: QpState.RTS };
    assert.match(modifyProblem(misspelt)?.message ?? '', /'qpstate' is no attribute/);
  });

  it('must be in range', () => assert.match(modifyProblem({ timeout: 32 })?.message ?? '', /timeout is 32/));

  it('pass when they are', () => assert.equal(modifyProblem({ qpState: QpState.RTS, timeout: 14 }), undefined));
});
