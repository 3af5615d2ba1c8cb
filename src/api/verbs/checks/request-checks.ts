import {
  flagNames,
  nameOf,
  type QpCap,
  QpType,
  SelectivityLevel,
  SendFlags,
  WrOpcode,
} from '../../../device/ibta/index.js';
import { isU32, isWrId } from '../address.js';
import { invalid, type Problem } from '../errors.js';
import { bindRequestProblem, bindVerbProblem } from './bind-checks.js';
import { gatheringProblem, NO_PIECES, scatteringProblem, totalBytes } from './piece-checks.js';
import { mayBeInline, movesData, namesSharedQueue, opcodeProblem } from './send-rules.js';
import {
  isList,
  isMissing,
  isObject,
  isU24,
  listProblem,
  objectProblem,
  remoteMemoryProblem,
  show,
  u24Problem,
  u32Problem,
  wrIdProblem,
} from './values.js';

// Requests as they may come from a program that no compiler has checked. Every SendWr and RecvWr is one of these; piece-checks.ts has the Sge.

interface LooseRequest {
  readonly wrId?: unknown;
  readonly sgList?: unknown;
}

interface LooseSendRequest extends LooseRequest {
  readonly opcode: number;
  readonly sendFlags?: unknown;
  readonly immData?: unknown;
  readonly invalidateRkey?: unknown;
  readonly rdma?: { readonly remoteAddr?: unknown; readonly rkey?: unknown } | null;
  readonly atomic?: {
    readonly remoteAddr?: unknown;
    readonly rkey?: unknown;
    readonly compareAdd?: unknown;
    readonly swap?: unknown;
  } | null;
  readonly ud?: { readonly ah?: unknown; readonly remoteQpn?: unknown; readonly remoteQkey?: unknown } | null;
  readonly xrc?: { readonly remoteSrqn?: unknown } | null;
  readonly bindMw?: { readonly mw?: unknown; readonly rkey?: unknown; readonly bindInfo?: unknown } | null;
  readonly flush?: { readonly length?: unknown; readonly type?: unknown; readonly level?: unknown } | null;
}

interface LooseBind {
  readonly wrId?: unknown;
  readonly sendFlags?: unknown;
  readonly bindInfo?: unknown;
}

const KNOWN_FLAGS = SendFlags.FENCE | SendFlags.SIGNALED | SendFlags.SOLICITED | SendFlags.INLINE;
const PLACEMENTS = 3;
const ATOMIC_BYTES = 8;

/** What a request names as its pieces: nothing, where it names none. */
function piecesOf({ sgList }: LooseRequest): unknown {
  return sgList === undefined ? NO_PIECES : sgList;
}

function flagsProblem(opcode: number, flags: number): Problem | undefined {
  // man ibv_post_send: valid only where device_cap_flags has checksum offload for the QP's type.
  if ((flags & SendFlags.IP_CSUM) !== 0) {
    return invalid('sendFlags has IP_CSUM, but this device computes no checksums of IP', 'Put them into the data');
  }
  if ((flags & ~KNOWN_FLAGS) !== 0) {
    return invalid(
      `sendFlags has ${flagNames(SendFlags, flags & ~KNOWN_FLAGS)}, which this QP does not know`,
      'It knows FENCE, SIGNALED, SOLICITED and INLINE',
    );
  }
  if ((flags & SendFlags.INLINE) === 0 || mayBeInline(opcode)) return undefined;
  const why = movesData(opcode) ? 'the pieces are what it fills' : 'it has no data';
  return invalid(`${nameOf(WrOpcode, opcode)} cannot be inline: ${why}`, 'Leave SendFlags.INLINE out');
}

function remoteProblem(where: 'rdma' | 'atomic', wr: LooseSendRequest): Problem | undefined {
  const remote = where === 'rdma' ? wr.rdma : wr.atomic;
  if (isMissing(remote)) return invalid(`${where} is missing`, 'It names the memory of the peer');
  return remoteMemoryProblem(where, remote.remoteAddr, remote.rkey);
}

function atomicProblem(wr: LooseSendRequest, swaps: boolean): Problem | undefined {
  const problem = remoteProblem('atomic', wr);
  if (problem !== undefined) return problem;
  if (!isWrId(wr.atomic?.compareAdd)) return operandProblem('compareAdd', wr.atomic?.compareAdd);
  if (swaps && !isWrId(wr.atomic.swap)) return operandProblem('swap', wr.atomic.swap);
  if (!isAtomicAligned(wr.atomic.remoteAddr)) return alignmentProblem('atomic', wr.atomic.remoteAddr);
  const total = totalBytes(piecesOf(wr));
  if (total === ATOMIC_BYTES) return undefined;
  return invalid(`an atomic fetches 8 bytes, but sgList has room for ${total}`, 'Give it one piece of 8 bytes');
}

