import { Mtu } from '../device/port.js';
import { AccessFlags } from '../memory/mr.js';
import type { AhAttr, QpAttr } from './qp-attr.js';
import { MigState, QpState } from './qp.js';

/** The values that a numeric attribute may have, both ends included, and what they mean. */
export interface AttributeRange {
  readonly min: number;
  readonly max: number;
  readonly meaning: string;
}

const U8 = 0xff;
const U24 = 0xffffff;
const U32 = 0xffffffff;

const qpAccessMask =
  AccessFlags.LOCAL_WRITE |
  AccessFlags.REMOTE_WRITE |
  AccessFlags.REMOTE_READ |
  AccessFlags.REMOTE_ATOMIC |
  AccessFlags.MW_BIND |
  AccessFlags.FLUSH_GLOBAL |
  AccessFlags.FLUSH_PERSISTENT;

type NumericField = {
  [Field in keyof QpAttr]: QpAttr[Field] extends number ? Field : never;
}[keyof QpAttr];

/** Ranges of the numeric attributes (widths of the fields of `struct ibv_qp_attr` and of IBTA 11.2.5.2). */
export const attributeRanges: Readonly<Record<NumericField, AttributeRange>> = {
  qpState: { min: QpState.RESET, max: QpState.ERR, meaning: 'a QpState' },
  curQpState: { min: QpState.RESET, max: QpState.ERR, meaning: 'a QpState' },
  pathMtu: { min: Mtu.MTU_256, max: Mtu.MTU_4096, meaning: 'an Mtu, 1 for 256 bytes to 5 for 4096' },
  pathMigState: { min: MigState.MIGRATED, max: MigState.ARMED, meaning: 'a MigState' },
  qkey: { min: 0, max: U32, meaning: '32 bits' },
  rqPsn: { min: 0, max: U24, meaning: 'a packet sequence number of 24 bits' },
  sqPsn: { min: 0, max: U24, meaning: 'a packet sequence number of 24 bits' },
  destQpNum: { min: 0, max: U24, meaning: 'a QP number of 24 bits' },
  qpAccessFlags: { min: 0, max: qpAccessMask, meaning: 'bits of AccessFlags' },
  pkeyIndex: { min: 0, max: 0xffff, meaning: 'an index into the P_Key table' },
  altPkeyIndex: { min: 0, max: 0xffff, meaning: 'an index into the P_Key table' },
  enSqdAsyncNotify: { min: 0, max: 1, meaning: '0 or 1' },
  sqDraining: { min: 0, max: 1, meaning: '0 or 1' },
  maxRdAtomic: { min: 0, max: U8, meaning: 'READs and atomics outstanding at once' },
  maxDestRdAtomic: { min: 0, max: U8, meaning: 'READs and atomics outstanding at once' },
  minRnrTimer: { min: 0, max: 31, meaning: 'an RNR timer code: 12 is 0.64 ms, 0 is 655.36 ms' },
  portNum: { min: 1, max: U8, meaning: 'a port number, the first is 1' },
  timeout: { min: 0, max: 31, meaning: 'an exponent: 4.096 µs * 2^timeout, and 0 waits for ever' },
  retryCnt: { min: 0, max: 7, meaning: 'a number of retries' },
  rnrRetry: { min: 0, max: 7, meaning: 'a number of retries, 7 for ever' },
  altPortNum: { min: 1, max: U8, meaning: 'a port number, the first is 1' },
  altTimeout: { min: 0, max: 31, meaning: 'an exponent: 4.096 µs * 2^timeout, and 0 waits for ever' },
  rateLimit: { min: 0, max: U32, meaning: 'kbit/s' },
};

const routeRanges = {
  flowLabel: { min: 0, max: 0xfffff, meaning: '20 bits' },
  sgidIndex: { min: 0, max: U8, meaning: 'an index into the GID table' },
  hopLimit: { min: 0, max: U8, meaning: '8 bits' },
  trafficClass: { min: 0, max: U8, meaning: '8 bits' },
} as const satisfies Record<string, AttributeRange>;

const ahRanges = {
  dlid: { min: 0, max: 0xffff, meaning: '16 bits, 0 on RoCE' },
  sl: { min: 0, max: 15, meaning: 'a service level' },
  srcPathBits: { min: 0, max: 127, meaning: '7 bits' },
  staticRate: { min: 0, max: U8, meaning: '8 bits' },
  portNum: { min: 1, max: U8, meaning: 'a port number, the first is 1' },
} as const satisfies Record<string, AttributeRange>;

