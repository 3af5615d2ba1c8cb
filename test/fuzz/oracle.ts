import { QpState, QpType } from '../../src/device/ibta/index.js';
import { OpcodeBit, opcodeBits } from '../../src/device/wire/index.js';
import { type Attack, QKEY, serviceOf } from './attack.js';
import type { Victim } from './victim.js';

const MULTICAST_QPN = 0xffffff;
const PKEY_MASK = 0x7fff;

/** States in which requests, and in which responses, are looked at (protocol/reliable.md 2.9). */
const RECEIVING: readonly QpState[] = [QpState.RTR, QpState.RTS, QpState.SQD, QpState.SQE];
const SENDING: readonly QpState[] = [QpState.RTS, QpState.SQD];

/** The states to which a packet may move a QP of each type (protocol/reliable.md 2.3, 2.6, protocol/services.md 3.1, 3.2). */
const mayBecome: Readonly<Partial<Record<QpType, readonly QpState[]>>> = {
  [QpType.RC]: [QpState.ERR],
  [QpType.XRC_SEND]: [QpState.ERR],
  [QpType.XRC_RECV]: [QpState.ERR],
};

/** Whether the rules let a packet have any effect on a QP at all: written from docs/protocol, not from the NIC. */
export function isEntitled(attack: Attack, victim: Victim): boolean {
  if (!attack.sound) return false;
  if (attack.opcode >>> 5 !== serviceOf(victim)) return false;
  if ((attack.pkey & PKEY_MASK) !== PKEY_MASK) return false;
  const request = (opcodeBits[attack.opcode] & OpcodeBit.REQUEST) !== 0;
  if (!(request ? RECEIVING : SENDING).includes(victim.state)) return false;
  if (attack.premature) return false;
  if (victim.type === QpType.UD)
    return request && attack.qkey === QKEY && (attack.toGroup || attack.destQp === victim.qpn);
  if (victim.type === QpType.XRC_SEND && request) return false;
  if (victim.type === QpType.XRC_RECV && !request) return false;
  return attack.destQp === victim.qpn && attack.destQp !== MULTICAST_QPN && attack.fromPeer;
}

/** Whether a packet that was entitled to an effect on a QP may have moved it so. */
export function isAllowedMove(victim: Victim, from: QpState, to: QpState): boolean {
  return from === to || (mayBecome[victim.type]?.includes(to) ?? false);
}

/** Whether a packet may change memory: it has an effect, and if that goes by a key, the key opens something. */
export function mayTouchMemory(attack: Attack, entitled: boolean): boolean {
  if (!entitled) return false;
  const bits = opcodeBits[attack.opcode];
  const byKey =
    (bits & (OpcodeBit.WRITE | OpcodeBit.ATOMIC)) !== 0 && (bits & (OpcodeBit.RETH | OpcodeBit.ATOMIC_ETH)) !== 0;
  return !(byKey && attack.deadKey);
}
