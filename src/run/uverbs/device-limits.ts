import { type DeviceAttr, DeviceCapFlags } from '../../device/ibta/index.js';
import { MOST_QUEUES } from '../rings/ring-file.js';

/**
 * What programs are told of the device, where that is less than it has: some allocate by what they are told, and rxe's provider
 * lacks parts of it. Asking for more is refused.
 */
const LIMITS = {
  maxQpWr: 16383,
  maxSge: 19,
  maxSgeRd: 19,
  // libfabric's RxM wants one queue for a thousand peers, of 768 completions each.
  maxCqe: 2 ** 20 - 1,
  maxSrqWr: 16383,
  maxSrqSge: 19,
} as const satisfies Partial<DeviceAttr>;

/** Bytes that a send entry with LIMITS.maxSge pieces has room for. */
export const MAX_INLINE_BYTES = 304;

/** XRC, which rxe's provider cannot make; and raw packets, which it cannot send. */
const MISSING = DeviceCapFlags.XRC;

type Limited = Pick<DeviceAttr, 'deviceCapFlags' | 'maxQp' | 'maxCq' | 'maxSrq'>;

export function deviceLimits({ deviceCapFlags, maxQp, maxCq, maxSrq }: Limited) {
  return {
    ...LIMITS,
    maxQp: Math.min(maxQp, Math.floor(MOST_QUEUES / 2)),
    maxCq: Math.min(maxCq, MOST_QUEUES),
    maxSrq: Math.min(maxSrq, MOST_QUEUES),
    deviceCapFlags: deviceCapFlags & ~MISSING,
    maxRawEthyQp: 0,
  };
}

export { LIMITS as GUEST_LIMITS };
