import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Mtu, QpState, SendFlags, WrOpcode } from '../../ibta/index.js';
import { crc32, Opcode } from '../../wire/index.js';
import { type Captured, Pair, pattern } from './pair.js';
import { type TestQp, UNSIGNALLED } from './qp.js';
import { connectUc, UcPair } from './uc.js';
import { ahTo, postTo, QKEY, SQ_PSN, udQp } from './ud.js';

/** A queue pair that was RESET is as good as new, whatever it was doing: it sends and completes the same, at the same times. */

interface Ends {
  readonly pair: Pair;
  readonly a: TestQp;
  readonly b: TestQp;
  connect(): void;
}

/** What a queue pair was doing when it was RESET. */
type Past = (ends: Ends) => void;

const RESET = { qpState: QpState.RESET } as const;
/** Longer than anything goes on after RESET. */
const LATER_US = 5e6;

/** What comes of a life after `past`: packets and completions, by the time since it began. */
function life(make: () => Ends, past: Past, future: Past): unknown {
  const ends = make();
  const { pair, a, b } = ends;
  past(ends);
  a.modify(RESET);
  b.modify(RESET);
  pair.script = undefined;
  pair.drive({ untilUs: LATER_US });
  for (const qp of [a, b]) {
    qp.sent();
    qp.received();
  }
  pair.wire.length = 0;
  const known = pair.hosts.map(({ regions }) => regions.length);
  ends.connect();
  future(ends);
  pair.drive({ untilUs: 2 * LATER_US });
  const packets = pair.wire.map((packet) => [
    (packet.atUs - LATER_US).toFixed(3),
    packet.from,
    packet.name,
    packet.psn,
    packet.ackRequest,
    packet.syndrome,
    packet.msn,
    packet.payload.length,
  ]);
  // Whatever is left of the past would have gone elsewhere, or taken something else.
  const memory = pair.hosts.map(({ regions }, i) =>
    regions.slice(known[i]).map(({ bytes }) => crc32(bytes, 0, bytes.length, 0)),
  );
  return { packets, memory, completions: [a, b].map((qp) => [qp.sent(), qp.received()].flat().map(outcome)) };
}

function outcome({ status, opcode, byteLen }: ReturnType<TestQp['sent']>[number]): readonly number[] {
  return [status, opcode, byteLen];
}

function check(make: () => Ends, pasts: Readonly<Record<string, Past>>, future: Past): void {
  const asNew = life(make, () => undefined, future);
  for (const [name, past] of Object.entries(pasts))
    it(`is as new: ${name}`, () => assert.deepEqual(life(make, past, future), asNew));
}

const dropping =
  (...opcodes: number[]) =>
  ({ opcode }: Captured): 'drop' | 'pass' =>
    opcodes.includes(opcode) ? 'drop' : 'pass';

describe('a reliable queue pair after RESET', () => {
  const make = (): Ends => {
    const pair = new Pair();
    const { a, b } = pair.connect({ both: { pathMtu: Mtu.MTU_256 } });
    const connect = (): void => {
      const options = { pathMtu: Mtu.MTU_256, maxRdAtomic: 4, maxDestRdAtomic: 4, timeout: 14 };
      a.toRts(b.peer, { ...options, sqPsn: 5, rqPsn: 9 });
      b.toRts(a.peer, { ...options, sqPsn: 9, rqPsn: 5 });
    };
    return { pair, a, b, connect };
  };
  const busy = ({ pair, a }: Ends, bytes = 3000): void => {
    const [local, remote] = [pair.a.mrOf(pattern(bytes)), pair.b.mr(bytes)];
    a.write(local, remote);
    a.read(local, remote);
    a.fetchAdd(local, remote, 1n);
    a.write(local, remote, { flags: UNSIGNALLED });
  };
  const pasts: Readonly<Record<string, Past>> = {
    'after much traffic': (ends) => {
      for (let i = 0; i < 5; i += 1) busy(ends, 60_000);
      ends.pair.run(20_000);
    },
    'nothing was answered': (ends) => {
      ends.pair.script = () => 'drop';
      busy(ends);
      ends.pair.run(100_000);
    },
    'a probe was answered, and what was behind it not': (ends) => {
      busy(ends);
      ends.pair.run(1000);
      ends.pair.script = dropping(Opcode.RC_ATOMIC_ACKNOWLEDGE, Opcode.RC_READ_RESP_LAST);
      busy(ends);
      ends.pair.run(10_100);
    },
    'a gap was told of': (ends) => {
      ends.pair.script = dropping(Opcode.RC_WRITE_FIRST);
      busy(ends);
      ends.pair.run(20);
    },
    'half a message was there, and its receive request taken': (ends) => {
      const { pair, a, b } = ends;
      b.recv(pair.b.mr(3000));
      pair.script = dropping(Opcode.RC_SEND_LAST);
      a.send(pair.a.mr(3000));
      pair.run(50);
    },
    'a receiver was not ready': ({ pair, a }) => {
      a.send(pair.a.mr(64));
      pair.run(50);
    },
    'many answers were to be sent': ({ pair, a }) => {
      const [local, remote] = [pair.a.mr(200_000), pair.b.mr(200_000)];
      a.read(local, remote);
      pair.run(11);
    },
    'a request had failed at home behind others': ({ pair, a }) => {
      const local = pair.a.mr(3000);
      pair.script = () => 'drop';
      a.write(local, pair.b.mr(3000));
      a.post({ opcode: WrOpcode.SEND, sgList: [{ addr: 1n, length: 5, lkey: 77 }] });
      pair.run(50);
    },
    'it was in ERR': ({ a, b }) => {
      a.modify({ qpState: QpState.ERR });
      b.modify({ qpState: QpState.ERR });
    },
  };
  check(make, pasts, (ends) => {
    const { pair, a, b } = ends;
    for (let i = 0; i < 5; i += 1) b.recv(pair.b.mr(1000));
    // The very first packet is lost, and nothing follows; then one of a message that goes on.
    pair.script = dropping(Opcode.RC_SEND_ONLY, Opcode.RC_SEND_FIRST);
    a.send(pair.a.mrOf(pattern(100, 9)));
    pair.run(30_000);
    a.send(pair.a.mrOf(pattern(1000, 7)));
    pair.run(1);
    pair.script = undefined;
    pair.run(30_000);
    busy(ends, 20_000);
    for (let i = 0; i < 3; i += 1) a.send(pair.a.mrOf(pattern(1000, i)));
    // A second that comes too soon, and a loss.
    pair.run(3000);
    let lost = 0;
    pair.script = ({ opcode }) => (opcode === Opcode.RC_READ_RESP_MIDDLE && lost++ === 3 ? 'drop' : 'pass');
    busy(ends);
    b.write(pair.b.mr(700), pair.a.mr(700));
  });
});

