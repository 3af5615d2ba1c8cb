import { type Library, openLibrary } from '../library.js';

/** Numbers of the OpenCL API: OpenCL 1.2, `cl.h`. */
export const Cl = {
  SUCCESS: 0,
  DEVICE_NOT_FOUND: -1,
  /** Of cl_khr_icd: there is a loader, and no driver behind it. */
  PLATFORM_NOT_FOUND_KHR: -1001,
  DEVICE_TYPE_ALL: 0xffff_ffff,
  DEVICE_MAX_MEM_ALLOC_SIZE: 0x1010,
  DEVICE_GLOBAL_MEM_SIZE: 0x101f,
  DEVICE_ENDIAN_LITTLE: 0x1026,
  DEVICE_AVAILABLE: 0x1027,
  DEVICE_NAME: 0x102b,
  DEVICE_VENDOR: 0x102c,
  DEVICE_EXTENSIONS: 0x1030,
  MEM_READ_WRITE: 1,
  MEM_ALLOC_HOST_PTR: 16,
  MAP_READ: 1,
  MAP_WRITE: 2,
  PROGRAM_BUILD_LOG: 0x1183,
  EVENT_COMMAND_EXECUTION_STATUS: 0x11d3,
  COMPLETE: 0,
} as const;

const ERRORS: Readonly<Record<number, string>> = {
  [-1]: 'CL_DEVICE_NOT_FOUND',
  [-2]: 'CL_DEVICE_NOT_AVAILABLE',
  [-3]: 'CL_COMPILER_NOT_AVAILABLE',
  [-4]: 'CL_MEM_OBJECT_ALLOCATION_FAILURE',
  [-5]: 'CL_OUT_OF_RESOURCES',
  [-6]: 'CL_OUT_OF_HOST_MEMORY',
  [-9]: 'CL_IMAGE_FORMAT_MISMATCH',
  [-11]: 'CL_BUILD_PROGRAM_FAILURE',
  [-12]: 'CL_MAP_FAILURE',
  [-14]: 'CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST',
  [-30]: 'CL_INVALID_VALUE',
  [-32]: 'CL_INVALID_PLATFORM',
  [-33]: 'CL_INVALID_DEVICE',
  [-34]: 'CL_INVALID_CONTEXT',
  [-36]: 'CL_INVALID_COMMAND_QUEUE',
  [-38]: 'CL_INVALID_MEM_OBJECT',
  [-44]: 'CL_INVALID_PROGRAM',
  [-45]: 'CL_INVALID_PROGRAM_EXECUTABLE',
  [-46]: 'CL_INVALID_KERNEL_NAME',
  [-48]: 'CL_INVALID_KERNEL',
  [-49]: 'CL_INVALID_ARG_INDEX',
  [-50]: 'CL_INVALID_ARG_VALUE',
  [-51]: 'CL_INVALID_ARG_SIZE',
  [-52]: 'CL_INVALID_KERNEL_ARGS',
  [-54]: 'CL_INVALID_WORK_GROUP_SIZE',
  [-58]: 'CL_INVALID_EVENT',
  [-59]: 'CL_INVALID_OPERATION',
  [-61]: 'CL_INVALID_BUFFER_SIZE',
  [-1001]: 'CL_PLATFORM_NOT_FOUND_KHR',
};

export function clErrorName(status: number): string {
  return ERRORS[status] ?? 'an OpenCL error';
}

export function isClOutOfMemory(status: number): boolean {
  return status === -4 || status === -5 || status === -6 || status === -61;
}

/**
 * The calls, named and ordered as in C. Pointers and handles are addresses as numbers; whoever passes one keeps the memory
 * behind it alive. Calls that make something give 0 when they fail, and put the error where `error` points.
 */
export interface ClCalls {
  getPlatformIDs(entries: number, platforms: number, count: number): number;
  getDeviceIDs(platform: number, type: number, entries: number, devices: number, count: number): number;
  getDeviceInfo(device: number, name: number, size: number, value: number, sizeNeeded: number): number;
  createContext(
    properties: number,
    count: number,
    devices: number,
    notify: number,
    userData: number,
    error: number,
  ): number;
  retainContext(context: number): number;
  releaseContext(context: number): number;
  createCommandQueue(context: number, device: number, properties: number, error: number): number;
  releaseCommandQueue(queue: number): number;
  createBuffer(context: number, flags: number, size: number, host: number, error: number): number;
  releaseMemObject(buffer: number): number;
  enqueueReadBuffer: Transfer;
  enqueueWriteBuffer: Transfer;
  enqueueFillBuffer(
    queue: number,
    buffer: number,
    pattern: number,
    patternSize: number,
    offset: number,
    size: number,
    waits: number,
    waitList: number,
    event: number,
  ): number;
  enqueueMapBuffer(
    queue: number,
    buffer: number,
    blocking: number,
    flags: number,
    offset: number,
    size: number,
    waits: number,
    waitList: number,
    event: number,
    error: number,
  ): number;
  enqueueUnmapMemObject(
    queue: number,
    buffer: number,
    address: number,
    waits: number,
    waitList: number,
    event: number,
  ): number;
  enqueueNDRangeKernel(
    queue: number,
    kernel: number,
    dimensions: number,
    globalOffset: number,
    globalSize: number,
    localSize: number,
    waits: number,
    waitList: number,
    event: number,
  ): number;
  flush(queue: number): number;
  finish(queue: number): number;
  getEventInfo(event: number, name: number, size: number, value: number, sizeNeeded: number): number;
  waitForEvents(count: number, events: number): number;
  releaseEvent(event: number): number;
  createProgramWithSource(context: number, count: number, sources: number, lengths: number, error: number): number;
  buildProgram(
    program: number,
    count: number,
    devices: number,
    options: number,
    notify: number,
    userData: number,
  ): number;
  getProgramBuildInfo(
    program: number,
    device: number,
    name: number,
    size: number,
    value: number,
    sizeNeeded: number,
  ): number;
  releaseProgram(program: number): number;
  createKernel(program: number, name: string, error: number): number;
  releaseKernel(kernel: number): number;
  setKernelArg(kernel: number, index: number, size: number, value: number): number;
}

