import { ACCESS_OPTIONAL_RANGE, AccessFlags, type DeviceAttr, flagNames, type QpCap } from '../spec/index.js';
import { invalid, type Problem } from './errors.js';

const allAccess = Object.values(AccessFlags).reduce((mask, bit) => mask | bit, 0);

function isCount(value: number, min: number, max: number): boolean {
  return Number.isInteger(value) && value >= min && value <= max;
}

/**
 * Why memory cannot be registered with these access flags, or undefined when it can (PROTOCOL.md 3.6).
 *
 * @param supported the flags that the device has; optional ones (bits 20 to 29) need not be among them
 */
export function accessProblem(access: number, supported: number): Problem | undefined {
  if (!isCount(access, 0, 0x7fffffff)) return invalid(`access is ${String(access)}`, 'It is bits of AccessFlags');
  const needed = access & ~ACCESS_OPTIONAL_RANGE;
  const unknown = needed & ~allAccess;
  if (unknown !== 0) return invalid(`access has bits that mean nothing: 0x${unknown.toString(16)}`);
  const lacking = needed & ~supported;
  if (lacking !== 0) {
    const message = `the device has no memory regions with ${flagNames(AccessFlags, lacking)}`;
    return { errno: 'EOPNOTSUPP', message, advice: '' };
  }
  const writing = access & (AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_ATOMIC);
  if (writing !== 0 && (access & AccessFlags.LOCAL_WRITE) === 0) {
    return invalid(`access has ${flagNames(AccessFlags, writing)} without LOCAL_WRITE`, 'Add AccessFlags.LOCAL_WRITE');
  }
  return undefined;
}

/** Sizes of a QP's queues where the program gives none. */
export const defaultQpCap: QpCap = {
  maxSendWr: 128,
  maxRecvWr: 128,
  maxSendSge: 1,
  maxRecvSge: 1,
  maxInlineData: 0,
};

/** A QP's sizes, with {@link defaultQpCap} for those that are absent. */
export function completeQpCap(cap: Partial<QpCap> = {}): QpCap {
  return {
    maxSendWr: cap.maxSendWr ?? defaultQpCap.maxSendWr,
    maxRecvWr: cap.maxRecvWr ?? defaultQpCap.maxRecvWr,
    maxSendSge: cap.maxSendSge ?? defaultQpCap.maxSendSge,
    maxRecvSge: cap.maxRecvSge ?? defaultQpCap.maxRecvSge,
    maxInlineData: cap.maxInlineData ?? defaultQpCap.maxInlineData,
  };
}

/** Why a device cannot make a QP of these sizes, or undefined when it can (PROTOCOL.md 3.9). */
export function capProblem(
  cap: QpCap,
  device: Pick<DeviceAttr, 'maxQpWr' | 'maxSge'>,
  maxInlineData: number,
): Problem | undefined {
  const limits: Readonly<Record<keyof QpCap, number>> = {
    maxSendWr: device.maxQpWr,
    maxRecvWr: device.maxQpWr,
    maxSendSge: device.maxSge,
    maxRecvSge: device.maxSge,
    maxInlineData,
  };
  for (const field of ['maxSendWr', 'maxRecvWr', 'maxSendSge', 'maxRecvSge', 'maxInlineData'] as const) {
    if (isCount(cap[field], 0, limits[field])) continue;
    return invalid(`cap.${field} is ${String(cap[field])}`, `This device takes 0 to ${limits[field]}`);
  }
  return undefined;
}

/** Why a device cannot make a CQ of this size, or undefined when it can (PROTOCOL.md 3.8). */
export function cqeProblem(cqe: number, maxCqe: number): Problem | undefined {
  if (isCount(cqe, 1, maxCqe)) return undefined;
  return invalid(`cqe is ${String(cqe)}`, `This device takes 1 to ${maxCqe}`);
}

/** Why `length` bytes at `offset` are no piece of a region of `total` bytes, or undefined when they are. */
export function pieceOfRegionProblem(offset: number, length: number, total: number): Problem | undefined {
  if (isCount(offset, 0, total) && isCount(length, 0, Math.min(total - offset, 0xffffffff))) return undefined;
  return invalid(`${String(length)} bytes at offset ${String(offset)} are not inside the region, which has ${total}`);
}
