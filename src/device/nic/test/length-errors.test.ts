import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { EventType, Mtu, QpState, WcStatus, WrOpcode } from '../../ibta/index.js';
import { Opcode } from '../../wire/index.js';
import { assertCompleted, assertStatuses, type Crafted, Pair, pattern, Puppet } from './pair.js';
import { ALL_ACCESS } from './rings.js';

describe('a SEND longer than the receive', () => {
  for (const [size, room] of [
    [101, 100],
    [700, 699],
    [700, 256],
    [700, 255],
    [1, 0],
  ]) {
    it(`(${String(size)} bytes into ${String(room)}) ends in LOC_LEN_ERR there and REM_INV_REQ_ERR here`, () => {
      const pair = new Pair();
      const { a, b } = pair.connect({ both: { pathMtu: Mtu.MTU_256 } });
      const target = pair.b.mr(1000);
      const received = b.postRecv({ sgList: [target.sge(0, room)] });
      const next = b.postRecv({ sgList: [target.sge(0, room)] });
      const sent = a.send(pair.a.mrOf(pattern(size)));
      pair.drive();
      assertStatuses(b.received(), [
        [received, WcStatus.LOC_LEN_ERR],
        [next, WcStatus.WR_FLUSH_ERR],
      ]);
      assertStatuses(a.sent(), [[sent, WcStatus.REM_INV_REQ_ERR]]);
      assert.deepEqual([a.state, b.state], [QpState.ERR, QpState.ERR]);
      assert.ok(target.bytes.subarray(room).every((byte) => byte === 0));
      assert.ok(target.canariesIntact);
    });
  }

  it('over several entries counts all of them', () => {
    const pair = new Pair();
    const { a, b } = pair.connect({ both: { pathMtu: Mtu.MTU_256 } });
    const target = pair.b.mr(1000);
    const sgList = [target.sge(0, 200), target.sge(300, 99)];
    const first = b.postRecv({ sgList });
    const second = b.postRecv({ sgList });
    const sent = [a.send(pair.a.mr(299)), a.send(pair.a.mr(300))];
    pair.drive();
    assertStatuses(b.received(), [
      [first, WcStatus.SUCCESS],
      [second, WcStatus.LOC_LEN_ERR],
    ]);
    assertStatuses(a.sent(), [
      [sent[0], WcStatus.SUCCESS],
      [sent[1], WcStatus.REM_INV_REQ_ERR],
    ]);
  });
});

describe('a request for more than 2^31 bytes', () => {
  /** More than that, all of it open to the peer: nothing else is wrong with a request for it. */
  function open() {
    const puppet = new Puppet({ pathMtu: Mtu.MTU_256 });
    const { nic, pd } = puppet.host1;
    const bytes = new Uint8Array(2 ** 31 + 4096);
    const { rkey } = nic.control.regMr({ pd, bytes, iovaHi: 0, iovaLo: 0x1000, access: ALL_ACCESS });
    return { puppet, reth: (length: number) => ({ va: 0x1000n, rkey: rkey >>> 0, length }) };
  }
  const payload = pattern(256);

  for (const [name, packet] of [
    ['READ', { opcode: Opcode.RC_READ_REQUEST }],
    ['WRITE', { opcode: Opcode.RC_WRITE_FIRST, payload }],
  ] as const)
    it(`(a ${name}) is refused as an invalid request, though the memory is there`, () => {
      const { puppet, reth } = open();
      puppet.say({ ...packet, psn: 0x2000, reth: reth(2 ** 31 + 1) });
      const answers = puppet.heard().map(({ name: answer, syndrome }) => [answer, syndrome]);
      assert.deepEqual(answers, [['RC_ACKNOWLEDGE', 0x61]]);
      assert.equal(puppet.qp.state, QpState.ERR);
      assert.deepEqual(
        puppet.host1.events.map(({ type }) => type),
        [EventType.QP_REQ_ERR],
      );
    });

  it('is not one for just as many', () => {
    const { puppet, reth } = open();
    puppet.say({ opcode: Opcode.RC_WRITE_FIRST, payload, psn: 0x2000, reth: reth(2 ** 31), ackRequest: true });
    assert.deepEqual(
      puppet.heard().map(({ psn, syndrome }) => [psn, syndrome]),
      [[0x2000, 0x1f]],
    );
    assert.equal(puppet.qp.state, QpState.RTS);
  });
});

