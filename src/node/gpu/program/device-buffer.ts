import { DeviceMemoryBase, invalid, type Problem, refuse, unsupported, VerbsError } from '../../../api/verbs/index.js';
import { AccessFlags } from '../../../device/ibta/index.js';
import type { GpuHandle, GpuPlace } from '../driver/gpu-driver.js';
import type { GpuBuffer, GpuContext } from './gpu.js';
import { attempt, type OpenGpu } from './open-gpu.js';
import { pieces, type Step } from './transfers.js';

/** Where made-up addresses begin: far from those of programs, and from those that are made up for them. */
const FIRST_ADDRESS = 0x2000_0000_0000;
const PAGE = 4096;

let nextAddress = FIRST_ADDRESS;

/** An address for memory whose device tells none; so far from others that running past its end hits nothing. */
function madeUp(lengthBytes: number): number {
  const address = nextAddress;
  nextAddress += (Math.ceil(lengthBytes / PAGE) + 1) * PAGE;
  return address;
}

export class DeviceBuffer extends DeviceMemoryBase implements GpuBuffer {
  readonly address: bigint;
  protected readonly label: string;

  constructor(
    readonly gpu: OpenGpu & GpuContext,
    private readonly handle: GpuHandle,
    readonly length: number,
  ) {
    super('gpuBuffer.free', [gpu]);
    this.address = BigInt(gpu.session.addressOf(handle) ?? madeUp(length));
    this.label = `GPU buffer of ${length} bytes at 0x${this.address.toString(16)}`;
  }

  async write(source: Uint8Array, offset = 0): Promise<void> {
    const call = 'gpuBuffer.write';
    this.#check(call, source, offset);
    const { length } = source;
    await this.gpu.transfers.run(call, this.#writes(source, offset));
    this.#checkStill(call, source, length);
  }

  writeSync(source: Uint8Array, offset = 0): void {
    const call = 'gpuBuffer.writeSync';
    this.#check(call, source, offset);
    this.gpu.transfers.runSync(call, this.#writes(source, offset));
  }

  async read(target: Uint8Array, offset = 0): Promise<void> {
    const call = 'gpuBuffer.read';
    this.#check(call, target, offset);
    const { length } = target;
    await this.gpu.transfers.run(call, this.#reads(target, offset));
    this.#checkStill(call, target, length);
  }

  readSync(target: Uint8Array, offset = 0): void {
    const call = 'gpuBuffer.readSync';
    this.#check(call, target, offset);
    this.gpu.transfers.runSync(call, this.#reads(target, offset));
  }

  fill(value: number): void {
    const call = 'gpuBuffer.fill';
    this.assertAlive(call);
    if (!Number.isInteger(value) || value < 0 || value > 255)
      refuse(call, invalid(`the value is ${String(value)}`, 'It is a byte, 0 to 255'));
    const { handle, length } = this;
    this.gpu.transfers.runSync(call, [
      { lengthBytes: length, begin: (machine, copy) => machine.fill(handle, 0, length, value, copy) },
    ]);
  }

  async firstDifference(other: GpuBuffer): Promise<number | undefined> {
    const call = 'gpuBuffer.firstDifference';
    this.assertAlive(call);
    if (!(other instanceof DeviceBuffer) || other.destroyed || other.gpu !== this.gpu || other.length !== this.length)
      throw new VerbsError(call, invalid('that is not a buffer of the same device and length'));
    const { handle, length } = this;
    let first = length;
    const found = (at: number): void => {
      first = at;
    };
    const compared = other.handle;
    await this.gpu.transfers.run(call, [
      { lengthBytes: length, begin: (machine, copy) => machine.compare(handle, compared, length, found, copy) },
    ]);
    return first < length ? first : undefined;
  }

  accessProblem(access: number): Problem | undefined {
    const { device } = this.gpu;
    if ((access & AccessFlags.REMOTE_ATOMIC) === 0 || device.hasAtomics) return undefined;
    return unsupported(`${device.name} has no atomics of 64 bits`, 'Register the buffer without REMOTE_ATOMIC');
  }

  placeFor(call: string, access: number): GpuPlace {
    const { handle, length, gpu } = this;
    const { session, device } = gpu;
    const changes = (access & AccessFlags.REMOTE_ATOMIC) !== 0;
    const atomics = changes ? attempt(call, () => session.prepareAtomics()) : 0;
    return {
      kind: device.kind,
      device: device.index,
      context: session.context,
      buffer: handle,
      atomics,
      lengthBytes: length,
    };
  }

  free(): void {
    this.end();
  }

  protected override busyReason(): string | undefined {
    const { count } = this.gpu.transfers;
    return count > 0 ? 'may be copied from or to: not every call that was begun has ended' : undefined;
  }

  #writes(source: Uint8Array, offset: number): readonly Step[] {
    const { handle } = this;
    return Array.from(pieces(source.length), ({ at, lengthBytes }) => ({
      lengthBytes,
      begin: (machine, copy) => machine.write(handle, offset + at, source, at, lengthBytes, copy),
    }));
  }

  #reads(target: Uint8Array, offset: number): readonly Step[] {
    const { handle } = this;
    return Array.from(pieces(target.length), ({ at, lengthBytes }) => ({
      lengthBytes,
      begin: (machine, copy) => machine.read(handle, offset + at, target, at, lengthBytes, copy),
    }));
  }

  #check(call: string, bytes: Uint8Array, offset: number): void {
    this.assertAlive(call);
    const { length } = bytes;
    const fits = Number.isSafeInteger(offset) && offset >= 0 && offset + length <= this.length;
    if (length === 0 || !fits)
      refuse(
        call,
        invalid(`${length} bytes at offset ${String(offset)} are not inside the ${this.length} bytes of the buffer`),
      );
  }

  /** Memory of a program can be taken away while others use it. */
  #checkStill(call: string, { byteLength }: Uint8Array, before: number): void {
    if (byteLength !== before)
      refuse(call, invalid('the memory was detached meanwhile, and nobody knows what was copied'));
  }

  protected release(): void {
    attempt('gpuBuffer.free', () => this.gpu.session.free(this.handle));
  }
}
