import { test } from 'node:test';
import { AccessFlags, alloc, WcStatus } from '../../src/entry/index.js';
import {
  bind,
  ONE_SIDED_REQUESTS,
  openWindow,
  secondConnection,
  performOn,
  pieceOf,
  readOf,
  windowOf,
  WINDOW_TYPES,
  wholeOf,
  writeThrough,
} from './memory-support.js';
import { conformance } from './provider.js';
import { ALL_ACCESS, assertStatus, assertSuccess, type End, Pair, perform, remoteOf, useDevices } from './support.js';

const { LOCAL_WRITE, REMOTE_WRITE, REMOTE_READ, REMOTE_ATOMIC, MW_BIND } = AccessFlags;
const REMOTE_ALL = REMOTE_WRITE | REMOTE_READ | REMOTE_ATOMIC;

/** Rights of a region, rights of a window on it, and whether that can be (protocol/services.md 3.7, man ibv_bind_mw). */
const BINDS: readonly (readonly [string, number, string, number, boolean])[] = [
  ['all', ALL_ACCESS, 'all', REMOTE_ALL, true],
  ['MW_BIND', MW_BIND, 'nothing', 0, true],
  ['MW_BIND', MW_BIND, 'REMOTE_READ', REMOTE_READ, true],
  ['MW_BIND', MW_BIND, 'REMOTE_WRITE', REMOTE_WRITE, false],
  ['MW_BIND', MW_BIND, 'REMOTE_ATOMIC', REMOTE_ATOMIC, false],
  ['MW_BIND', MW_BIND, 'all', REMOTE_ALL, false],
  ['LOCAL_WRITE+MW_BIND', LOCAL_WRITE | MW_BIND, 'nothing', 0, true],
  ['LOCAL_WRITE+MW_BIND', LOCAL_WRITE | MW_BIND, 'REMOTE_READ', REMOTE_READ, true],
  ['LOCAL_WRITE+MW_BIND', LOCAL_WRITE | MW_BIND, 'REMOTE_WRITE', REMOTE_WRITE, true],
  ['LOCAL_WRITE+MW_BIND', LOCAL_WRITE | MW_BIND, 'REMOTE_ATOMIC', REMOTE_ATOMIC, true],
  ['LOCAL_WRITE+MW_BIND', LOCAL_WRITE | MW_BIND, 'all', REMOTE_ALL, true],
  ['REMOTE_READ+MW_BIND', REMOTE_READ | MW_BIND, 'REMOTE_WRITE', REMOTE_WRITE, false],
  ['REMOTE_READ+MW_BIND', REMOTE_READ | MW_BIND, 'REMOTE_ATOMIC', REMOTE_ATOMIC, false],
  ['nothing', 0, 'nothing', 0, false],
  ['nothing', 0, 'REMOTE_READ', REMOTE_READ, false],
  ['LOCAL_WRITE', LOCAL_WRITE, 'REMOTE_WRITE', REMOTE_WRITE, false],
  ['all but MW_BIND', LOCAL_WRITE | REMOTE_ALL, 'all', REMOTE_ALL, false],
];

const RIGHT_OF: Readonly<Record<string, number>> = {
  READ: REMOTE_READ,
  WRITE: REMOTE_WRITE,
  FETCH_ADD: REMOTE_ATOMIC,
  CMP_SWAP: REMOTE_ATOMIC,
};

