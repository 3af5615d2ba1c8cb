import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Mtu, QpState, WcStatus } from '../../ibta/index.js';
import { Opcode } from '../../wire/index.js';
import { type Captured, pattern, Puppet } from './pair.js';
import type { ConnectOptions } from './qp.js';

/** protocol/reliable.md 2.5: requests whose PSN lies behind the expected one, at the responder. */

function responder(options: ConnectOptions = {}) {
  const puppet = new Puppet({ pathMtu: Mtu.MTU_256, ...options });
  const target = puppet.host1.mr(2048);
  const reth = (length: number, offset = 0) => ({ va: target.addr + BigInt(offset), rkey: target.rkey, length });
  return { puppet, target, reth };
}

function answers(packets: readonly Captured[]): unknown[] {
  return packets.map(({ name, psn, msn }) => [name, psn, msn]);
}

describe('a duplicate', () => {
  it('WRITE is not executed, but acknowledged with the last PSN and the present count', () => {
    const { puppet, target, reth } = responder();
    puppet.say({ opcode: Opcode.RC_WRITE_ONLY, psn: 0x2000, reth: reth(4), payload: pattern(4, 1) });
    puppet.say({ opcode: Opcode.RC_WRITE_ONLY, psn: 0x2001, reth: reth(4, 8), payload: pattern(4, 2) });
    puppet.heard();
    target.bytes.fill(0);
    puppet.say({ opcode: Opcode.RC_WRITE_ONLY, psn: 0x2000, ackRequest: true, reth: reth(4), payload: pattern(4, 3) });
    assert.deepEqual(answers(puppet.heard()), [['RC_ACKNOWLEDGE', 0x2001, 2]]);
    assert.ok(target.bytes.every((byte) => byte === 0));
  });

  it('SEND takes no receive', () => {
    const { puppet, target } = responder();
    const first = puppet.qp.postRecv({ sgList: [target.sge(0, 16)] });
    puppet.qp.postRecv({ sgList: [target.sge(16, 16)] });
    const send = { opcode: Opcode.RC_SEND_ONLY, psn: 0x2000, ackRequest: true, payload: pattern(8) };
    puppet.say(send);
    puppet.say(send);
    puppet.say(send);
    assert.deepEqual(
      puppet.qp.received().map(({ wrId }) => wrId),
      [first],
    );
    assert.deepEqual(new Set(answers(puppet.heard()).map(String)), new Set(['RC_ACKNOWLEDGE,8192,1']));
  });

  it('SEND needs no receive to be acknowledged', () => {
    const { puppet, target } = responder();
    puppet.qp.postRecv({ sgList: [target.sge(0, 16)] });
    const send = { opcode: Opcode.RC_SEND_ONLY, psn: 0x2000, ackRequest: true, payload: pattern(8) };
    puppet.say(send);
    puppet.heard();
    puppet.say(send);
    assert.deepEqual(answers(puppet.heard()), [['RC_ACKNOWLEDGE', 0x2000, 1]]);
  });

  it('packet in the midst of a message changes nothing about the message', () => {
    const { puppet, target } = responder();
    puppet.qp.postRecv({ sgList: [target.sge(0, 1024)] });
    const data = pattern(600);
    const first = { opcode: Opcode.RC_SEND_FIRST, psn: 0x2000, payload: data.subarray(0, 256) };
    const middle = { opcode: Opcode.RC_SEND_MIDDLE, psn: 0x2001, payload: data.subarray(256, 512) };
    puppet.say(first);
    puppet.say(middle);
    puppet.say(first);
    puppet.say(middle);
    puppet.say({ opcode: Opcode.RC_SEND_LAST, psn: 0x2002, ackRequest: true, payload: data.subarray(512) });
    const [completion] = puppet.qp.received();
    assert.deepEqual([completion.status, completion.byteLen], [WcStatus.SUCCESS, 600]);
    assert.deepEqual(target.bytes.subarray(0, 600), data);
  });

  it('READ is executed again, on memory as it is now', () => {
    const { puppet, target, reth } = responder();
    const read = { opcode: Opcode.RC_READ_REQUEST, psn: 0x2000, ackRequest: true, reth: reth(300) };
    target.bytes.set(pattern(300, 1));
    puppet.say(read);
    puppet.heard();
    target.bytes.set(pattern(300, 2));
    puppet.say(read);
    const responses = puppet.heard();
    assert.deepEqual(
      responses.map(({ name, psn }) => [name, psn]),
      [
        ['RC_READ_RESP_FIRST', 0x2000],
        ['RC_READ_RESP_LAST', 0x2001],
      ],
    );
    assert.deepEqual(new Uint8Array(Buffer.concat(responses.map(({ payload }) => payload))), pattern(300, 2));
  });

  it('READ of the tail of an earlier one is answered from its own PSN', () => {
    const { puppet, target, reth } = responder();
    target.bytes.set(pattern(700));
    puppet.say({ opcode: Opcode.RC_READ_REQUEST, psn: 0x2000, ackRequest: true, reth: reth(700) });
    puppet.heard();
    puppet.say({ opcode: Opcode.RC_READ_REQUEST, psn: 0x2001, ackRequest: true, reth: reth(444, 256) });
    const responses = puppet.heard();
    assert.deepEqual(
      responses.map(({ name, psn }) => [name, psn]),
      [
        ['RC_READ_RESP_FIRST', 0x2001],
        ['RC_READ_RESP_LAST', 0x2002],
      ],
    );
    assert.deepEqual(
      new Uint8Array(Buffer.concat(responses.map(({ payload }) => payload))),
      pattern(700).subarray(256),
    );
  });

  it('READ that asks for more than the earlier one, or with another key, is dropped', () => {
    const { puppet, target, reth } = responder();
    puppet.say({ opcode: Opcode.RC_READ_REQUEST, psn: 0x2000, ackRequest: true, reth: reth(300, 100) });
    puppet.heard();
    const other = puppet.host1.mr(2048);
    for (const bad of [
      reth(301, 100),
      reth(300, 99),
      reth(300, 101),
      reth(2048),
      { va: other.addr, rkey: other.rkey, length: 300 },
      { va: target.addr + 100n, rkey: other.rkey, length: 300 },
    ])
      puppet.say({ opcode: Opcode.RC_READ_REQUEST, psn: 0x2000, ackRequest: true, reth: bad });
    assert.deepEqual(
      puppet.heard().filter(({ isReadResponse }) => isReadResponse),
      [],
    );
    assert.equal(puppet.qp.state, QpState.RTS);
  });

  it('READ in the midst of a WRITE leaves the rest of the WRITE where it belongs', () => {
    const { puppet, target, reth } = responder();
    const other = puppet.host1.mrOf(pattern(1024, 7));
    const read = {
      opcode: Opcode.RC_READ_REQUEST,
      psn: 0x2000,
      reth: { va: other.addr, rkey: other.rkey, length: 200 },
    };
    const data = pattern(600);
    puppet.say(read);
    puppet.say({ opcode: Opcode.RC_WRITE_FIRST, psn: 0x2001, reth: reth(600, 100), payload: data.subarray(0, 256) });
    puppet.say(read);
    puppet.say({ opcode: Opcode.RC_WRITE_MIDDLE, psn: 0x2002, payload: data.subarray(256, 512) });
    puppet.say(read);
    puppet.say({ opcode: Opcode.RC_WRITE_LAST, psn: 0x2003, ackRequest: true, payload: data.subarray(512) });
    assert.deepEqual(target.bytes.subarray(100, 700), data);
    assert.deepEqual(other.bytes, pattern(1024, 7));
  });

  it('READ behind a new request in one burst does not swallow the ACK of the new one', () => {
    const { puppet, reth } = responder();
    const read = { opcode: Opcode.RC_READ_REQUEST, psn: 0x2000, ackRequest: true, reth: reth(100) };
    puppet.say(read);
    puppet.heard();
    const write = { opcode: Opcode.RC_WRITE_ONLY, psn: 0x2001, ackRequest: true, reth: reth(4), payload: pattern(4) };
    for (const fields of [write, read])
      puppet.network.inject(puppet.peerAddress, puppet.host1.ip, puppet.crafted(fields));
    puppet.network.advanceTo(puppet.nowUs);
    puppet.turn();
    const packets = puppet.heard();
    assert.ok(packets.some(({ name, psn }) => name === 'RC_ACKNOWLEDGE' && psn === 0x2001));
    assert.ok(packets.some(({ name, psn }) => name === 'RC_READ_RESP_ONLY' && psn === 0x2000));
  });

  for (const depth of [1, 2]) {
    it(`READ still to be answered does not take the place of a new one (depth ${String(depth)})`, () => {
      const { puppet, target, reth } = responder({ maxDestRdAtomic: depth });
      target.bytes.set(pattern(2048));
      const read = (psn: number, offset: number) => ({
        opcode: Opcode.RC_READ_REQUEST,
        psn,
        reth: reth(100, offset),
      });
      for (let i = 0; i < depth; i += 1) puppet.say(read(0x2000 + i, 100 * i));
      puppet.heard();
      const again = Array.from({ length: depth }, (_, i) => read(0x2000 + i, 100 * i));
      const fresh = Array.from({ length: depth }, (_, i) => read(0x2000 + depth + i, 500 + 100 * i));
      for (const fields of [...again, ...fresh])
        puppet.network.inject(puppet.peerAddress, puppet.host1.ip, puppet.crafted(fields));
      puppet.network.advanceTo(puppet.nowUs);
      puppet.turn();
      assert.equal(puppet.qp.state, QpState.RTS);
      const responses = puppet.heard();
      for (let i = 0; i < depth; i += 1) {
        const response = responses.find(({ psn }) => psn === 0x2000 + depth + i);
        assert.deepEqual(response?.payload, pattern(2048).subarray(500 + 100 * i, 600 + 100 * i));
      }
    });
  }

  it('READ does not move the expected PSN', () => {
    const { puppet, reth } = responder();
    const read = { opcode: Opcode.RC_READ_REQUEST, psn: 0x2000, ackRequest: true, reth: reth(700) };
    puppet.say(read);
    puppet.say(read);
    puppet.heard();
    puppet.say({ opcode: Opcode.RC_WRITE_ONLY, psn: 0x2003, ackRequest: true, reth: reth(4), payload: pattern(4) });
    assert.deepEqual(answers(puppet.heard()), [['RC_ACKNOWLEDGE', 0x2003, 2]]);
  });

  it('atomic is answered with the saved value and not executed', () => {
    const { puppet, target } = responder();
    target.view.setBigUint64(0, 40n, true);
    const add = (psn: number) => ({
      opcode: Opcode.RC_FETCH_ADD,
      psn,
      ackRequest: true,
      atomic: { va: target.addr, rkey: target.rkey, swapAdd: 1n },
    });
    puppet.say(add(0x2000));
    puppet.say(add(0x2001));
    puppet.heard();
    puppet.say(add(0x2000));
    puppet.say(add(0x2001));
    assert.deepEqual(
      puppet.heard().map(({ name, psn, atomicAck }) => [name, psn, atomicAck]),
      [
        ['RC_ATOMIC_ACKNOWLEDGE', 0x2000, 40n],
        ['RC_ATOMIC_ACKNOWLEDGE', 0x2001, 41n],
      ],
    );
    assert.equal(target.view.getBigUint64(0, true), 42n);
  });

  it('atomic whose answer is no longer kept is dropped', () => {
    const { puppet, target } = responder({ maxDestRdAtomic: 1 });
    const add = (psn: number) => ({
      opcode: Opcode.RC_FETCH_ADD,
      psn,
      ackRequest: true,
      atomic: { va: target.addr, rkey: target.rkey, swapAdd: 1n },
    });
    for (let i = 0; i < 40; i += 1) puppet.say(add(0x2000 + i));
    puppet.heard();
    puppet.say(add(0x2000));
    assert.deepEqual(
      puppet.heard().filter(({ name }) => name === 'RC_ATOMIC_ACKNOWLEDGE'),
      [],
    );
    assert.equal(target.view.getBigUint64(0, true), 40n);
    assert.equal(puppet.qp.state, QpState.RTS);
  });

  it('atomic that names a PSN of another kind of request is dropped', () => {
    const { puppet, target, reth } = responder();
    puppet.say({ opcode: Opcode.RC_WRITE_ONLY, psn: 0x2000, reth: reth(4), payload: pattern(4) });
    puppet.say({ opcode: Opcode.RC_READ_REQUEST, psn: 0x2001, reth: reth(4) });
    puppet.heard();
    const before = target.bytes.slice();
    for (const psn of [0x2000, 0x2001])
      puppet.say({
        opcode: Opcode.RC_FETCH_ADD,
        psn,
        ackRequest: true,
        atomic: { va: target.addr, rkey: target.rkey, swapAdd: 1n },
      });
    assert.deepEqual(
      puppet.heard().filter(({ name }) => name === 'RC_ATOMIC_ACKNOWLEDGE'),
      [],
    );
    assert.deepEqual(target.bytes, before);
  });

  it('is counted', () => {
    const { puppet, reth } = responder();
    const write = { opcode: Opcode.RC_WRITE_ONLY, psn: 0x2000, reth: reth(4), payload: pattern(4) };
    puppet.say(write);
    puppet.say(write);
    puppet.say(write);
    assert.equal(puppet.host1.nic.counters.snapshot()['duplicate_request'], 2);
  });
});
