import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  AccessFlags,
  EventType,
  MwType,
  PlacementType,
  QpState,
  SelectivityLevel,
  WcOpcode,
  WcStatus,
  WrOpcode,
} from '../../ibta/index.js';
import { Opcode } from '../../wire/index.js';
import type { TestMr } from './host.js';
import { assertCompleted, assertStatuses, dropping, Pair, pattern, Puppet } from './pair.js';
import { FENCED, type TestQp } from './qp.js';
import { ALL_ACCESS, type SendRequest } from './rings.js';
import { bind, BINDABLE, window } from './windows.js';

/** FLUSH (protocol/packets.md 1.2, 1.3, protocol/reliable.md 2.3, 2.5): FETH and RETH out, a READ response without data back. */

const { FLUSH_GLOBAL, FLUSH_PERSISTENT } = AccessFlags;
const FLUSHABLE = ALL_ACCESS | FLUSH_GLOBAL | FLUSH_PERSISTENT;
const { FLUSH_RANGE, FLUSH_MR } = SelectivityLevel;
const BOTH = PlacementType.FLUSH_GLOBAL | PlacementType.FLUSH_PERSISTENT;
const SIZE = 5000;

interface FlushOptions {
  readonly type?: number;
  readonly level?: number;
  readonly offset?: number;
  readonly length?: number;
}

function flush(qp: TestQp, mr: TestMr, options: FlushOptions = {}, over: Partial<SendRequest> = {}): bigint {
  const { type = PlacementType.FLUSH_GLOBAL, level = FLUSH_RANGE, offset = 0 } = options;
  return qp.post({
    opcode: WrOpcode.FLUSH,
    ...mr.at(offset),
    compareAdd: BigInt(options.length ?? mr.length - offset),
    swap: BigInt(type | (level << 4)),
    ...over,
  });
}

function start(options: { qpAccess?: number; access?: number; timeout?: number; maxRdAtomic?: number } = {}) {
  const pair = new Pair();
  const { qpAccess = FLUSHABLE, access = FLUSHABLE, timeout = 8, maxRdAtomic = 16 } = options;
  const { a, b } = pair.connect({ both: { qpAccessFlags: qpAccess, timeout, maxRdAtomic } });
  return { pair, a, b, local: pair.a.mrOf(pattern(SIZE)), mr: pair.b.mr(SIZE, { access }) };
}

describe('a FLUSH', () => {
  it('asks with one packet and is answered by a READ response of no bytes', () => {
    const { pair, a, mr } = start();
    const wrId = flush(a, mr, { offset: 100, length: 50, type: BOTH });
    pair.drive();
    const completions = a.sent();
    assertCompleted(completions, [wrId]);
    assert.deepEqual([completions[0].opcode, completions[0].byteLen], [WcOpcode.FLUSH, 50]);
    const [request, response, ...others] = pair.wire;
    assert.deepEqual(others, []);
    assert.deepEqual(
      [request.name, request.psn, request.ackRequest, request.payload.length],
      ['RC_FLUSH', 0x1000, true, 0],
    );
    assert.deepEqual(request.feth, { placement: BOTH, selectivity: FLUSH_RANGE });
    assert.deepEqual(request.reth, { va: mr.addr + 100n, rkey: mr.rkey, length: 50 });
    assert.deepEqual(
      [response.name, response.psn, response.syndrome, response.msn, response.payload.length],
      ['RC_READ_RESP_ONLY', 0x1000, 0x1f, 1, 0],
    );
  });

  it('of all of a region looks at neither address nor length', () => {
    const { pair, a, mr } = start();
    const wrId = flush(a, mr, { level: FLUSH_MR }, { remoteAddr: 3n, compareAdd: 2n ** 31n });
    pair.drive();
    assertCompleted(a.sent(), [wrId]);
    assert.deepEqual(pair.wire[0].feth, { placement: PlacementType.FLUSH_GLOBAL, selectivity: FLUSH_MR });
  });

  it('of a range of no bytes is one like any other', () => {
    const { pair, a, mr } = start();
    const wrId = flush(a, mr, { length: 0 });
    pair.drive();
    assertCompleted(a.sent(), [wrId]);
  });

  it('keeps its place among WRITEs, and tells that they are done', () => {
    const { pair, a, local, mr } = start();
    const wrIds = [a.write(local, mr), flush(a, mr), a.write(local, mr), flush(a, mr)];
    pair.drive();
    assertCompleted(a.sent(), wrIds);
    assert.deepEqual(mr.bytes, local.bytes);
  });

  it('through a window needs the access of the window', () => {
    for (const [access, status] of [
      [FLUSH_GLOBAL, WcStatus.SUCCESS],
      [FLUSH_PERSISTENT, WcStatus.REM_ACCESS_ERR],
    ] as const) {
      const { pair, a, b } = start();
      const mr = pair.b.mr(SIZE, { access: BINDABLE });
      const mw = window(pair.b, MwType.TYPE_2);
      bind(b, mw, mr, { access, length: 100 });
      pair.drive();
      const wrId = flush(a, mr, { length: 100 }, { rkey: mw.rkey | 0 });
      pair.drive();
      assertStatuses(a.sent(), [[wrId, status]]);
    }
  });

  it('takes one of the places that max_rd_atomic gives', () => {
    const { pair, a, local, mr } = start({ maxRdAtomic: 1 });
    pair.script = ({ isReadResponse }) => (isReadResponse ? 'drop' : 'pass');
    const wrIds = [flush(a, mr), a.read(local, mr)];
    pair.run(100);
    assert.deepEqual(
      pair.fromA().map(({ name }) => name),
      ['RC_FLUSH'],
    );
    pair.script = undefined;
    pair.drive();
    assertCompleted(a.sent(), wrIds);
  });

  it('holds up what is fenced behind it', () => {
    const { pair, a, local, mr } = start();
    pair.script = ({ isReadResponse }) => (isReadResponse ? 'drop' : 'pass');
    const wrIds = [flush(a, mr), a.write(local, mr, { flags: FENCED })];
    pair.run(100);
    assert.equal(pair.fromA().length, 1);
    pair.script = undefined;
    pair.drive();
    assertCompleted(a.sent(), wrIds);
  });

  it('is refused at home where max_rd_atomic is 0', () => {
    const { pair, a, mr } = start({ maxRdAtomic: 0 });
    const wrId = flush(a, mr);
    pair.drive();
    assertStatuses(a.sent(), [[wrId, WcStatus.LOC_QP_OP_ERR]]);
  });

  it('of more than 2^31 bytes is refused at home', () => {
    const { pair, a, mr } = start();
    const wrId = flush(a, mr, { length: 2 ** 31 + 1 });
    pair.drive();
    assertStatuses(a.sent(), [[wrId, WcStatus.LOC_LEN_ERR]]);
    assert.deepEqual(pair.wire, []);
  });
});

