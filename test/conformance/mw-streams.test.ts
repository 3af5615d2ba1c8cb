import assert from 'node:assert/strict';
import { test } from 'node:test';
import { incRkey, type Mw, MwType, WcOpcode, WcStatus, WrOpcode } from '../../src/entry/index.js';
import { bindRequest, openWindow, readOf, Stream, wholeOf, WINDOW_TYPES } from './memory-support.js';
import { conformance } from './provider.js';
import { assertStatus, assertSuccess, Pair, perform, remoteOf, useDevices } from './support.js';

const DEPTH = 400;
const BEFORE = 100;
const ALL = 1000;

conformance('READs that stream through a window', (provider) => {
  const devices = useDevices(provider, 1);

  interface StreamWorld extends Disposable {
    readonly pair: Pair;
    readonly mw: Mw;
    readonly rkey: number;
    readonly stream: Stream;
  }

  /** READs that are under way through a window of the remote end. */
  function makeStream(type: MwType): StreamWorld {
    // A peer that has gone to ERR is silent, which the READs are to find out soon.
    const pair = new Pair(devices, { cap: { maxSendWr: DEPTH }, cqe: 1024, timeout: 12, retryCnt: 3 });
    const { local, remote } = pair;
    const { mw, rkey } = openWindow(remote, type, wholeOf(remote.mr));
    const stream = new Stream(local, DEPTH, readOf(local.mr, { ...remoteOf(remote.mr), rkey }));
    stream.runUntil(BEFORE);
    stream.fill();
    return { pair, mw, rkey, stream, [Symbol.dispose]: () => pair[Symbol.dispose]() };
  }

  /** That the READs before found the window open and one of those that came after did not. */
  function assertClosed({ stream }: StreamWorld, status: WcStatus): void {
    stream.runUntil(ALL);
    stream.drain();
    stream.assertBrokeOff(BEFORE, status);
  }

  for (const [name, type] of WINDOW_TYPES) {
    test(`${name}: all of them succeed as long as it is open`, () => {
      using world = makeStream(type);
      world.stream.runUntil(ALL);
      world.stream.drain();
      for (const wc of world.stream.completions) assertSuccess(world.pair.local, wc);
    });

    test(`${name}: they break off when it ends`, () => {
      using world = makeStream(type);
      world.mw.dealloc();
      assertClosed(world, WcStatus.REM_ACCESS_ERR);
    });
  }

  test('type 1: they break off when it is bound anew', () => {
    using world = makeStream(MwType.TYPE_1);
    const { remote } = world.pair;
    remote.qp.bindMw(world.mw, { bindInfo: wholeOf(remote.mr) });
    assertClosed(world, WcStatus.REM_ACCESS_ERR);
  });

  test('type 2: they break off when it is invalidated', () => {
    using world = makeStream(MwType.TYPE_2);
    const { remote } = world.pair;
    const wc = perform(remote, { opcode: WrOpcode.LOCAL_INV, invalidateRkey: world.rkey });
    assertSuccess(remote, wc);
    assert.equal(wc.opcode, WcOpcode.LOCAL_INV);
    assertClosed(world, WcStatus.REM_ACCESS_ERR);
  });

  test('type 2: they break off when binding it again fails, which takes the owner’s queue pair to ERR', () => {
    using world = makeStream(MwType.TYPE_2);
    const { remote } = world.pair;
    const wc = perform(remote, bindRequest(world.mw, incRkey(world.rkey), wholeOf(remote.mr)));
    assertStatus(remote, wc, WcStatus.MW_BIND_ERR);
    assertClosed(world, WcStatus.RETRY_EXC_ERR);
  });
});
