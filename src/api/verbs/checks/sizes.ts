import type { DeviceAttr, QpCap } from '../../../device/ibta/index.js';
import { invalid, type Problem } from '../errors.js';
import { isCount, show } from './values.js';

/** Sizes of a QP's queues where the program gives none. */
export const defaultQpCap: QpCap = {
  maxSendWr: 128,
  maxRecvWr: 128,
  maxSendSge: 1,
  maxRecvSge: 1,
  maxInlineData: 0,
};

/**
 * A QP's sizes, with {@link defaultQpCap} for those that are absent.
 *
 * @param receives whether it has a receive queue of its own; without one, the sizes of that are 0 whatever is asked
 */
export function completeQpCap(cap: Partial<QpCap> = {}, receives = true): QpCap {
  return {
    maxSendWr: cap.maxSendWr ?? defaultQpCap.maxSendWr,
    maxRecvWr: receives ? (cap.maxRecvWr ?? defaultQpCap.maxRecvWr) : 0,
    maxSendSge: cap.maxSendSge ?? defaultQpCap.maxSendSge,
    maxRecvSge: receives ? (cap.maxRecvSge ?? defaultQpCap.maxRecvSge) : 0,
    maxInlineData: cap.maxInlineData ?? defaultQpCap.maxInlineData,
  };
}

/** Why a device cannot make a QP of these sizes, or undefined when it can (protocol/services.md 3.9). */
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
    return invalid(`cap.${field} is ${show(cap[field])}`, `This device takes 0 to ${limits[field]}`);
  }
  return undefined;
}