/** More than leaves at once at a rate that is asked for without a word on bursts. */
function paced({ pair, a }: Ends, send: (flags: number) => void): void {
  pair.a.nic.control.modifyRateLimit(a.qpn, 8_000, 0, 0);
  for (let i = 0; i < 40; i += 1) send(UNSIGNALLED);
  send(SendFlags.SIGNALED);
}

const bursts: Readonly<Record<string, Past>> = {
  'large bursts were allowed': ({ pair, a }) => pair.a.nic.control.modifyRateLimit(a.qpn, 8_000, 50_000, 0),
  'long packets were expected': ({ pair, a }) => pair.a.nic.control.modifyRateLimit(a.qpn, 8_000, 100, 9000),
};

describe('an unreliable connection after RESET', () => {
  const make = (): Ends => {
    const pair = new UcPair();
    const { sender: a, receiver: b } = pair;
    const connect = (): void => {
      connectUc(a, b.peer, { sqPsn: 5, rqPsn: 9 });
      connectUc(b, a.peer, { sqPsn: 9, rqPsn: 5 });
    };
    return { pair, a, b, connect };
  };
  const pasts: Readonly<Record<string, Past>> = {
    ...bursts,
    'half a message was sent': ({ pair, a }) => {
      pair.a.nic.control.modifyRateLimit(a.qpn, 8_000, 300, 0);
      a.write(pair.a.mr(5000), pair.b.mr(5000));
      pair.run(500);
    },
    'half a message was there, and its receive request taken': ({ pair, a, b }) => {
      b.recv(pair.b.mr(3000));
      pair.script = dropping(Opcode.UC_SEND_LAST);
      a.send(pair.a.mr(3000));
      pair.run(50);
    },
    'a request had failed': ({ pair, a }) => {
      a.post({ opcode: WrOpcode.SEND, sgList: [{ addr: 1n, length: 5, lkey: 77 }] });
      pair.run(50);
    },
  };
  check(make, pasts, (ends) => {
    const { pair, a, b } = ends;
    for (let i = 0; i < 3; i += 1) b.recv(pair.b.mr(1000));
    a.send(pair.a.mrOf(pattern(1000)));
    a.write(pair.a.mr(1000), pair.b.mr(1000));
    const mr = pair.a.mr(200);
    paced(ends, (flags) => void a.send(mr, { flags }));
  });
});

describe('a datagram queue pair after RESET', () => {
  const make = (): Ends => {
    const pair = new Pair();
    const [a, b] = [udQp(pair.a), udQp(pair.b)];
    const connect = (): void => {
      for (const qp of [a, b]) {
        qp.modify({ qpState: QpState.INIT, pkeyIndex: 0, portNum: 1, qkey: QKEY });
        qp.modify({ qpState: QpState.RTR });
        qp.modify({ qpState: QpState.RTS, sqPsn: SQ_PSN });
      }
    };
    return { pair, a, b, connect };
  };
  check(make, bursts, (ends) => {
    const { pair, a, b } = ends;
    const [mr, ah] = [pair.a.mr(200), ahTo(pair.a, pair.b.gid)];
    for (let i = 0; i < 3; i += 1) b.recv(pair.b.mr(300));
    paced(ends, (flags) => void postTo(a, { ah, qpn: b.qpn }, { sgList: [mr.sge()], flags }));
  });
});
