import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { QpState, WcStatus } from '../../ibta/index.js';
import { Opcode } from '../../wire/index.js';
import { assertCompleted, assertStatuses, type Crafted, Pair, pattern, Puppet } from './pair.js';

type Said = Omit<Crafted, 'destQp'>;

/** More bursts than any answer here needs: an endless one ends there. */
const BURSTS = 4;
const SOON_US = 5;

/** The peer says all of that at once: the NIC finds it in one turn. */
function sayTogether(puppet: Puppet, ...packets: Said[]): void {
  const { nic, link, ip } = puppet.host1;
  for (const fields of packets) puppet.network.inject(puppet.peerAddress, ip, puppet.crafted(fields));
  puppet.network.advanceTo(puppet.nowUs);
  link.receive(nic, 64);
  for (let burst = 0; burst < BURSTS && nic.transmit(); burst += 1) link.flush();
  link.flush();
  // Memory that is copied later is read by then.
  puppet.run(SOON_US);
}

const heardPsns = (puppet: Puppet): number[] => puppet.heard().map(({ psn }) => psn);

describe('repeats of single packets of one READ', () => {
  it('are answered by one packet each, and those that are too many at once when they come again', () => {
    const puppet = new Puppet({ maxDestRdAtomic: 2, pathMtu: 1 });
    const source = puppet.host1.mrOf(pattern(4 * 256));
    const part = (index: number, packets: number): Said => ({
      opcode: Opcode.RC_READ_REQUEST,
      psn: 0x2000 + index,
      reth: { va: source.addr + BigInt(256 * index), rkey: source.rkey, length: 256 * packets },
    });
    puppet.say(part(0, 4));
    assert.deepEqual(heardPsns(puppet), [0x2000, 0x2001, 0x2002, 0x2003]);
    sayTogether(puppet, part(0, 1), part(1, 1), part(2, 1), part(3, 1));
    assert.deepEqual(heardPsns(puppet), [0x2000, 0x2001]);
    sayTogether(puppet, part(2, 1), part(3, 1));
    assert.deepEqual(heardPsns(puppet), [0x2002, 0x2003]);
  });
});

describe('repeats that take all the room there is', () => {
  it('leave the room of what is asked for the first time', () => {
    const puppet = new Puppet({ maxDestRdAtomic: 1, pathMtu: 1 });
    const source = puppet.host1.mrOf(pattern(4 * 256));
    const part = (index: number, packets: number): Said => ({
      opcode: Opcode.RC_READ_REQUEST,
      psn: 0x2000 + index,
      reth: { va: source.addr, rkey: source.rkey, length: 256 * packets },
    });
    const rest = (index: number): Said => ({
      ...part(index, 1),
      reth: { va: source.addr + BigInt(256 * index), rkey: source.rkey, length: 256 },
    });
    puppet.say(part(0, 4));
    puppet.heard();
    sayTogether(puppet, rest(0), rest(1), part(4, 1));
    const heard = puppet.heard();
    assert.deepEqual([heard[heard.length - 1].name, heard[heard.length - 1].psn], ['RC_READ_RESP_ONLY', 0x2004]);
  });
});

describe('a READ request that the network delivers twice', () => {
  it('does not cost the READ behind it its answer', () => {
    const puppet = new Puppet();
    const source = puppet.host1.mrOf(pattern(16));
    const read = (psn: number): Said => ({
      opcode: Opcode.RC_READ_REQUEST,
      psn,
      reth: { va: source.addr, rkey: source.rkey, length: 16 },
    });
    sayTogether(puppet, read(0x2000), read(0x2001), read(0x2000));
    assert.ok(heardPsns(puppet).includes(0x2001));
  });

  it('long after it was answered, and its region is gone, harms nobody', () => {
    const pair = new Pair();
    const { a, b } = pair.connect();
    const source = pair.b.mrOf(pattern(100));
    const local = pair.a.mr(100);
    const wrIds = [a.read(local, source)];
    pair.drive();
    const request = pair.fromA(({ name }) => name === 'RC_READ_REQUEST')[0];
    pair.b.nic.control.deregMr(source.handle);
    pair.deliver(pair.a.ip, pair.b.ip, request.bytes);
    pair.drive();
    assert.equal(b.state, QpState.RTS);
    b.postRecv();
    wrIds.push(a.post({ opcode: 2 }));
    pair.drive();
    assertCompleted(a.sent(), wrIds);
  });
});

