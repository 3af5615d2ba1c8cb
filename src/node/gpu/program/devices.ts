import { invalid, type Problem, refuse, VerbsError } from '../../../api/verbs/index.js';
import type { GpuDriver, GpuKind } from '../driver/gpu-driver.js';
import { driverOf, KINDS } from '../kinds/index.js';
import type { GpuBuffer, GpuContext, GpuDevice, GpuOptions } from './gpu.js';
import { attempt, OpenGpu } from './open-gpu.js';
import { DeviceBuffer } from './device-buffer.js';

class Context extends OpenGpu implements GpuContext {
  alloc(length: number): GpuBuffer {
    const call = 'gpu.alloc';
    this.assertAlive(call);
    if (!Number.isSafeInteger(length) || length < 1)
      refuse(call, invalid(`the length is ${String(length)}`, 'It is a number of bytes, at least 1'));
    const handle = attempt(call, () => this.session.alloc(length));
    return new DeviceBuffer(this, handle, length);
  }

  close(): void {
    this.end();
  }
}

const OPEN = 'openGpu';

function devicesOf(call: string, driver: GpuDriver, kind: GpuKind): readonly GpuDevice[] {
  return attempt(call, () => driver.devices()).map((facts) => ({ kind, ...facts }));
}

function requireKind(call: string, kind: GpuKind): void {
  if (!KINDS.includes(kind))
    refuse(call, invalid(`there is no kind of GPU '${kind}'`, `Those that there are: ${KINDS.join(', ')}`));
}

/**
 * The devices that can be opened: of one kind, or of all whose libraries are there. None where there is no library;
 * {@link gpuProblem} says why.
 *
 * @throws VerbsError EINVAL for a kind that there is not; EIO when a driver fails
 */
export function gpuDevices(kind?: GpuKind): readonly GpuDevice[] {
  const call = 'gpuDevices';
  if (kind !== undefined) requireKind(call, kind);
  return (kind === undefined ? KINDS : [kind]).flatMap((asked) => {
    const driver = driverOf(asked);
    return typeof driver === 'string' ? [] : devicesOf(call, driver, asked);
  });
}

/**
 * Why no device of a kind can be opened here, as a sentence without its full stop; undefined where one can. It says what is
 * missing and what to install.
 *
 * @throws VerbsError EINVAL for a kind that there is not
 */
export function gpuProblem(kind: GpuKind): string | undefined {
  requireKind('gpuProblem', kind);
  const driver = driverOf(kind);
  if (typeof driver === 'string') return driver;
  try {
    return driver.devices().length > 0
      ? undefined
      : `${kind}: the library is there, and finds no device; ${driver.remedy}`;
  } catch (error) {
    return `${kind}: the library is there, and finds no device: ${error instanceof Error ? error.message : String(error)}`;
  }
}

function choose({ kind }: GpuOptions): GpuKind {
  if (kind !== undefined) {
    requireKind(OPEN, kind);
    return kind;
  }
  const found = KINDS.find((each) => gpuProblem(each) === undefined);
  if (found !== undefined) return found;
  const reasons = KINDS.map((each) => gpuProblem(each)).join('; ');
  throw new VerbsError(OPEN, absent(`there is no GPU to be had: ${reasons}`));
}

function absent(message: string): Problem {
  return { errno: 'ENODEV', message, advice: '' };
}

/**
 * Opens a GPU.
 *
 * @throws VerbsError ENODEV where there is no such device, saying what is missing; EINVAL for a kind or an index that cannot
 *   be; EIO when the driver fails
 */
export function openGpu(options: GpuOptions = {}): GpuContext {
  const kind = choose(options);
  const { index = 0 } = options;
  if (!Number.isInteger(index) || index < 0)
    refuse(OPEN, invalid(`index is ${String(index)}`, 'It is a number, from 0 on'));
  const driver = driverOf(kind);
  const problem = gpuProblem(kind);
  if (problem !== undefined || typeof driver === 'string') throw new VerbsError(OPEN, absent(problem ?? ''));
  const devices = devicesOf(OPEN, driver, kind);
  const device = devices.at(index);
  if (device === undefined)
    throw new VerbsError(OPEN, absent(`there is no device ${index} of ${kind}: there are ${devices.length}`));
  return new Context(
    device,
    attempt(OPEN, () => driver.open(index)),
  );
}
