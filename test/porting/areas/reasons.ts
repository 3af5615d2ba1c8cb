/** Why things of C are not here, where several things have the same reason. */
import { absent, type Answer } from '../table.js';

export const MASK: Answer = absent('Not needed: a field that is there counts, one that is absent does not.');
export const HANDLE: Answer = absent("The kernel's number of the object; there is no kernel here.");
export const LOCKS: Answer = absent('The library has it for its own waiting, which is not needed here.');
export const DESCRIPTOR: Answer = absent('Events come by calls and by async iteration, not by a descriptor to poll.');
export const IMPORT: Answer = absent('A NIC belongs to one process: there are no objects of another to import.');
export const DMABUF: Answer = absent(
  'Memory of a GPU is registered by its buffer, not by a descriptor: `pd.regMr(gpuBuffer)` (`verbena/gpu`).',
);
export const TPH: Answer = absent('Hints for a PCI bus; a NIC in software is on none.');
export const PLUMBING: Answer = absent('Between the C library and its drivers; programs have nothing to do with it.');
export const COUNTER_FLAGS: Answer = absent('The memory of a counter is made with it: there are no flags.');
export const TAGS: Answer = absent('Tag matching: `createSrq` refuses SRQs of type TM with EOPNOTSUPP.');
export const ECE: Answer = absent('Options that vendors agree on while they connect; this device has none.');
export const FORK: Answer = absent('Node starts other programs, it never forks itself, and nothing is pinned.');
export const NOTHING_TO_FREE: Answer = absent('The garbage collector frees it.');
export const PATHS: Answer = absent('RoCE has no path records: the system routes by IP.');
export const IB_ADDRESSES: Answer = absent('Addresses are IP addresses, as RoCE has them; there is no AF_IB.');
