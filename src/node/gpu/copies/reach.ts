import { CommandError, type ForeignMemory } from '../../../device/nic/index.js';
import { GpuFailure, GpuKind, type GpuPlace, type GpuSession } from '../driver/gpu-driver.js';
import { driverOf } from '../kinds/index.js';
import { CopyMachine } from './copy-machine.js';
import { GpuMemory } from './gpu-memory.js';

/** A device that NICs of this thread copy from and to. */
interface Reached {
  readonly session: GpuSession;
  readonly machine: CopyMachine;
  regions: number;
}

const reached = new Map<string, Reached>();

/** Whether somebody has made it whose memory is reached by {@link reachGpuMemory}. */
export function isGpuPlace(place: { readonly kind: string }): place is GpuPlace {
  return Object.values(GpuKind).some((kind) => kind === place.kind) && 'context' in place && 'buffer' in place;
}

function reach({ kind, device, context }: GpuPlace, warn: (text: string) => void): Reached {
  const driver = driverOf(kind);
  if (typeof driver === 'string') throw new CommandError('EOPNOTSUPP', driver);
  const session = driver.join(device, context);
  let warned = false;
  const machine = new CopyMachine(session, (failure) => {
    if (!warned) warn(`a GPU (${session.facts.name}) does not copy what the NIC asks it to: ${failure.message}`);
    warned = true;
  });
  return { session, machine, regions: 0 };
}

/**
 * Memory of a GPU for a NIC of this thread. The buffer stays as long as it is registered.
 *
 * @param warn told what goes wrong on the device, for people
 * @throws CommandError EOPNOTSUPP when the library is missing here; EIO when it fails
 */
export function reachGpuMemory(place: GpuPlace, warn: (text: string) => void): ForeignMemory {
  const key = `${place.kind} ${place.device} ${place.context}`;
  try {
    const known = reached.get(key) ?? reach(place, warn);
    reached.set(key, known);
    known.regions += 1;
    return new GpuMemory(known.machine, place, () => {
      known.regions -= 1;
      if (known.regions > 0) return;
      reached.delete(key);
      known.machine.close();
      known.session.close();
    });
  } catch (error) {
    if (error instanceof GpuFailure) throw new CommandError('EIO', error.message);
    throw error;
  }
}
