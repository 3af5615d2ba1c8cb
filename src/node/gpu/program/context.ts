import { invalid, refuse } from '../../../api/verbs/index.js';
import { DeviceBuffer } from './device-buffer.js';
import type { GpuBuffer, GpuContext } from './gpu.js';
import { attempt, OpenGpu } from './open-gpu.js';

export class Context extends OpenGpu implements GpuContext {
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
