import { NativeBlock } from '../../../system/index.js';
import { GpuFailure } from '../../driver/gpu-driver.js';
import { type ClCalls, Cl, clErrorName, isClOutOfMemory } from './opencl-library.js';

const VALUE_BYTES = 64 * 1024;

function failure(call: string, status: number): GpuFailure {
  return new GpuFailure(call, status, clErrorName(status), isClOutOfMemory(status));
}

/** Throws what a call has given, unless that is success. */
export function check(call: string, status: number): void {
  if (status !== Cl.SUCCESS) throw failure(call, status);
}

export { failure as clFailure };

/** The library in one thread, with memory for what its calls give back. */
export class OpenCl {
  /** Eight bytes: what a call puts somewhere. */
  readonly out = new NativeBlock(8);
  readonly #value = new NativeBlock(VALUE_BYTES);

  constructor(readonly calls: ClCalls) {}

  /** What a call makes that puts its error into {@link out}. @throws GpuFailure */
  make(call: string, make: (error: number) => number): number {
    const made = make(this.out.address);
    check(call, this.out.words[0]);
    return made;
  }

  /** Handles that a call lists, as many as there are; none where it says that there are none. */
  list(call: string, get: (entries: number, handles: number, count: number) => number): readonly number[] {
    const status = get(0, 0, this.out.address);
    if (status === Cl.DEVICE_NOT_FOUND || status === Cl.PLATFORM_NOT_FOUND_KHR) return [];
    check(call, status);
    const count = Math.min(this.out.words[0], VALUE_BYTES / 8);
    if (count === 0) return [];
    check(call, get(count, this.#value.address, 0));
    return Array.from({ length: count }, (_, i) => this.#value.getPointer(8 * i));
  }

  deviceText(device: number, name: number): string {
    const length = this.#deviceInfo(device, name, VALUE_BYTES);
    return new TextDecoder().decode(this.#value.bytes.subarray(0, Math.max(0, length - 1))).trim();
  }

  /** A number below 2^53 of a device. */
  deviceNumber(device: number, name: number): number {
    const length = this.#deviceInfo(device, name, 8);
    return length === 4 ? this.#value.words[0] >>> 0 : this.#value.getPointer(0);
  }

  #deviceInfo(device: number, name: number, size: number): number {
    const { address } = this.#value;
    check('clGetDeviceInfo', this.calls.getDeviceInfo(device, name, size, address, this.out.address));
    return this.out.getPointer(0);
  }

  /** Builds programs of the device. @throws GpuFailure, whose message has what the compiler says */
  build(context: number, device: number, source: string): number {
    const { calls } = this;
    const text = new NativeBlock(source.length + 1);
    new TextEncoder().encodeInto(source, text.bytes);
    const pointers = new NativeBlock(16);
    pointers.putPointer(0, text.address);
    pointers.putPointer(8, device);
    const program = this.make('clCreateProgramWithSource', (error) =>
      calls.createProgramWithSource(context, 1, pointers.address, 0, error),
    );
    const status = calls.buildProgram(program, 1, pointers.address + 8, 0, 0, 0);
    if (status === Cl.SUCCESS) return program;
    calls.releaseProgram(program);
    throw failure('clBuildProgram', status);
  }
}

/** What only programs of the device can do, in OpenCL C. */
export const COMPARE_SOURCE = `
__kernel void first_difference(__global const uchar *a, ulong aAt, __global const uchar *b, ulong bAt,
                               ulong length, __global ulong *first) {
  const ulong part = get_global_id(0);
  ulong at = part;
  while (at < length && a[aAt + at] == b[bAt + at]) at += get_global_size(0);
  first[part] = min(at, length);
}
`;

/** By cl_khr_int64_base_atomics. */
export const ATOMIC_SOURCE = `
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
__kernel void fetch_add(volatile __global ulong *words, ulong at, ulong addend, __global ulong *found) {
  *found = atom_add(&words[at], addend);
}
__kernel void compare_swap(volatile __global ulong *words, ulong at, ulong compare, ulong swap,
                           __global ulong *found) {
  *found = atom_cmpxchg(&words[at], compare, swap);
}
`;