/** `clEnqueueReadBuffer` and `clEnqueueWriteBuffer`. */
type Transfer = (
  queue: number,
  buffer: number,
  blocking: number,
  offset: number,
  size: number,
  address: number,
  waits: number,
  waitList: number,
  event: number,
) => number;

const QUEUE_TRANSFER =
  'int64_t queue, int64_t buffer, uint32_t blocking, size_t offset, size_t size, int64_t address, uint32_t waits, int64_t waitList, int64_t event';

function bind(lib: Library): ClCalls {
  return {
    getPlatformIDs: lib.func('int clGetPlatformIDs(uint32_t entries, int64_t platforms, int64_t count)'),
    getDeviceIDs: lib.func(
      'int clGetDeviceIDs(int64_t platform, uint64_t type, uint32_t entries, int64_t devices, int64_t count)',
    ),
    getDeviceInfo: lib.func(
      'int clGetDeviceInfo(int64_t device, uint32_t name, size_t size, int64_t value, int64_t sizeNeeded)',
    ),
    createContext: lib.func(
      'int64_t clCreateContext(int64_t properties, uint32_t count, int64_t devices, int64_t notify, int64_t userData, int64_t error)',
    ),
    retainContext: lib.func('int clRetainContext(int64_t context)'),
    releaseContext: lib.func('int clReleaseContext(int64_t context)'),
    createCommandQueue: lib.func(
      'int64_t clCreateCommandQueue(int64_t context, int64_t device, uint64_t properties, int64_t error)',
    ),
    releaseCommandQueue: lib.func('int clReleaseCommandQueue(int64_t queue)'),
    createBuffer: lib.func(
      'int64_t clCreateBuffer(int64_t context, uint64_t flags, size_t size, int64_t host, int64_t error)',
    ),
    releaseMemObject: lib.func('int clReleaseMemObject(int64_t buffer)'),
    enqueueReadBuffer: lib.func(`int clEnqueueReadBuffer(${QUEUE_TRANSFER})`),
    enqueueWriteBuffer: lib.func(`int clEnqueueWriteBuffer(${QUEUE_TRANSFER})`),
    enqueueFillBuffer: lib.func(
      'int clEnqueueFillBuffer(int64_t queue, int64_t buffer, int64_t pattern, size_t patternSize, size_t offset, size_t size, uint32_t waits, int64_t waitList, int64_t event)',
    ),
    enqueueMapBuffer: lib.func(
      'int64_t clEnqueueMapBuffer(int64_t queue, int64_t buffer, uint32_t blocking, uint64_t flags, size_t offset, size_t size, uint32_t waits, int64_t waitList, int64_t event, int64_t error)',
    ),
    enqueueUnmapMemObject: lib.func(
      'int clEnqueueUnmapMemObject(int64_t queue, int64_t buffer, int64_t address, uint32_t waits, int64_t waitList, int64_t event)',
    ),
    enqueueNDRangeKernel: lib.func(
      'int clEnqueueNDRangeKernel(int64_t queue, int64_t kernel, uint32_t dimensions, int64_t globalOffset, int64_t globalSize, int64_t localSize, uint32_t waits, int64_t waitList, int64_t event)',
    ),
    flush: lib.func('int clFlush(int64_t queue)'),
    finish: lib.func('int clFinish(int64_t queue)'),
    getEventInfo: lib.func(
      'int clGetEventInfo(int64_t event, uint32_t name, size_t size, int64_t value, int64_t sizeNeeded)',
    ),
    waitForEvents: lib.func('int clWaitForEvents(uint32_t count, int64_t events)'),
    releaseEvent: lib.func('int clReleaseEvent(int64_t event)'),
    createProgramWithSource: lib.func(
      'int64_t clCreateProgramWithSource(int64_t context, uint32_t count, int64_t sources, int64_t lengths, int64_t error)',
    ),
    buildProgram: lib.func(
      'int clBuildProgram(int64_t program, uint32_t count, int64_t devices, int64_t options, int64_t notify, int64_t userData)',
    ),
    getProgramBuildInfo: lib.func(
      'int clGetProgramBuildInfo(int64_t program, int64_t device, uint32_t name, size_t size, int64_t value, int64_t sizeNeeded)',
    ),
    releaseProgram: lib.func('int clReleaseProgram(int64_t program)'),
    createKernel: lib.func('int64_t clCreateKernel(int64_t program, const char *name, int64_t error)'),
    releaseKernel: lib.func('int clReleaseKernel(int64_t kernel)'),
    setKernelArg: lib.func('int clSetKernelArg(int64_t kernel, uint32_t index, size_t size, int64_t value)'),
  };
}

/** @throws LibraryProblem when there is none */
export function loadOpenCl(): ClCalls {
  const remedy =
    "install OpenCL's loader and a driver (Debian: ocl-icd-libopencl1, and pocl-opencl-icd for the processor)";
  return bind(openLibrary('libOpenCL.so.1', 'OpenCL', remedy));
}