function atomicWriteProblem(wr: LooseSendRequest): Problem | undefined {
  const problem = remoteProblem('rdma', wr);
  if (problem !== undefined) return problem;
  if (!isAtomicAligned(wr.rdma?.remoteAddr)) return alignmentProblem('rdma', wr.rdma?.remoteAddr);
  const total = totalBytes(piecesOf(wr));
  if (total === ATOMIC_BYTES) return undefined;
  return invalid(`an ATOMIC_WRITE puts 8 bytes, but sgList has ${total}`, 'Give it pieces of 8 bytes in all');
}

function alignmentProblem(where: 'rdma' | 'atomic', remoteAddr: unknown): Problem {
  return invalid(`${where}.remoteAddr is ${show(remoteAddr)}`, 'An atomic works at a multiple of 8');
}

function operandProblem(field: 'compareAdd' | 'swap', value: unknown): Problem {
  return invalid(`atomic.${field} is ${show(value)}`, 'It is a bigint of 64 bits or a safe integer');
}

/** Whether an atomic can work there: 8 bytes at a multiple of 8 (protocol/reliable.md 2.7). Allocates nothing. */
export function isAtomicAligned(address: unknown): boolean {
  if (typeof address === 'number') return address % ATOMIC_BYTES === 0;
  return typeof address === 'bigint' && (address & 7n) === 0n;
}

/** Why a FLUSH cannot ask for this, or undefined when it can. */
export function flushProblem(length: unknown, type: unknown, level: unknown): Problem | undefined {
  if (!isU32(length)) return u32Problem('flush.length', length);
  if (!isU32(type) || type === 0 || type > PLACEMENTS) {
    return invalid(`flush.type is ${show(type)}`, 'It is FLUSH_GLOBAL, FLUSH_PERSISTENT or both, of PlacementType');
  }
  if (level === SelectivityLevel.FLUSH_RANGE || level === SelectivityLevel.FLUSH_MR) return undefined;
  return invalid(`flush.level is ${show(level)}`, 'It is a SelectivityLevel');
}

/** Why `wrFlags` cannot be these, or undefined when they can: INLINE is for `wrSetInlineData` to say. */
export function wrFlagsProblem(flags: unknown): Problem | undefined {
  if (!isU32(flags)) return u32Problem('wrFlags', flags);
  const others = flags & ~(KNOWN_FLAGS & ~SendFlags.INLINE);
  if (others === 0) return undefined;
  return invalid(
    `wrFlags has ${flagNames(SendFlags, others)}`,
    'It takes FENCE, SIGNALED and SOLICITED; wrSetInlineData makes a request inline',
  );
}

/** Why a datagram cannot go there, or undefined when it can. Whether the handle lives is the provider's to say. */
export function datagramProblem(ah: unknown, remoteQpn: unknown, remoteQkey: unknown): Problem | undefined {
  if (typeof ah !== 'object' || ah === null) return invalid('ud.ah is not an address handle', 'pd.createAh makes one');
  if (!isU24(remoteQpn)) return u24Problem('ud.remoteQpn', remoteQpn);
  return isU32(remoteQkey) ? undefined : u32Problem('ud.remoteQkey', remoteQkey);
}

/** Why an XRC request cannot be for this shared receive queue, or undefined when it can. */
export function xrcProblem(remoteSrqn: unknown): Problem | undefined {
  return isU24(remoteSrqn) ? undefined : u24Problem('xrc.remoteSrqn', remoteSrqn);
}

/** Why a request does not say where it goes, on types whose QP has no peer of its own. */
function destinationProblem(type: QpType, wr: LooseSendRequest): Problem | undefined {
  if (type === QpType.UD) {
    if (!isObject(wr.ud)) return invalid('ud is missing', 'It says where the datagram goes: ah, QP number, Q_Key');
    return datagramProblem(wr.ud.ah, wr.ud.remoteQpn, wr.ud.remoteQkey);
  }
  if (type === QpType.XRC_SEND && namesSharedQueue(wr.opcode)) {
    if (!isObject(wr.xrc)) return invalid('xrc is missing', 'It names the shared receive queue of the peer');
    return xrcProblem(wr.xrc.remoteSrqn);
  }
  return undefined;
}

