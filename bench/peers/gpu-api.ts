/** Copies that a program has a GPU make, by the calls of its library. */
import { driverOf } from '../../src/node/gpu/kinds/index.js';
import { BatchState, type GpuHandle, GpuKind, type GpuQueue, type GpuSession } from '../../src/node/gpu/index.js';
import { openLibrary } from '../../src/node/gpu/kinds/library.js';
import { NativeBlock } from '../../src/node/system/index.js';
import type { GpuWay } from './gpu-peer.js';

/** Bytes that are copied over and over again. */
export interface OwnCopies extends Disposable {
  /** Copies all of them, and waits until that is done. */
  copy(way: GpuWay): void;
}

/** From one buffer of a device to another, done when it returns. */
type CopyWithin = (to: GpuHandle, from: GpuHandle, lengthBytes: number) => void;

/** A function of a library, of numbers and handles. */
type Call = (...words: readonly number[]) => number;

const CONTEXT_DEVICES = 0x1081;

function expectSuccess(call: string, status: number): void {
  if (status !== 0) throw new Error(`${call} gave ${status}`);
}

function withinOpenCl(context: GpuHandle): CopyWithin {
  const library = openLibrary('libOpenCL.so.1', 'OpenCL', '');
  const getContextInfo: Call = library.func(
    'int clGetContextInfo(int64_t context, uint32_t name, size_t size, int64_t value, int64_t sizeNeeded)',
  );
  const createCommandQueue: Call = library.func(
    'int64_t clCreateCommandQueue(int64_t context, int64_t device, uint64_t properties, int64_t error)',
  );
  const enqueueCopyBuffer: Call = library.func(
    'int clEnqueueCopyBuffer(int64_t queue, int64_t from, int64_t to, size_t fromOffset, size_t toOffset, size_t size, uint32_t waits, int64_t waitList, int64_t event)',
  );
  const finish: Call = library.func('int clFinish(int64_t queue)');
  const out = new NativeBlock(8);
  expectSuccess('clGetContextInfo', getContextInfo(context, CONTEXT_DEVICES, 8, out.address, 0));
  const device = out.getPointer(0);
  const queue = createCommandQueue(context, device, 0, out.address);
  expectSuccess('clCreateCommandQueue', out.words[0]);
  return (to, from, lengthBytes) => {
    expectSuccess('clEnqueueCopyBuffer', enqueueCopyBuffer(queue, from, to, 0, 0, lengthBytes, 0, 0, 0));
    expectSuccess('clFinish', finish(queue));
  };
}

function withinCuda(context: GpuHandle): CopyWithin {
  const library = openLibrary('libcuda.so.1', 'CUDA', '');
  const pushCurrent: Call = library.func('int cuCtxPushCurrent_v2(int64_t context)');
  const copy: Call = library.func('int cuMemcpyDtoD_v2(int64_t to, int64_t from, size_t length)');
  const synchronize: Call = library.func('int cuCtxSynchronize()');
  expectSuccess('cuCtxPushCurrent', pushCurrent(context));
  return (to, from, lengthBytes) => {
    expectSuccess('cuMemcpyDtoD', copy(to, from, lengthBytes));
    // It does not wait for copies from device to device.
    expectSuccess('cuCtxSynchronize', synchronize());
  };
}

/** Between the processor and the device: clEnqueueWriteBuffer and clEnqueueReadBuffer, cuMemcpyHtoDAsync and cuMemcpyDtoHAsync. */
function copyBetween(queue: GpuQueue, add: () => void): void {
  add();
  const batch = queue.submit();
  batch.wait();
  const isDone = batch.state() === BatchState.DONE;
  batch.release();
  if (!isDone) throw new Error(`a device does not copy: ${batch.failure?.message ?? 'nobody says why'}`);
}

/** Opens a device to copy so many bytes. Memory of the processor is such as its driver has for that. */
export function openOwnCopies(kind: GpuKind, index: number, lengthBytes: number): OwnCopies {
  const driver = driverOf(kind);
  if (typeof driver === 'string') throw new Error(driver);
  const session: GpuSession = driver.open(index);
  const queue = session.openQueue();
  const staging = session.allocStaging(lengthBytes);
  const [one, other] = [session.alloc(lengthBytes), session.alloc(lengthBytes)];
  staging.bytes.fill(1);
  const within = (kind === GpuKind.CUDA ? withinCuda : withinOpenCl)(session.context);
  const copiers: Readonly<Record<GpuWay, () => void>> = {
    into: () => copyBetween(queue, () => queue.write(one, 0, staging, 0, lengthBytes)),
    outOf: () => copyBetween(queue, () => queue.read(one, 0, staging, 0, lengthBytes)),
    within: () => within(other, one, lengthBytes),
  };
  copiers.into();
  return {
    copy: (way) => copiers[way](),
    [Symbol.dispose]: () => {
      queue.close();
      session.freeStaging(staging);
      for (const buffer of [one, other]) session.free(buffer);
      session.close();
    },
  };
}
