import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Mtu, QpState, WcStatus } from '../../ibta/index.js';
import { Opcode } from '../../wire/index.js';
import { assertCompleted, assertStatuses, Pair, pattern, Puppet } from './pair.js';

/** A region is closed the moment it is deregistered, also to messages that are under way. */

const SIZE = 256 * 400;

describe('deregistration in the midst of', () => {
  it('a WRITE, at its target, refuses the rest: nothing more is written', () => {
    const pair = new Pair();
    const { a, b } = pair.connect({ both: { pathMtu: Mtu.MTU_256 } });
    const target = pair.b.mr(SIZE);
    const wrId = a.write(pair.a.mrOf(pattern(SIZE)), target);
    pair.run(12);
    pair.b.nic.control.deregMr(target.handle);
    const then = target.bytes.slice();
    assert.ok(then.some((byte) => byte !== 0));
    pair.drive();
    assertStatuses(a.sent(), [[wrId, WcStatus.REM_ACCESS_ERR]]);
    assert.deepEqual([a.state, b.state], [QpState.ERR, QpState.ERR]);
    assert.deepEqual(target.bytes, then);
  });

  it('a WRITE, at its source, ends it in LOC_PROT_ERR', () => {
    const pair = new Pair();
    const { a } = pair.connect({ both: { pathMtu: Mtu.MTU_256 } });
    const source = pair.a.mr(SIZE);
    const wrId = a.write(source, pair.b.mr(SIZE));
    pair.run(12);
    pair.a.nic.control.deregMr(source.handle);
    pair.drive();
    assertStatuses(a.sent(), [[wrId, WcStatus.LOC_PROT_ERR]]);
  });

  it('a READ, at its source, ends it in REM_ACCESS_ERR', () => {
    const pair = new Pair();
    const { a } = pair.connect({ both: { pathMtu: Mtu.MTU_256 } });
    const source = pair.b.mr(SIZE);
    const wrId = a.read(pair.a.mr(SIZE), source);
    pair.run(12);
    pair.b.nic.control.deregMr(source.handle);
    pair.drive();
    assertStatuses(a.sent(), [[wrId, WcStatus.REM_ACCESS_ERR]]);
  });

  it('a READ, at its target, ends it in LOC_PROT_ERR and nothing more is written', () => {
    const pair = new Pair();
    const { a } = pair.connect({ both: { pathMtu: Mtu.MTU_256 } });
    const target = pair.a.mr(SIZE);
    const wrId = a.read(target, pair.b.mrOf(pattern(SIZE)));
    pair.run(12);
    pair.a.nic.control.deregMr(target.handle);
    const then = target.bytes.slice();
    pair.drive();
    assertStatuses(a.sent(), [[wrId, WcStatus.LOC_PROT_ERR]]);
    assert.deepEqual(target.bytes, then);
  });

  it('a SEND, at the receive buffer, ends the receive in LOC_PROT_ERR and nothing more is written', () => {
    const pair = new Pair();
    const { a, b } = pair.connect({ both: { pathMtu: Mtu.MTU_256 } });
    const target = pair.b.mr(SIZE);
    const received = b.recv(target);
    const sent = a.send(pair.a.mrOf(pattern(SIZE)));
    pair.run(12);
    pair.b.nic.control.deregMr(target.handle);
    const then = target.bytes.slice();
    pair.drive();
    assertStatuses(b.received(), [[received, WcStatus.LOC_PROT_ERR]]);
    assertStatuses(a.sent(), [[sent, WcStatus.REM_OP_ERR]]);
    assert.deepEqual(target.bytes, then);
  });

  it('a retransmission finds the region closed as well', () => {
    const pair = new Pair();
    const { a } = pair.connect({ both: { timeout: 8 } });
    const source = pair.a.mr(8);
    pair.script = ({ from }) => (from === pair.a.ip ? 'drop' : 'pass');
    const wrId = a.write(source, pair.b.mr(8));
    pair.run(10);
    pair.a.nic.control.deregMr(source.handle);
    pair.script = undefined;
    pair.drive();
    assertStatuses(a.sent(), [[wrId, WcStatus.LOC_PROT_ERR]]);
  });
});

