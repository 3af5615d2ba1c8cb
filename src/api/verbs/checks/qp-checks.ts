import {
  flagNames,
  isOneOf,
  nameOf,
  type PacketPacingCaps,
  type QpCap,
  QpCreateFlags,
  QpCreateSendOpsFlags,
  QpType,
  SrqType,
  WrOpcode,
} from '../../../device/ibta/index.js';
import { isU32 } from '../address.js';
import { invalid, type Problem } from '../errors.js';
import type { QpInitAttr } from '../objects/objects.js';
import type { QpRateLimit } from '../objects/queue-pair.js';
import { type FieldsOf, fieldsProblem } from './fields.js';
import { hasOpcode } from './send-rules.js';
import { allBits, flagBitsProblem, isCount, isObject, show, u32Problem, unsupported } from './values.js';

/** What of `QpInitAttr` is looked at here, as it may come from a program that no compiler has checked. */
interface LooseQpInit {
  readonly qpType?: unknown;
  readonly sqSigAll?: unknown;
  readonly cap?: unknown;
  readonly sendCq?: unknown;
  readonly recvCq?: unknown;
  readonly srq?: unknown;
  readonly createFlags?: unknown;
  readonly sendOpsFlags?: unknown;
  readonly sourceQpn?: unknown;
}

/** `QpRateLimit`, likewise. */
interface LooseRateLimit {
  readonly rateLimit?: unknown;
  readonly maxBurstSize?: unknown;
  readonly typicalPktSize?: unknown;
}

const FIELDS: FieldsOf<QpInitAttr> = {
  qpType: true,
  sendCq: true,
  recvCq: true,
  srq: true,
  cap: true,
  sqSigAll: true,
  createFlags: true,
  sendOpsFlags: true,
  sourceQpn: true,
  qpContext: true,
};
const CAP_FIELDS: FieldsOf<QpCap> = {
  maxSendWr: true,
  maxRecvWr: true,
  maxSendSge: true,
  maxRecvSge: true,
  maxInlineData: true,
};
const LIMIT_FIELDS: FieldsOf<QpRateLimit> = { rateLimit: true, maxBurstSize: true, typicalPktSize: true };

/** Types that can receive from a shared receive queue of type BASIC (as rxe and mlx5). */
const SHARING: readonly number[] = [QpType.RC, QpType.UC, QpType.UD];
const U16 = 0xffff;

/** The bit of `QpCreateSendOpsFlags` that stands for requests of an opcode. */
const sendOps: Readonly<Record<WrOpcode, number>> = {
  [WrOpcode.RDMA_WRITE]: QpCreateSendOpsFlags.WITH_RDMA_WRITE,
  [WrOpcode.RDMA_WRITE_WITH_IMM]: QpCreateSendOpsFlags.WITH_RDMA_WRITE_WITH_IMM,
  [WrOpcode.SEND]: QpCreateSendOpsFlags.WITH_SEND,
  [WrOpcode.SEND_WITH_IMM]: QpCreateSendOpsFlags.WITH_SEND_WITH_IMM,
  [WrOpcode.RDMA_READ]: QpCreateSendOpsFlags.WITH_RDMA_READ,
  [WrOpcode.ATOMIC_CMP_AND_SWP]: QpCreateSendOpsFlags.WITH_ATOMIC_CMP_AND_SWP,
  [WrOpcode.ATOMIC_FETCH_AND_ADD]: QpCreateSendOpsFlags.WITH_ATOMIC_FETCH_AND_ADD,
  [WrOpcode.LOCAL_INV]: QpCreateSendOpsFlags.WITH_LOCAL_INV,
  [WrOpcode.BIND_MW]: QpCreateSendOpsFlags.WITH_BIND_MW,
  [WrOpcode.SEND_WITH_INV]: QpCreateSendOpsFlags.WITH_SEND_WITH_INV,
  [WrOpcode.TSO]: QpCreateSendOpsFlags.WITH_TSO,
  [WrOpcode.FLUSH]: QpCreateSendOpsFlags.WITH_FLUSH,
  [WrOpcode.ATOMIC_WRITE]: QpCreateSendOpsFlags.WITH_ATOMIC_WRITE,
};

/** The bit of `QpCreateSendOpsFlags` that lets the `wr*` calls build requests of `opcode`. */
export function sendOpOf(opcode: WrOpcode): number {
  return sendOps[opcode];
}

/** All bits of `QpCreateSendOpsFlags` that a QP of `type` can be given. */
export function sendOpsOf(type: QpType): number {
  return Object.values(WrOpcode)
    .filter((opcode) => opcode !== WrOpcode.TSO && hasOpcode(type, opcode))
    .reduce<number>((mask, opcode) => mask | sendOps[opcode], 0);
}

/** That a QP was made without the right to build requests of `opcode` by the `wr*` calls. */
export function sendOpProblem(opcode: WrOpcode): Problem {
  const flag = flagNames(QpCreateSendOpsFlags, sendOps[opcode]);
  return invalid(`the QP was made without ${flag}`, 'Add it to sendOpsFlags of createQp, or leave those out');
}