describe('a packet whose length does not fit its opcode', () => {
  const bad: readonly (readonly [string, readonly Partial<Crafted>[]])[] = [
    ['a FIRST shorter than the MTU', [{ opcode: Opcode.RC_SEND_FIRST, payload: pattern(255) }]],
    ['a FIRST longer than the MTU', [{ opcode: Opcode.RC_SEND_FIRST, payload: pattern(260) }]],
    ['a FIRST without data', [{ opcode: Opcode.RC_SEND_FIRST }]],
    ['an ONLY longer than the MTU', [{ opcode: Opcode.RC_SEND_ONLY, payload: pattern(257) }]],
    [
      'a MIDDLE shorter than the MTU',
      [
        { opcode: Opcode.RC_SEND_FIRST, payload: pattern(256) },
        { opcode: Opcode.RC_SEND_MIDDLE, payload: pattern(252) },
      ],
    ],
    [
      'a LAST longer than the MTU',
      [
        { opcode: Opcode.RC_SEND_FIRST, payload: pattern(256) },
        { opcode: Opcode.RC_SEND_LAST, payload: pattern(257) },
      ],
    ],
    ['a LAST without data', [{ opcode: Opcode.RC_SEND_FIRST, payload: pattern(256) }, { opcode: Opcode.RC_SEND_LAST }]],
  ];

  for (const [name, packets] of bad) {
    it(`(${name}) is refused as an invalid request`, () => {
      const puppet = new Puppet({ pathMtu: Mtu.MTU_256 });
      const received = puppet.qp.recv(puppet.host1.mr(2000));
      packets.forEach((fields, i) => puppet.say({ opcode: 0, psn: 0x2000 + i, ackRequest: true, ...fields }));
      const answers = puppet.heard();
      assert.equal(answers[answers.length - 1].syndrome, 0x61);
      assert.equal(puppet.qp.state, QpState.ERR);
      const [completion] = puppet.qp.received();
      assert.equal(completion.wrId, received);
      assert.notEqual(completion.status, WcStatus.SUCCESS);
    });
  }

  it('such as a WRITE_ONLY with more or fewer bytes than its RETH says is refused', () => {
    for (const length of [0, 99, 101]) {
      const puppet = new Puppet({ pathMtu: Mtu.MTU_256 });
      const target = puppet.host1.mr(200);
      puppet.say({
        opcode: Opcode.RC_WRITE_ONLY,
        psn: 0x2000,
        reth: { va: target.addr, rkey: target.rkey, length },
        payload: pattern(100),
      });
      const [nak] = puppet.heard();
      assert.ok(nak.syndrome === 0x61 || nak.syndrome === 0x62, nak.toString());
      assert.equal(puppet.qp.state, QpState.ERR);
      assert.ok(target.bytes.every((byte) => byte === 0));
    }
  });

  it('such as a READ request or an atomic with a payload is not executed', () => {
    for (const opcode of [Opcode.RC_READ_REQUEST, Opcode.RC_FETCH_ADD]) {
      const puppet = new Puppet({ pathMtu: Mtu.MTU_256 });
      const target = puppet.host1.mr(8);
      const { addr: va, rkey } = target;
      const operands =
        opcode === Opcode.RC_READ_REQUEST ? { reth: { va, rkey, length: 8 } } : { atomic: { va, rkey, swapAdd: 1n } };
      puppet.say({ opcode, psn: 0x2000, payload: pattern(16), ...operands });
      assert.ok(target.bytes.every((byte) => byte === 0));
      assert.deepEqual(
        puppet.heard().filter(({ syndrome }) => syndrome === 0x1f),
        [],
      );
    }
  });
});

describe('a READ of more than 2^31 bytes', () => {
  it('is refused as an invalid request', () => {
    const puppet = new Puppet();
    const target = puppet.host1.mr(8);
    puppet.say({
      opcode: Opcode.RC_READ_REQUEST,
      psn: 0x2000,
      reth: { va: target.addr, rkey: target.rkey, length: 2 ** 31 + 4 },
    });
    const [nak] = puppet.heard();
    assert.ok(nak.syndrome === 0x61 || nak.syndrome === 0x62, nak.toString());
    assert.equal(puppet.qp.state, QpState.ERR);
  });
});

describe('a message as long as the port allows', () => {
  it('is completed with its length', () => {
    const pair = new Pair({ network: { capture: false }, host: { limits: { maxMessageBytes: 5000 } } });
    const { a } = pair.connect();
    const wrId = a.write(pair.a.mr(5000), pair.b.mr(5000));
    pair.drive();
    const completions = a.sent();
    assertCompleted(completions, [wrId]);
    assert.equal(completions[0].byteLen, 5000);
  });

  it('and one byte more ends in LOC_LEN_ERR before anything is sent', () => {
    const pair = new Pair({ host: { limits: { maxMessageBytes: 5000 } } });
    const { a } = pair.connect();
    const wrId = a.write(pair.a.mr(5001), pair.b.mr(5001));
    pair.drive();
    assertStatuses(a.sent(), [[wrId, WcStatus.LOC_LEN_ERR]]);
    assert.deepEqual(pair.fromA(), []);
  });
});

describe('a message of 2^31 bytes', () => {
  /** A host with entries over one region of 512 MiB, most of which is never touched. */
  function giant(excess: number) {
    const puppet = new Puppet({ pathMtu: Mtu.MTU_256, timeout: 0, qp: { cap: { maxSendSge: 5 } } });
    const { nic, pd } = puppet.host1;
    const { lkey } = nic.control.regMr({ pd, bytes: new Uint8Array(2 ** 29), iovaHi: 0, iovaLo: 0, access: 1 });
    const lengths = [2 ** 29, 2 ** 29, 2 ** 29, 2 ** 29 - 1, 1 + excess];
    return { puppet, sgList: lengths.map((length) => ({ addr: 0n, length, lkey })) };
  }

  it('is begun, as a WRITE and as a READ', () => {
    for (const opcode of [WrOpcode.RDMA_WRITE, WrOpcode.RDMA_READ]) {
      const { puppet, sgList } = giant(0);
      puppet.qp.post({ opcode, sgList, remoteAddr: 0n, rkey: 1 });
      puppet.turn();
      const [first] = puppet.heard();
      assert.ok(first.reth !== undefined && first.reth.length > 0 && first.reth.length <= 2 ** 31);
      if (opcode === WrOpcode.RDMA_WRITE) assert.equal(first.reth.length, 2 ** 31);
      assert.deepEqual(puppet.qp.sent(), []);
    }
  });

  it('and one byte more ends in LOC_LEN_ERR', () => {
    const { puppet, sgList } = giant(1);
    const wrId = puppet.qp.post({ opcode: WrOpcode.RDMA_WRITE, sgList, remoteAddr: 0n, rkey: 1 });
    puppet.turn();
    assertStatuses(puppet.qp.sent(), [[wrId, WcStatus.LOC_LEN_ERR]]);
    assert.deepEqual(puppet.heard(), []);
  });
});
