import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { gidFromIp, PortSpace } from '../../ibta/index.js';
import {
  CMA_HEADER_BYTES,
  type CmaHeader,
  readCmaHeader,
  serviceId,
  splitServiceId,
  writeCmaHeader,
} from '../index.js';
import { bytesOf, checkProperty } from './support.js';

const ZEROS_12 = '00'.repeat(12);
const cases: readonly (readonly [string, CmaHeader, string])[] = [
  [
    'IPv4',
    { ipVersion: 4, sourcePort: 0xd671, source: gidFromIp('198.18.0.3'), destination: gidFromIp('198.18.0.2') },
    `0040d671${ZEROS_12}c6120003${ZEROS_12}c6120002`,
  ],
  [
    'IPv6',
    { ipVersion: 6, sourcePort: 1, source: gidFromIp('fd00::3'), destination: gidFromIp('fe80::1') },
    `00600001fd00${ZEROS_12}0003fe80${ZEROS_12}0001`,
  ],
];

describe('the addresses before private data', () => {
  for (const [name, header, hex] of cases) {
    it(`are written in their places: ${name}`, () => {
      assert.deepEqual(writeCmaHeader(header), bytesOf(hex));
    });

    it(`are read from their places, whatever follows: ${name}`, () => {
      assert.deepEqual(readCmaHeader(bytesOf(`${hex}ffff`)), header);
    });
  }

  it('are as many bytes as documented', () => {
    assert.equal(writeCmaHeader(cases[0][1]).length, CMA_HEADER_BYTES);
  });

  it('are not read when their version is unknown', () => {
    const bytes = writeCmaHeader(cases[0][1]);
    bytes[0] = 1;
    assert.equal(readCmaHeader(bytes), undefined);
  });

  it('are not read when their IP version is unknown', () => {
    const bytes = writeCmaHeader(cases[0][1]);
    bytes[1] = 0x50;
    assert.equal(readCmaHeader(bytes), undefined);
  });

  it('are not read when a byte is missing', () => {
    assert.equal(readCmaHeader(writeCmaHeader(cases[0][1]).subarray(1)), undefined);
  });

  it('are read without throwing, whatever is there', (test) => {
    checkProperty(
      test,
      fc.property(fc.uint8Array({ maxLength: 60 }), fc.constantFrom(0x40, 0x60, 0x45, 0), (bytes, version) => {
        if (bytes.length > 1) bytes.set([0, version]);
        const header = readCmaHeader(bytes);
        if (header) assert.deepEqual(readCmaHeader(writeCmaHeader(header)), header);
      }),
    );
  });

  it('are not written as IPv4 when one of them is IPv6', () => {
    assert.throws(() => writeCmaHeader({ ...cases[0][1], destination: gidFromIp('fd00::1') }), RangeError);
  });

  it('are read as copies', () => {
    const bytes = Buffer.from(writeCmaHeader(cases[1][1]));
    const read = readCmaHeader(bytes);
    bytes.fill(0xff);
    assert.deepEqual(read, cases[1][1]);
  });

  it('leave the bytes that they are read from as they are', () => {
    const bytes = Buffer.from(writeCmaHeader(cases[0][1]));
    readCmaHeader(bytes);
    assert.deepEqual(new Uint8Array(bytes), writeCmaHeader(cases[0][1]));
  });

  it('leave the addresses that they are written from as they are', () => {
    const source = Buffer.from(gidFromIp('198.18.0.3'));
    writeCmaHeader({ ...cases[0][1], source });
    assert.deepEqual(new Uint8Array(source), gidFromIp('198.18.0.3'));
  });
});

describe('service IDs', () => {
  for (const [portSpace, id] of [
    [PortSpace.TCP, 0x01061c12n],
    [PortSpace.UDP, 0x01111c12n],
    [PortSpace.IPOIB, 0x00021c12n],
    [PortSpace.IB, 0x013f1c12n],
  ] as const) {
    it(`name a port space and a port: 0x${id.toString(16)}`, () => {
      assert.equal(serviceId(portSpace, 7186), id);
      assert.deepEqual(splitServiceId(id), { portSpace, port: 7186 });
    });
  }

  it('have room for every port', () => {
    for (const port of [0, 65535]) {
      assert.deepEqual(splitServiceId(serviceId(PortSpace.TCP, port)), { portSpace: PortSpace.TCP, port });
    }
  });

  it('may be others than those of rdma_cm', () => {
    for (const id of [0n, 0x01071c12n, 0x1_0106_1c12n, 0x1000_0000_0106_1c12n, 2n ** 64n - 1n]) {
      assert.equal(splitServiceId(id), undefined, String(id));
    }
  });

  it('take no port of more than 16 bits', () => {
    for (const port of [-1, 65536, 1.5]) assert.throws(() => serviceId(PortSpace.TCP, port), RangeError);
  });
});