/** Whether QPs of `type` have a receive queue of their own, unless they are given a shared one. */
export function hasReceiveQueue(type: QpType): boolean {
  return type !== QpType.XRC_SEND && type !== QpType.XRC_RECV;
}

function createFlagsProblem(type: number, value: unknown): Problem | undefined {
  const problem = flagBitsProblem('createFlags', 'QpCreateFlags', allBits(QpCreateFlags), value);
  if (problem !== undefined || !isU32(value)) return problem;
  const lacking = value & ~QpCreateFlags.BLOCK_SELF_MCAST_LB;
  if (lacking !== 0) return unsupported(`the device has no QPs with ${flagNames(QpCreateFlags, lacking)}`);
  if (value === 0 || type === QpType.UD) return undefined;
  return invalid('BLOCK_SELF_MCAST_LB is for QPs of type UD, which alone have multicast');
}

function sendOpsProblem(type: QpType, value: unknown): Problem | undefined {
  const problem = flagBitsProblem('sendOpsFlags', 'QpCreateSendOpsFlags', allBits(QpCreateSendOpsFlags), value);
  if (problem !== undefined || !isU32(value)) return problem;
  const lacking = value & ~sendOpsOf(type);
  if (lacking === 0) return undefined;
  return unsupported(`QPs of type ${nameOf(QpType, type)} have no ${flagNames(QpCreateSendOpsFlags, lacking)}`);
}

function isQpType(value: unknown): value is QpType {
  return typeof value === 'number' && isOneOf(QpType, value);
}

/**
 * Why `Pd.createQp` cannot make such a QP, or undefined when it can (protocol/services.md 3.9, man ibv_create_qp_ex). Sizes, and
 * whether CQs and SRQ live in the same context, are looked at elsewhere.
 */
export function qpInitProblem(init: unknown): Problem | undefined {
  const unknown = fieldsProblem('init', init, FIELDS);
  if (unknown !== undefined || !isObject(init)) return unknown;
  const { qpType, sqSigAll, cap, sendCq, recvCq, srq, sourceQpn, createFlags = 0, sendOpsFlags }: LooseQpInit = init;
  if (qpType === undefined) return invalid('qpType is missing', 'Choose one of QpType');
  if (!isQpType(qpType)) return unsupported(`there are no QPs of type ${show(qpType)}`, 'Choose one of QpType');
  const typeName = nameOf(QpType, qpType);
  if (qpType === QpType.XRC_RECV) {
    return invalid('a QP of type XRC_RECV is in no protection domain', 'Make it by xrcd.createQp');
  }
  if (sqSigAll !== undefined && typeof sqSigAll !== 'boolean') {
    return invalid(`sqSigAll is ${show(sqSigAll)}`, 'It is true or false');
  }
  const unknownSize = cap === undefined ? undefined : fieldsProblem('cap', cap, CAP_FIELDS);
  if (unknownSize !== undefined) return unknownSize;
  if (sendCq === undefined) return invalid('sendCq is missing', 'It is where send requests complete');
  if (recvCq === undefined && qpType !== QpType.XRC_SEND) {
    return invalid('recvCq is missing', 'It is where receive requests complete, and may be the same as sendCq');
  }
  if (srq !== undefined) {
    if (!SHARING.includes(qpType)) return invalid(`a QP of type ${typeName} has no shared receive queue`);
    if (!isObject(srq) || !('srqType' in srq)) {
      return invalid('srq is not a shared receive queue', 'pd.createSrq makes one');
    }
    if (srq.srqType !== SrqType.BASIC) return invalid('the SRQ is of type XRC, which only QPs of type XRC_RECV fill');
  }
  if (sourceQpn !== undefined) return unsupported('no QP of this device can send under the number of another');
  return (
    createFlagsProblem(qpType, createFlags) ??
    (sendOpsFlags === undefined ? undefined : sendOpsProblem(qpType, sendOpsFlags))
  );
}

/** Why a QP's rate cannot be limited so, or undefined when it can (man ibv_modify_qp_rate_limit). */
export function rateLimitProblem(limit: unknown, type: QpType, caps: PacketPacingCaps): Problem | undefined {
  const unknown = fieldsProblem('limit', limit, LIMIT_FIELDS);
  if (unknown !== undefined || !isObject(limit)) return unknown;
  if ((caps.supportedQpts & (1 << type)) === 0) {
    return unsupported(`the device does not limit the rate of QPs of type ${nameOf(QpType, type)}`);
  }
  const { rateLimit, maxBurstSize = 0, typicalPktSize = 0 }: LooseRateLimit = limit;
  const { qpRateLimitMin, qpRateLimitMax } = caps;
  if (rateLimit !== 0 && !isCount(rateLimit, qpRateLimitMin, qpRateLimitMax)) {
    return invalid(
      `rateLimit is ${show(rateLimit)}`,
      `This device takes ${qpRateLimitMin} to ${qpRateLimitMax} kbit/s, and 0 for no limit`,
    );
  }
  if (!isU32(maxBurstSize)) return u32Problem('maxBurstSize', maxBurstSize);
  if (isCount(typicalPktSize, 0, U16)) return undefined;
  return invalid(`typicalPktSize is ${show(typicalPktSize)}`, 'It is a number of bytes, 0 to 65535');
}
