import { nameOf, QpState, QpType, WrOpcode } from '../spec/index.js';
import { invalid, type Problem } from './errors.js';

/** What a send request of one opcode is made of. */
export interface OpcodeRule {
  /** QP types that have it. */
  readonly types: readonly QpType[];
  /** Whether its data may be inline. */
  readonly inline: boolean;
  readonly remote: 'none' | 'rdma' | 'atomic';
  readonly immediate: boolean;
}

const { RC, UC, UD, RAW_PACKET, XRC_SEND } = QpType;

function rule(
  types: readonly QpType[],
  inline: boolean,
  remote: OpcodeRule['remote'] = 'none',
  immediate = false,
): OpcodeRule {
  return { types, inline, remote, immediate };
}

/**
 * Opcodes and the QP types that have them (the matrix of man ibv_post_send). It differs from the manual where RoCE has
 * no packet for a pair: SEND with invalidate on UC, FLUSH and ATOMIC_WRITE outside RC (PROTOCOL.md 1.2).
 */
export const opcodeRules: Readonly<Record<WrOpcode, OpcodeRule>> = {
  [WrOpcode.SEND]: rule([RC, UC, UD, XRC_SEND, RAW_PACKET], true),
  [WrOpcode.SEND_WITH_IMM]: rule([RC, UC, UD, XRC_SEND], true, 'none', true),
  [WrOpcode.RDMA_WRITE]: rule([RC, UC, XRC_SEND], true, 'rdma'),
  [WrOpcode.RDMA_WRITE_WITH_IMM]: rule([RC, UC, XRC_SEND], true, 'rdma', true),
  [WrOpcode.RDMA_READ]: rule([RC, XRC_SEND], false, 'rdma'),
  [WrOpcode.ATOMIC_CMP_AND_SWP]: rule([RC, XRC_SEND], false, 'atomic'),
  [WrOpcode.ATOMIC_FETCH_AND_ADD]: rule([RC, XRC_SEND], false, 'atomic'),
  [WrOpcode.LOCAL_INV]: rule([RC, UC, XRC_SEND], false),
  [WrOpcode.BIND_MW]: rule([RC, UC, XRC_SEND], false),
  [WrOpcode.SEND_WITH_INV]: rule([RC, XRC_SEND], true),
  [WrOpcode.TSO]: rule([UD, RAW_PACKET], false),
  [WrOpcode.FLUSH]: rule([RC], false, 'rdma'),
  [WrOpcode.ATOMIC_WRITE]: rule([RC], true, 'rdma'),
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
const inlineAllowed = tabulate((opcodeRule) => opcodeRule.inline);

/** Whether a QP of `type` has send requests of `opcode`; a look-up, for hot paths. */
export function hasOpcode(type: QpType, opcode: number): boolean {
  return opcode >= 0 && opcode < OPCODES && allowed[type * OPCODES + opcode] === 1;
}

/** Whether requests of `opcode` may carry their data inline (PROTOCOL.md 2.7); a look-up, for hot paths. */
export function mayBeInline(opcode: number): boolean {
  return inlineAllowed[opcode] === 1;
}

/** Why a QP of `type` has no requests of `opcode`, or undefined when it has. */
export function opcodeProblem(type: QpType, opcode: number): Problem | undefined {
  if (hasOpcode(type, opcode)) return undefined;
  const has = Object.entries(WrOpcode)
    .filter(([, candidate]) => hasOpcode(type, candidate))
    .map(([name]) => name);
  return invalid(
    `a QP of type ${nameOf(QpType, type)} has no requests of opcode ${nameOf(WrOpcode, opcode)}`,
    has.length === 0 ? 'It only receives' : `It has ${has.join(', ')}`,
  );
}

/** Why nothing can be posted to the send queue in `state`, or undefined when it can (PROTOCOL.md 2.9). */
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

/** Why nothing can be posted to the receive queue in `state`, or undefined when it can (PROTOCOL.md 2.9). */
export function recvStateProblem(type: QpType, state: QpState): Problem | undefined {
  if (type === QpType.XRC_SEND || type === QpType.XRC_RECV) {
    return invalid(`a QP of type ${nameOf(QpType, type)} has no receive queue`, 'Post to the shared receive queue');
  }
  if (state !== QpState.RESET) return undefined;
  return invalid('the QP is in RESET, where it cannot receive', 'Bring it to INIT by modify, then post');
}
