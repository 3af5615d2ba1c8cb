import { Resource, VerbsError } from '../../../api/verbs/index.js';
import { GpuFailure, type GpuSession } from '../driver/gpu-driver.js';
import type { GpuDevice } from './gpu.js';
import { Transfers } from './transfers.js';

/** Gives what a driver throws the shape that programs know. */
export function attempt<T>(call: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    if (!(error instanceof GpuFailure)) throw error;
    const errno = error.isOutOfMemory ? 'ENOMEM' : 'EIO';
    throw new VerbsError(call, { errno, message: error.message, advice: '' }, { cause: error });
  }
}

/** A device that a program has opened, as its buffers need it. */
export class OpenGpu extends Resource {
  readonly transfers: Transfers;
  protected readonly label: string;

  constructor(
    readonly device: GpuDevice,
    readonly session: GpuSession,
  ) {
    super('gpu.close', []);
    this.label = `GPU ${device.index} of ${device.kind}`;
    this.transfers = new Transfers(session);
  }

  protected release(): void {
    this.transfers.close();
    this.session.close();
  }
}
