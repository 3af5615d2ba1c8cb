import { registerMemory } from '../../providers/soft/index.js';
import type { Mr, Pd } from '../../api/verbs/index.js';
import { ACCESS_OPTIONAL_RANGE, AccessFlags } from '../../device/ibta/index.js';
import { canPin, ProcessMemory } from '../../node/system/index.js';
import type { GuestContext } from './guest-context.js';
import { Refusal } from '../refusal.js';

const PAGE_MASK = 4095n;
const ADDRESS_END = 2n ** 64n;
/** The kernel counts the pages of a region in 32 bits. */
const MAX_PAGES = 2n ** 32n - 1n;
const { LOCAL_WRITE, REMOTE_WRITE, REMOTE_ATOMIC, MW_BIND, ZERO_BASED, ON_DEMAND } = AccessFlags;
/** With these the kernel pins pages for writing (`ib_access_writable`). */
const WRITING = LOCAL_WRITE | REMOTE_WRITE | REMOTE_ATOMIC | MW_BIND;
const KNOWN = Object.values(AccessFlags).reduce((all, flag) => all | flag, ACCESS_OPTIONAL_RANGE);

export interface ProgramRegion {
  readonly start: bigint;
  readonly length: bigint;
  /** How requests and peers name the first byte. */
  readonly iova: bigint;
  /** Bits of `AccessFlags`. */
  readonly access: number;
}

/** As `ib_check_mr_access` of the kernel; a device without on-demand paging refuses ON_DEMAND, and HUGETLB has no effect. */
function checkAccess(access: number): void {
  const isRemotelyWritten = (access & (REMOTE_WRITE | REMOTE_ATOMIC)) !== 0;
  if (isRemotelyWritten && (access & LOCAL_WRITE) === 0)
    throw new Refusal(
      'EINVAL',
      'access has REMOTE_WRITE or REMOTE_ATOMIC without LOCAL_WRITE. Add IBV_ACCESS_LOCAL_WRITE',
    );
  if ((access & ~KNOWN) !== 0)
    throw new Refusal('EINVAL', `access has the unknown bits 0x${((access & ~KNOWN) >>> 0).toString(16)}`);
  if ((access & ON_DEMAND) !== 0)
    throw new Refusal('EOPNOTSUPP', 'this device has no on-demand paging. Leave IBV_ACCESS_ON_DEMAND out');
}

/** What `ib_umem_get` of the kernel checks before it pins. RLIMIT_MEMLOCK does not apply: nothing is pinned here. */
function checkPages(pid: number, { start, length, access }: ProgramRegion): void {
  const end = start + length;
  if (end > ADDRESS_END - PAGE_MASK - 1n)
    throw new Refusal('EINVAL', `${length} bytes at ${hex(start)} end beyond the address space`);
  const pages = ((end + PAGE_MASK) & ~PAGE_MASK) - (start & ~PAGE_MASK);
  if (pages === 0n) throw new Refusal('EINVAL', 'length is 0. A region has at least one byte');
  if (pages / (PAGE_MASK + 1n) > MAX_PAGES)
    throw new Refusal('EINVAL', `length is ${length}, more than 2^32 - 1 pages`);
  const isOfKernel = end > BigInt(Number.MAX_SAFE_INTEGER);
  const writing = (access & WRITING) !== 0;
  if (isOfKernel || !canPin(pid, Number(start), Number(length), writing))
    throw new Refusal(
      'EFAULT',
      `${length} bytes at ${hex(start)} are not all ${writing ? 'writable memory' : 'memory'} of the program`,
    );
}

/** Registers memory of the process that opened the device. @throws VerbsError, Refusal */
export function registerProgramMemory(file: GuestContext, pd: () => Pd, region: ProgramRegion): Mr {
  const { start, length, access } = region;
  if (((start ^ region.iova) & PAGE_MASK) !== 0n)
    throw new Refusal('EINVAL', `iova ${hex(region.iova)} and addr ${hex(start)} differ in their offset within a page`);
  checkAccess(access);
  const domain = pd();
  checkPages(file.pid, region);
  // `ibv_reg_mr` has no argument for it, and passes the address of the first byte.
  const iova = (access & ZERO_BASED) !== 0 && region.iova === start ? 0n : region.iova;
  return registerMemory(domain, new ProcessMemory(file.memory, Number(start), Number(length)), { iova, access });
}

function hex(value: bigint): string {
  return `0x${value.toString(16)}`;
}
