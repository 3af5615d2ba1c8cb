import { flagNames, nameOf, type QpCap, type QpType, SendFlags, WrOpcode } from '../spec/index.js';
import { isAddress, isU32, isWrId } from './address.js';
import { invalid, type Problem } from './errors.js';
import { hasOpcode, mayBeInline, opcodeProblem } from './send-rules.js';

// Requests as they may come from a program that no compiler has checked. Every SendWr, RecvWr and Sge is one of these.

interface LoosePiece {
  readonly addr?: unknown;
  readonly length?: unknown;
  readonly lkey?: unknown;
  readonly bytes?: unknown;
}

interface LooseRequest {
  readonly wrId?: unknown;
  readonly sgList?: readonly LoosePiece[];
}

interface LooseSendRequest extends LooseRequest {
  readonly opcode: number;
  readonly sendFlags?: unknown;
  readonly immData?: unknown;
  readonly invalidateRkey?: unknown;
  readonly rdma?: { readonly remoteAddr?: unknown; readonly rkey?: unknown };
  readonly atomic?: {
    readonly remoteAddr?: unknown;
    readonly rkey?: unknown;
    readonly compareAdd?: unknown;
    readonly swap?: unknown;
  };
}

const KNOWN_FLAGS = SendFlags.FENCE | SendFlags.SIGNALED | SendFlags.SOLICITED | SendFlags.INLINE;
const ATOMIC_BYTES = 8;
const NO_PIECES: readonly LoosePiece[] = [];

function show(value: unknown): string {
  switch (typeof value) {
    case 'bigint':
      return `${value}n`;
    case 'number':
    case 'boolean':
      return String(value);
    case 'string':
      return `'${value}'`;
    case 'undefined':
      return 'missing';
    default:
      return 'no number';
  }
}

const wrIdProblem = (value: unknown): Problem =>
  invalid(`wrId is ${show(value)}`, 'It is a bigint of 64 bits or a safe integer');

/** Why `addr` cannot be an address; `what` names it in the sentence. */
function addressProblem(what: string, addr: unknown): Problem {
  return invalid(`${what} is ${show(addr)}`, 'An address is a bigint of 64 bits or a safe integer, never negative');
}

function u32Problem(what: string, value: unknown): Problem {
  return invalid(`${what} is ${show(value)}`, 'It is a number of 32 bits: 0 to 4294967295');
}

/** Why a piece of memory cannot be named so, or undefined. */
function pieceProblem(piece: LoosePiece, index: number, keyed: boolean): Problem | undefined {
  if (!isAddress(piece.addr)) return addressProblem(`sgList[${index}].addr`, piece.addr);
  if (!isU32(piece.length)) return u32Problem(`sgList[${index}].length`, piece.length);
  if (keyed && !isU32(piece.lkey)) return u32Problem(`sgList[${index}].lkey`, piece.lkey);
  return undefined;
}

/** Bytes of a piece that was checked. */
function pieceBytes(piece: LoosePiece): number {
  if (piece.bytes instanceof Uint8Array) return piece.bytes.length;
  return typeof piece.length === 'number' ? piece.length : 0;
}

function tooManyPieces(count: number, max: number, cap: 'maxSendSge' | 'maxRecvSge'): Problem {
  return invalid(`sgList has ${count} pieces, but the QP takes ${max}`, `Ask for more by cap.${cap} of createQp`);
}

function dataProblem(wr: LooseSendRequest, cap: QpCap, inline: boolean, maxMessageBytes: number): Problem | undefined {
  const pieces = wr.sgList ?? NO_PIECES;
  if (pieces.length > cap.maxSendSge) return tooManyPieces(pieces.length, cap.maxSendSge, 'maxSendSge');
  let total = 0;
  for (let i = 0; i < pieces.length; i += 1) {
    const piece = pieces[i];
    if (piece.bytes !== undefined) {
      if (!inline) {
        return invalid(
          `sgList[${i}] gives bytes, which only inline data can`,
          'Set SendFlags.INLINE, or register the memory and name it by mr.sge()',
        );
      }
      if (!(piece.bytes instanceof Uint8Array)) {
        return invalid(`sgList[${i}].bytes is ${show(piece.bytes)}`, 'It is a Uint8Array');
      }
    } else {
      const problem = pieceProblem(piece, i, !inline);
      if (problem !== undefined) return problem;
    }
    total += pieceBytes(piece);
  }
  if (inline && total > cap.maxInlineData) {
    return invalid(
      `the inline data is ${total} bytes, but the QP takes ${cap.maxInlineData}`,
      'Ask for more by cap.maxInlineData of createQp, or register the memory and leave INLINE out',
    );
  }
  if (total > maxMessageBytes) {
    return invalid(`the message is ${total} bytes, but the port takes ${maxMessageBytes}`, 'Send it in pieces');
  }
  return undefined;
}

