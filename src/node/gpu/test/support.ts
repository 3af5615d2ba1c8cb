import { type GpuBuffer, type GpuContext, GpuKind, gpuProblem, openGpu } from '../../../entry/gpu.js';
import {
  type Context,
  type HostKind,
  type Mr,
  type SendWr,
  SendFlags,
  type WorkCompletion,
} from '../../../entry/index.js';
import {
  ALL_ACCESS,
  connect,
  drainOne,
  makeSide,
  openContexts,
  type PairOptions,
  pattern,
  type Side,
} from '../../../providers/soft/test/support/pair.js';

/** Which of the kinds tests are about: OpenCL's, which needs no GPU, unless somebody asks for another. */
export const KIND: GpuKind = process.env['VERBENA_TEST_GPU'] === 'cuda' ? GpuKind.CUDA : GpuKind.OPENCL;

/** Why tests that need a device cannot run here, or false. */
export const withoutGpu: string | false = gpuProblem(KIND) ?? false;

/** Every way of hosting a NIC that reaches a GPU. */
export const GPU_HOSTINGS: readonly HostKind[] = ['inline', 'thread'];

export function openGpuDevice(): GpuContext {
  return openGpu({ kind: KIND });
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

  static on(gpu: GpuContext | undefined, side: Side, bytes: number): Memory {
    if (gpu === undefined) return new Memory(side.mr, undefined);
    const buffer = gpu.alloc(bytes);
    return new Memory(side.pd.regMr(buffer, ALL_ACCESS), buffer);
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

/** What the tests of a suite share: to start NICs and to open a device takes longer than most of them. */
export class Devices implements Disposable {
  readonly gpu = openGpuDevice();
  readonly #contexts: readonly [Context, Context];

  constructor(host: HostKind, net: string) {
    this.#contexts = openContexts(host, net);
  }

  connect(options: PairOptions = {}): Ends {
    return new Ends(this.#contexts, options);
  }

  /** Two connected ends, with memory of so many bytes. */
  connectWith(bytes: number, options: PairOptions = {}): GpuPair {
    return new GpuPair(this.gpu, this.#contexts, bytes, options);
  }

  /** The device refuses that as long as anything of it is left. */
  [Symbol.dispose](): void {
    for (const context of this.#contexts) context[Symbol.dispose]();
    this.gpu[Symbol.dispose]();
  }
}

/** Two connected ends, on devices that outlive them. */
class Ends implements Disposable {
  readonly a: Side;
  readonly b: Side;

  constructor([first, second]: readonly [Context, Context], options: PairOptions) {
    this.a = makeSide(first, options);
    this.b = makeSide(second, options);
    connect(this.a.qp, { qpNum: this.b.qp.qpNum, dgid: second.queryGid(1, 0) }, options);
    connect(this.b.qp, { qpNum: this.a.qp.qpNum, dgid: first.queryGid(1, 0) }, options);
  }

  [Symbol.dispose](): void {
    for (const { qp, cq, channel, mr, pd } of [this.a, this.b])
      for (const made of [qp, cq, channel, mr, pd]) made[Symbol.dispose]();
  }
}

/** The same with memory on a device. */
class GpuPair extends Ends {
  readonly #made: Memory[] = [];

  constructor(
    private readonly gpu: GpuContext,
    contexts: readonly [Context, Context],
    readonly bytes: number,
    options: PairOptions,
  ) {
    super(contexts, { bytes, ...options });
  }

  memory(side: Side, onDevice: boolean, salt = 0): Memory {
    const memory = Memory.on(onDevice ? this.gpu : undefined, side, this.bytes);
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
  }
}