function outOfRange(name: string, value: number, range: AttributeRange): string | undefined {
  if (Number.isInteger(value) && value >= range.min && value <= range.max) return undefined;
  return `${name} is ${String(value)}, not ${range.min} to ${range.max} (${range.meaning})`;
}

/**
 * Whether an address can be used on RoCE: fields in range, and a GRH, which RoCE always needs (protocol/services.md 3.9).
 *
 * @returns undefined when it can, else a sentence that names the first thing wrong
 */
export function checkAhAttr(ah: AhAttr, name = 'ahAttr'): string | undefined {
  const { grh } = ah;
  if (grh === undefined || !ah.isGlobal) {
    return `${name} has no GRH, which RoCE needs: set isGlobal, and grh.dgid to the peer's GID`;
  }
  if (!(grh.dgid instanceof Uint8Array) || grh.dgid.length !== 16) {
    return `${name}.grh.dgid is not a GID of 16 bytes (gidFromIp makes one from an IP address)`;
  }
  if (grh.dgid.every((byte) => byte === 0)) {
    return `${name}.grh.dgid is all zeros: it must be the GID that the peer told`;
  }
  for (const field of ['flowLabel', 'sgidIndex', 'hopLimit', 'trafficClass'] as const) {
    const problem = outOfRange(`${name}.grh.${field}`, grh[field], routeRanges[field]);
    if (problem !== undefined) return problem;
  }
  for (const field of ['dlid', 'sl', 'srcPathBits', 'staticRate', 'portNum'] as const) {
    const problem = outOfRange(`${name}.${field}`, ah[field], ahRanges[field]);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

const numericFields = Object.keys(attributeRanges) as NumericField[]; // the record above has exactly these keys

/**
 * Whether every attribute that is present has a value it can have. Whether the attributes fit the transition is
 * `checkTransition`'s to say; whether they fit the device (depths, GID index, port) is the device's.
 *
 * @returns undefined when so, else a sentence that names the first attribute that has not
 */
export function checkAttributes(attr: Partial<QpAttr>): string | undefined {
  if (attr.sqDraining !== undefined) return 'sqDraining can be queried, not set';
  for (const field of numericFields) {
    const value = attr[field];
    if (value === undefined) continue;
    const problem = outOfRange(field, value, attributeRanges[field]);
    if (problem !== undefined) return problem;
  }
  const unknownAccess = (attr.qpAccessFlags ?? 0) & ~qpAccessMask;
  if (unknownAccess !== 0) return `qpAccessFlags has bits that mean nothing on a QP: 0x${unknownAccess.toString(16)}`;
  if (attr.ahAttr === undefined) return undefined;
  const problem = checkAhAttr(attr.ahAttr);
  if (problem !== undefined) return problem;
  if (attr.portNum !== undefined && attr.ahAttr.portNum !== attr.portNum) {
    return `ahAttr.portNum is ${attr.ahAttr.portNum}, but the QP is on port ${attr.portNum}`;
  }
  return undefined;
}

/** Whether a value is one of a table of constants, for values that come from outside the type system. */
export function isOneOf(constants: Readonly<Record<string, number>>, value: number): boolean {
  return Object.values(constants).includes(value);
}

/** protocol/packets.md 1.4 (IBTA 9.7.5.2.8, table 45): RNR timer code to microseconds. */
const RNR_TIMER_US = [
  655360, 10, 20, 30, 40, 60, 80, 120, 160, 240, 320, 480, 640, 960, 1280, 1920, 2560, 3840, 5120, 7680, 10240, 15360,
  20480, 30720, 40960, 61440, 81920, 122880, 163840, 245760, 327680, 491520,
] as const;

/** How long a requester waits after an RNR NAK with timer `code` (0 to 31; higher bits are ignored). */
export function rnrTimerUs(code: number): number {
  return RNR_TIMER_US[code & 31];
}

/** The ACK timeout of exponent 0 to 31: 4.096 µs · 2^exponent, and 0 waits for ever (IBTA 9.7.6.1.3). */
export function ackTimeoutUs(exponent: number): number {
  return exponent === 0 ? Infinity : 4.096 * 2 ** exponent;
}