function flagsProblem(opcode: number, flags: number): Problem | undefined {
  if ((flags & ~KNOWN_FLAGS) !== 0) {
    return invalid(
      `sendFlags has ${flagNames(SendFlags, flags & ~KNOWN_FLAGS)}, which this QP does not know`,
      'It knows FENCE, SIGNALED, SOLICITED and INLINE',
    );
  }
  if ((flags & SendFlags.INLINE) !== 0 && !mayBeInline(opcode)) {
    return invalid(
      `${nameOf(WrOpcode, opcode)} cannot be inline: the pieces are what it fills`,
      'Leave SendFlags.INLINE out',
    );
  }
  return undefined;
}

function remoteProblem(where: 'rdma' | 'atomic', wr: LooseSendRequest): Problem | undefined {
  const remote = where === 'rdma' ? wr.rdma : wr.atomic;
  if (remote === undefined) return invalid(`${where} is missing`, 'It names the memory of the peer');
  if (!isAddress(remote.remoteAddr)) return addressProblem(`${where}.remoteAddr`, remote.remoteAddr);
  if (!isU32(remote.rkey)) return u32Problem(`${where}.rkey`, remote.rkey);
  return undefined;
}

function atomicProblem(wr: LooseSendRequest, swaps: boolean): Problem | undefined {
  const problem = remoteProblem('atomic', wr);
  if (problem !== undefined) return problem;
  if (!isWrId(wr.atomic?.compareAdd)) return operandProblem('compareAdd', wr.atomic?.compareAdd);
  if (swaps && !isWrId(wr.atomic.swap)) return operandProblem('swap', wr.atomic.swap);
  if (!isAtomicAligned(wr.atomic.remoteAddr)) {
    return invalid(`atomic.remoteAddr is ${show(wr.atomic.remoteAddr)}`, 'An atomic works at a multiple of 8');
  }
  let total = 0;
  for (const piece of wr.sgList ?? NO_PIECES) total += pieceBytes(piece);
  if (total === ATOMIC_BYTES) return undefined;
  return invalid(`an atomic fetches 8 bytes, but sgList has room for ${total}`, 'Give it one piece of 8 bytes');
}

function operandProblem(field: 'compareAdd' | 'swap', value: unknown): Problem {
  return invalid(`atomic.${field} is ${show(value)}`, 'It is a bigint of 64 bits or a safe integer');
}

/** Whether an atomic can work there: 8 bytes at a multiple of 8 (PROTOCOL.md 2.7). Allocates nothing. */
export function isAtomicAligned(address: unknown): boolean {
  if (typeof address === 'number') return address % ATOMIC_BYTES === 0;
  return typeof address === 'bigint' && (address & 7n) === 0n;
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
  const { opcode, sendFlags } = wr;
  if (!hasOpcode(type, opcode)) return opcodeProblem(type, opcode);
  if (wr.wrId !== undefined && !isWrId(wr.wrId)) return wrIdProblem(wr.wrId);
  let flags = 0;
  if (sendFlags !== undefined) {
    if (!isU32(sendFlags)) return u32Problem('sendFlags', sendFlags);
    flags = sendFlags;
    const problem = flagsProblem(opcode, flags);
    if (problem !== undefined) return problem;
  }
  const problem = dataProblem(wr, cap, (flags & SendFlags.INLINE) !== 0, maxMessageBytes);
  if (problem !== undefined) return problem;
  switch (opcode) {
    case WrOpcode.SEND:
      return undefined;
    case WrOpcode.SEND_WITH_IMM:
      return isU32(wr.immData) ? undefined : u32Problem('immData', wr.immData);
    case WrOpcode.SEND_WITH_INV:
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
    default:
      return {
        errno: 'EOPNOTSUPP',
        message: `requests of opcode ${nameOf(WrOpcode, opcode)} are not supported by this device`,
        advice: '',
      };
  }
}

/** Why a receive request cannot be posted to a QP of this size, or undefined when it can. */
export function recvProblem(cap: QpCap, wr: LooseRequest): Problem | undefined {
  if (wr.wrId !== undefined && !isWrId(wr.wrId)) return wrIdProblem(wr.wrId);
  const pieces = wr.sgList ?? NO_PIECES;
  if (pieces.length > cap.maxRecvSge) return tooManyPieces(pieces.length, cap.maxRecvSge, 'maxRecvSge');
  for (let i = 0; i < pieces.length; i += 1) {
    const problem = pieceProblem(pieces[i], i, true);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** That a queue is full: what both posts answer when no slot is free. */
export function queueFullProblem(queue: 'send' | 'receive', maxWr: number): Problem {
  return {
    errno: 'ENOMEM',
    message: `the ${queue} queue is full: all of its ${maxWr} requests are outstanding`,
    advice:
      queue === 'send'
        ? 'Poll the send CQ: a slot comes back with its completion, so every so often one must be SIGNALED'
        : 'Poll the receive CQ: a slot comes back with its completion',
  };
}