describe('a READ whose region is deregistered', () => {
  it('while its answer was lost ends in REM_ACCESS_ERR when it is repeated', () => {
    const pair = new Pair();
    const { a } = pair.connect({ both: { timeout: 8 } });
    const source = pair.b.mrOf(pattern(100));
    pair.script = ({ isReadResponse }) => (isReadResponse ? 'drop' : 'pass');
    const wrId = a.read(pair.a.mr(100), source);
    pair.run(50);
    pair.b.nic.control.deregMr(source.handle);
    pair.drive();
    assertStatuses(a.sent(), [[wrId, WcStatus.REM_ACCESS_ERR]]);
  });

  it('while a SEND behind it waits to be acknowledged ends in REM_ACCESS_ERR', () => {
    const pair = new Pair();
    const { a, b } = pair.connect({ both: { timeout: 8 } });
    const source = pair.b.mrOf(pattern(100));
    b.postRecv();
    const wrIds = [a.read(pair.a.mr(100), source), a.post({ opcode: 2 })];
    pair.a.turn(pair.nowUs);
    pair.network.advanceTo(pair.nowUs + 20);
    pair.b.nic.advanceTo(pair.nowUs);
    pair.b.link.receive(pair.b.nic, 64);
    pair.b.nic.control.deregMr(source.handle);
    pair.drive();
    assertStatuses(a.sent(), [
      [wrIds[0], WcStatus.REM_ACCESS_ERR],
      [wrIds[1], WcStatus.WR_FLUSH_ERR],
    ]);
  });
});

describe('a request that is refused', () => {
  const READ_BYTES = 40 * 256;

  /** A READ whose answer takes more than one turn, and behind it, in the same burst, what the responder refuses. */
  function refused(behind: (puppet: Puppet, rkey: number) => Said): { puppet: Puppet; heard: string[] } {
    const puppet = new Puppet({ pathMtu: 1 });
    const source = puppet.host1.mrOf(pattern(READ_BYTES));
    const read: Said = {
      opcode: Opcode.RC_READ_REQUEST,
      psn: 0x2000,
      reth: { va: source.addr, rkey: source.rkey, length: READ_BYTES },
    };
    sayTogether(puppet, read, behind(puppet, source.rkey));
    puppet.drive();
    const heard = puppet
      .heard()
      .map(({ psn, syndrome = 0 }) => `${psn - 0x2000} ${syndrome >>> 5 === 3 ? 'NAK' : 'answer'}`);
    return { puppet, heard };
  }

  const ANSWERED = Array.from({ length: 40 }, (_, i) => `${i} answer`);

  for (const [what, behind] of [
    [
      'a READ of what the key does not open',
      (_, rkey) => ({ opcode: Opcode.RC_READ_REQUEST, psn: 0x2028, reth: { va: 0n, rkey, length: 256 } }),
    ],
    [
      'an atomic on an odd address',
      (_, rkey) => ({ opcode: Opcode.RC_FETCH_ADD, psn: 0x2028, atomic: { va: 1n, rkey, swapAdd: 1n } }),
    ],
    [
      'a SEND that is too long',
      ({ qp }) => {
        qp.postRecv();
        return { opcode: Opcode.RC_SEND_ONLY, psn: 0x2028, payload: Uint8Array.of(1) };
      },
    ],
  ] as [string, (puppet: Puppet, rkey: number) => Said][])
    it(`does not cost the READ before it its answer: ${what}`, () => {
      const { puppet, heard } = refused(behind);
      assert.deepEqual(heard, [...ANSWERED, '40 NAK']);
      assert.equal(puppet.qp.state, QpState.ERR);
    });

  it('leaves memory alone that is deregistered before the READ before it is answered', () => {
    const pair = new Pair();
    const { a, b } = pair.connect();
    const source = pair.b.mrOf(pattern(100));
    const local = pair.a.mr(100);
    const wrIds = [a.read(local, source), a.read(local, source, { rkey: 1 })];
    pair.a.turn(pair.nowUs);
    pair.network.advanceTo(pair.nowUs + 20);
    pair.b.nic.advanceTo(pair.nowUs);
    pair.b.link.receive(pair.b.nic, 64);
    assert.equal(b.state, QpState.ERR);
    pair.b.nic.control.deregMr(source.handle);
    pair.drive();
    assertStatuses(a.sent(), [
      [wrIds[0], WcStatus.REM_ACCESS_ERR],
      [wrIds[1], WcStatus.WR_FLUSH_ERR],
    ]);
    assert.equal(pair.b.eventsOf(b).length, 1);
  });
});
