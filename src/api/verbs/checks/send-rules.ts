import { nameOf, QpState, QpType, WrOpcode } from '../../../device/ibta/index.js';
import { invalid, type Problem } from '../errors.js';
import { unsupported } from './values.js';

export interface OpcodeRule {
  readonly types: readonly QpType[];
  /** What its pieces are: what leaves (and may be inline), what is filled, or nothing. */
  readonly data: 'sent' | 'filled' | 'none';
  /** Where it names memory of the peer. */
  readonly remote: 'none' | 'rdma' | 'atomic';
  readonly immediate: boolean;
  /** Whether it concerns this side alone: nothing goes on the wire. */
  readonly local: boolean;
}

const { RC, UC, UD, RAW_PACKET, XRC_SEND } = QpType;

function rule(
  types: readonly QpType[],
  data: OpcodeRule['data'],
  more: Partial<Pick<OpcodeRule, 'remote' | 'immediate' | 'local'>> = {},
): OpcodeRule {
  return { types, data, remote: 'none', immediate: false, local: false, ...more };
}

/**
 * Opcodes and the QP types that have them (the matrix of man ibv_post_send). It differs from the manual where RoCE has
 * no packet for a pair: SEND with invalidate on UC, FLUSH and ATOMIC_WRITE outside RC (protocol/packets.md 1.2).
 */
export const opcodeRules: Readonly<Record<WrOpcode, OpcodeRule>> = {
  [WrOpcode.SEND]: rule([RC, UC, UD, XRC_SEND, RAW_PACKET], 'sent'),
  [WrOpcode.SEND_WITH_IMM]: rule([RC, UC, UD, XRC_SEND], 'sent', { immediate: true }),
  [WrOpcode.RDMA_WRITE]: rule([RC, UC, XRC_SEND], 'sent', { remote: 'rdma' }),
  [WrOpcode.RDMA_WRITE_WITH_IMM]: rule([RC, UC, XRC_SEND], 'sent', { remote: 'rdma', immediate: true }),
  [WrOpcode.RDMA_READ]: rule([RC, XRC_SEND], 'filled', { remote: 'rdma' }),
  [WrOpcode.ATOMIC_CMP_AND_SWP]: rule([RC, XRC_SEND], 'filled', { remote: 'atomic' }),
  [WrOpcode.ATOMIC_FETCH_AND_ADD]: rule([RC, XRC_SEND], 'filled', { remote: 'atomic' }),
  [WrOpcode.LOCAL_INV]: rule([RC, UC, XRC_SEND], 'none', { local: true }),
  [WrOpcode.BIND_MW]: rule([RC, UC, XRC_SEND], 'none', { local: true }),
  [WrOpcode.SEND_WITH_INV]: rule([RC, XRC_SEND], 'sent'),
  [WrOpcode.TSO]: rule([UD, RAW_PACKET], 'sent'),
  [WrOpcode.FLUSH]: rule([RC], 'none', { remote: 'rdma' }),
  [WrOpcode.ATOMIC_WRITE]: rule([RC], 'sent', { remote: 'rdma' }),
};

const OPCODES = 16;
const TYPES = 16;

function tabulate(holds: (opcodeRule: OpcodeRule, type: number) => boolean): Uint8Array {
  const table = new Uint8Array(TYPES * OPCODES);
  for (const [opcode, opcodeRule] of Object.entries(opcodeRules)) {
    for (let type = 0; type < TYPES; type += 1) {
      if (holds(opcodeRule, type)) table[type * OPCODES + Number(opcode)] = 1;
    }
  }
  return table;
}

const allowed = tabulate((opcodeRule, type) => opcodeRule.types.some((candidate) => candidate === type));
const inlineAllowed = tabulate((opcodeRule) => opcodeRule.data === 'sent');
const dataAllowed = tabulate((opcodeRule) => opcodeRule.data !== 'none');
const staysHere = tabulate((opcodeRule) => opcodeRule.local);

/** Whether a QP of `type` has send requests of `opcode`; a look-up, for hot paths. */
export function hasOpcode(type: QpType, opcode: number): boolean {
  return opcode >= 0 && opcode < OPCODES && allowed[type * OPCODES + opcode] === 1;
}

/** Whether requests of `opcode` may carry their data inline (protocol/reliable.md 2.7); a look-up, for hot paths. */
export function mayBeInline(opcode: number): boolean {
  return inlineAllowed[opcode] === 1;
}

/** Whether requests of `opcode` have pieces at all; a look-up, for hot paths. */
export function movesData(opcode: number): boolean {
  return dataAllowed[opcode] === 1;
}

/** Whether requests of `opcode` are for a shared receive queue when an XRC QP sends them: all that leave do. */
export function namesSharedQueue(opcode: number): boolean {
  return staysHere[opcode] === 0;
}

/** Why a QP of `type` has no requests of `opcode`, or undefined when it has and the device supports them. */
export function opcodeProblem(type: QpType, opcode: number): Problem | undefined {
  if (opcode === WrOpcode.TSO && hasOpcode(type, opcode)) {
    return unsupported('this device does not segment TCP', 'queryDeviceEx().tsoCaps says so: send the segments');
  }
  if (hasOpcode(type, opcode)) return undefined;
  const has = Object.entries(WrOpcode)
    .filter(([, candidate]) => candidate !== WrOpcode.TSO && hasOpcode(type, candidate))
    .map(([name]) => name);
  return invalid(
    `a QP of type ${nameOf(QpType, type)} has no requests of opcode ${nameOf(WrOpcode, opcode)}`,
    has.length === 0 ? 'It only receives' : `It has ${has.join(', ')}`,
  );
}

/** Why nothing can be posted to the send queue in `state`, or undefined when it can (protocol/reliable.md 2.9). */
export function sendStateProblem(state: QpState): Problem | undefined {
  switch (state) {
    case QpState.RTS:
    case QpState.SQD:
    case QpState.SQE:
    case QpState.ERR:
      return undefined;
    case QpState.RESET:
    case QpState.INIT:
    case QpState.RTR:
      return invalid(
        `the QP is in ${nameOf(QpState, state)}, where it cannot send`,
        'Bring it to RTS by modify: RESET to INIT to RTR to RTS',
      );
  }
}

/**
 * Why nothing can be posted to the receive queue in `state`, or undefined when it can (protocol/reliable.md 2.9).
 *
 * @param shared whether the QP receives from a shared receive queue
 */
export function recvStateProblem(type: QpType, state: QpState, shared = false): Problem | undefined {
  if (shared) return invalid('the QP receives from a shared receive queue', 'Post to that: srq.postRecv');
  if (type === QpType.XRC_SEND || type === QpType.XRC_RECV) {
    return invalid(`a QP of type ${nameOf(QpType, type)} has no receive queue`, 'Post to the shared receive queue');
  }
  if (state !== QpState.RESET) return undefined;
  return invalid('the QP is in RESET, where it cannot receive', 'Bring it to INIT by modify, then post');
}
