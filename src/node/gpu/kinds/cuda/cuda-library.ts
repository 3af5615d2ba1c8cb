import { type Library, openLibrary } from '../library.js';

/** Numbers of CUDA's driver API (`cuda.h`). */
export const Cu = {
  SUCCESS: 0,
  ERROR_OUT_OF_MEMORY: 2,
  ERROR_NO_DEVICE: 100,
  ERROR_NOT_READY: 600,
  /** All contexts may use it, not only the one that was current. */
  MEMHOSTALLOC_PORTABLE: 1,
  /** It does not wait for what the program does in the default stream, nor the other way round. */
  STREAM_NON_BLOCKING: 1,
  EVENT_DISABLE_TIMING: 2,
} as const;

/**
 * The calls, named and ordered as in C: where `cuda.h` gives a name a version (`cuMemAlloc_v2`), that is the one bound. Pointers and
 * handles are numbers; whoever passes one keeps the memory behind it alive. All give a `CUresult`.
 */
export interface CuCalls {
  init(flags: number): number;
  getErrorName(error: number, name: number): number;
  deviceGetCount(count: number): number;
  deviceGet(device: number, ordinal: number): number;
  deviceGetName(name: number, length: number, device: number): number;
  deviceTotalMem(bytes: number, device: number): number;
  devicePrimaryCtxRetain(context: number, device: number): number;
  devicePrimaryCtxRelease(device: number): number;
  ctxPushCurrent(context: number): number;
  ctxPopCurrent(context: number): number;
  memAlloc(pointer: number, length: number): number;
  memFree(pointer: number): number;
  memHostAlloc(address: number, length: number, flags: number): number;
  memFreeHost(address: number): number;
  memcpyHtoDAsync(to: number, from: number, length: number, stream: number): number;
  memcpyDtoHAsync(to: number, from: number, length: number, stream: number): number;
  memsetD8Async(to: number, value: number, length: number, stream: number): number;
  streamCreate(stream: number, flags: number): number;
  streamDestroy(stream: number): number;
  streamSynchronize(stream: number): number;
  eventCreate(event: number, flags: number): number;
  eventRecord(event: number, stream: number): number;
  eventQuery(event: number): number;
  eventSynchronize(event: number): number;
  eventDestroy(event: number): number;
  moduleLoadData(module: number, image: number): number;
  moduleUnload(module: number): number;
  moduleGetFunction(kernel: number, module: number, name: string): number;
  launchKernel(
    kernel: number,
    gridX: number,
    gridY: number,
    gridZ: number,
    blockX: number,
    blockY: number,
    blockZ: number,
    sharedBytes: number,
    stream: number,
    parameters: number,
    extra: number,
  ): number;
}

function bind(lib: Library): CuCalls {
  return {
    init: lib.func('int cuInit(uint32_t flags)'),
    getErrorName: lib.func('int cuGetErrorName(int error, int64_t name)'),
    deviceGetCount: lib.func('int cuDeviceGetCount(int64_t count)'),
    deviceGet: lib.func('int cuDeviceGet(int64_t device, int ordinal)'),
    deviceGetName: lib.func('int cuDeviceGetName(int64_t name, int length, int device)'),
    deviceTotalMem: lib.func('int cuDeviceTotalMem_v2(int64_t bytes, int device)'),
    devicePrimaryCtxRetain: lib.func('int cuDevicePrimaryCtxRetain(int64_t context, int device)'),
    devicePrimaryCtxRelease: lib.func('int cuDevicePrimaryCtxRelease_v2(int device)'),
    ctxPushCurrent: lib.func('int cuCtxPushCurrent_v2(int64_t context)'),
    ctxPopCurrent: lib.func('int cuCtxPopCurrent_v2(int64_t context)'),
    memAlloc: lib.func('int cuMemAlloc_v2(int64_t pointer, size_t length)'),
    memFree: lib.func('int cuMemFree_v2(int64_t pointer)'),
    memHostAlloc: lib.func('int cuMemHostAlloc(int64_t address, size_t length, uint32_t flags)'),
    memFreeHost: lib.func('int cuMemFreeHost(int64_t address)'),
    memcpyHtoDAsync: lib.func('int cuMemcpyHtoDAsync_v2(int64_t to, int64_t from, size_t length, int64_t stream)'),
    memcpyDtoHAsync: lib.func('int cuMemcpyDtoHAsync_v2(int64_t to, int64_t from, size_t length, int64_t stream)'),
    memsetD8Async: lib.func('int cuMemsetD8Async(int64_t to, uint8_t value, size_t length, int64_t stream)'),
    streamCreate: lib.func('int cuStreamCreate(int64_t stream, uint32_t flags)'),
    streamDestroy: lib.func('int cuStreamDestroy_v2(int64_t stream)'),
    streamSynchronize: lib.func('int cuStreamSynchronize(int64_t stream)'),
    eventCreate: lib.func('int cuEventCreate(int64_t event, uint32_t flags)'),
    eventRecord: lib.func('int cuEventRecord(int64_t event, int64_t stream)'),
    eventQuery: lib.func('int cuEventQuery(int64_t event)'),
    eventSynchronize: lib.func('int cuEventSynchronize(int64_t event)'),
    eventDestroy: lib.func('int cuEventDestroy_v2(int64_t event)'),
    moduleLoadData: lib.func('int cuModuleLoadData(int64_t module, int64_t image)'),
    moduleUnload: lib.func('int cuModuleUnload(int64_t module)'),
    moduleGetFunction: lib.func('int cuModuleGetFunction(int64_t kernel, int64_t module, const char *name)'),
    launchKernel: lib.func(
      'int cuLaunchKernel(int64_t kernel, uint32_t gridX, uint32_t gridY, uint32_t gridZ, uint32_t blockX, uint32_t blockY, uint32_t blockZ, uint32_t sharedBytes, int64_t stream, int64_t parameters, int64_t extra)',
    ),
  };
}

/** @throws LibraryProblem when there is none */
export function loadCuda(): CuCalls {
  return bind(openLibrary('libcuda.so.1', 'CUDA', "install the driver of NVIDIA's GPUs, which has it"));
}