for (const [typeName, type] of WINDOW_TYPES) {
  conformance(`rights of a window of ${typeName}`, (provider) => {
    const devices = useDevices(provider, 1);

    for (const [regionRights, regionAccess, windowRights, windowAccess, can] of BINDS) {
      test(`${windowRights} on a region with ${regionRights}: ${can ? 'bound' : 'refused'}`, () => {
        using pair = new Pair(devices);
        const { remote } = pair;
        const mr = remote.region(4096, regionAccess);
        const { wc } = bind(remote, windowOf(remote, type), wholeOf(mr, windowAccess));
        assertStatus(remote, wc, can ? WcStatus.SUCCESS : WcStatus.MW_BIND_ERR);
      });
    }

    test('LOCAL_WRITE and MW_BIND mean nothing on it', () => {
      using pair = new Pair(devices);
      const { local, remote } = pair;
      const { rkey } = openWindow(remote, type, wholeOf(remote.mr, LOCAL_WRITE | MW_BIND));
      const { remoteAddr } = remoteOf(remote.mr);
      const wc = perform(local, readOf(local.mr, { remoteAddr, rkey }));
      assertStatus(local, wc, WcStatus.REM_ACCESS_ERR);
    });

    for (const [name, request] of ONE_SIDED_REQUESTS) {
      for (const [right, flag] of [
        ['REMOTE_READ', REMOTE_READ],
        ['REMOTE_WRITE', REMOTE_WRITE],
        ['REMOTE_ATOMIC', REMOTE_ATOMIC],
      ] as const) {
        const opens = RIGHT_OF[name] === flag;
        test(`${right} alone ${opens ? 'opens' : 'does not open'} it to a ${name}, whatever the region allows`, () => {
          using pair = new Pair(devices);
          const { local, remote } = pair;
          const { rkey } = openWindow(remote, type, wholeOf(remote.mr, flag));
          const { remoteAddr } = remoteOf(remote.mr);
          const wc = perform(local, request(local.mr.sge(0, 8), { remoteAddr, rkey }));
          assertStatus(local, wc, opens ? WcStatus.SUCCESS : WcStatus.REM_ACCESS_ERR);
        });
      }

      test(`a ${name} gets through to a region that is itself closed to peers`, () => {
        using pair = new Pair(devices);
        const { local, remote } = pair;
        const mr = remote.region(4096, LOCAL_WRITE | MW_BIND);
        const { rkey } = openWindow(remote, type, wholeOf(mr));
        const { remoteAddr } = remoteOf(mr);
        assertSuccess(local, perform(local, request(local.mr.sge(0, 8), { remoteAddr, rkey })));
      });

      test(`a ${name} does not get through before the window is bound`, () => {
        using pair = new Pair(devices);
        const { local, remote } = pair;
        const { rkey } = windowOf(remote, type);
        const { remoteAddr } = remoteOf(remote.mr);
        const wc = perform(local, request(local.mr.sge(0, 8), { remoteAddr, rkey }));
        assertStatus(local, wc, WcStatus.REM_ACCESS_ERR);
      });
    }

    const BINDABLE = LOCAL_WRITE | MW_BIND;
    for (const [name, make] of [
      [', each through a window of the other end', (end: End) => end.region(1024, BINDABLE)],
      [
        ' over regions at chosen addresses',
        (end: End) => end.keep(end.pd.regMr(alloc(1024), BINDABLE, { iova: 0x70_0000n })),
      ],
    ] as const) {
      test(`WRITEs get through both ways${name}`, () => {
        using pair = new Pair(devices);
        const { local, remote } = pair;
        const [here, there] = [make(local), make(remote)];
        const ours = openWindow(local, type, wholeOf(here, REMOTE_WRITE));
        const theirs = openWindow(remote, type, wholeOf(there, REMOTE_WRITE));
        for (const bytes of [1024, 1000]) {
          writeThrough(local, local.mr, { ...remoteOf(there), rkey: theirs.rkey }, there.bytes, bytes);
          writeThrough(remote, remote.mr, { ...remoteOf(here), rkey: ours.rkey }, here.bytes, bytes);
        }
      });
    }

    test(`on another queue pair of the domain than it was bound on, it is ${type === 1 ? 'open' : 'closed'}`, () => {
      using pair = new Pair(devices);
      const { local, remote } = pair;
      const { here } = secondConnection(pair);
      const { rkey } = openWindow(remote, type, wholeOf(remote.mr));
      const wc = performOn(here, readOf(local.mr, { ...remoteOf(remote.mr), rkey }));
      assertStatus(local, wc, type === 1 ? WcStatus.SUCCESS : WcStatus.REM_ACCESS_ERR);
    });

    test('over a region at a chosen address it lies where that address says', () => {
      using pair = new Pair(devices);
      const { local, remote } = pair;
      const iova = 0x7fff_0000_0000_0000n;
      const mr = remote.keep(remote.pd.regMr(alloc(4096), ALL_ACCESS, { iova }));
      const { rkey } = openWindow(remote, type, pieceOf(mr, 1024, 1024));
      writeThrough(local, local.mr, { remoteAddr: iova + 1024n, rkey }, mr.bytes.subarray(1024), 1024);
    });
  });
}
