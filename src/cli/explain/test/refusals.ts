import { Cause } from '../verdicts/cause.js';
import { gidFromIp } from '../../../device/ibta/index.js';
import { atomicEthOffset, crc32, createPath, sealIcrc } from '../../../device/wire/index.js';
import {
  AccessFlags,
  alloc,
  incRkey,
  Mtu,
  MwType,
  QpState,
  QpType,
  SrqType,
  WcStatus,
  WrOpcode,
} from '../../../entry/index.js';
import type { Failure, Played } from './failure.js';
import { A, ALL_ACCESS, B, PSN, read, send, type Settings, Testbed, write } from './testbed.js';

const { LOCAL_WRITE, REMOTE_READ, REMOTE_WRITE, REMOTE_ATOMIC } = AccessFlags;

/** Two sides that are connected, and a request of the first. */
function asking(ask: (testbed: Testbed) => void, a: Settings = {}, b: Settings = {}): () => Played {
  return () => {
    const testbed = new Testbed();
    testbed.connect(a, b);
    ask(testbed);
    return { testbed, completion: testbed.failure() };
  };
}

/** A window of the second side's over a part of its region, bound under a key. */
function openWindow(testbed: Testbed): { bind: () => number; rkey: number } {
  const { b } = testbed;
  const mw = b.pd.allocMw(MwType.TYPE_2);
  const window = {
    rkey: mw.rkey,
    bind: () => {
      window.rkey = incRkey(window.rkey);
      const bindInfo = { mr: b.mr, addr: b.mr.addr, length: 4096, mwAccessFlags: REMOTE_WRITE | REMOTE_READ };
      b.post({ opcode: WrOpcode.BIND_MW, bindMw: { mw, rkey: window.rkey, bindInfo } });
      testbed.completions(b);
      return window.rkey;
    },
  };
  return window;
}

/** The same request, four bytes further. */
function misaligned(bytes: Uint8Array): Uint8Array {
  const packet = bytes.slice();
  packet[atomicEthOffset[packet[0]] + 7] += 4;
  sealIcrc(crc32, createPath({ sgid: gidFromIp(A), dgid: gidFromIp(B) }), packet, 0, packet.length, 0);
  return packet;
}

const access = (words: RegExp) => ({ cause: Cause.REMOTE_ACCESS, words });
const invalid = (words: RegExp) => ({ cause: Cause.INVALID_REQUEST, words });

