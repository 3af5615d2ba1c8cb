import type { ForeignMemory } from '../../device/nic/index.js';
import {
  accessProblem,
  type Address,
  invalid,
  iovaProblem,
  isAddress,
  type Mr,
  type Pd,
  refuse,
  unsupported,
  VerbsError,
} from '../../api/verbs/index.js';
import { SUPPORTED_ACCESS } from './driver/device-facts.js';
import { PdBase } from './driver/context-base.js';
import { elsewhere, ForeignMr } from './driver/memory/foreign-region.js';

const CALL = 'registerMemory';

export interface RegisterMemoryOptions {
  /** Address of the first byte as peers and work requests name it. */
  readonly iova: Address;
  /** Bits of `AccessFlags`. */
  readonly access: number;
}

/**
 * Registers memory that is not bytes of this program: that of another process, or of another device. The NIC has to be in the
 * caller's thread. Copies that finish later need the event loop: while a call blocks, or a program polls without a pause, none does. Requests that carry their data inline cannot take it from there, and `Mr.bytes` is empty. Memory of no bytes can be registered. The call has no C twin.
 *
 * @throws VerbsError EINVAL for a domain of another provider, access or an address that cannot be;
 *   ENOMEM when the device has no more regions; EOPNOTSUPP where the NIC is in a thread of its own
 */
export function registerMemory(pd: Pd, memory: ForeignMemory, { iova, access }: RegisterMemoryOptions): Mr {
  if (!(pd instanceof PdBase) || pd.destroyed)
    throw new VerbsError(CALL, invalid('that is no living protection domain of a software NIC', 'Make one by allocPd'));
  if (pd.context.hasThread)
    refuse(CALL, unsupported('the NIC, in its thread, cannot reach it', "Open the device with host: 'inline'"));
  const named = isAddress(iova) ? BigInt(iova) : 0n;
  refuse(CALL, accessProblem(access, SUPPORTED_ACCESS) ?? iovaProblem(iova, named, memory.lengthBytes, access));
  return new ForeignMr(pd, elsewhere(memory), access, iova);
}