describe('a FLUSH is refused', () => {
  const placements: Readonly<Record<string, readonly [type: number, flag: number]>> = {
    FLUSH_GLOBAL: [PlacementType.FLUSH_GLOBAL, FLUSH_GLOBAL],
    FLUSH_PERSISTENT: [PlacementType.FLUSH_PERSISTENT, FLUSH_PERSISTENT],
    'either of both': [BOTH, FLUSH_PERSISTENT],
  };
  for (const [name, [type, flag]] of Object.entries(placements)) {
    it(`as an invalid request when the QP lacks ${name}`, () => {
      const { pair, a, b, mr } = start({ qpAccess: FLUSHABLE & ~flag });
      const wrId = flush(a, mr, { type });
      pair.drive();
      assertStatuses(a.sent(), [[wrId, WcStatus.REM_INV_REQ_ERR]]);
      assert.equal(pair.fromB()[0].syndrome, 0x61);
      assert.equal(b.state, QpState.ERR);
    });

    it(`as a remote access error when the region lacks ${name}`, () => {
      for (const level of [FLUSH_RANGE, FLUSH_MR]) {
        const { pair, a, b, mr } = start({ access: FLUSHABLE & ~flag });
        const wrId = flush(a, mr, { type, level });
        pair.drive();
        assertStatuses(a.sent(), [[wrId, WcStatus.REM_ACCESS_ERR]]);
        assert.equal(pair.fromB()[0].syndrome, 0x62);
        assert.deepEqual(pair.b.eventsOf(b), [EventType.QP_ACCESS_ERR]);
      }
    });
  }

  it('when its range is not all inside the region', () => {
    for (const [offset, length] of [
      [-1, 10],
      [1, SIZE],
      [SIZE + 1, 0],
    ]) {
      const { pair, a, mr } = start();
      const wrId = flush(a, mr, { offset, length });
      pair.drive();
      assertStatuses(a.sent(), [[wrId, WcStatus.REM_ACCESS_ERR]]);
    }
  });

  it('when no region has the key, also for all of it', () => {
    for (const level of [FLUSH_RANGE, FLUSH_MR]) {
      const { pair, a, mr } = start();
      const wrId = flush(a, mr, { level }, { rkey: mr.rkey ^ 1 });
      pair.drive();
      assertStatuses(a.sent(), [[wrId, WcStatus.REM_ACCESS_ERR]]);
    }
  });

  const odd: Readonly<Record<string, { placement: number; selectivity: number; payload?: number; length?: number }>> = {
    'names no placement': { placement: 0, selectivity: 0 },
    'names a placement that does not exist': { placement: 5, selectivity: 0 },
    'names a selectivity that does not exist': { placement: 1, selectivity: 2 },
    'brings data': { placement: 1, selectivity: 0, payload: 8 },
    'announces more than 2^31 bytes': { placement: 1, selectivity: 1, length: 2 ** 32 - 1 },
  };
  for (const [name, { placement, selectivity, payload = 0, length = 8 }] of Object.entries(odd)) {
    it(`when it ${name}`, () => {
      const puppet = new Puppet({ qpAccessFlags: FLUSHABLE });
      const mr = puppet.host1.mr(8, { access: FLUSHABLE });
      puppet.say({
        opcode: Opcode.RC_FLUSH,
        psn: 0x2000,
        feth: { placement, selectivity },
        reth: { va: mr.addr, rkey: mr.rkey, length },
        payload: new Uint8Array(payload),
      });
      assert.deepEqual(
        puppet.heard().map(({ psn, syndrome }) => [psn, syndrome]),
        [[0x2000, 0x61]],
      );
      assert.equal(puppet.qp.state, QpState.ERR);
    });
  }
});

