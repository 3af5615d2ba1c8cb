import {
  ACCESS_OPTIONAL_RANGE,
  AccessFlags,
  AdviseMrAdvice,
  AdviseMrFlags,
  flagNames,
  isOneOf,
  ReregMrFlags,
} from '../../../device/ibta/index.js';
import { type Address, isAddress } from '../address.js';
import { invalid, type Problem } from '../errors.js';
import type { MrChange } from '../objects/objects.js';
import { pieceProblem } from './piece-checks.js';
import {
  addressProblem,
  allBits,
  flagBitsProblem,
  isCount,
  isList,
  isObject,
  listProblem,
  objectProblem,
  show,
  unsupported,
} from './values.js';

const allAccess = allBits(AccessFlags);
const PAGE_MASK = 0xfffn;
const ADDRESS_END = 1n << 64n;

/**
 * Why memory cannot be registered with these access flags, or undefined when it can (protocol/services.md 3.6).
 *
 * @param supported the flags that the device has; optional ones (bits 20 to 29) need not be among them
 */
export function accessProblem(access: unknown, supported: number): Problem | undefined {
  if (!isCount(access, 0, 0x7fffffff)) return invalid(`access is ${show(access)}`, 'It is bits of AccessFlags');
  const needed = access & ~ACCESS_OPTIONAL_RANGE;
  const unknown = needed & ~allAccess;
  if (unknown !== 0) return invalid(`access has bits that mean nothing: 0x${unknown.toString(16)}`);
  const lacking = needed & ~supported;
  if (lacking !== 0) return unsupported(`the device has no memory regions with ${flagNames(AccessFlags, lacking)}`);
  const writing = access & (AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_ATOMIC);
  if (writing !== 0 && (access & AccessFlags.LOCAL_WRITE) === 0) {
    return invalid(`access has ${flagNames(AccessFlags, writing)} without LOCAL_WRITE`, 'Add AccessFlags.LOCAL_WRITE');
  }
  return undefined;
}

/** How the first byte of a region at `addr` is named when the program does not say: by its address, or as 0. */
export function defaultIova(addr: bigint, access: number): bigint {
  return (access & AccessFlags.ZERO_BASED) === 0 ? addr : 0n;
}

/**
 * Why `length` bytes of memory at `addr` cannot be named from `iova` on, or undefined when they can (protocol/services.md 3.6: the
 * offsets within a page are the same, since adapters map whole pages).
 */
export function iovaProblem(iova: Address, addr: bigint, length: number, access: number): Problem | undefined {
  if (!isAddress(iova)) return addressProblem('iova', iova);
  const first = BigInt(iova);
  if ((access & AccessFlags.ZERO_BASED) !== 0) {
    return first === 0n ? undefined : invalid(`iova is ${show(iova)}, but ZERO_BASED names the first byte 0`);
  }
  if ((first & PAGE_MASK) !== (addr & PAGE_MASK)) {
    const offset = `0x${(addr & PAGE_MASK).toString(16)}`;
    return invalid(`iova is 0x${first.toString(16)}`, `It must end in ${offset} within its page, as the memory does`);
  }
  if (first + BigInt(length) <= ADDRESS_END) return undefined;
  return invalid(`iova is 0x${first.toString(16)}: ${length} bytes from there do not fit 64 bits`);
}

/** The `ReregMrFlags` of a change: those whose fields are present. */
export function reregFlagsOf(change: MrChange): number {
  const { memory, iova, pd, access } = change;
  return (
    (memory === undefined && iova === undefined ? 0 : ReregMrFlags.CHANGE_TRANSLATION) |
    (pd === undefined ? 0 : ReregMrFlags.CHANGE_PD) |
    (access === undefined ? 0 : ReregMrFlags.CHANGE_ACCESS)
  );
}

/**
 * Why no region can be changed so, or undefined (protocol/services.md 3.6). Memory, domain and iova are looked at where they are
 * known: as by registration.
 */
export function reregProblem(change: MrChange, supported: number): Problem | undefined {
  if (!isObject(change)) return objectProblem('change', change);
  const fields = ['memory', 'iova', 'pd', 'access'];
  for (const name of Object.keys(change)) {
    if (!fields.includes(name)) return invalid(`'${name}' is nothing that can change`, `${fields.join(', ')} can`);
  }
  if (reregFlagsOf(change) === 0) return invalid('nothing is to change', `Give one of ${fields.join(', ')}`);
  return change.access === undefined ? undefined : accessProblem(change.access, supported);
}

/** Why such an advice cannot be given, or undefined when it can (man ibv_advise_mr). */
export function adviseProblem(advice: unknown, flags: unknown, sgList: unknown): Problem | undefined {
  if (typeof advice !== 'number' || !isOneOf(AdviseMrAdvice, advice)) {
    return unsupported(`advice is ${show(advice)}`, 'It is an AdviseMrAdvice');
  }
  const problem = flagBitsProblem('flags', 'AdviseMrFlags', allBits(AdviseMrFlags), flags);
  if (problem !== undefined) return problem;
  if (!isList(sgList)) return listProblem('sgList', sgList);
  if (sgList.length === 0) return invalid('sgList is empty', 'It says of which memory the advice is');
  for (let i = 0; i < sgList.length; i += 1) {
    const wrong = pieceProblem(sgList[i], i, true);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

/** Why `length` bytes at `offset` are no piece of a region of `total` bytes, or undefined when they are. */
export function pieceOfRegionProblem(offset: unknown, length: unknown, total: number): Problem | undefined {
  if (isCount(offset, 0, total) && isCount(length, 0, Math.min(total - offset, 0xffffffff))) return undefined;
  return invalid(`${show(length)} bytes at offset ${show(offset)} are not inside the region, which has ${total}`);
}
