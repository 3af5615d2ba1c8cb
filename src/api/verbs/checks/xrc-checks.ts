import { XrcdOpenFlags } from '../../../device/ibta/index.js';
import { isU32 } from '../address.js';
import { invalid, type Problem } from '../errors.js';
import { allBits, flagBitsProblem, isU24, show, u24Problem } from './values.js';

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
