import {
  type GpuDeviceFacts,
  type GpuDriver,
  type GpuHandle,
  GpuKind,
  type GpuSession,
} from '../../driver/gpu-driver.js';
import { NativeBlock } from '../../../system/index.js';
import { OpenCl } from './opencl-calls.js';
import { Cl, type ClCalls, loadOpenCl } from './opencl-library.js';
import { OpenClSession } from './opencl-session.js';

class OpenClDriver implements GpuDriver {
  readonly kind = GpuKind.OPENCL;
  readonly remedy = 'install the OpenCL driver of a device (Debian: pocl-opencl-icd, for the processor)';
  readonly #cl: OpenCl;

  constructor(calls: ClCalls) {
    this.#cl = new OpenCl(calls);
  }

  devices(): readonly GpuDeviceFacts[] {
    return this.#handles().map((device, index) => this.#facts(device, index));
  }

  open(index: number): GpuSession {
    const device = this.#handles()[index];
    const devices = new NativeBlock(8);
    devices.putPointer(0, device);
    const { calls } = this.#cl;
    const context = this.#cl.make('clCreateContext', (error) =>
      calls.createContext(0, 1, devices.address, 0, 0, error),
    );
    return new OpenClSession(this.#cl, this.#facts(device, index), device, context);
  }

  join(index: number, context: GpuHandle): GpuSession {
    const device = this.#handles()[index];
    this.#cl.calls.retainContext(context);
    return new OpenClSession(this.#cl, this.#facts(device, index), device, context);
  }

  /** Those that can be used: what lies in memory is read as the processor reads it. */
  #handles(): readonly number[] {
    const cl = this.#cl;
    const { calls } = cl;
    const platforms = cl.list('clGetPlatformIDs', (entries, found, count) =>
      calls.getPlatformIDs(entries, found, count),
    );
    return platforms
      .flatMap((platform) =>
        cl.list('clGetDeviceIDs', (entries, found, count) =>
          calls.getDeviceIDs(platform, Cl.DEVICE_TYPE_ALL, entries, found, count),
        ),
      )
      .filter(
        (device) =>
          cl.deviceNumber(device, Cl.DEVICE_AVAILABLE) !== 0 && cl.deviceNumber(device, Cl.DEVICE_ENDIAN_LITTLE) !== 0,
      );
  }

  #facts(device: number, index: number): GpuDeviceFacts {
    const cl = this.#cl;
    return {
      index,
      name: cl.deviceText(device, Cl.DEVICE_NAME),
      vendor: cl.deviceText(device, Cl.DEVICE_VENDOR),
      memoryBytes: cl.deviceNumber(device, Cl.DEVICE_GLOBAL_MEM_SIZE),
      hasAtomics: cl.deviceText(device, Cl.DEVICE_EXTENSIONS).split(' ').includes('cl_khr_int64_base_atomics'),
    };
  }
}

/** @throws LibraryProblem */
export function loadOpenClDriver(calls = loadOpenCl()): GpuDriver {
  return new OpenClDriver(calls);
}
