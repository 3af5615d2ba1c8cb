import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type GpuContext, gpuDevices, GpuKind, gpuProblem, openGpu } from '../../../entry/gpu.js';
import { VerbsError } from '../../../entry/index.js';
import { pattern } from '../../../providers/soft/test/support/pair.js';
import { KIND, openGpuDevice, withoutGpu } from './support.js';

/** Several copies, the last of them short. */
const BYTES = 400_003;

function assertErrno(errno: string, call: () => unknown): void {
  assert.throws(call, (error) => error instanceof VerbsError && error.errno === errno);
}

async function assertRejects(errno: string, call: () => Promise<unknown>): Promise<void> {
  await assert.rejects(call, (error) => error instanceof VerbsError && error.errno === errno);
}

describe('GPUs of this machine', () => {
  it('are listed where there are some, and otherwise a sentence says what is missing', () => {
    for (const kind of Object.values(GpuKind)) {
      const problem = gpuProblem(kind);
      const devices = gpuDevices(kind);
      if (problem === undefined) assert.ok(devices.every((device, i) => device.index === i && device.kind === kind));
      else assert.deepEqual([devices.length, /^(CUDA|OpenCL|cuda|opencl)/.test(problem)], [0, true]);
    }
  });

  it('are of no kind that there is not, and have no index below 0', () => {
    // As a program without types may ask.
    const nameless = 'metal' as GpuKind;
    assertErrno('EINVAL', () => gpuDevices(nameless));
    assertErrno('EINVAL', () => openGpu({ kind: nameless }));
    assertErrno('EINVAL', () => openGpu({ kind: GpuKind.OPENCL, index: -1 }));
  });

  it('are refused with ENODEV where there is none of that index', () => {
    assertErrno('ENODEV', () => openGpu({ kind: GpuKind.OPENCL, index: 1000 }));
  });
});

describe(`buffers of a GPU, by ${KIND}`, { skip: withoutGpu }, () => {
  async function withGpu(body: (gpu: GpuContext) => Promise<void> | void): Promise<void> {
    using gpu = openGpuDevice();
    await body(gpu);
  }

  it('give back what was written to them, in the event loop and at once', () =>
    withGpu(async (gpu) => {
      using buffer = gpu.alloc(BYTES);
      const content = pattern(BYTES);
      const found = new Uint8Array(BYTES);
      await buffer.write(content);
      buffer.readSync(found);
      assert.deepEqual(found, content);
      buffer.writeSync(pattern(BYTES, 3));
      await buffer.read(found);
      assert.deepEqual(found, pattern(BYTES, 3));
    }));

  it('take a part at any offset', () =>
    withGpu((gpu) => {
      using buffer = gpu.alloc(64);
      buffer.fill(9);
      buffer.writeSync(Uint8Array.of(1, 2, 3), 61);
      const end = new Uint8Array(5);
      buffer.readSync(end, 59);
      assert.deepEqual([...end], [9, 9, 1, 2, 3]);
    }));

  it('are copied from and to by several calls at once', () =>
    withGpu(async (gpu) => {
      using one = gpu.alloc(BYTES);
      using other = gpu.alloc(BYTES);
      await Promise.all([one.write(pattern(BYTES, 1)), other.write(pattern(BYTES, 2))]);
      const found = [new Uint8Array(BYTES), new Uint8Array(BYTES)];
      await Promise.all([one.read(found[0]), other.read(found[1])]);
      assert.deepEqual(found, [pattern(BYTES, 1), pattern(BYTES, 2)]);
    }));

  it('are compared on the device, which tells the first difference', () =>
    withGpu(async (gpu) => {
      using one = gpu.alloc(BYTES);
      using other = gpu.alloc(BYTES);
      for (const buffer of [one, other]) buffer.fill(7);
      const differences = [await one.firstDifference(other)];
      for (const at of [BYTES - 1, 5000, 0]) {
        other.writeSync(Uint8Array.of(8), at);
        differences.push(await one.firstDifference(other));
      }
      assert.deepEqual(differences, [undefined, BYTES - 1, 5000, 0]);
    }));

  it('refuse ranges that are not inside of them, lengths that cannot be, and bytes that are none', () =>
    withGpu(async (gpu) => {
      using buffer = gpu.alloc(16);
      using longer = gpu.alloc(17);
      const calls = [
        () => buffer.writeSync(new Uint8Array(17)),
        () => buffer.writeSync(new Uint8Array(1), 16),
        () => buffer.writeSync(new Uint8Array(1), -1),
        () => buffer.readSync(new Uint8Array(0)),
        () => buffer.readSync(new Uint8Array(8), 0.5),
        () => buffer.fill(256),
        () => gpu.alloc(0),
        () => gpu.alloc(1.5),
      ];
      for (const call of calls) assertErrno('EINVAL', call);
      await assertRejects('EINVAL', () => buffer.write(new Uint8Array(17)));
      await assertRejects('EINVAL', () => buffer.firstDifference(longer));
    }));

  it('more than the device has are refused with ENOMEM', () =>
    withGpu((gpu) => assertErrno('ENOMEM', () => gpu.alloc(2 ** 50))));

  it('are not freed while a copy is under way', () =>
    withGpu(async (gpu) => {
      const buffer = gpu.alloc(BYTES);
      const written = buffer.write(pattern(BYTES));
      assertErrno('EBUSY', () => buffer.free());
      await written;
      buffer.free();
    }));

  it('are of no use once they were freed', () =>
    withGpu(async (gpu) => {
      const buffer = gpu.alloc(16);
      buffer.free();
      assertErrno('EINVAL', () => buffer.free());
      assertErrno('EINVAL', () => buffer.fill(1));
      await assertRejects('EINVAL', () => buffer.read(new Uint8Array(1)));
    }));

  it('keep their device open', () =>
    withGpu((gpu) => {
      const buffer = gpu.alloc(16);
      assertErrno('EBUSY', () => gpu.close());
      buffer.free();
    }));

  it('of which the program’s memory is taken away meanwhile say that nobody knows what was copied', () =>
    withGpu(async (gpu) => {
      using buffer = gpu.alloc(BYTES);
      const target = new Uint8Array(BYTES);
      const reading = buffer.read(target);
      structuredClone(target.buffer, { transfer: [target.buffer] });
      await assertRejects('EINVAL', () => reading);
    }));

  it('begin on a page, and no two of them at the same address', () =>
    withGpu((gpu) => {
      using one = gpu.alloc(5000);
      using other = gpu.alloc(1);
      assert.deepEqual([one.address % 4096n, other.address % 4096n], [0n, 0n]);
      assert.notEqual(one.address, other.address);
    }));
});
