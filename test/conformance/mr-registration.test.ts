import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  AccessFlags,
  alloc,
  type Context,
  type Mr,
  type Pd,
  type RegistrableMemory,
  WcStatus,
} from '../../src/entry/index.js';
import { ONE_SIDED_REQUESTS, PAGE } from './memory-support.js';
import { conformance } from './provider.js';
import {
  ALL_ACCESS,
  assertErrno,
  assertStatus,
  assertSuccess,
  Pair,
  perform,
  remoteOf,
  useDevices,
} from './support.js';

const { LOCAL_WRITE, REMOTE_WRITE, REMOTE_READ, REMOTE_ATOMIC, MW_BIND } = AccessFlags;

const RIGHTS = [
  ['REMOTE_WRITE', REMOTE_WRITE],
  ['REMOTE_READ', REMOTE_READ],
  ['REMOTE_ATOMIC', REMOTE_ATOMIC],
  ['MW_BIND', MW_BIND],
] as const;

const RIGHT_SETS = Array.from({ length: 2 ** RIGHTS.length }, (_, set) => {
  const chosen = RIGHTS.filter((_right, i) => (set & (1 << i)) !== 0);
  return {
    name: chosen.length === 0 ? 'nothing' : chosen.map(([name]) => name).join('+'),
    access: chosen.reduce((all, [, flag]) => all | flag, 0),
  };
});

const CHANGING = REMOTE_WRITE | REMOTE_ATOMIC;

conformance('regions', (provider) => {
  const devices = useDevices(provider, 1);

  function withPd(body: (pd: Pd, context: Context) => void): void {
    const [context] = devices;
    using pd = context.allocPd();
    body(pd, context);
  }

  test('tell domain, device, address, length, access and bytes', () => {
    withPd((pd, context) => {
      const memory = alloc(4 * PAGE);
      const mr = pd.regMr(memory, ALL_ACCESS);
      assert.equal(mr.pd, pd);
      assert.equal(mr.context, context);
      assert.equal(mr.length, 4 * PAGE);
      assert.equal(mr.addr % BigInt(PAGE), 0n);
      assert.equal(mr.iova, mr.addr);
      assert.equal(mr.access, ALL_ACCESS);
      memory[PAGE] = 5;
      assert.equal(mr.bytes[PAGE], 5);
      mr.dereg();
    });
  });

  test('cannot be ended twice', () => {
    withPd((pd) => {
      const mr = pd.regMr(alloc(PAGE));
      mr.dereg();
      assertErrno('EINVAL', () => mr.dereg());
    });
  });

  for (const { name, access } of RIGHT_SETS) {
    const changes = (access & CHANGING) !== 0;
    test(`with ${name} and no LOCAL_WRITE are ${changes ? 'refused' : 'made'}`, () => {
      withPd((pd) => {
        if (changes) assertErrno('EINVAL', () => pd.regMr(alloc(64), access));
        else pd.regMr(alloc(64), access).dereg();
      });
    });

    test(`with ${name} and LOCAL_WRITE are made`, () => {
      withPd((pd) => {
        using mr = pd.regMr(alloc(64), access | LOCAL_WRITE);
        assert.equal(mr.access, access | LOCAL_WRITE);
      });
    });
  }

  test('with flags that do not exist are refused', () => {
    withPd((pd) => {
      for (const access of [1 << 15, 1 << 19, 2 ** 30, -1, 0.5])
        assertErrno('EINVAL', () => pd.regMr(alloc(64), access));
    });
  });

  test('with wishes that the device does not know are made', () => {
    withPd((pd) => {
      for (let bit = 20; bit < 30; bit += 1) pd.regMr(alloc(64), LOCAL_WRITE | (1 << bit)).dereg();
    });
  });

  test('of the same memory have keys of their own', () => {
    withPd((pd) => {
      const memory = alloc(64);
      using first = pd.regMr(memory, ALL_ACCESS);
      using second = pd.regMr(memory, ALL_ACCESS);
      assert.equal(first.addr, second.addr);
      assert.notEqual(first.lkey, second.lkey);
      assert.notEqual(first.rkey, second.rkey);
    });
  });

  const KINDS: readonly (readonly [string, () => RegistrableMemory])[] = [
    ['a SharedArrayBuffer', () => new SharedArrayBuffer(256)],
    ['a view that begins anywhere', () => new Uint8Array(new SharedArrayBuffer(512), 101, 256)],
    ['memory from alloc()', () => alloc(256)],
  ];
  for (const [kind, make] of KINDS) {
    for (const [name, request] of ONE_SIDED_REQUESTS) {
      test(`of ${kind} are open to a peer’s ${name}`, () => {
        using pair = new Pair(devices);
        const { local, remote } = pair;
        const mr: Mr = remote.keep(remote.pd.regMr(make(), ALL_ACCESS));
        const aligned = Number(-mr.addr & 7n);
        assertSuccess(local, perform(local, request(local.mr.sge(0, 8), remoteOf(mr, aligned))));
      });
    }
  }

  const NEEDS: Readonly<Record<string, number>> = {
    READ: REMOTE_READ,
    WRITE: REMOTE_WRITE,
    FETCH_ADD: REMOTE_ATOMIC,
    CMP_SWAP: REMOTE_ATOMIC,
  };
  for (const [name, request] of ONE_SIDED_REQUESTS) {
    for (const [right, flag] of RIGHTS) {
      const opens = NEEDS[name] === flag;
      test(`with ${right} alone ${opens ? 'open to' : 'are closed to'} a peer’s ${name}`, () => {
        using pair = new Pair(devices);
        const { local, remote } = pair;
        const mr = remote.region(64, LOCAL_WRITE | flag);
        const wc = perform(local, request(local.mr.sge(0, 8), remoteOf(mr)));
        assertStatus(local, wc, opens ? WcStatus.SUCCESS : WcStatus.REM_ACCESS_ERR);
      });
    }
  }

  for (const [name, request] of ONE_SIDED_REQUESTS) {
    const fills = name !== 'WRITE';
    test(`without LOCAL_WRITE ${fills ? 'cannot take what comes back from' : 'can be the source of'} a ${name}`, () => {
      using pair = new Pair(devices);
      const { local, remote } = pair;
      const mr = local.region(64, 0);
      const wc = perform(local, request(mr.sge(0, 8), remoteOf(remote.mr)));
      assertStatus(local, wc, fills ? WcStatus.LOC_PROT_ERR : WcStatus.SUCCESS);
      assert.deepEqual(mr.bytes, new Uint8Array(64));
    });
  }
});