describe('a FLUSH whose', () => {
  it('request is lost is sent again', () => {
    const { pair, a, mr } = start();
    pair.script = dropping(({ name }) => name === 'RC_FLUSH', 1);
    const wrId = flush(a, mr);
    pair.drive();
    assertCompleted(a.sent(), [wrId]);
    assert.equal(pair.fromA().length, 2);
  });

  it('answer is lost is answered again, and counted once', () => {
    const { pair, a, b, local, mr } = start();
    pair.script = dropping(({ isReadResponse }) => isReadResponse, 1, 2);
    const wrIds = [flush(a, mr), a.write(local, mr)];
    pair.drive();
    assertCompleted(a.sent(), wrIds);
    assert.ok(pair.b.nic.counters.duplicateRequest > 0);
    assert.equal(pair.fromB().at(-1)?.msn, 2);
    assert.equal(b.state, QpState.RTS);
  });

  it('answer is missing while an ACK for what is behind it comes is asked for again at once', () => {
    const { pair, a, local, mr } = start({ timeout: 0 });
    pair.script = dropping(({ isReadResponse }) => isReadResponse, 1);
    const wrIds = [flush(a, mr), a.write(local, mr)];
    pair.drive();
    assertCompleted(a.sent(), wrIds);
  });

  it('region has gone before it comes again is refused without an end of the QP', () => {
    const { pair, a, b, mr } = start();
    pair.script = dropping(({ isReadResponse }) => isReadResponse, 1);
    const wrId = flush(a, mr);
    pair.run(50);
    pair.b.nic.control.deregMr(mr.handle);
    pair.drive();
    assertStatuses(a.sent(), [[wrId, WcStatus.REM_ACCESS_ERR]]);
    assert.equal(b.state, QpState.RTS);
  });

  it('repeat names something else is dropped', () => {
    const puppet = new Puppet({ qpAccessFlags: FLUSHABLE });
    const [mr, other] = [puppet.host1.mr(8, { access: FLUSHABLE }), puppet.host1.mr(8, { access: FLUSHABLE })];
    const say = (target: TestMr, length: number, feth = { placement: 1, selectivity: 0 }): void =>
      puppet.say({
        opcode: Opcode.RC_FLUSH,
        psn: 0x2000,
        feth,
        reth: { va: target.addr, rkey: target.rkey, length },
      });
    say(mr, 8);
    assert.equal(puppet.heard().length, 1);
    say(other, 8);
    say(mr, 7);
    say(mr, 8, { placement: 2, selectivity: 0 });
    say(mr, 8, { placement: 1, selectivity: 1 });
    assert.deepEqual(puppet.heard(), []);
    assert.equal(puppet.host1.nic.counters.rxBadDuplicate, 4);
    say(mr, 8);
    assert.equal(puppet.heard().length, 1);
  });
});

describe('the answer to a FLUSH', () => {
  it('that brings data is a bad response', () => {
    const puppet = new Puppet({ qpAccessFlags: FLUSHABLE });
    const mr = puppet.host1.mr(8);
    const wrId = flush(puppet.qp, mr);
    puppet.turn();
    puppet.say({
      opcode: Opcode.RC_READ_RESP_ONLY,
      psn: 0x1000,
      aeth: { syndrome: 0x1f, msn: 1 },
      payload: new Uint8Array(8),
    });
    assertStatuses(puppet.qp.sent(), [[wrId, WcStatus.BAD_RESP_ERR]]);
  });

  it('that is an ACK of its own PSN alone does not complete it', () => {
    const puppet = new Puppet({ qpAccessFlags: FLUSHABLE, timeout: 0 });
    flush(puppet.qp, puppet.host1.mr(8));
    puppet.turn();
    puppet.say({ opcode: Opcode.RC_ACKNOWLEDGE, psn: 0x1000, aeth: { syndrome: 0x1f, msn: 1 } });
    assert.deepEqual(puppet.qp.sent(), []);
  });
});
