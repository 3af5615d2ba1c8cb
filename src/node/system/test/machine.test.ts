import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, it, type TestContext } from 'node:test';
import * as zlib from 'node:zlib';
import fc from 'fast-check';
import { crc32 } from '../../../device/wire/index.js';
import {
  agrees,
  type Crc32Function,
  nativeCrc32s,
  quickestCrc32,
  errnoName,
  nativeHost,
  nativeHostProblem,
  nowUs,
  randomU32,
  SystemCallError,
  UdpSocket,
  wallClockNs,
} from '../index.js';

const HOST = new URL('../index.js', import.meta.url).href;

describe('nativeHost', () => {
  it('is there, or says why it is not', () => {
    assert.equal(nativeHost() === undefined, nativeHostProblem() !== undefined);
  });

  it('can be switched off', () => {
    const source = `import { nativeHost, nativeHostProblem } from '${HOST}'; console.log(nativeHost(), nativeHostProblem());`;
    const output = execFileSync(process.execPath, ['--input-type=module', '-e', source], {
      encoding: 'utf8',
      env: { ...process.env, VERBENA_NATIVE: 'off' },
    });
    assert.equal(output, 'undefined VERBENA_NATIVE=off\n');
  });
});

describe('system calls', { skip: nativeHostProblem() ?? false }, () => {
  it('fail with the name of the errno', () => {
    const [first, second] = [new UdpSocket(false), new UdpSocket(false)];
    const ip = Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 127, 80, 1, 1);
    first.bind({ ip, port: 0 });
    const port = first.localPort();
    assert.throws(
      () => second.bind({ ip, port }),
      (error) => error instanceof SystemCallError && error.code === 'EADDRINUSE' && error.call === 'bind',
    );
    first.close();
    second.close();
  });

  it('name every number', () => {
    assert.deepEqual([98, 11, 0, 99999].map(errnoName), ['EADDRINUSE', 'EAGAIN', 'errno 0', 'errno 99999']);
  });
});

describe('quickestCrc32', () => {
  it('is the implementation that this thread chose before', () => {
    assert.equal(quickestCrc32(crc32), quickestCrc32(crc32));
  });

  it('is in native code where Node has some', { skip: !('crc32' in zlib) && 'this Node has no zlib.crc32' }, () => {
    assert.notEqual(quickestCrc32(crc32).source, 'javascript');
  });

  it('accepts no implementation that is wrong for one length, one place or one running value', () => {
    assert.ok(agrees(crc32, crc32));
    const wrong: Crc32Function[] = [
      (bytes, offset, length, crc) => crc32(bytes, offset, length, crc) ^ (length === 4128 ? 1 : 0),
      (bytes, offset, length, crc) => crc32(bytes, offset & ~3, length, crc),
      (bytes, offset, length, crc) => crc32(bytes, offset, length, Math.abs(crc)),
      (bytes, offset, length, crc) => crc32(bytes, offset, length, crc) >>> 0,
    ];
    for (const [i, candidate] of wrong.entries()) assert.equal(agrees(candidate, crc32), false, `number ${i}`);
  });
});

describe('CRC-32 in native code', () => {
  for (const { source, crc32: quick } of nativeCrc32s(crc32)) {
    it(`${source}: agrees with zlib on every stretch of every buffer`, (test) => agreesWithZlib(quick, test));

    it(`${source}: sees what changed in memory that it has seen before`, () => seesChanges(quick));

    it(`${source}: touches nothing of a buffer that was detached`, () => {
      const bytes = new Uint8Array(4096).fill(7);
      quick(bytes, 0, 4096, 0);
      const moved = structuredClone(bytes, { transfer: [bytes.buffer] });
      const none = quick(bytes, 0, 4096, 0);
      moved.fill(9);
      assert.equal(quick(bytes, 0, 4096, 0), none);
    });
  }
});

function agreesWithZlib(quick: Crc32Function, test: TestContext): void {
  const buffers = [new Uint8Array(6000), new Uint8Array(6000)].map((buffer, k) =>
    buffer.map((_, i) => (i * (31 + k)) ^ (i >> 3)),
  );
  const seed = Date.now() & 0x7fffffff;
  test.diagnostic(`seed ${seed}`);
  fc.assert(
    fc.property(fc.nat(1), fc.nat(1000), fc.nat(5000), fc.integer(), (k, offset, length, crc) => {
      const bytes = buffers[k];
      const expected = zlib.crc32(bytes.subarray(offset, offset + length), crc >>> 0) | 0;
      assert.equal(quick(bytes, offset, length, crc), expected);
    }),
    { seed, numRuns: 2000 },
  );
}

function seesChanges(quick: Crc32Function): void {
  const bytes = new Uint8Array(4096);
  const before = quick(bytes, 0, 4096, 0);
  bytes[2000] = 1;
  assert.notEqual(quick(bytes, 0, 4096, 0), before);
}

describe('randomU32', () => {
  it('gives 32-bit numbers that do not repeat', () => {
    const numbers = Array.from({ length: 1000 }, randomU32);
    assert.ok(numbers.every((n) => Number.isInteger(n) && n >= 0 && n <= 0xffffffff));
    // Three or more coincidences among 1000: less than once in 10^11 runs.
    assert.ok(new Set(numbers).size >= 998);
    assert.ok(numbers.some((n) => n > 0x7fffffff));
  });
});

describe('clocks', () => {
  it('never go back', () => {
    const times = Array.from({ length: 1000 }, nowUs);
    assert.ok(times.every((time, i) => i === 0 || time >= times[i - 1]));
  });

  it('know what time it is', () => {
    const offMs = Number(wallClockNs() / 1_000_000n) - Date.now();
    assert.ok(Math.abs(offMs) < 3_600_000, `${offMs} ms off`);
  });
});
