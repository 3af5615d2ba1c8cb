import type { ErrnoName } from '../spec/index.js';

type AdviceByErrno = Readonly<Partial<Record<ErrnoName, string>>>;

/** What to do about an error that a device reports, by the call that met it. */
const byCall: Readonly<Record<string, AdviceByErrno>> = {
  ibv_modify_qp: {
    EINVAL:
      'The way up is RESET to INIT to RTR to RTS, each step with exactly its own attributes in one call ' +
      '(man ibv_modify_qp lists them)',
    EPERM: 'Only a privileged program may use a Q_Key whose top bit is set; take one below 0x80000000',
  },
  ibv_create_qp: {
    EINVAL: 'queryDevice() tells what the device takes',
    EOPNOTSUPP: 'Choose a qpType that the device has',
  },
  ibv_create_cq: { EINVAL: 'queryDevice().maxCqe tells what the device takes' },
  ibv_reg_mr: {
    EINVAL: 'Memory has at least one byte, and rights for peers to write need LOCAL_WRITE',
    EOPNOTSUPP: 'Leave out the access flags that the device lacks',
  },
  ibv_open_device: {
    EADDRINUSE: 'Another NIC is on that address; choose another by VERBENA_ADDR, such as 127.0.0.9',
    EADDRNOTAVAIL: 'Choose an address of this machine by VERBENA_ADDR; any of 127.0.0.0/8 will do for tests',
    EACCES: 'Check the permissions of what the sentence names',
  },
};

const byErrno: AdviceByErrno = {
  ENOMEM: 'End what is no longer needed; queryDevice() tells how many of each the device holds',
  EBUSY: 'End what uses it first',
};

/** What to do about `errno` of `call` (its C name), or nothing when there is nothing general to say. */
export function adviceFor(call: string, errno: ErrnoName): string {
  const advice = Object.hasOwn(byCall, call) ? byCall[call][errno] : undefined;
  return advice ?? byErrno[errno] ?? '';
}
