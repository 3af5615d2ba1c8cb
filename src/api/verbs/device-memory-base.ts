import type { DeviceMemory } from './objects/objects.js';
import type { DeviceMemoryPlace } from '../../device/ibta/index.js';
import type { Problem } from './errors.js';
import { Resource } from './resource.js';

/** What stands behind a {@link DeviceMemory}. */
export abstract class DeviceMemoryBase extends Resource implements DeviceMemory {
  abstract readonly length: number;
  abstract readonly address: bigint;

  /** Why it cannot be registered with these access flags though other memory can; undefined when it can. */
  abstract accessProblem(access: number): Problem | undefined;

  /**
   * Where it is, for a region with these access flags.
   *
   * @param call names it in errors
   * @throws VerbsError EIO when the device fails
   */
  abstract placeFor(call: string, access: number): DeviceMemoryPlace;
}
