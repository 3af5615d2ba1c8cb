import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { simulate, type Sim } from '../../../../entry/sim.js';
import type { AtomicRequest, Packer } from '../../uct/index.js';
import { AtomicOp, RkeyAccess, UcsStatus } from '../../wire/index.js';
import { done, type Ends, flushed, pattern, Told, TRANSPORTS, until } from '../support/transports.js';

const { UCS_OK, UCS_INPROGRESS, UCS_ERR_NO_RESOURCE, UCS_ERR_INVALID_PARAM, UCS_ERR_UNSUPPORTED, UCS_ERR_IO_ERROR } =
  UcsStatus;
const NONE = new Uint8Array(0);
const WIDTHS = [4, 8] as const;

function packing(bytes: Uint8Array): Packer {
  return {
    pack: (into) => {
      into.set(bytes);
      return bytes.length;
    },
  };
}

/** What a transport says to each call of a part. */
function refusals({ here: { endpoint, domain } }: Ends, part: 'put' | 'get' | 'atomics'): Set<UcsStatus> {
  using memory = domain.register(new Uint8Array(8));
  const place = { memory, offset: 0, length: 8 };
  const told = new Told();
  const calls = {
    put: [
      () => endpoint.putShort(NONE, memory),
      () => endpoint.putBcopy(packing(NONE), memory),
      () => endpoint.putZcopy(place, memory, told),
    ],
    get: [() => endpoint.getBcopy(1, memory, () => undefined, told), () => endpoint.getZcopy(place, memory, told)],
    atomics: WIDTHS.map((bytes) => () => {
      const { address, rkey } = memory;
      return endpoint.atomic({ op: AtomicOp.ADD, bytes, value: 1n, address, rkey }, told);
    }),
  };
  const statuses = new Set(calls[part].map((call) => call()));
  assert.deepEqual(told.statuses, []);
  return statuses;
}

function collecting({ there }: Ends, id: number): Uint8Array[] {
  const got: Uint8Array[] = [];
  there.handlers.set(id, (bytes) => got.push(bytes.slice()));
  return got;
}

