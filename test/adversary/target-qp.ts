import { gidFromIp } from '../../src/device/ibta/index.js';
import { Mtu, type QpBase, QpState, QpType } from '../../src/entry/index.js';
import type { Choices } from '../fuzz/random.js';
import { ALL_ACCESS } from '../../src/device/nic/test/rings.js';

/** A queue pair of the victim's, and what its peer has to say to it. */
export interface TargetQp<T extends QpBase = QpBase> {
  readonly qp: T;
  psn: number;
  readonly sqPsn: number;
}

/** Those that execute READs and atomics. */
const ANSWERING: readonly QpType[] = [QpType.RC, QpType.XRC_RECV];

export const freshPsn = (choices: Choices): number => choices.u32() & 0xffffff;

/** Takes a queue pair from RESET to where requests of a peer pass. */
export function connectTarget<T extends QpBase>(qp: T, peer: string, choices: Choices, destQpNum = 0x42): TargetQp<T> {
  const psn = freshPsn(choices);
  qp.modify({ qpState: QpState.INIT, pkeyIndex: 0, portNum: 1, qpAccessFlags: ALL_ACCESS });
  const path = { pathMtu: Mtu.MTU_256, destQpNum, rqPsn: psn, ahAttr: { grh: { dgid: gidFromIp(peer) } } };
  const answers = !ANSWERING.includes(qp.qpType) ? {} : { maxDestRdAtomic: 16, minRnrTimer: 1 };
  qp.modify({ qpState: QpState.RTR, ...path, ...answers });
  return { qp, psn, sqPsn: 0 };
}
