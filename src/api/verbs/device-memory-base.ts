import type { DeviceMemory, DeviceMemoryPlace } from './objects/device-memory.js';
import { Resource } from './resource.js';

/** What stands behind a {@link DeviceMemory}. */
export abstract class DeviceMemoryBase extends Resource implements DeviceMemory {
  abstract readonly length: number;
  abstract readonly address: bigint;
  abstract readonly place: DeviceMemoryPlace;
}