/** The peer says no. */
export const refusals: readonly Failure[] = [
  {
    name: 'the rkey is none',
    script: asking(({ a, b }) => a.post(write(a, b, 64, { rkey: 0x12345678 }))),
    status: WcStatus.REM_ACCESS_ERR,
    completion: /refused RDMA_WRITE of 64 bytes .* with rkey 0x12345678 .* still registered there/,
    oneSide: access(/refused WRITE of 64 bytes .* rkey 0x12345678 has opened nothing in this capture/),
  },
  {
    name: 'the range ends outside the region',
    script: asking(({ a, b }) => a.post(write(a, b), write(a, b, 128, { offset: b.mr.length - 64 }))),
    status: WcStatus.REM_ACCESS_ERR,
    completion: /are all the bytes inside its region/,
    oneSide: access(/opened .* before, and this reaches from .*: is that inside the region\?/),
  },
  {
    name: 'the region does not allow WRITEs',
    script: asking(({ a, b }) => {
      const { addr, rkey } = b.pd.regMr(alloc(4096), LOCAL_WRITE | REMOTE_READ);
      const sgList = [a.mr.sge(0, 64)];
      const rdma = { remoteAddr: addr, rkey };
      a.post({ opcode: WrOpcode.RDMA_READ, sgList, rdma }, { opcode: WrOpcode.RDMA_WRITE, sgList, rdma });
    }),
    status: WcStatus.REM_ACCESS_ERR,
    completion: /with REMOTE_WRITE/,
    oneSide: access(/opened .* before, for REMOTE_READ: does it allow REMOTE_WRITE as well\?/),
  },
  {
    name: 'the region is of another protection domain',
    script: asking(({ a, b }) => {
      const { addr, rkey } = b.context.allocPd().regMr(alloc(4096), ALL_ACCESS);
      a.post({
        ...write(a, b),
        opcode: WrOpcode.RDMA_WRITE,
        sgList: [a.mr.sge(0, 64)],
        rdma: { remoteAddr: addr, rkey },
      });
    }),
    status: WcStatus.REM_ACCESS_ERR,
    completion: /in the domain of that QP/,
    oneSide: access(/in the domain of that queue pair/),
  },
  {
    name: 'the region was deregistered meanwhile',
    script: asking((testbed) => {
      const { a, b } = testbed;
      a.post(write(a, b));
      testbed.completions();
      b.mr.dereg();
      a.post(write(a, b));
    }),
    status: WcStatus.REM_ACCESS_ERR,
    completion: /is that key still registered there/,
    oneSide: access(/the region was deregistered, the window closed, or the memory unmapped, since then/),
  },
  {
    name: 'the region is deregistered while a READ is answered',
    script: asking((testbed) => {
      const { a, b } = testbed;
      a.post(read(a, b));
      testbed.completions();
      testbed.cluster.network.setDirection('10.0.0.1', '10.0.0.2', { delayUs: 500 });
      a.post(read(a, b, 60_000));
      testbed.run(250);
      b.mr.dereg();
    }),
    status: WcStatus.REM_ACCESS_ERR,
    completion: /refused RDMA_READ of 60000 bytes .* still registered there/,
    oneSide: access(/refused READ of \d+ bytes/),
  },
  {
    name: 'the window was closed by the requester itself',
    script: asking((testbed) => {
      const { a, b } = testbed;
      const rkey = openWindow(testbed).bind();
      b.receive();
      a.post(
        write(a, b, 64, { rkey }),
        { opcode: WrOpcode.SEND_WITH_INV, invalidateRkey: rkey },
        write(a, b, 64, { rkey }),
      );
    }),
    status: WcStatus.REM_ACCESS_ERR,
    completion: /is that key still registered there/,
    oneSide: access(/had been closed by the SEND with invalidate of PSN 0x1001/),
  },
  {
    name: 'the rkey is that of a window before it was bound again',
    script: asking((testbed) => {
      const { a, b } = testbed;
      const window = openWindow(testbed);
      const old = window.bind();
      b.post({ opcode: WrOpcode.LOCAL_INV, invalidateRkey: old });
      const rkey = window.bind();
      a.post(write(a, b, 64, { rkey }), write(a, b, 64, { rkey: old }));
    }),
    status: WcStatus.REM_ACCESS_ERR,
    completion: /is that key still registered there/,
    oneSide: access(/differs from rkey 0x[0-9a-f]{8}, which was good, in its low byte alone/),
  },
  {
    name: 'a SEND is to close a key that is none',
    script: asking(({ a, b }) => {
      b.receive();
      a.post({ opcode: WrOpcode.SEND_WITH_INV, invalidateRkey: 0x12345678 });
    }),
    status: WcStatus.REM_ACCESS_ERR,
    completion: /if it was to invalidate a key, is that a type 2 window which the peer has bound/,
    oneSide: access(/closing rkey 0x12345678 .* it was to close a key that is not open to this peer/),
  },
  {
    name: 'the queue pair does not allow WRITEs',
    script: asking(({ a, b }) => a.post(write(a, b)), {}, { qpAccessFlags: LOCAL_WRITE }),
    status: WcStatus.REM_INV_REQ_ERR,
    completion: /do the peer's qpAccessFlags have REMOTE_WRITE/,
    oneSide: invalid(/NAK invalid request; .*do the peer's qpAccessFlags have REMOTE_WRITE/),
  },
  {
    name: 'the queue pair does not allow atomics',
    script: asking(
      ({ a, b }) =>
        a.post({
          opcode: WrOpcode.ATOMIC_FETCH_AND_ADD,
          sgList: [a.mr.sge(0, 8)],
          atomic: { remoteAddr: b.mr.addr, rkey: b.mr.rkey, compareAdd: 1n },
        }),
      {},
      { qpAccessFlags: ALL_ACCESS & ~REMOTE_ATOMIC & 0xf },
    ),
    status: WcStatus.REM_INV_REQ_ERR,
    completion: /qpAccessFlags have REMOTE_ATOMIC/,
    oneSide: invalid(/qpAccessFlags have REMOTE_ATOMIC/),
  },
  {
    name: 'the address of an atomic is odd',
    // Our own verbs refuse to post one, so it is made of another on its way out.
    script: asking((testbed) => {
      const { a, b } = testbed;
      testbed.rewrite = ({ from, bytes }) => (from === a.address ? misaligned(bytes) : undefined);
      const atomic = { remoteAddr: b.mr.addr, rkey: b.mr.rkey, compareAdd: 1n };
      a.post({ opcode: WrOpcode.ATOMIC_FETCH_AND_ADD, sgList: [a.mr.sge(0, 8)], atomic });
    }),
    status: WcStatus.REM_INV_REQ_ERR,
    completion: /is its address a multiple of 8/,
    oneSide: invalid(/is not a multiple of 8, as that of an atomic must be/),
  },
  {
    name: 'more READs are outstanding than the peer takes',
    script: asking(({ a, b }) => a.post(...Array.from({ length: 6 }, () => read(a, b))), {}, { maxDestRdAtomic: 1 }),
    status: WcStatus.REM_INV_REQ_ERR,
    completion: /is its maxDestRdAtomic at least our maxRdAtomic/,
    oneSide: invalid(/READs or atomics? outstanding|READ or atomics outstanding/),
  },
  {
    name: 'the message is longer than the receive request',
    script: asking(({ a, b }) => {
      b.receive(32);
      a.post(send(a, 64));
    }),
    status: WcStatus.REM_INV_REQ_ERR,
    completion: /is the receive request that the peer posted long enough/,
    oneSide: invalid(/SEND of 64 bytes .* is the receive request that the peer posted at least 64 bytes long\?/),
  },
  {
    name: 'the message of many packets is longer than the receive request',
    script: asking(({ a, b }) => {
      b.receive(2000);
      a.post(send(a, 5000));
    }),
    status: WcStatus.REM_INV_REQ_ERR,
    completion: /is the receive request that the peer posted long enough/,
    oneSide: invalid(/SEND of 5000 bytes .* at least 5000 bytes long\?/),
  },
  {
    name: 'the path MTUs differ',
    script: asking(({ a, b }) => a.post(write(a, b, 5000)), {}, { pathMtu: Mtu.MTU_256 }),
    status: WcStatus.REM_INV_REQ_ERR,
    completion: /pathMtu/,
    oneSide: invalid(/its packets have up to 1024 bytes: is the peer's pathMtu as large\?/),
  },
  {
    name: 'the shared receive queue of XRC is none',
    script: () => {
      const testbed = new Testbed();
      const { a, b } = testbed;
      const initiator = a.pd.createQp({ qpType: QpType.XRC_SEND, sendCq: a.cq });
      const xrcd = b.context.openXrcd();
      const target = xrcd.createQp();
      b.pd.createSrq({ srqType: SrqType.XRC, maxWr: 4, xrcd, cq: b.cq });
      const init = { qpState: QpState.INIT, pkeyIndex: 0, portNum: 1, qpAccessFlags: ALL_ACCESS & 0xf };
      for (const [qp, peer, dgid, more] of [
        [initiator, target, b.gid, {}],
        [target, initiator, a.gid, { maxDestRdAtomic: 1, minRnrTimer: 1 }],
      ] as const) {
        qp.modify(init);
        const path = {
          pathMtu: Mtu.MTU_1024,
          destQpNum: peer.qpNum,
          rqPsn: PSN['10.0.0.1'],
          ahAttr: { grh: { dgid } },
        };
        qp.modify({ qpState: QpState.RTR, ...path, ...more });
      }
      const retries = { timeout: 12, retryCnt: 3, rnrRetry: 2, maxRdAtomic: 1 };
      initiator.modify({ qpState: QpState.RTS, sqPsn: PSN['10.0.0.1'], ...retries });
      initiator.postSend({ ...send(a), opcode: WrOpcode.SEND, sgList: [a.mr.sge(0, 64)], xrc: { remoteSrqn: 0x666 } });
      return { testbed, completion: testbed.failure() };
    },
    status: WcStatus.REM_INV_REQ_ERR,
    completion: /in XRC, is xrc\.remoteSrqn what its srq\.srqNum shows/,
    oneSide: invalid(
      /for shared receive queue 0x666 .* is 0x666 the number of a shared receive queue in the XRC domain/,
    ),
  },
  {
    name: 'the receive request of the peer names bad memory',
    script: asking(({ a, b }) => {
      b.qp.postRecv({ sgList: [{ addr: b.mr.addr, length: 64, lkey: 0x999 }] });
      a.post(send(a));
    }),
    status: WcStatus.REM_OP_ERR,
    completion: /for a reason of its own; the peer's completions say which/,
    oneSide: { cause: Cause.REMOTE_OPERATION, words: /for a reason of its own \(a receive request of bad memory/ },
  },
  {
    name: 'the peer has never posted a receive request',
    script: asking(({ a }) => a.post(send(a))),
    status: WcStatus.RNR_RETRY_EXC_ERR,
    completion: /^receiver not ready: 3 transmissions of PSN 0x1000/,
    oneSide: {
      cause: Cause.NOT_READY,
      words: /sent 3 times .* 3 RNR NAKs, which ask for 640 µs; does it post receive requests, and in time/,
    },
  },
  {
    name: 'the peer posts its receive request late',
    script: () => {
      const testbed = new Testbed();
      testbed.connect();
      testbed.a.post(send(testbed.a));
      testbed.run(300);
      testbed.b.receive();
      return { testbed, completion: testbed.completions()[0] };
    },
    status: WcStatus.SUCCESS,
    completion: /^success/,
    oneSide: { cause: Cause.REPAIRED, words: /1 RNR NAK: the peer was not ready at first/ },
  },
];
