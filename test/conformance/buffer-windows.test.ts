import assert from 'node:assert/strict';
import { test } from 'node:test';
import { alloc, type Mr, type RemoteMemory, WcStatus } from '../../src/entry/index.js';
import { bind, ONE_SIDED, openWindow, PAGE, pieceOf, windowOf, WINDOW_TYPES } from './memory-support.js';
import { conformance } from './provider.js';
import { ALL_ACCESS, assertStatus, assertSuccess, Pair, perform, useDevices } from './support.js';

/** Of a region of four pages the windows here open the second and the third. */
const BEGIN = PAGE;
const LENGTH = 2 * PAGE;

for (const [typeName, type] of WINDOW_TYPES) {
  conformance(`the bounds of a window of ${typeName}`, (provider) => {
    const devices = useDevices(provider, 1);

    interface WindowWorld extends Disposable {
      readonly pair: Pair;
      readonly mr: Mr;
      /** What the window opens, from `offset` on, counted from its first byte. */
      at(offset: number): RemoteMemory;
    }

    function makeWorld(): WindowWorld {
      const pair = new Pair(devices);
      const { remote } = pair;
      const mr = remote.keep(remote.pd.regMr(alloc(4 * PAGE), ALL_ACCESS));
      const { rkey } = openWindow(remote, type, pieceOf(mr, BEGIN, LENGTH));
      const at = (offset: number): RemoteMemory => ({ remoteAddr: mr.iova + BigInt(BEGIN + offset), rkey });
      return { pair, mr, at, [Symbol.dispose]: () => pair[Symbol.dispose]() };
    }

    for (const [where, offset] of [
      ['begins one byte before', -1],
      ['ends one byte behind', 3 * PAGE + 1],
    ] as const) {
      test(`a bind to what ${where} the region is refused`, () => {
        using pair = new Pair(devices);
        const { remote } = pair;
        const mr = remote.keep(remote.pd.regMr(alloc(6 * PAGE).subarray(PAGE, 5 * PAGE), ALL_ACCESS));
        const bound = bind(remote, windowOf(remote, type), pieceOf(mr, offset, PAGE));
        assertStatus(remote, bound.wc, WcStatus.MW_BIND_ERR);
      });
    }

    for (const name of ['READ', 'WRITE'] as const) {
      for (const [where, offset] of [
        ['begins one byte before', -1],
        ['ends one byte behind', PAGE + 1],
      ] as const) {
        test(`a ${name} that ${where} it is refused, though the region goes on`, () => {
          using world = makeWorld();
          const { local } = world.pair;
          local.mr.bytes.fill(7);
          const wr = ONE_SIDED[name](local.mr.sge(0, PAGE), world.at(offset));
          assertStatus(local, perform(local, wr), WcStatus.REM_ACCESS_ERR);
          assert.ok(world.mr.bytes.every((byte) => byte === 0));
        });
      }

      test(`a ${name} of all of it succeeds`, () => {
        using world = makeWorld();
        const { local } = world.pair;
        assertSuccess(local, perform(local, ONE_SIDED[name](local.mr.sge(0, LENGTH), world.at(0))));
      });

      test(`a ${name} of zero bytes inside it succeeds`, () => {
        using world = makeWorld();
        const { local } = world.pair;
        assertSuccess(local, perform(local, ONE_SIDED[name](local.mr.sge(0, 0), world.at(8))));
      });

      test(`a ${name} of zero bytes before it succeeds`, () => {
        using world = makeWorld();
        const { local } = world.pair;
        assertSuccess(local, perform(local, ONE_SIDED[name](local.mr.sge(0, 0), world.at(-1))));
      });
    }
  });
}
