import { type DeviceAttr, isOneOf, SrqType, XrcdOpenFlags } from '../../../device/ibta/index.js';
import { invalid, type Problem } from '../errors.js';
import type { SrqInitAttr } from '../objects/objects.js';
import type { SrqModifyAttr } from '../objects/shared-receive-queue.js';
import { type FieldsOf, fieldsProblem } from './fields.js';
import { allBits, flagBitsProblem, isCount, isObject, isU24, show, u24Problem, unsupported } from './values.js';
import { isU32 } from '../address.js';

const NO_FILE = -1;

/**
 * Why an XRC domain cannot be opened so, or undefined when it can (man ibv_open_xrcd).
 *
 * @param exists whether the file has a domain
 */
export function xrcdProblem(fd: unknown, oFlags: unknown, exists: boolean): Problem | undefined {
  if (typeof fd !== 'number' || !Number.isInteger(fd) || fd < NO_FILE) {
    return { errno: 'EBADF', message: `fd is ${show(fd)}`, advice: 'It is an open file, or -1 for none' };
  }
  const problem = flagBitsProblem('oFlags', 'XrcdOpenFlags', allBits(XrcdOpenFlags), oFlags);
  if (problem !== undefined || !isU32(oFlags) || fd === NO_FILE) return problem;
  if (exists && (oFlags & XrcdOpenFlags.EXCL) !== 0) {
    return invalid('oFlags has EXCL, but the file has an XRC domain', 'Leave EXCL out to share it');
  }
  if (exists || (oFlags & XrcdOpenFlags.CREAT) !== 0) return undefined;
  return { errno: 'EAGAIN', message: 'the file has no XRC domain', advice: 'Add XrcdOpenFlags.CREAT to make one' };
}

/** Why no XRC target can have this number, or undefined. Whether one has it is the device's to say. */
export function openQpProblem(qpNum: unknown): Problem | undefined {
  return isU24(qpNum) ? undefined : u24Problem('qpNum', qpNum);
}

/** What of `SrqInitAttr` is looked at here, as it may come from a program that no compiler has checked. */
interface LooseSrqInit {
  readonly srqType?: unknown;
  readonly maxWr?: unknown;
  readonly maxSge?: unknown;
  readonly srqLimit?: unknown;
  readonly xrcd?: unknown;
  readonly cq?: unknown;
}

const FIELDS: FieldsOf<SrqInitAttr> = {
  srqType: true,
  maxWr: true,
  maxSge: true,
  srqLimit: true,
  xrcd: true,
  cq: true,
  srqContext: true,
};
const CHANGES: FieldsOf<SrqModifyAttr> = { maxWr: true, srqLimit: true };

type SrqLimits = Pick<DeviceAttr, 'maxSrqWr' | 'maxSrqSge'>;

/** Type and sizes of an SRQ, with the defaults for those that are absent. */
export function completeSrqInit(
  init: SrqInitAttr,
): Required<Pick<SrqInitAttr, 'srqType' | 'maxWr' | 'maxSge' | 'srqLimit'>> {
  const { srqType = SrqType.BASIC, maxWr, maxSge = 1, srqLimit = 0 } = init;
  return { srqType, maxWr, maxSge, srqLimit };
}

function sizeProblem(maxWr: unknown, device: Pick<SrqLimits, 'maxSrqWr'>): Problem | undefined {
  if (isCount(maxWr, 1, device.maxSrqWr)) return undefined;
  return invalid(`maxWr is ${show(maxWr)}`, `This device takes 1 to ${device.maxSrqWr}`);
}

function limitProblem(srqLimit: unknown, maxWr: unknown): Problem | undefined {
  if (typeof maxWr !== 'number' || isCount(srqLimit, 0, maxWr)) return undefined;
  return invalid(`srqLimit is ${show(srqLimit)}`, `It is at most the queue's size, ${maxWr}`);
}

/** Why a device cannot make such an SRQ, or undefined when it can (protocol/services.md 3.4, man ibv_create_srq_ex). */
export function srqInitProblem(init: unknown, device: SrqLimits): Problem | undefined {
  const unknown = fieldsProblem('init', init, FIELDS);
  if (unknown !== undefined || !isObject(init)) return unknown;
  const { srqType = SrqType.BASIC, maxWr, maxSge = 1, srqLimit = 0, xrcd, cq }: LooseSrqInit = init;
  if (typeof srqType !== 'number' || !isOneOf(SrqType, srqType)) {
    return invalid(`srqType is ${show(srqType)}`, 'It is a SrqType');
  }
  if (srqType === SrqType.TM) {
    return unsupported('the device has no tag matching', 'queryDeviceEx().tmCaps says so');
  }
  const given = { xrcd, cq };
  for (const field of ['xrcd', 'cq'] as const) {
    if (srqType === SrqType.XRC && given[field] === undefined) return invalid(`${field} is missing, which XRC needs`);
    if (srqType === SrqType.BASIC && given[field] !== undefined) {
      return invalid(`${field} is given, which only SRQs of type XRC have`, 'Set srqType to SrqType.XRC');
    }
  }
  const problem = sizeProblem(maxWr, device);
  if (problem !== undefined) return problem;
  if (!isCount(maxSge, 0, device.maxSrqSge)) {
    return invalid(`maxSge is ${show(maxSge)}`, `This device takes 0 to ${device.maxSrqSge}`);
  }
  return limitProblem(srqLimit, maxWr);
}

/**
 * Why an SRQ cannot be changed so, or undefined when it can (protocol/services.md 3.4). Whether what is posted fits the new size
 * is the device's to say.
 *
 * @param maxWr its size now
 */
export function srqModifyProblem(
  attr: unknown,
  maxWr: number,
  device: Pick<SrqLimits, 'maxSrqWr'>,
): Problem | undefined {
  const unknown = fieldsProblem('attr', attr, CHANGES);
  if (unknown !== undefined || !isObject(attr)) return unknown;
  const { maxWr: wanted = maxWr, srqLimit = 0 }: LooseSrqInit = attr;
  return sizeProblem(wanted, { maxSrqWr: Math.max(maxWr, device.maxSrqWr) }) ?? limitProblem(srqLimit, wanted);
}
