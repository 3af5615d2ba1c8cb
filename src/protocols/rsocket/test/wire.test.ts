import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { CmAttribute, CMA_HEADER_BYTES, decodeCmMessage, opcodeName } from '../../../device/wire/index.js';
import {
  CONNECTION_DATA_BYTES,
  decodeConnectionData,
  encodeConnectionData,
  iomapSizeOf,
  MAX_IOMAP_SIZE,
  readSpan,
  scaledIomapSize,
} from '../wire/connection-data.js';
import {
  Control,
  decodeIomapEntry,
  encodeIomapEntry,
  immediateOf,
  immediateProblem,
  Operation,
  operationOf,
  valueOf,
} from '../wire/message.js';
import { goldenPackets } from '../../../device/wire/test/golden.js';
import { decoded } from '../../../device/wire/test/support.js';

const packets = goldenPackets('rstream').map(({ bytes }) => decoded(bytes));

/** What a message of the connection manager in the capture carries for the rsockets. */
function privateData(attribute: typeof CmAttribute.REQ | typeof CmAttribute.REP): Uint8Array {
  for (const { bth, payload } of packets) {
    const message = bth.destQp === 1 ? decodeCmMessage(payload.slice()) : undefined;
    if (message?.attribute === attribute && 'privateData' in message) {
      const head = attribute === CmAttribute.REQ ? CMA_HEADER_BYTES : 0;
      return message.privateData.slice(head, head + CONNECTION_DATA_BYTES);
    }
  }
  throw new Error('the capture has no such message');
}

const order = fc.constantFrom('big' as const, 'little' as const);
const plain = { noNullPrototype: true };
const word = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
const half = fc.nat({ max: 2 ** 32 - 1 });
const span = fc.record({ addr: word, key: half, length: half }, plain);

describe('what C rsockets said to each other', () => {
  it('of themselves, when they connected', () => {
    const said = decodeConnectionData(privateData(CmAttribute.REQ));
    assert.deepEqual(said, {
      version: 1,
      byteOrder: 'little',
      hasIomap: true,
      credits: 0x180,
      iomapSize: 0,
      targets: { addr: 0x560c15c1f000n, key: 0x3f4, length: 2 },
      data: { addr: 0x7f590bcb2000n, key: 0x43c, length: 0x80000 },
    });
  });

  it('is said in the same bytes', () => {
    for (const attribute of [CmAttribute.REQ, CmAttribute.REP] as const) {
      const bytes = privateData(attribute);
      const said = decodeConnectionData(bytes);
      assert.ok(said);
      assert.deepEqual(encodeConnectionData(said), bytes);
    }
  });

  it('by immediate data, in their order', () => {
    const writes = packets.filter(({ bth }) => opcodeName(bth.opcode) === 'RC_WRITE_ONLY_IMM');
    const said = writes.map(({ immData = 0 }) => [operationOf(immData), valueOf(immData)]);
    assert.deepEqual(said.slice(0, 2), [
      [Operation.DATA, 16],
      [Operation.SGL, 384],
    ]);
    assert.deepEqual(said.slice(-2), [
      [Operation.CTRL, Control.DISCONNECT],
      [Operation.CTRL, Control.DISCONNECT],
    ]);
    for (const { immData = 0 } of writes) assert.equal(immediateProblem(immData), undefined);
  });

  it('of a buffer, in the byte order of the host that it was written to', () => {
    const [, update] = packets.filter(({ bth }) => opcodeName(bth.opcode) === 'RC_WRITE_ONLY_IMM');
    const { payload } = update;
    const view = new DataView(payload.buffer, payload.byteOffset, payload.length);
    assert.equal(payload.length, 16);
    assert.equal(readSpan(view, 0, 'little').length, 0x80000);
  });
});

describe('connection data', () => {
  it('comes out as it went in', () => {
    const data = fc.record(
      {
        version: fc.nat({ max: 255 }),
        byteOrder: order,
        hasIomap: fc.boolean(),
        credits: fc.nat({ max: 0xffff }),
        iomapSize: fc.oneof(
          fc.nat({ max: 128 }),
          fc.nat({ max: 0x7e }).map((n) => (n + 1) << 8),
        ),
        targets: span,
        data: span,
      },
      plain,
    );
    fc.assert(fc.property(data, (said) => assert.deepEqual(decodeConnectionData(encodeConnectionData(said)), said)));
  });

  it('may have zeros behind it, and is none when it is shorter', () => {
    const bytes = privateData(CmAttribute.REP);
    const padded = new Uint8Array(196);
    padded.set(bytes);
    assert.deepEqual(decodeConnectionData(padded), decodeConnectionData(bytes));
    assert.equal(decodeConnectionData(bytes.subarray(1)), undefined);
  });

  it('never tells of a mapped buffer that there is no entry for', () => {
    fc.assert(
      fc.property(fc.nat({ max: MAX_IOMAP_SIZE }), (size) => {
        const told = iomapSizeOf(scaledIomapSize(size));
        assert.ok(told <= size && told > size - 256);
        if (size <= 128) assert.equal(told, size);
      }),
    );
  });
});

describe('an immediate', () => {
  it('comes apart into what it was made of', () => {
    const operation = fc.constantFrom(...Object.values(Operation));
    fc.assert(
      fc.property(operation, fc.nat({ max: 2 ** 29 - 1 }), (kind, value) => {
        const immediate = immediateOf(kind, value);
        assert.deepEqual([operationOf(immediate), valueOf(immediate)], [kind, value]);
      }),
    );
  });

  it('of an operation or a value that nobody sends is refused in words', () => {
    assert.equal(immediateProblem(immediateOf(Operation.DATA, 2 ** 29 - 1)), undefined);
    for (const reserved of [1, 2, 3, 5])
      assert.equal(immediateProblem(reserved * 2 ** 29), `there is no operation ${reserved}`);
    assert.equal(immediateProblem(immediateOf(Operation.CTRL, 3)), 'CTRL with value 3');
    assert.equal(immediateProblem(immediateOf(Operation.SGL, 0x1fffe)), undefined);
    assert.equal(immediateProblem(immediateOf(Operation.SGL, 0x1ffff)), 'SGL with value 131071');
  });
});

describe('an entry of a mapped buffer', () => {
  it('comes out as it went in, in either byte order', () => {
    const entry = fc.record({ offset: word, span }, plain);
    fc.assert(
      fc.property(entry, order, (mapped, how) =>
        assert.deepEqual(decodeIomapEntry(encodeIomapEntry(mapped, how), how), mapped),
      ),
    );
  });
});
