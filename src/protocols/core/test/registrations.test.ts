import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AccessFlags, WcStatus } from '../../../device/ibta/index.js';
import { type Registration, RegistrationCache } from '../index.js';
import { simulate } from '../../../entry/sim.js';
import { connectEndpoints, Endpoint, twoEngines } from './support/endpoints.js';

function withCache(limit: number, test: (cache: RegistrationCache) => void): Promise<void> {
  return simulate((sim) => {
    const pd = sim.host('host').context.allocPd();
    const cache = new RegistrationCache(pd, limit);
    test(cache);
    cache.clear();
    assert.deepEqual([cache.used, cache.idleBytes], [0, 0]);
    // Nothing is left in it.
    pd.dealloc();
  });
}

function registered(registration: Registration | undefined): Registration {
  assert.ok(registration);
  return registration;
}

describe('a cache of registrations', () => {
  it('gives whoever uses the same memory again the same region', () =>
    withCache(1000, (cache) => {
      const buffer = new ArrayBuffer(100);
      const first = registered(cache.local(new Uint8Array(buffer, 10, 20)));
      const { lkey, addr } = first;
      first.release();
      const again = registered(cache.local(new Uint8Array(buffer, 30, 40)));
      assert.deepEqual([again.lkey, again.addr], [lkey, addr + 20]);
      again.release();
    }));

  it('gives each user at a time a region of its own', () =>
    withCache(1000, (cache) => {
      const bytes = new Uint8Array(100);
      const [first, second] = [registered(cache.local(bytes)), registered(cache.local(bytes))];
      assert.notEqual(first.lkey, second.lkey);
      assert.equal(first.addr, second.addr);
      first.redirect(0, 100);
      second.mr.bytes[0] = 1;
      assert.deepEqual([bytes[0], first.mr.bytes[0]], [1, 0]);
      first.release();
      second.release();
      assert.equal(cache.idleBytes, 100);
    }));

  it('gives up what was used least recently, beyond its limit', () =>
    withCache(250, (cache) => {
      const memory = [1, 2, 3].map(() => new Uint8Array(100));
      const keyOf = (bytes: Uint8Array): number => {
        const registration = registered(cache.local(bytes));
        registration.release();
        return registration.lkey;
      };
      const [first, second] = memory.map(keyOf);
      assert.equal(keyOf(memory[1]), second);
      assert.notEqual(keyOf(memory[0]), first);
      const large = registered(cache.local(new Uint8Array(300)));
      large.release();
      assert.equal(cache.idleBytes, 200);
    }));

  it('opens to peers exactly what was asked for, and only until its user is done', () =>
    withCache(1000, (cache) => {
      const bytes = new Uint8Array(100);
      const access = AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE;
      const registration = cache.remote(bytes.subarray(10, 30), access);
      const { mr } = registration;
      assert.deepEqual([mr.length, mr.access], [20, access]);
      registration.release();
      assert.throws(() => mr.sge(), { errno: 'EINVAL' });
      assert.equal(cache.idleBytes, 0);
      assert.throws(() => registration.release(), /released twice/);
    }));

  it('does without memory that cannot be registered', () =>
    withCache(1000, (cache) => {
      assert.equal(cache.local(new Uint8Array(0)), undefined);
      const resizable = Reflect.construct(ArrayBuffer, [8, { maxByteLength: 16 }]) as ArrayBuffer;
      assert.equal(cache.local(new Uint8Array(resizable)), undefined);
      const detached = new Uint8Array(8);
      structuredClone(detached, { transfer: [detached.buffer] });
      assert.equal(cache.local(detached), undefined);
    }));

  it('says why nothing can be registered any more', () =>
    simulate((sim) => {
      const { context } = sim.host('host');
      const cache = new RegistrationCache(context.allocPd(), 1000);
      context.close();
      assert.throws(() => cache.local(new Uint8Array(10)), { errno: 'EINVAL' });
    }));

  it('leaves alone what it was told to leave alone, also when the device is closed', () =>
    simulate((sim) => {
      const { context } = sim.host('host');
      const cache = new RegistrationCache(context.allocPd(), 1000);
      const registration = registered(cache.local(new Uint8Array(10)));
      context.close();
      registration.redirect(0, 10);
      registration.release();
      assert.deepEqual([cache.used, cache.idleBytes], [0, 0]);
    }));

  it('takes memory from under a request that is under way, and the connection goes on', () =>
    simulate(async (sim) => {
      const { hosts, engines } = twoEngines(sim);
      const [client, server] = [new Endpoint(engines[0]), new Endpoint(engines[1])];
      const { atClient } = await connectEndpoints(hosts, [client, server], 1);
      const BYTES = 300_000;
      const access = AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_READ | AccessFlags.REMOTE_WRITE;
      const theirs = new Uint8Array(BYTES).fill(7);
      const remote = engines[1].registrations.remote(theirs, access);
      const begin = (mine: Uint8Array, way: 'wrRdmaRead' | 'wrRdmaWrite'): Registration => {
        const local = registered(engines[0].registrations.local(mine));
        const { qp } = atClient;
        qp.wrStart();
        qp.wrId = client.requests.expect(1);
        qp[way](remote.mr.rkey, remote.addr);
        qp.wrSetSge(local.lkey, local.addr, BYTES);
        qp.wrComplete();
        return local;
      };
      // At a place in its buffer that is no page's beginning.
      const mine = new Uint8Array(BYTES + 5000).subarray(123, 123 + BYTES);
      const read = begin(mine, 'wrRdmaRead');
      while (mine[0] === 0) engines[0].progress();
      const before = mine.slice();
      assert.ok(before.includes(0), 'it is not all there');
      read.redirect(0, BYTES);
      while (client.told.length < 1) engines[0].progress();
      assert.deepEqual(mine, before);
      read.release();
      const source = new Uint8Array(BYTES).fill(9);
      const written = begin(source, 'wrRdmaWrite');
      while (theirs[0] === 7) engines[0].progress();
      written.redirect(0, BYTES);
      source.fill(0xee);
      while (client.told.length < 2) engines[0].progress();
      assert.deepEqual(new Set(theirs), new Set([9]), 'what was there when it was given up');
      written.release();
      remote.release();
      assert.deepEqual(
        client.told.map(({ status }) => status),
        [WcStatus.SUCCESS, WcStatus.SUCCESS],
      );
      // What leads elsewhere is of no use to others.
      assert.equal(engines[0].registrations.idleBytes, 0);
    }));
});