function contentProblem(type: QpType, wr: LooseSendRequest): Problem | undefined {
  switch (wr.opcode) {
    case WrOpcode.SEND:
      return undefined;
    case WrOpcode.SEND_WITH_IMM:
      return isU32(wr.immData) ? undefined : u32Problem('immData', wr.immData);
    case WrOpcode.SEND_WITH_INV:
    case WrOpcode.LOCAL_INV:
      return isU32(wr.invalidateRkey) ? undefined : u32Problem('invalidateRkey', wr.invalidateRkey);
    case WrOpcode.RDMA_WRITE:
    case WrOpcode.RDMA_READ:
      return remoteProblem('rdma', wr);
    case WrOpcode.RDMA_WRITE_WITH_IMM:
      return isU32(wr.immData) ? remoteProblem('rdma', wr) : u32Problem('immData', wr.immData);
    case WrOpcode.ATOMIC_CMP_AND_SWP:
      return atomicProblem(wr, true);
    case WrOpcode.ATOMIC_FETCH_AND_ADD:
      return atomicProblem(wr, false);
    case WrOpcode.BIND_MW:
      if (!isObject(wr.bindMw)) return invalid('bindMw is missing', 'It names the window and what it is to open');
      return bindRequestProblem(wr.bindMw.mw, wr.bindMw.rkey, wr.bindMw.bindInfo);
    case WrOpcode.FLUSH:
      if (!isObject(wr.flush)) return invalid('flush is missing', 'It says what to flush: length, type and level');
      return remoteProblem('rdma', wr) ?? flushProblem(wr.flush.length, wr.flush.type, wr.flush.level);
    case WrOpcode.ATOMIC_WRITE:
      return atomicWriteProblem(wr);
    default:
      // TSO and numbers without meaning were refused before.
      return opcodeProblem(type, wr.opcode);
  }
}

/** What all requests have: an opcode that the type has, an id, flags. */
function headProblem(type: QpType, opcode: unknown, wrId: unknown, sendFlags: unknown): Problem | undefined {
  if (typeof opcode !== 'number') return invalid(`opcode is ${show(opcode)}`, 'It is a WrOpcode');
  const problem = opcodeProblem(type, opcode) ?? wrIdProblem(wrId);
  if (problem !== undefined || sendFlags === undefined) return problem;
  return isU32(sendFlags) ? flagsProblem(opcode, sendFlags) : u32Problem('sendFlags', sendFlags);
}

/**
 * Why a send request cannot be posted to a QP of this type and size, or undefined when it can. The QP's state and room
 * in its queue are looked at elsewhere.
 */
export function sendProblem(
  type: QpType,
  cap: QpCap,
  maxMessageBytes: number,
  wr: LooseSendRequest,
): Problem | undefined {
  if (isMissing(wr)) return objectProblem('the request', wr);
  const { opcode, sendFlags } = wr;
  const problem = headProblem(type, opcode, wr.wrId, sendFlags);
  if (problem !== undefined) return problem;
  const pieces = piecesOf(wr);
  if (!isList(pieces)) return listProblem('sgList', pieces);
  if (pieces.length > 0 && !movesData(opcode)) {
    return invalid(`sgList has ${pieces.length} pieces, but ${nameOf(WrOpcode, opcode)} moves no data`);
  }
  const inline = isU32(sendFlags) && (sendFlags & SendFlags.INLINE) !== 0;
  return (
    gatheringProblem(pieces, cap, inline, maxMessageBytes) ?? destinationProblem(type, wr) ?? contentProblem(type, wr)
  );
}

/** Why `bindMw` of a QP of this type cannot bind a window so, or undefined when it can; QP state and room elsewhere. */
export function bindMwProblem(type: QpType, mw: unknown, bind: unknown): Problem | undefined {
  if (!isObject(bind)) return objectProblem('bind', bind);
  const { wrId, sendFlags, bindInfo }: LooseBind = bind;
  return headProblem(type, WrOpcode.BIND_MW, wrId, sendFlags) ?? bindVerbProblem(mw, bindInfo);
}

/** Why a receive request cannot be posted to a QP of this size, or undefined when it can. */
export function recvProblem(cap: Pick<QpCap, 'maxRecvSge'>, wr: LooseRequest): Problem | undefined {
  if (!isObject(wr)) return objectProblem('the request', wr);
  const advice = 'Ask for more by cap.maxRecvSge of createQp';
  return wrIdProblem(wr.wrId) ?? scatteringProblem(piecesOf(wr), cap.maxRecvSge, 'QP', advice);
}

/** Why a receive request cannot be posted to a shared receive queue of this size, or undefined when it can. */
export function srqRecvProblem(maxSge: number, wr: LooseRequest): Problem | undefined {
  if (!isObject(wr)) return objectProblem('the request', wr);
  const advice = 'Ask for more by maxSge of createSrq';
  return wrIdProblem(wr.wrId) ?? scatteringProblem(piecesOf(wr), maxSge, 'SRQ', advice);
}

const queueFullAdvice = {
  send: 'Poll the send CQ: a slot comes back with its completion, so every so often one must be SIGNALED',
  receive: 'Poll the receive CQ: a slot comes back with its completion',
  'shared receive': 'A slot comes back when a message takes its request; maxWr of createSrq or modify asks for more',
} as const;

/** That a queue is full: what the posts answer when no slot is free. */
export function queueFullProblem(queue: keyof typeof queueFullAdvice, maxWr: number): Problem {
  return {
    errno: 'ENOMEM',
    message: `the ${queue} queue is full: all of its ${maxWr} requests are outstanding`,
    advice: queueFullAdvice[queue],
  };
}
