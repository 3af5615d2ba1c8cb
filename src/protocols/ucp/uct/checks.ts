import type { AtomicRequest, LocalPlace } from './endpoint.js';
import type { Capabilities } from './capabilities.js';
import { AM_IDS, UcsStatus } from '../wire/index.js';

/** Whether there is such an active message, of so many bytes. */
export function isAm(id: number, bytes: number, most: number): boolean {
  return Number.isInteger(id) && id >= 0 && id < AM_IDS && bytes <= most;
}

/** Whether a part is one of its memory, and no longer than that. */
export function isPlace({ memory, offset, length }: LocalPlace, most: number): boolean {
  return (
    Number.isInteger(offset) &&
    Number.isInteger(length) &&
    offset >= 0 &&
    length >= 0 &&
    offset + length <= memory.bytes.byteLength &&
    length <= most
  );
}

/** Why an atomic cannot be done by a transport, whatever memory there is; undefined when it can. */
export function atomicProblem({ op, bytes, address }: AtomicRequest, { atomics }: Capabilities): UcsStatus | undefined {
  if (address % BigInt(bytes) !== 0n) return UcsStatus.UCS_ERR_INVALID_PARAM;
  return atomics[bytes].includes(op) ? undefined : UcsStatus.UCS_ERR_UNSUPPORTED;
}
