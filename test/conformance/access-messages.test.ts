import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AccessFlags, WcStatus, WrOpcode } from '../../src/entry/index.js';
import { conformance } from './provider.js';
import { ALL_ACCESS, assertStatus, assertSuccess, Pair, pattern, perform, pollOne, useDevices } from './support.js';

const BYTES = 8192;
const { REMOTE_WRITE, REMOTE_READ, MW_BIND } = AccessFlags;

const DELIVERED: readonly (readonly [title: string, local: number, remote: number])[] = [
  ['from and into regions with all access', ALL_ACCESS, ALL_ACCESS],
  ['from a region without LOCAL_WRITE', MW_BIND | REMOTE_READ, ALL_ACCESS],
  ['into a region without REMOTE_WRITE', ALL_ACCESS, ALL_ACCESS & ~REMOTE_WRITE],
];

conformance('access of SEND', (provider) => {
  const devices = useDevices(provider);

  for (const [title, local, remote] of DELIVERED) {
    test(`${title} is enough`, () => {
      using pair = new Pair(devices, { bytes: BYTES, local: { access: local }, remote: { access: remote } });
      pair.local.mr.bytes.set(pattern(BYTES));
      pair.remote.qp.postRecv({ sgList: [pair.remote.mr.sge()] });
      assertSuccess(pair.local, perform(pair.local, { opcode: WrOpcode.SEND, sgList: [pair.local.mr.sge()] }));
      assertSuccess(pair.remote, pollOne(pair.remote.cq));
      assert.deepEqual(pair.remote.mr.bytes, pattern(BYTES));
    });
  }

  test('into a region without LOCAL_WRITE fails at both ends', () => {
    using pair = new Pair(devices, { bytes: BYTES, remote: { access: MW_BIND | REMOTE_READ } });
    const { local, remote } = pair;
    local.mr.bytes.fill(0x61);
    remote.qp.postRecv({ sgList: [remote.mr.sge()] });
    const sent = perform(local, { opcode: WrOpcode.SEND, sgList: [local.mr.sge()] });
    assertStatus(local, sent, WcStatus.REM_OP_ERR);
    assertStatus(remote, pollOne(remote.cq), WcStatus.LOC_PROT_ERR);
    assert.deepEqual(remote.mr.bytes, new Uint8Array(BYTES));
  });
});
