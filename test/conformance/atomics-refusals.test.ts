import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AccessFlags, SendFlags, type SendWr, WcStatus, WrOpcode } from '../../src/entry/index.js';
import { conformance } from './provider.js';
import {
  assertErrno,
  assertStatus,
  LOCAL_ONLY,
  Pair,
  type PairOptions,
  pollOne,
  readU64,
  remoteOf,
  statusName,
  useDevices,
  writeU64,
} from './support.js';

const { ATOMIC_FETCH_AND_ADD, ATOMIC_CMP_AND_SWP } = WrOpcode;
const { LOC_PROT_ERR, REM_ACCESS_ERR, REM_INV_REQ_ERR } = WcStatus;
const { LOCAL_WRITE, REMOTE_READ, REMOTE_WRITE } = AccessFlags;

const OPERATIONS = ['FETCH_ADD', 'CMP_SWAP'] as const;
type Operation = (typeof OPERATIONS)[number];

interface Wrong {
  /** Added to the keys and the address that would be right. */
  readonly lkey?: number;
  readonly rkey?: number;
  readonly offset?: number;
  readonly pair?: PairOptions;
  /** How the request ends: by a status, or refused while posting. */
  readonly outcome: WcStatus | 'EINVAL';
}

/**
 * A local key is looked at before anything is sent, and an address that is not a multiple of 8 while posting (protocol/reliable.md
 * 2.7); so where several things are wrong, that decides.
 */
const WRONG: Readonly<Record<string, Wrong>> = {
  'another L_Key': { lkey: 1, outcome: LOC_PROT_ERR },
  'another R_Key': { rkey: 1, outcome: REM_ACCESS_ERR },
  'other keys': { lkey: 1, rkey: 1, outcome: LOC_PROT_ERR },
  'an address that is not a multiple of 8': { offset: 1, outcome: 'EINVAL' },
  'an address that is not a multiple of 8 and another L_Key': { offset: 1, lkey: 1, outcome: 'EINVAL' },
  'an address that is not a multiple of 8 and another R_Key': { offset: 1, rkey: 1, outcome: 'EINVAL' },
  'an address outside the region': { offset: 64, outcome: REM_ACCESS_ERR },
  'a QP that does not allow it': { pair: { remote: { qpAccess: LOCAL_WRITE } }, outcome: REM_INV_REQ_ERR },
  'a region that peers cannot use': { pair: { remote: { access: LOCAL_ONLY } }, outcome: REM_ACCESS_ERR },
  'a region that peers can only read and write': {
    pair: { remote: { access: LOCAL_WRITE | REMOTE_READ | REMOTE_WRITE } },
    outcome: REM_ACCESS_ERR,
  },
};

function request(operation: Operation, { local, remote }: Pair, wrong: Wrong): SendWr {
  const sge = local.mr.sge(0, 8);
  const target = remoteOf(remote.mr, wrong.offset);
  const sgList = [{ ...sge, lkey: (sge.lkey + (wrong.lkey ?? 0)) >>> 0 }] as const;
  const atomic = { ...target, rkey: (target.rkey + (wrong.rkey ?? 0)) >>> 0, compareAdd: 2n };
  return operation === 'FETCH_ADD'
    ? { opcode: ATOMIC_FETCH_AND_ADD, sgList, atomic }
    : { opcode: ATOMIC_CMP_AND_SWP, sgList, atomic: { ...atomic, swap: 3n } };
}

conformance('RC atomics refuse', (provider) => {
  const devices = useDevices(provider);

  for (const operation of OPERATIONS) {
    for (const [title, wrong] of Object.entries(WRONG)) {
      for (const [manner, sendFlags] of [
        ['signaled', SendFlags.SIGNALED],
        ['unsignaled', 0],
      ] as const) {
        const { outcome } = wrong;
        const expected = outcome === 'EINVAL' ? outcome : statusName(outcome);
        test(`${title}: ${manner} ${operation} ends in ${expected} and changes nothing`, () => {
          using pair = new Pair(devices, { bytes: 64, ...wrong.pair });
          const { local, remote } = pair;
          writeU64(remote.mr, 2n);
          writeU64(local.mr, 1n);
          const wr = { ...request(operation, pair, wrong), wrId: 9, sendFlags };
          if (outcome === 'EINVAL') {
            assertErrno(outcome, () => local.qp.postSend(wr));
          } else {
            local.qp.postSend(wr);
            const wc = pollOne(local.cq);
            assertStatus(local, wc, outcome);
            assert.equal(wc.wrId, 9n);
          }
          assert.deepEqual([readU64(local.mr), readU64(remote.mr)], [1n, 2n]);
        });
      }
    }
  }
});
