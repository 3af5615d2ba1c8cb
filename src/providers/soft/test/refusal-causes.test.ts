import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  AccessFlags,
  alloc,
  type Cq,
  type Mr,
  MwType,
  type Qp,
  type QpModifyAttr,
  QpState,
  QpType,
  SendFlags,
  type Sge,
  WcStatus,
  WrOpcode,
} from '../../../entry/index.js';
import { NET } from '../../../../test/support/loopback.js';
import { ALL_ACCESS, connect, drain, drainOne, HOSTINGS, type Hosting } from './support/pair.js';
import { Benches, makeQp } from './support/queue-pairs.js';

const { LOCAL_WRITE, REMOTE_READ, REMOTE_WRITE } = AccessFlags;
const BYTES = 4096;

type Operation = typeof WrOpcode.RDMA_WRITE | typeof WrOpcode.RDMA_READ | typeof WrOpcode.ATOMIC_FETCH_AND_ADD;

/** Two queue pairs of one device, so that both NICs that know something are at hand; `taker` is the responder. */
class Device extends Benches {
  readonly asker: Qp;
  readonly taker: Qp;
  readonly mr: Mr;
  readonly received: Cq;

  constructor(hosting: Hosting, maxDestRdAtomic = 16) {
    super(hosting, NET);
    const { a } = this;
    const dgid = a.context.queryGid(1, 0);
    this.asker = makeQp(a, QpType.RC);
    this.received = a.context.createCq({ cqe: 8 });
    this.taker = makeQp(a, QpType.RC, { recvCq: this.received });
    connect(this.asker, { qpNum: this.taker.qpNum, dgid });
    connect(this.taker, { qpNum: this.asker.qpNum, dgid }, { maxDestRdAtomic });
    this.mr = a.pd.regMr(alloc(BYTES), ALL_ACCESS);
  }

  modify(attributes: QpModifyAttr): void {
    this.taker.modify(attributes);
  }

  /** Sends a request of 8 bytes that is refused. @returns what its completion says, and the event of the responder */
  ask(remoteAddr: bigint, rkey: number, opcode: Operation = WrOpcode.RDMA_WRITE): { asker: string; taker: string } {
    const { a, asker } = this;
    const sgList: readonly [Sge] = [a.mr.sge(0, 8)];
    const { SIGNALED: sendFlags } = SendFlags;
    if (opcode === WrOpcode.ATOMIC_FETCH_AND_ADD)
      asker.postSend({ opcode, sendFlags, sgList, atomic: { remoteAddr, rkey, compareAdd: 1n } });
    else asker.postSend({ opcode, sendFlags, sgList, rdma: { remoteAddr, rkey } });
    const wc = drainOne(a.cq);
    assert.notEqual(wc.status, WcStatus.SUCCESS);
    return { asker: a.context.explain(wc), taker: a.context.explain(a.context.getAsyncEvent(60_000)) };
  }
}

const swapped = (key: number): number => new DataView(Uint32Array.of(key).buffer).getUint32(0);

interface Cause {
  readonly what: string;
  readonly says: RegExp;
  readonly ask: (device: Device) => { asker: string; taker: string };
  readonly maxDestRdAtomic?: number;
}