describe('deregistration between a READ request and its responses', () => {
  it('refuses the READ: no byte leaves', () => {
    const puppet = new Puppet();
    const { nic, link, ip } = puppet.host1;
    const source = puppet.host1.mrOf(pattern(100));
    puppet.network.inject(
      puppet.peerAddress,
      ip,
      puppet.crafted({
        opcode: Opcode.RC_READ_REQUEST,
        psn: 0x2000,
        reth: { va: source.addr, rkey: source.rkey, length: 100 },
      }),
    );
    puppet.network.advanceTo(puppet.nowUs);
    link.receive(nic, 1);
    nic.control.deregMr(source.handle);
    puppet.turn();
    assert.deepEqual(
      puppet.heard().map(({ name, psn, syndrome }) => [name, psn, syndrome]),
      [['RC_ACKNOWLEDGE', 0x2000, 0x62]],
    );
    assert.equal(puppet.qp.state, QpState.ERR);
  });
});

describe('a duplicate READ of a region that is gone', () => {
  it('brings no bytes', () => {
    const pair = new Pair();
    const { a } = pair.connect({ both: { timeout: 8 } });
    const mr = pair.b.mrOf(pattern(100));
    let responses = 0;
    pair.script = ({ isReadResponse }) => {
      if (isReadResponse) responses += 1;
      return isReadResponse ? 'drop' : 'pass';
    };
    const wrId = a.read(pair.a.mr(100), mr);
    pair.run(50);
    pair.b.nic.control.deregMr(mr.handle);
    pair.drive();
    assert.equal(responses, 1);
    const [completion] = a.sent();
    assert.equal(completion.wrId, wrId);
    assert.notEqual(completion.status, WcStatus.SUCCESS);
  });
});

describe('a region', () => {
  it('registered again over the same memory has other keys, and the old ones stay closed', () => {
    const pair = new Pair();
    const first = pair.b.mr(64);
    pair.b.nic.control.deregMr(first.handle);
    const { a } = pair.connect();
    const again = pair.b.mr(64, { iova: first.addr });
    assert.notEqual(again.rkey, first.rkey);
    const local = pair.a.mr(64);
    const good = a.write(local, again);
    const bad = a.write(local, again, { rkey: first.rkey });
    pair.drive();
    assertStatuses(a.sent(), [
      [good, WcStatus.SUCCESS],
      [bad, WcStatus.REM_ACCESS_ERR],
    ]);
  });

  it('beside the deregistered one goes on working', () => {
    const pair = new Pair();
    const { a } = pair.connect();
    const [one, other, local] = [pair.b.mr(64), pair.b.mr(64), pair.a.mr(64)];
    pair.b.nic.control.deregMr(one.handle);
    const wrId = a.write(local, other);
    pair.drive();
    assertCompleted(a.sent(), [wrId]);
  });

  it('whose buffer was transferred away ends work in an error', () => {
    const pair = new Pair();
    const { a } = pair.connect();
    const local = pair.a.mr(64);
    const buffer = new ArrayBuffer(64);
    const keys = pair.b.nic.control.regMr({
      pd: pair.b.pd,
      bytes: new Uint8Array(buffer),
      iovaHi: 0,
      iovaLo: 0x1000,
      access: 15,
    });
    structuredClone(buffer, { transfer: [buffer] });
    const wrId = a.post({ opcode: 0, sgList: [local.sge()], remoteAddr: 0x1000n, rkey: keys.rkey });
    pair.drive();
    assertStatuses(a.sent(), [[wrId, WcStatus.REM_ACCESS_ERR]]);
  });
});
