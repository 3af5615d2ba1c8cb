import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Mtu, QpState, WcStatus } from '../../ibta/index.js';
import { Opcode } from '../../wire/index.js';
import { assertStatuses, type Crafted, pattern, Puppet } from './pair.js';

/** protocol/reliable.md 2.3, row 2: FIRST, then MIDDLE and LAST of the same family, and nothing else while a message is open. */

function sequences() {
  const puppet = new Puppet({ pathMtu: Mtu.MTU_256 });
  const target = puppet.host1.mr(2048);
  const { addr: va, rkey } = target;
  const full = pattern(256);
  const packets: Readonly<Record<string, Omit<Crafted, 'destQp' | 'psn'>>> = {
    SEND_FIRST: { opcode: Opcode.RC_SEND_FIRST, payload: full },
    SEND_MIDDLE: { opcode: Opcode.RC_SEND_MIDDLE, payload: full },
    SEND_LAST: { opcode: Opcode.RC_SEND_LAST, payload: full },
    SEND_LAST_IMM: { opcode: Opcode.RC_SEND_LAST_IMM, payload: full, imm: 1 },
    SEND_LAST_INVALIDATE: { opcode: Opcode.RC_SEND_LAST_INVALIDATE, payload: full, invalidateRkey: 1 },
    SEND_ONLY: { opcode: Opcode.RC_SEND_ONLY, payload: full },
    WRITE_FIRST: { opcode: Opcode.RC_WRITE_FIRST, payload: full, reth: { va, rkey, length: 1024 } },
    WRITE_MIDDLE: { opcode: Opcode.RC_WRITE_MIDDLE, payload: full },
    WRITE_LAST: { opcode: Opcode.RC_WRITE_LAST, payload: full },
    WRITE_LAST_IMM: { opcode: Opcode.RC_WRITE_LAST_IMM, payload: full, imm: 1 },
    WRITE_ONLY: { opcode: Opcode.RC_WRITE_ONLY, payload: full, reth: { va, rkey, length: 256 } },
    READ_REQUEST: { opcode: Opcode.RC_READ_REQUEST, reth: { va, rkey, length: 10 } },
    FETCH_ADD: { opcode: Opcode.RC_FETCH_ADD, atomic: { va: va & ~7n, rkey, swapAdd: 1n } },
  };
  return { puppet, target, packets };
}

const BEGINNINGS = ['SEND_FIRST', 'SEND_ONLY', 'WRITE_FIRST', 'WRITE_ONLY', 'READ_REQUEST', 'FETCH_ADD'];
const CONTINUATIONS = [
  'SEND_MIDDLE',
  'SEND_LAST',
  'SEND_LAST_IMM',
  'SEND_LAST_INVALIDATE',
  'WRITE_MIDDLE',
  'WRITE_LAST',
  'WRITE_LAST_IMM',
];

function expectInvalid(names: readonly string[]): void {
  const { puppet, packets } = sequences();
  puppet.qp.recv(puppet.host1.mr(2048));
  names.forEach((name, i) => puppet.say({ psn: 0x2000 + i, ...packets[name] }));
  const answers = puppet.heard().filter(({ syndrome = 0 }) => syndrome >= 0x60);
  assert.deepEqual(
    answers.map(({ psn, syndrome }) => [psn, syndrome]),
    [[0x2000 + names.length - 1, 0x61]],
  );
  assert.equal(puppet.qp.state, QpState.ERR);
  const [completion] = puppet.qp.received();
  assert.notEqual(completion.status, WcStatus.SUCCESS);
}

describe('an opcode out of sequence is an invalid request:', () => {
  for (const name of CONTINUATIONS) it(`${name} with no message open`, () => expectInvalid([name]));

  for (const name of [...BEGINNINGS, ...CONTINUATIONS.filter((name) => name.startsWith('WRITE'))])
    it(`${name} while a SEND is open`, () => expectInvalid(['SEND_FIRST', name]));

  for (const name of [...BEGINNINGS, ...CONTINUATIONS.filter((name) => name.startsWith('SEND'))])
    it(`${name} while a WRITE is open`, () => expectInvalid(['WRITE_FIRST', name]));

  it('a receive that the open message had taken completes with REM_INV_REQ_ERR', () => {
    const { puppet, packets } = sequences();
    const first = puppet.qp.recv(puppet.host1.mr(2048));
    const second = puppet.qp.recv(puppet.host1.mr(2048));
    puppet.say({ psn: 0x2000, ...packets['SEND_FIRST'] });
    puppet.say({ psn: 0x2001, ...packets['SEND_ONLY'] });
    assertStatuses(puppet.qp.received(), [
      [first, WcStatus.REM_INV_REQ_ERR],
      [second, WcStatus.WR_FLUSH_ERR],
    ]);
  });

  it('FLUSH, ATOMIC_WRITE and reserved opcodes, which this device does not execute, do no harm', () => {
    for (const opcode of [Opcode.RC_FLUSH, Opcode.RC_ATOMIC_WRITE, 0x15, 0x18, 0x1b, 0x1e, 0x1f]) {
      const { puppet, target } = sequences();
      puppet.say({ opcode, psn: 0x2000, payload: pattern(40) });
      assert.ok(target.bytes.every((byte) => byte === 0));
    }
  });
});
