/** GPUs for tests, and what lies in them. */
import { type GpuBuffer, type GpuContext, GpuKind, gpuProblem, openGpu } from '../../src/gpu.js';
import { type HostKind, type Mr, type SendWr, SendFlags, type WorkCompletion } from '../../src/index.js';
import { ALL_ACCESS, drainOne, Pair, type PairOptions, pattern, type Side } from '../soft/support/pair.js';

/** Why tests that need an OpenCL device cannot run here, or false. */
export const withoutOpenCl: string | false = gpuProblem(GpuKind.OPENCL) ?? false;

/** Every way of hosting a NIC that reaches a GPU. */
export const GPU_HOSTINGS: readonly HostKind[] = ['inline', 'thread'];

export function openOpenCl(): GpuContext {
  return openGpu({ kind: GpuKind.OPENCL });
}

/** Where each side of a transfer lies. */
export interface Placement {
  readonly name: string;
  readonly local: boolean;
  readonly remote: boolean;
}

export const PLACEMENTS: readonly Placement[] = [
  { name: 'from the program to the device', local: false, remote: true },
  { name: 'from the device to the program', local: true, remote: false },
  { name: 'from device to device', local: true, remote: true },
];

/** A region, on the device or not, and what it holds. */
export class Memory {
  private constructor(
    readonly mr: Mr,
    readonly buffer: GpuBuffer | undefined,
  ) {}

  static on(gpu: GpuContext | undefined, side: Side, bytes: number, access = ALL_ACCESS): Memory {
    if (gpu === undefined) return new Memory(side.mr, undefined);
    const buffer = gpu.alloc(bytes);
    return new Memory(side.pd.regMr(buffer, access), buffer);
  }

  get content(): Uint8Array {
    if (this.buffer === undefined) return this.mr.bytes.slice();
    const bytes = new Uint8Array(this.buffer.length);
    this.buffer.readSync(bytes);
    return bytes;
  }

  set content(bytes: Uint8Array) {
    if (this.buffer === undefined) this.mr.bytes.set(bytes);
    else this.buffer.writeSync(bytes);
  }

  end(): void {
    if (this.buffer === undefined) return;
    this.mr[Symbol.dispose]();
    this.buffer[Symbol.dispose]();
  }
}

/** Two connected ends with memory on a device. */
export class GpuPair extends Pair {
  readonly gpu: GpuContext = openOpenCl();
  readonly #made: Memory[] = [];

  constructor(
    host: HostKind,
    net: string,
    readonly bytes: number,
    options: PairOptions = {},
  ) {
    super(host, net, { bytes, ...options });
  }

  /** Memory of one end, which holds a pattern. */
  memory(side: Side, onDevice: boolean, salt = 0, access = ALL_ACCESS): Memory {
    const memory = Memory.on(onDevice ? this.gpu : undefined, side, this.bytes, access);
    memory.content = pattern(this.bytes, salt);
    this.#made.push(memory);
    return memory;
  }

  /** Has `a` carry out one request. */
  perform(request: SendWr): WorkCompletion {
    this.a.qp.postSend({ ...request, sendFlags: (request.sendFlags ?? 0) | SendFlags.SIGNALED });
    return drainOne(this.a.cq);
  }

  override [Symbol.dispose](): void {
    for (const memory of this.#made) memory.end();
    super[Symbol.dispose]();
    this.gpu[Symbol.dispose]();
  }
}
