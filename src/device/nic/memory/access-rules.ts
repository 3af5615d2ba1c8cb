import { ACCESS_OPTIONAL_RANGE, AccessFlags } from '../../ibta/index.js';
import { CommandError } from '../command-error.js';

/** Every access flag that there is, and those that a device may ignore. */
export const KNOWN_ACCESS = Object.values(AccessFlags).reduce((all, flag) => all | flag, ACCESS_OPTIONAL_RANGE);
const REMOTE_CHANGE = AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_ATOMIC;

/**
 * Refuses access flags that no region can have (man ibv_reg_mr, protocol/services.md 3.6). Pages are the kernel's affair in a NIC
 * made of software, so ON_DEMAND and HUGETLB ask for what every region has.
 */
export function checkRegionAccess(access: number): void {
  const unknown = access & ~KNOWN_ACCESS;
  if (unknown !== 0) throw new CommandError('EINVAL', `there are no access flags 0x${(unknown >>> 0).toString(16)}`);
  if ((access & REMOTE_CHANGE) !== 0 && (access & AccessFlags.LOCAL_WRITE) === 0)
    throw new CommandError('EINVAL', 'REMOTE_WRITE and REMOTE_ATOMIC need LOCAL_WRITE as well');
}
