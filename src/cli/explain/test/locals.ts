import { Cause } from '../verdicts/cause.js';
import { AccessFlags, alloc, MwType, QpState, QpType, WcStatus, WrOpcode } from '../../../entry/index.js';
import type { Failure, Played } from './failure.js';
import { PSN, read, send, Testbed, write } from './testbed.js';

const QKEY = 0x11111111;

function alone(ask: (testbed: Testbed) => void): () => Played {
  return () => {
    const testbed = new Testbed();
    testbed.connect();
    ask(testbed);
    return { testbed, completion: testbed.failure() };
  };
}

/** Two datagram queue pairs, of which the second has a Q_Key of its own. */
function datagram(qkey: number): () => Played {
  return () => {
    const testbed = new Testbed(QpType.UD);
    const { a, b } = testbed;
    for (const [{ qp }, own] of [
      [a, QKEY],
      [b, qkey],
    ] as const) {
      qp.modify({ qpState: QpState.INIT, pkeyIndex: 0, portNum: 1, qkey: own });
      qp.modify({ qpState: QpState.RTR });
      qp.modify({ qpState: QpState.RTS, sqPsn: PSN['10.0.0.1'] });
    }
    b.receive();
    const ah = a.pd.createAh({ grh: { dgid: b.gid } });
    const ud = { ah, remoteQpn: b.qp.qpNum, remoteQkey: QKEY };
    a.post({ opcode: WrOpcode.SEND, sgList: [a.mr.sge(0, 64)], ud });
    return { testbed, completion: testbed.completions()[0] };
  };
}

/** What fails at home, or by what failed before. */
export const locals: readonly Failure[] = [
  {
    name: 'the lkey is none',
    script: alone(({ a }) => a.post({ opcode: WrOpcode.SEND, sgList: [{ addr: a.mr.addr, length: 64, lkey: 0x999 }] })),
    status: WcStatus.LOC_PROT_ERR,
    completion: /^local protection error: .* lkey 0x999\) has a key that no memory region has/,
    oneSide: undefined,
  },
  {
    name: 'the lkey is of another protection domain',
    script: alone(({ a }) => {
      const mr = a.context.allocPd().regMr(alloc(4096), AccessFlags.LOCAL_WRITE);
      a.post({ opcode: WrOpcode.SEND, sgList: [mr.sge(0, 64)] });
    }),
    status: WcStatus.LOC_PROT_ERR,
    completion: /is in a region of another protection domain/,
    oneSide: undefined,
  },
  {
    name: 'a READ is to be put where nothing may be written',
    script: alone(({ a, b }) => {
      const mr = a.pd.regMr(alloc(4096), 0);
      const rdma = { remoteAddr: b.mr.addr, rkey: b.mr.rkey };
      a.post({ opcode: WrOpcode.RDMA_READ, sgList: [mr.sge(0, 64)], rdma });
    }),
    status: WcStatus.LOC_PROT_ERR,
    completion: /does not allow this; receives, READs and atomics write there, which needs LOCAL_WRITE/,
    oneSide: undefined,
  },
  {
    name: 'a window cannot be bound',
    script: alone(({ a }) => {
      const mr = a.pd.regMr(alloc(4096), AccessFlags.LOCAL_WRITE);
      const mw = a.pd.allocMw(MwType.TYPE_2);
      const bindInfo = { mr, addr: mr.addr, length: 64, mwAccessFlags: AccessFlags.REMOTE_READ };
      a.post({ opcode: WrOpcode.BIND_MW, bindMw: { mw, rkey: mw.rkey + 1, bindInfo } });
    }),
    status: WcStatus.MW_BIND_ERR,
    completion: /the region was registered without MW_BIND/,
    oneSide: undefined,
  },
  {
    name: 'a request is flushed because of one before it',
    script: () => {
      const testbed = new Testbed();
      testbed.connect();
      const { a, b } = testbed;
      a.post(write(a, b, 64, { rkey: 0x12345678 }), read(a, b));
      return { testbed, completion: testbed.completions()[1] };
    },
    status: WcStatus.WR_FLUSH_ERR,
    completion:
      /^flushed: the QP was in ERR .* after the peer refused access to its memory; the first completion in error/,
    oneSide: { cause: Cause.REMOTE_ACCESS, words: /refused WRITE of 64 bytes .* rkey 0x12345678/ },
  },
  {
    name: 'the peer’s completion queue is too short',
    script: () => {
      const testbed = new Testbed(QpType.RC, 1);
      testbed.connect();
      const { a, b } = testbed;
      b.receive(1024, 8);
      a.post(send(a));
      testbed.run();
      a.post(send(a), send(a), send(a));
      return { testbed, completion: testbed.failure() };
    },
    status: WcStatus.RETRY_EXC_ERR,
    completion: /its QP in RTR or RTS/,
    oneSide: { cause: Cause.FELL_SILENT, words: /its queue pair failed/ },
    bothSides: { cause: Cause.UNHEARD, words: /is not in RTR or RTS/ },
  },
  {
    name: 'the Q_Key of a datagram is wrong',
    script: datagram(QKEY + 1),
    status: WcStatus.SUCCESS,
    completion: /^success/,
    oneSide: { cause: Cause.UNACKNOWLEDGED, words: /UD answers nothing/ },
    bothSides: {
      cause: Cause.ARRIVED,
      words: /1 of 1 packet arrived with Q_Key 0x11111111; .* a wrong Q_Key or P_Key, no receive request/,
    },
  },
];
