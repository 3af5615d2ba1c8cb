import type { ErrnoName, EventType } from '../../../device/ibta/index.js';
import { eventTypeStr } from './strings.js';

/** The fields of an asynchronous event that say what happened. */
export interface ExplainableEvent {
  readonly eventType: EventType;
  readonly vendorErr?: number;
  readonly qp?: { readonly qpNum: number };
}

/** What an event says on any device. Only the provider knows what `vendorErr` means. */
export function explainEvent({ eventType, vendorErr }: ExplainableEvent): string {
  const text = eventTypeStr(eventType);
  return vendorErr === undefined ? text : `${text} (vendor error ${vendorErr})`;
}

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
    EPERM: 'Raw packets are for programs with CAP_NET_RAW; a simulated network asks nobody',
  },
  ibv_create_srq: { EINVAL: 'queryDevice() tells what the device takes: maxSrqWr, maxSrqSge' },
  ibv_modify_srq: { EINVAL: 'A queue can be made no shorter than what is posted to it' },
  ibv_create_ah: { EINVAL: "On RoCE an address needs isGlobal and a grh with the peer's GID" },
  ibv_attach_mcast: {
    EINVAL: 'QPs of type UD can be attached, to 224.0.0.0/4 (gidFromIp gives the GID) or ff00::/8',
    EPERM: 'The system does not let this process join a group',
  },
  ibv_detach_mcast: { EINVAL: 'Give the GID that attachMcast was given' },
  ibv_bind_mw: {
    EINVAL: 'bindMw binds windows of type 1; those of type 2 are bound by a BIND_MW request',
    EPERM: 'Window and region must be of one protection domain',
  },
  ibv_rereg_mr: { EINVAL: 'The memory has at least one byte, and rights for peers to write need LOCAL_WRITE' },
  ibv_dereg_mr: { EBUSY: 'Unbind or deallocate the memory windows that are bound to it first' },
  ibv_resize_cq: { EINVAL: 'A queue can be made no shorter than what is in it; poll it first' },
  ibv_open_qp: { EINVAL: 'Give the number of a QP of type XRC_RECV that was made in this XRC domain' },
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
