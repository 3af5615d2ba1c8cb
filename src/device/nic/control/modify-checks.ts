import {
  attrMaskOf,
  checkAttributes,
  checkTransition,
  mtuBytes,
  type QpAttr,
  type QpCap,
  QpState,
} from '../../ibta/index.js';
import { Ecn, OpcodeService, type Path } from '../../wire/index.js';
import { CommandError } from '../command-error.js';
import type { NicLimits } from '../nic-config.js';
import { pathTo } from '../port/path-to.js';
import type { Port } from '../port/port.js';
import type { QueuePair } from '../queue-pairs/queue-pair.js';

/** Refuses capabilities that no queue pair of this device can have (man ibv_create_qp). */
export function checkQpCap(cap: QpCap, limits: NicLimits): void {
  const bounds: readonly (readonly [keyof QpCap, number])[] = [
    ['maxSendWr', limits.maxQpWr],
    ['maxRecvWr', limits.maxQpWr],
    ['maxSendSge', limits.maxSge],
    ['maxRecvSge', limits.maxSge],
    ['maxInlineData', limits.maxInlineBytes],
  ];
  for (const [name, most] of bounds) {
    const value = cap[name];
    if (!Number.isInteger(value) || value < 0 || value > most)
      throw new CommandError('EINVAL', `cap.${name} is ${value}; this device takes 0 to ${most}`);
  }
}

/** What a checked modification comes to, beside the attributes themselves. */
export interface Modification {
  readonly path: Path | undefined;
  readonly mtuBytes: number;
}

/** Checks a modification whole, before anything of it is done (protocol/services.md 3.9, 3.10). */
export function checkModification(qp: QueuePair, attr: Partial<QpAttr>, port: Port, limits: NicLimits): Modification {
  const refuse = (sentence: string): never => {
    throw new CommandError('EINVAL', sentence);
  };
  const from = qp.state;
  if (attr.curQpState !== undefined && attr.curQpState !== from)
    refuse(`IBV_QP_CUR_STATE says ${attr.curQpState}, but the queue pair is in state ${from}`);
  const to = attr.qpState ?? from;
  const objection = checkTransition(qp.type, from, to, attrMaskOf(attr)) ?? checkAttributes(attr);
  if (objection !== undefined) refuse(objection);
  if (from === QpState.SQD && to === QpState.RTS && qp.sending.busy) refuse('the send queue is still draining');
  if (attr.portNum !== undefined && attr.portNum !== 1)
    refuse(`there is no port ${attr.portNum}; this device has port 1`);
  if (attr.pkeyIndex !== undefined && attr.pkeyIndex >= port.pkeys.length)
    refuse(`P_Key index ${attr.pkeyIndex} is empty; the table has ${port.pkeys.length} entries`);
  if (attr.maxRdAtomic !== undefined && attr.maxRdAtomic > limits.maxRdAtomic)
    refuse(`max_rd_atomic is ${attr.maxRdAtomic}; this device takes at most ${limits.maxRdAtomic}`);
  if (attr.maxDestRdAtomic !== undefined && attr.maxDestRdAtomic > limits.maxRdAtomic)
    refuse(`max_dest_rd_atomic is ${attr.maxDestRdAtomic}; this device takes at most ${limits.maxRdAtomic}`);
  if (attr.pathMtu !== undefined && attr.pathMtu > port.mtu)
    refuse(`path MTU ${mtuBytes(attr.pathMtu)} is above the port's active MTU of ${mtuBytes(port.mtu)}`);
  return {
    path: attr.ahAttr === undefined ? undefined : pathOf(qp, attr.ahAttr, port),
    mtuBytes: mtuBytes(attr.pathMtu ?? qp.attr.pathMtu),
  };
}

function pathOf(qp: QueuePair, ahAttr: QpAttr['ahAttr'], port: Port): Path {
  if (ahAttr.portNum !== qp.attr.portNum)
    throw new CommandError(
      'EINVAL',
      `ahAttr.portNum is ${ahAttr.portNum}, the queue pair's port is ${qp.attr.portNum}`,
    );
  const reliable = qp.service === OpcodeService.RC || qp.service === OpcodeService.XRC;
  return pathTo(ahAttr, port, reliable ? Ecn.ECT0 : Ecn.NOT_ECT);
}