for (const [name, made] of Object.entries(TRANSPORTS))
  describe(`the transport ${name}`, () => {
    const test = (what: string, body: (ends: Ends, sim: Sim) => Promise<void>): void => {
      it(what, () =>
        simulate(async (sim) => {
          const ends = await made(sim);
          await body(ends, sim);
          await ends.close();
        }),
      );
    };

    /** A test of what not every transport does: the others refuse it. */
    const testOf = (
      part: 'put' | 'get' | 'atomics',
      what: string,
      body: (ends: Ends, sim: Sim) => Promise<void>,
    ): void => {
      test(what, async (ends, sim) => {
        const { endpoint } = ends.here;
        const does = {
          put: endpoint.capabilities.put.zcopy > 0,
          get: endpoint.capabilities.get.zcopy > 0,
          atomics: endpoint.capabilities.atomics[8].length > 0,
        };
        if (does[part]) await body(ends, sim);
        else assert.deepEqual(refusals(ends, part), new Set([UCS_ERR_UNSUPPORTED]));
      });
    };

    test('brings active messages of each kind and length, in the order in which they were sent', async (ends, sim) => {
      const { here } = ends;
      const { am } = here.endpoint.capabilities;
      const got = collecting(ends, 31);
      const header = pattern(8, 99);
      const using = here.domain.register(pattern(am.zcopy, 3));
      for (const length of [0, 1, am.short - 8])
        assert.equal(await done(sim, here.endpoint, () => here.endpoint.amShort(31, header, pattern(length))), UCS_OK);
      for (const length of [0, 1, am.bcopy])
        assert.equal(
          await done(sim, here.endpoint, () => here.endpoint.amBcopy(31, packing(pattern(length, 2)))),
          UCS_OK,
        );
      for (const length of [0, 1, am.zcopy - 8]) {
        const place = { memory: using, offset: 0, length };
        assert.equal(await done(sim, here.endpoint, (told) => here.endpoint.amZcopy(31, header, place, told)), UCS_OK);
      }
      await flushed(sim, here.endpoint);
      await until(sim, () => got.length === 9);
      assert.deepEqual(
        got.map((bytes) => bytes.length),
        [8, 9, am.short, 0, 1, am.bcopy, 8, 9, am.zcopy],
      );
      assert.deepEqual(got[2], Uint8Array.of(...header, ...pattern(am.short - 8)));
      assert.deepEqual(got[5], pattern(am.bcopy, 2));
      assert.deepEqual(got[8], Uint8Array.of(...header, ...pattern(am.zcopy - 8, 3)));
      using.deregister();
    });

    test('hands messages to the handler of their id, and drops those of others', async (ends, sim) => {
      const [one, two] = [collecting(ends, 1), collecting(ends, 2)];
      const { endpoint } = ends.here;
      for (const id of [1, 2, 3, 1]) await done(sim, endpoint, () => endpoint.amShort(id, NONE, Uint8Array.of(id)));
      await until(sim, () => one.length === 2);
      assert.deepEqual([one.length, two.length, ends.there.handlers.unknown], [2, 1, 1]);
    });

    test('refuses what is longer than it can do, or is none', async ({ here }) => {
      const { endpoint, domain } = here;
      const { am, put, get } = endpoint.capabilities;
      const told = new Told();
      using memory = domain.register(new Uint8Array(16));
      const remote = memory;
      const wrong = [
        endpoint.amShort(0, NONE, new Uint8Array(am.short + 1)),
        endpoint.amShort(32, NONE, NONE),
        endpoint.amShort(-1, NONE, NONE),
        endpoint.amBcopy(32, packing(NONE)),
        endpoint.amZcopy(0, new Uint8Array(am.header + 1), { memory, offset: 0, length: 0 }, told),
        endpoint.amZcopy(0, NONE, { memory, offset: 1, length: 16 }, told),
        endpoint.amZcopy(0, NONE, { memory, offset: -1, length: 1 }, told),
      ];
      if (put.zcopy > 0)
        wrong.push(
          endpoint.putZcopy({ memory, offset: 0, length: 17 }, remote, told),
          endpoint.putZcopy({ memory, offset: 0.5, length: 1 }, remote, told),
        );
      if (get.zcopy > 0)
        wrong.push(
          endpoint.getZcopy({ memory, offset: 17, length: 0 }, remote, told),
          endpoint.getBcopy(get.bcopy + 1, remote, () => undefined, told),
        );
      if (put.zcopy > 0 && put.short < 2 ** 20) wrong.push(endpoint.putShort(new Uint8Array(put.short + 1), remote));
      assert.deepEqual(new Set(wrong), new Set([UCS_ERR_INVALID_PARAM]));
      assert.deepEqual(told.statuses, []);
      await Promise.resolve();
    });

    test('calls neither handlers nor completions before a call has returned', async (ends, sim) => {
      const { endpoint } = ends.here;
      let isCalling = false;
      let count = 0;
      const check = (): void => {
        assert.ok(!isCalling);
        count += 1;
      };
      using memory = ends.here.domain.register(new Uint8Array(8));
      ends.there.handlers.set(1, check);
      isCalling = true;
      endpoint.amShort(1, NONE, NONE);
      endpoint.amZcopy(1, NONE, { memory, offset: 0, length: 8 }, { onComplete: () => assert.ok(!isCalling) });
      endpoint.flush({ onComplete: check });
      isCalling = false;
      await until(sim, () => count === 3);
    });

    test('has no room at some time, and then tells those who wait, in their order, whom nobody overtakes', async (ends, sim) => {
      const { endpoint } = ends.here;
      const got = collecting(ends, 1);
      let sent = 0;
      const send = (): UcsStatus => endpoint.amShort(1, NONE, Uint8Array.of(sent & 0xff));
      while (send() === UCS_OK) sent += 1;
      assert.ok(sent > 0 && sent < 1000);
      const expected = Array.from({ length: sent }, (_, i) => i);
      let waiting = 0;
      for (let i = 0; i < 200; i += 1) {
        expected.push(i & 0xff);
        waiting += 1;
        endpoint.pendingAdd({
          retry: () => {
            const status = endpoint.amShort(1, NONE, Uint8Array.of(i & 0xff));
            if (status !== UCS_ERR_NO_RESOURCE) waiting -= 1;
            return status;
          },
        });
      }
      while (waiting > 0) {
        assert.equal(endpoint.amShort(1, NONE, NONE), UCS_ERR_NO_RESOURCE);
        await sim.sleep(1);
      }
      await until(sim, () => got.length === expected.length);
      assert.deepEqual(
        got.map(([first]) => first),
        expected.map((number) => number & 0xff),
      );
    });

    test('lets nobody overtake those who wait, also where there is room', async (ends, sim) => {
      const { endpoint } = ends.here;
      const got = collecting(ends, 1);
      endpoint.pendingAdd({ retry: () => endpoint.amShort(1, NONE, NONE) });
      assert.equal(endpoint.amShort(1, NONE, NONE), UCS_ERR_NO_RESOURCE);
      await until(sim, () => got.length === 1);
      assert.equal(endpoint.amShort(1, NONE, NONE), UCS_OK);
      await flushed(sim, endpoint);
    });

    test('packs what it sends, and nothing for which there is no room', async (ends, sim) => {
      const { endpoint } = ends.here;
      const got = collecting(ends, 1);
      let packed = 0;
      const packer: Packer = { pack: () => (packed += 1) * 0 };
      let sent = 0;
      while (endpoint.amBcopy(1, packer) === UCS_OK) sent += 1;
      assert.equal(packed, sent);
      await until(sim, () => got.length === sent);
    });

    test('gives back what waits, and tells it nothing more', async (ends, sim) => {
      const { endpoint } = ends.here;
      while (endpoint.amShort(1, NONE, NONE) === UCS_OK);
      const waiting = [1, 2, 3].map(() => ({ retry: () => assert.fail('it was taken back') }));
      for (const one of waiting) endpoint.pendingAdd(one);
      assert.deepEqual(endpoint.pendingPurge(), waiting);
      await flushed(sim, endpoint);
      assert.equal(await done(sim, endpoint, () => endpoint.amShort(1, NONE, NONE)), UCS_OK);
    });

    testOf('put', 'puts bytes into the peer’s memory, however they go', async ({ here, there }, sim) => {
      const { endpoint, domain } = here;
      const { put } = endpoint.capabilities;
      const length = Math.min(put.short, 256);
      using target = there.domain.register(new Uint8Array(100_000));
      using source = domain.register(pattern(80_000, 3));
      const at = (offset: number) => ({ address: target.address + BigInt(offset), rkey: target.rkey });
      assert.equal(endpoint.putShort(pattern(length, 1), at(1)), UCS_OK);
      assert.equal(endpoint.putBcopy(packing(pattern(put.bcopy, 2)), at(1000)), UCS_OK);
      const place = { memory: source, offset: 7, length: 79_000 };
      assert.equal(await done(sim, endpoint, (told) => endpoint.putZcopy(place, at(20_000), told)), UCS_OK);
      await flushed(sim, endpoint);
      assert.deepEqual(target.bytes.subarray(1, 1 + length), pattern(length, 1));
      assert.deepEqual(target.bytes.subarray(1000, 1000 + put.bcopy), pattern(put.bcopy, 2));
      assert.deepEqual(target.bytes.subarray(20_000, 99_000), source.bytes.subarray(7, 79_007));
      assert.equal(target.bytes[99_000], 0);
    });

    testOf('get', 'gets bytes out of the peer’s memory, copied or not', async ({ here, there }, sim) => {
      const { endpoint, domain } = here;
      const { bcopy } = endpoint.capabilities.get;
      using source = there.domain.register(pattern(100_000));
      using target = domain.register(new Uint8Array(80_000));
      const from = { address: source.address + 5n, rkey: source.rkey };
      let got = NONE;
      const unpack = (bytes: Uint8Array): void => void (got = bytes.slice());
      assert.equal(await done(sim, endpoint, (told) => endpoint.getBcopy(bcopy, from, unpack, told)), UCS_OK);
      assert.deepEqual(got, source.bytes.slice(5, 5 + bcopy));
      const into = { memory: target, offset: 9, length: 79_000 };
      assert.equal(await done(sim, endpoint, (told) => endpoint.getZcopy(into, from, told)), UCS_OK);
      assert.deepEqual(target.bytes.slice(9, 79_009), source.bytes.slice(5, 79_005));
      assert.equal(target.bytes[8], 0);
    });

    testOf('atomics', 'does the atomics that it says, and refuses the others', async ({ here, there }, sim) => {
      const { endpoint } = here;
      const { atomics } = endpoint.capabilities;
      const after: Readonly<Record<AtomicOp, bigint>> = {
        [AtomicOp.ADD]: 0b1100n + 0b1010n,
        [AtomicOp.AND]: 0b1000n,
        [AtomicOp.OR]: 0b1110n,
        [AtomicOp.XOR]: 0b0110n,
        [AtomicOp.SWAP]: 0b1010n,
        [AtomicOp.CSWAP]: 0b1010n,
      };
      using words = there.domain.register(new Uint8Array(24));
      const view = new DataView(words.bytes.buffer, words.bytes.byteOffset);
      const HIGH = 0x7000_0000n;
      for (const bytes of WIDTHS)
        for (const op of Object.values(AtomicOp)) {
          view.setBigUint64(8, (HIGH << 32n) | 0b1100n, true);
          const before = bytes === 4 ? 0b1100n : (HIGH << 32n) | 0b1100n;
          let seen: bigint | undefined;
          const onValue = (value: bigint): void => void (seen = value);
          const value = 0b1010n;
          const where = { address: words.address + 8n, rkey: words.rkey };
          const request: AtomicRequest = { op, bytes, value, compare: before, onValue, ...where };
          const status = await done(sim, endpoint, (told) => endpoint.atomic(request, told));
          if (!atomics[bytes].includes(op)) {
            assert.equal(status, UCS_ERR_UNSUPPORTED);
            continue;
          }
          assert.equal(status, UCS_OK);
          assert.equal(seen, before);
          assert.equal(view.getUint32(8, true), Number(after[op]), `${op}`);
        }
      assert.ok(atomics[8].length > 0);
    });

    testOf(
      'atomics',
      'lets a compare that finds something else change nothing, and adds modulo the word',
      async ({ here, there }, sim) => {
        const { endpoint } = here;
        using words = there.domain.register(new Uint8Array(8).fill(0xff));
        const request = { bytes: 8, address: words.address, rkey: words.rkey } as const;
        const compare = { ...request, op: AtomicOp.CSWAP, value: 1n, compare: 2n };
        assert.equal(await done(sim, endpoint, (told) => endpoint.atomic(compare, told)), UCS_OK);
        assert.deepEqual(words.bytes, new Uint8Array(8).fill(0xff));
        const add = { ...request, op: AtomicOp.ADD, value: 3n };
        assert.equal(await done(sim, endpoint, (told) => endpoint.atomic(add, told)), UCS_OK);
        assert.deepEqual(words.bytes, Uint8Array.of(2, 0, 0, 0, 0, 0, 0, 0));
      },
    );

    testOf('atomics', 'refuses atomics on a word that is not aligned', async ({ here, there }) => {
      using words = there.domain.register(new Uint8Array(64));
      const aligned = (words.address + 7n) & ~7n;
      for (const bytes of WIDTHS) {
        const request = { op: AtomicOp.ADD, bytes, value: 1n, address: aligned + 2n, rkey: words.rkey };
        assert.equal(here.endpoint.atomic(request, new Told()), UCS_ERR_INVALID_PARAM);
      }
      await Promise.resolve();
    });

    const trespasses: Record<string, (target: { address: bigint; rkey: number }) => { address: bigint; rkey: number }> =
      {
        'beyond the end': ({ address, rkey }) => ({ address: address + 57n, rkey }),
        'before the beginning': ({ address, rkey }) => ({ address: address - 8n, rkey }),
        'by a key that nobody gave': ({ address, rkey }) => ({ address, rkey: rkey ^ 0x55 }),
      };
    for (const [what, lead] of Object.entries(trespasses))
      testOf('put', `changes and shows no memory ${what}`, async ({ here, there }, sim) => {
        const { endpoint, domain } = here;
        using target = there.domain.register(new Uint8Array(64));
        using own = domain.register(pattern(8, 1));
        const place = { memory: own, offset: 0, length: 8 };
        const status = await done(sim, endpoint, (told) => endpoint.putZcopy(place, lead(target), told));
        assert.equal(status, UCS_ERR_IO_ERROR);
        assert.deepEqual(target.bytes, new Uint8Array(64));
      });

    testOf(
      'put',
      'lets a key be used for what it was given for, and for nothing else',
      async ({ here, there }, sim) => {
        const { endpoint, domain } = here;
        using readable = there.domain.register(pattern(8, 2), RkeyAccess.READ);
        using own = domain.register(pattern(8, 1));
        const place = { memory: own, offset: 0, length: 8 };
        assert.equal(await done(sim, endpoint, (told) => endpoint.getZcopy(place, readable, told)), UCS_OK);
        assert.deepEqual(own.bytes, pattern(8, 2));
        own.bytes.fill(9);
        assert.equal(await done(sim, endpoint, (told) => endpoint.putZcopy(place, readable, told)), UCS_ERR_IO_ERROR);
        assert.deepEqual(readable.bytes, pattern(8, 2));
      },
    );

    test('flushes at once where nothing is under way, and otherwise when all has arrived', async (ends, sim) => {
      const { endpoint } = ends.here;
      const got = collecting(ends, 1);
      const told = new Told();
      assert.equal(endpoint.flush(told), UCS_OK);
      let sent = 0;
      while (sent < 5 && endpoint.amShort(1, NONE, NONE) === UCS_OK) sent += 1;
      assert.equal(endpoint.flush(told), UCS_INPROGRESS);
      await until(sim, () => told.statuses.length === 1);
      assert.deepEqual([told.statuses, got.length], [[UCS_OK], sent]);
    });

    test('goes on to send from within handlers', async (ends, sim) => {
      const { endpoint } = ends.there;
      let count = 0;
      for (const end of new Set([ends.here, ends.there]))
        end.handlers.set(1, ([hops]) => {
          count += 1;
          if (hops > 0) end.endpoint.amShort(1, NONE, Uint8Array.of(hops - 1));
        });
      endpoint.amShort(1, NONE, Uint8Array.of(200));
      await until(sim, () => count === 201);
    });
  });