const CAUSES: readonly Cause[] = [
  {
    what: 'a key that was deregistered',
    says: /: that key was deregistered [\d.]+ (µs|ms|s) before \(RDMA_WRITE of 8 bytes at 0x/,
    ask: (device) => {
      const { addr, rkey } = device.mr;
      device.mr.dereg();
      return device.ask(addr, rkey);
    },
  },
  {
    what: 'a window that was deallocated',
    says: /: that key was deregistered /,
    ask: (device) => {
      const mw = device.a.pd.allocMw(MwType.TYPE_1);
      mw.dealloc();
      return device.ask(device.mr.addr, mw.rkey);
    },
  },
  { what: 'a key that never was', says: /no region or window ever had that key/, ask: (d) => d.ask(d.mr.addr, 1 << 8) },
  {
    what: 'key 0',
    says: /no region or window ever had that key/,
    ask: (d) => d.ask(d.mr.addr, 0),
  },
  {
    what: 'an lkey',
    says: /that is the lkey of a region; peers need its rkey/,
    ask: (d) => d.ask(d.mr.addr, d.mr.lkey),
  },
  {
    what: 'a key in the wrong byte order',
    says: /that is an rkey in the wrong byte order/,
    ask: (d) => d.ask(d.mr.addr, swapped(d.mr.rkey)),
  },
  {
    what: 'a window that is not bound',
    says: /the window of that key is not bound to a region/,
    ask: (d) => d.ask(d.mr.addr, d.a.pd.allocMw(MwType.TYPE_1).rkey),
  },
  {
    what: 'a region of another domain',
    says: /the key is of another protection domain than the QP/,
    ask: (d) => {
      const mr = d.a.context.allocPd().regMr(alloc(BYTES), ALL_ACCESS);
      return d.ask(mr.addr, mr.rkey);
    },
  },
  {
    what: 'a region without the right',
    says: /the memory of that key lacks REMOTE_WRITE \(its access is LOCAL_WRITE and REMOTE_READ\) \(RDMA_WRITE of 8/,
    ask: (d) => {
      const mr = d.a.pd.regMr(alloc(BYTES), LOCAL_WRITE | REMOTE_READ);
      return d.ask(mr.addr, mr.rkey);
    },
  },
  {
    what: 'bytes past the end',
    says: /: the range ends 4 bytes past the 4096 bytes of that key, 0x\w+ to 0x\w+ \(RDMA_READ of 8 bytes/,
    ask: (d) => d.ask(d.mr.addr + BigInt(BYTES - 4), d.mr.rkey, WrOpcode.RDMA_READ),
  },
  {
    what: 'an address before the beginning',
    says: /: the range is not in the 4096 bytes of that key, 0x\w+ to 0x\w+ \(/,
    ask: (d) => d.ask(d.mr.addr - 64n, d.mr.rkey),
  },
  {
    what: 'an offset in place of an address',
    says: /the range is not in .*: was an offset sent in place of an address\?/,
    ask: (d) => {
      const mr = d.a.pd.regMr(alloc(BYTES), ALL_ACCESS, { iova: 0x7f00_0000_0000n });
      return d.ask(16n, mr.rkey);
    },
  },
  {
    what: 'an address that was cut to 32 bits',
    says: /whose lower 32 bits fit: was the address cut to 32 bits \(htonl, uint32_t, int\)\?/,
    ask: (d) => {
      const mr = d.a.pd.regMr(alloc(BYTES), ALL_ACCESS, { iova: 0x7f12_f3e2_6000n });
      return d.ask(0xf3e2_6000n, mr.rkey);
    },
  },
  {
    what: 'an address that was cut elsewhere',
    says: /whose lower 28 bits fit: was the address cut to 28 bits/,
    ask: (d) => {
      const mr = d.a.pd.regMr(alloc(BYTES), ALL_ACCESS, { iova: 0x7f12_f3e2_6000n });
      return d.ask(0x3e2_6000n, mr.rkey);
    },
  },
  {
    what: 'an address in the wrong byte order',
    says: /in the other byte order it is: does each side convert it once \(be64toh\)\?/,
    ask: (d) => {
      const mr = d.a.pd.regMr(alloc(BYTES), ALL_ACCESS, { iova: 0x7f12_f3e2_6000n });
      return d.ask(0x0060_e2f3_127f_0000n, mr.rkey);
    },
  },
  {
    what: 'a QP without the right',
    says: /the responder's qpAccessFlags lack REMOTE_ATOMIC \(they are LOCAL_WRITE and REMOTE_WRITE\)/,
    ask: (d) => {
      d.modify({ qpAccessFlags: LOCAL_WRITE | REMOTE_WRITE });
      return d.ask(d.mr.addr, d.mr.rkey, WrOpcode.ATOMIC_FETCH_AND_ADD);
    },
  },
  {
    what: 'no depth for READs',
    says: /the responder's maxDestRdAtomic is 0: it takes no READs and no atomics/,
    maxDestRdAtomic: 0,
    ask: (d) => d.ask(d.mr.addr, d.mr.rkey, WrOpcode.RDMA_READ),
  },
];

for (const hosting of HOSTINGS)
  describe(`a refused request, hosted ${hosting}`, () => {
    for (const { what, says, ask, maxDestRdAtomic } of CAUSES)
      it(`names its one cause at both ends: ${what}`, () => {
        using device = new Device(hosting, maxDestRdAtomic);
        const { asker, taker } = ask(device);
        assert.match(asker, says);
        assert.match(taker, says);
        assert.match(
          asker,
          new RegExp(`refused by ${device.a.context.address} QP 0x${device.taker.qpNum.toString(16)}\\)$`),
        );
        assert.doesNotMatch(`${asker} ${taker}`, /\d+n\b/);
      });

    it('is what the flushes of the responder name, which no completion in error precedes', () => {
      using device = new Device(hosting);
      device.taker.postRecv({ wrId: 5 });
      device.ask(device.mr.addr, device.mr.lkey);
      const [flush] = drain(device.received, 1);
      assert.equal(flush.status, WcStatus.WR_FLUSH_ERR);
      assert.match(
        device.a.context.explain(flush),
        /^flushed: the QP is in ERR since it refused its peer: that is the lkey of a region/,
      );
    });
  });

for (const hosting of HOSTINGS)
  describe(`a request that nobody answers, hosted ${hosting}`, () => {
    /** What its completion says. `taken` connects the peer's queue pair. */
    function unanswered(
      destination: (peer: Qp) => number,
      taken: (peer: Qp, asker: Qp, dgid: Uint8Array) => void,
    ): string {
      using benches = new Benches(hosting, NET);
      const { a } = benches;
      const dgid = a.context.queryGid(1, 0);
      const [asker, peer] = [makeQp(a, QpType.RC), makeQp(a, QpType.RC)];
      taken(peer, asker, dgid);
      connect(asker, { qpNum: destination(peer), dgid }, { timeout: 8, retryCnt: 1 });
      asker.postSend({ opcode: WrOpcode.SEND, sendFlags: SendFlags.SIGNALED });
      const wc = drainOne(a.cq);
      assert.equal(wc.status, WcStatus.RETRY_EXC_ERR);
      return a.context.explain(wc);
    }
    const same = (peer: Qp): number => peer.qpNum;

    it('went to a queue pair that does not exist', () => {
      const said = unanswered(
        ({ qpNum }) => qpNum ^ 0x800000,
        () => undefined,
      );
      assert.match(
        said,
        /: the peer's NIC is up, and has no QP 0x\w+: is destQpNum its qpNum, or was it destroyed\? \(\d+ transmissions of PSN 0x0/,
      );
    });

    it('went to a queue pair that does not take requests yet', () => {
      const said = unanswered(same, (peer) =>
        peer.modify({ qpState: QpState.INIT, pkeyIndex: 0, portNum: 1, qpAccessFlags: 0 }),
      );
      assert.match(said, /: the peer's QP is in INIT, and takes requests from RTR on \(/);
    });

    it('has a PSN that the peer does not expect', () => {
      const said = unanswered(same, (peer, asker, dgid) =>
        connect(peer, { qpNum: asker.qpNum, dgid }, { rqPsn: 0xc71 }),
      );
      assert.match(said, /: the peer's rqPsn is 0xc71, our sqPsn 0x0: both have to be the same \(/);
    });
  });
