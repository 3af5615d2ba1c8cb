import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AccessFlags, MwType, type RemoteMemory, WcStatus } from '../../src/entry/index.js';
import { ONE_SIDED } from './memory-support.js';
import { conformance } from './provider.js';
import {
  ALL_ACCESS,
  assertStatus,
  type End,
  Pair,
  perform,
  readU64,
  remoteOf,
  statusName,
  useDevices,
  writeU64,
} from './support.js';
import { bindWindow } from './windows.js';

const { LOCAL_WRITE, REMOTE_WRITE, REMOTE_READ, REMOTE_ATOMIC, MW_BIND, ZERO_BASED } = AccessFlags;
const { SUCCESS, LOC_PROT_ERR, REM_ACCESS_ERR } = WcStatus;

const BEFORE = { local: 7n, remote: 0n };

/** What a request needs of either side, and what both hold after it: FETCH_ADD adds 1, CMP_SWAP makes 0 a 1. */
interface Operation {
  readonly remoteNeeds: number;
  readonly localNeeds: number;
  readonly after: typeof BEFORE;
}

const OPERATIONS = {
  READ: { remoteNeeds: REMOTE_READ, localNeeds: LOCAL_WRITE, after: { local: 0n, remote: 0n } },
  WRITE: { remoteNeeds: REMOTE_WRITE, localNeeds: 0, after: { local: 7n, remote: 7n } },
  FETCH_ADD: { remoteNeeds: REMOTE_ATOMIC, localNeeds: LOCAL_WRITE, after: { local: 0n, remote: 1n } },
  CMP_SWAP: { remoteNeeds: REMOTE_ATOMIC, localNeeds: LOCAL_WRITE, after: { local: 0n, remote: 1n } },
} satisfies Record<string, Operation>;
type Name = keyof typeof OPERATIONS;
const NAMES: readonly Name[] = ['READ', 'WRITE', 'FETCH_ADD', 'CMP_SWAP'];

/** What opens the memory of `end` to peers, with just this access. */
type Opening = (end: End, access: number) => RemoteMemory;

const OPENINGS: Readonly<Record<string, Opening>> = {
  'a region': (end) => remoteOf(end.mr),
  'a window of type 1': (end, access) => bindWindow(end, MwType.TYPE_1, access),
  'a window of type 2': (end, access) => bindWindow(end, MwType.TYPE_2, access),
};

const MISSING: Readonly<Record<string, { readonly local?: number; readonly remote?: number }>> = {
  'with all access': {},
  'and own memory without LOCAL_WRITE': { local: LOCAL_WRITE | REMOTE_WRITE | REMOTE_ATOMIC },
  'without REMOTE_WRITE': { remote: REMOTE_WRITE },
  'without REMOTE_READ': { remote: REMOTE_READ },
  'without REMOTE_ATOMIC': { remote: REMOTE_ATOMIC },
};

function outcomeOf({ localNeeds, remoteNeeds }: Operation, local: number, remote: number): WcStatus {
  if ((localNeeds & local) !== 0) return LOC_PROT_ERR;
  return (remoteNeeds & remote) === 0 ? SUCCESS : REM_ACCESS_ERR;
}

function runAndCheck({ local, remote }: Pair, name: Name, target: RemoteMemory, outcome: WcStatus): void {
  writeU64(local.mr, BEFORE.local);
  writeU64(remote.mr, BEFORE.remote);
  assertStatus(local, perform(local, ONE_SIDED[name](local.mr.sge(0, 8), target)), outcome);
  const after = { local: readU64(local.mr), remote: readU64(remote.mr) };
  assert.deepEqual(after, outcome === SUCCESS ? OPERATIONS[name].after : BEFORE);
}

conformance('access of one-sided requests', (provider) => {
  const devices = useDevices(provider);

  for (const [opening, open] of Object.entries(OPENINGS)) {
    for (const [access, { local = 0, remote = 0 }] of Object.entries(MISSING)) {
      for (const name of NAMES) {
        const outcome = outcomeOf(OPERATIONS[name], local, remote);
        test(`${name} by ${opening} ${access} ends in ${statusName(outcome)}`, () => {
          using pair = new Pair(devices, {
            local: { access: ALL_ACCESS & ~local },
            remote: { access: opening === 'a region' ? ALL_ACCESS & ~remote : ALL_ACCESS },
          });
          const target = open(pair.remote, (REMOTE_WRITE | REMOTE_READ | REMOTE_ATOMIC) & ~remote);
          runAndCheck(pair, name, target, outcome);
        });
      }
    }
  }

  for (const name of ['READ', 'WRITE'] as const) {
    test(`${name} by a ZERO_BASED region finds its first byte at address 0`, () => {
      using pair = new Pair(devices, { remote: { access: ALL_ACCESS | ZERO_BASED } });
      const { rkey } = pair.remote.mr;
      runAndCheck(pair, name, { remoteAddr: 0n, rkey }, SUCCESS);
    });

    test(`${name} by a ZERO_BASED window of type 2 finds its first byte at address 0`, () => {
      using pair = new Pair(devices, { remote: { access: LOCAL_WRITE | MW_BIND } });
      const access = REMOTE_WRITE | REMOTE_READ | ZERO_BASED;
      const { rkey } = bindWindow(pair.remote, MwType.TYPE_2, access);
      runAndCheck(pair, name, { remoteAddr: 0n, rkey }, SUCCESS);
    });
  }
});
