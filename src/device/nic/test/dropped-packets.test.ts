import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { QpState } from '../../ibta/index.js';
import { Opcode } from '../../wire/index.js';
import { type Crafted, pattern, Puppet } from './pair.js';

/** What does not belong here is counted by its reason and dropped: no answer, no change (protocol/packets.md 1.1, protocol/tools.md 7.3). */

function listening() {
  const puppet = new Puppet();
  const target = puppet.host1.mr(64);
  const write = {
    opcode: Opcode.RC_WRITE_ONLY,
    psn: 0x2000,
    ackRequest: true,
    reth: { va: target.addr, rkey: target.rkey, length: 16 },
    payload: pattern(16),
  };
  return { puppet, target, write };
}

function expectDropped(counter: string, act: (world: ReturnType<typeof listening>) => void): void {
  const world = listening();
  const { puppet, target } = world;
  act(world);
  assert.deepEqual(puppet.heard(), []);
  assert.ok(target.bytes.every((byte) => byte === 0));
  assert.equal(puppet.qp.state, QpState.RTS);
  const counters = puppet.host1.nic.counters.snapshot();
  const reasons = Object.entries(counters).filter(([name, value]) => name.startsWith('rx_') && value !== 0);
  assert.deepEqual(reasons, [[counter, 1]]);
  // And the QP has not moved: the request as it should be still goes through.
  puppet.say(world.write);
  assert.deepEqual(target.bytes.subarray(0, 16), pattern(16));
}

describe('a packet is counted and dropped', () => {
  const cases: readonly (readonly [string, string, Partial<Crafted>])[] = [
    ['with a wrong ICRC', 'rx_icrc_encapsulated', { badIcrc: true }],
    ['with a transport version other than 0', 'rx_bad_version', { tver: 1 }],
    ['with the highest transport version', 'rx_bad_version', { tver: 15 }],
    ['for a partition that we are not in', 'rx_bad_pkey', { pkey: 0x8001 }],
    ['for partition 0', 'rx_bad_pkey', { pkey: 0 }],
    ['for a QP that does not exist', 'rx_unknown_qp', { destQp: 0x000123 }],
    ['for QP 0', 'rx_unknown_qp', { destQp: 0 }],
    ['of a connection, for the general services QP', 'rx_wrong_transport', { destQp: 1 }],
    ['for the multicast QP', 'rx_unknown_qp', { destQp: 0xffffff }],
    ['of the UC transport', 'rx_wrong_transport', { opcode: Opcode.UC_WRITE_ONLY }],
    ['of the UD transport', 'rx_wrong_transport', { opcode: Opcode.UD_SEND_ONLY }],
    ['of the XRC transport', 'rx_wrong_transport', { opcode: Opcode.XRC_SEND_ONLY }],
    [
      'that notifies of congestion without saying so',
      'rx_malformed',
      { opcode: Opcode.CNP, payload: new Uint8Array(16) },
    ],
    ['of an opcode that nobody knows', 'rx_unknown_opcode', { opcode: 0xff }],
    ['of a reserved RC opcode', 'rx_unknown_opcode', { opcode: 0x15 }],
  ];
  for (const [name, counter, change] of cases) {
    it(name, () =>
      expectDropped(counter, ({ puppet, write }) => {
        const { reth, ...rest } = { ...write, ...change };
        const { opcode } = rest;
        puppet.say(opcode === Opcode.RC_WRITE_ONLY || opcode === Opcode.UC_WRITE_ONLY ? { ...rest, reth } : rest);
      }),
    );
  }

  it('from an address that the QP is not connected to', () =>
    expectDropped('rx_wrong_peer', ({ puppet, write }) => puppet.say(write, '192.168.7.1')));

  it('from an address that differs in its last bit', () =>
    expectDropped('rx_wrong_peer', ({ puppet, write }) => puppet.say(write, '10.0.0.8')));

  for (const length of [0, 1, 4, 11, 12, 15]) {
    it(`of ${String(length)} bytes`, () =>
      expectDropped('rx_malformed', ({ puppet, write }) =>
        puppet.deliver(puppet.peerAddress, puppet.host1.ip, puppet.crafted(write).subarray(0, length)),
      ));
  }

  it('whose length is not a multiple of four', () =>
    expectDropped('rx_malformed', ({ puppet, write }) =>
      puppet.deliver(puppet.peerAddress, puppet.host1.ip, puppet.crafted(write).subarray(0, 46)),
    ));

  it('too short for the headers that its opcode announces', () =>
    expectDropped('rx_malformed', ({ puppet }) => {
      const { addr: va, rkey } = puppet.host1.mr(8);
      const atomic = puppet.crafted({ opcode: Opcode.RC_FETCH_ADD, psn: 0x2000, atomic: { va, rkey, swapAdd: 1n } });
      puppet.deliver(puppet.peerAddress, puppet.host1.ip, atomic.subarray(0, 40));
    }));

  it('with more padding than payload', () =>
    expectDropped('rx_malformed', ({ puppet }) =>
      puppet.say({ opcode: Opcode.RC_SEND_ONLY, psn: 0x2000, padCount: 3, payload: new Uint8Array(0) }),
    ));
});

describe('a packet is taken', () => {
  for (const [name, change] of [
    ['with MigReq set, as hardware sends it', { migReq: true }],
    ['of a limited member of our partition', { pkey: 0x7fff }],
  ] as const) {
    it(name, () => {
      const { puppet, target, write } = listening();
      puppet.say({ ...write, ...change });
      assert.deepEqual(target.bytes.subarray(0, 16), pattern(16));
    });
  }

  it('whose FECN, BECN and reserved bits are set, which the ICRC does not cover', () => {
    const { puppet, target, write } = listening();
    const bytes = puppet.crafted(write);
    bytes[4] = 0xff;
    puppet.deliver(puppet.peerAddress, puppet.host1.ip, bytes);
    assert.deepEqual(target.bytes.subarray(0, 16), pattern(16));
  });
});

describe('counters', () => {
  it('of packets and bytes count what was sent and received', () => {
    const { puppet, write } = listening();
    puppet.say(write);
    puppet.say({ ...write, psn: 0x2001 });
    const counters = puppet.host1.nic.counters.snapshot();
    const bytes = puppet.crafted(write).length;
    assert.deepEqual([counters['rcvd_pkts'], counters['rcvd_bytes']], [2, 2 * bytes]);
    assert.deepEqual([counters['sent_pkts'], counters['sent_bytes']], [2, 2 * 20]);
  });
});
