import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  explainProtocol,
  Protocol,
  selectProtocol,
  sizeRanges,
  type Thresholds,
  type TransportLimits,
} from '../protocol/index.js';

const limits: TransportLimits = {
  am: { short: 255, bcopy: 4159, zcopy: 4159 },
  put: { zcopy: 2 ** 30 },
  get: { zcopy: 2 ** 30 },
};
const header = { only: 8 };
const usual: Thresholds = { bcopy: Infinity, zcopy: Infinity, rndv: 8192, rndvScheme: 'auto' };

const of = (settings: Partial<Thresholds>, transport: TransportLimits = limits) =>
  sizeRanges(transport, header, { ...usual, ...settings }).map(({ protocol, from, to }) => [protocol, from, to]);

describe('the protocol for a message', () => {
  it('is the one that costs least at its length', () => {
    assert.deepEqual(of({}), [
      [Protocol.SHORT, 0, 247],
      [Protocol.BCOPY, 248, 4151],
      [Protocol.BCOPY_MULTI, 4152, 8191],
      [Protocol.RNDV_GET, 8192, Infinity],
    ]);
  });

  it('follows the thresholds that a program sets', () => {
    assert.deepEqual(of({ zcopy: 1000 }), [
      [Protocol.SHORT, 0, 247],
      [Protocol.BCOPY, 248, 999],
      [Protocol.ZCOPY, 1000, 4151],
      [Protocol.BCOPY_MULTI, 4152, 8191],
      [Protocol.RNDV_GET, 8192, Infinity],
    ]);
    assert.deepEqual(of({ rndv: 100 }), [
      [Protocol.SHORT, 0, 99],
      [Protocol.RNDV_GET, 100, Infinity],
    ]);
    assert.deepEqual(of({ rndv: 0 }), [[Protocol.RNDV_GET, 0, Infinity]]);
    assert.deepEqual(of({ rndv: Infinity }).at(-1), [Protocol.BCOPY_MULTI, 4152, Infinity]);
    assert.deepEqual(of({ zcopy: 1000 }, { ...limits, am: { ...limits.am, bcopy: 500 } }), [
      [Protocol.SHORT, 0, 247],
      [Protocol.BCOPY, 248, 492],
      [Protocol.BCOPY_MULTI, 493, 999],
      [Protocol.ZCOPY, 1000, 4151],
      [Protocol.BCOPY_MULTI, 4152, 8191],
      [Protocol.RNDV_GET, 8192, Infinity],
    ]);
    assert.deepEqual(of({ bcopy: 0 })[0], [Protocol.BCOPY, 0, 4151]);
    assert.deepEqual(of({ zcopy: 0 })[0], [Protocol.ZCOPY, 0, 4151]);
  });

  const schemes: readonly [wish: Thresholds['rndvScheme'], get: number, put: number, Protocol][] = [
    ['auto', 1, 1, Protocol.RNDV_GET],
    ['auto', 0, 1, Protocol.RNDV_PUT],
    ['auto', 0, 0, Protocol.RNDV_AM],
    ['get_zcopy', 1, 1, Protocol.RNDV_GET],
    ['get_zcopy', 0, 1, Protocol.RNDV_PUT],
    ['put_zcopy', 1, 1, Protocol.RNDV_PUT],
    ['put_zcopy', 1, 0, Protocol.RNDV_AM],
    ['am', 1, 1, Protocol.RNDV_AM],
  ];
  for (const [wish, get, put, protocol] of schemes)
    it(`is ${protocol} where ${wish} is wished for, and the transport ${get > 0 ? 'reads' : 'does not read'} and ${put > 0 ? 'writes' : 'does not write'}`, () => {
      const ranges = of({ rndvScheme: wish }, { ...limits, get: { zcopy: get }, put: { zcopy: put } });
      assert.equal(ranges.at(-1)?.[0], protocol);
    });

  it('is told with its reason', () => {
    const ranges = sizeRanges(limits, header, usual);
    assert.equal(
      explainProtocol(ranges, 300),
      '300 bytes go by eager bcopy, as 248 to 4151 bytes do: it is packed into one buffer',
    );
    assert.equal(
      explainProtocol(ranges, 2 ** 20),
      '1048576 bytes go by rendezvous get zcopy, as 8192 bytes and more do: the receiver reads it, once it has a buffer for it',
    );
  });

  it('is one for each length, whatever the transport and the thresholds', () => {
    const bytes = fc.constantFrom(0, 1, 8, 100, 255, 4159, 8192, 70_000);
    const threshold = fc.constantFrom(0, 1, 8, 100, 247, 248, 4096, 8192, Infinity);
    const any = fc.record({
      limits: fc.record({
        am: fc.record({ short: bytes, bcopy: fc.constantFrom(64, 4159), zcopy: bytes }),
        put: fc.record({ zcopy: bytes }),
        get: fc.record({ zcopy: bytes }),
      }),
      thresholds: fc.record({
        bcopy: threshold,
        zcopy: threshold,
        rndv: threshold,
        rndvScheme: fc.constantFrom('auto' as const, 'get_zcopy' as const, 'put_zcopy' as const, 'am' as const),
      }),
    });
    fc.assert(
      fc.property(any, fc.nat(100_000), (some, size) => {
        const ranges = sizeRanges(some.limits, header, some.thresholds);
        let next = 0;
        for (const { from, to } of ranges) {
          assert.equal(from, next);
          next = to + 1;
        }
        assert.equal(next, Infinity);
        const { protocol, from, to } = selectProtocol(ranges, size);
        assert.ok(from <= size && size <= to);
        const { am } = some.limits;
        if (protocol === Protocol.SHORT) assert.ok(size + header.only <= am.short);
        if (protocol === Protocol.BCOPY) assert.ok(size + header.only <= am.bcopy);
        if (protocol === Protocol.ZCOPY) assert.ok(size + header.only <= am.zcopy && size >= some.thresholds.zcopy);
        assert.equal(protocol.startsWith('rendezvous'), size >= some.thresholds.rndv);
      }),
    );
  });
});
