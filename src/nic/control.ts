import {
  attrMaskOf,
  checkAttributes,
  checkTransition,
  type Gid,
  isIpv4Gid,
  type Mtu,
  mtuBytes,
  type QpAttr,
  type QpCap,
  QpState,
  QpType,
} from '../spec/index.js';
import { createPath, type Path } from '../wire/index.js';
import { assert, CommandError } from './command-error.js';
import type { NicLimits } from './ports.js';
import type { QueuePair } from './queue-pair.js';

/** The port's side of a modification: what addresses and sizes exist. */
export interface PortFacts {
  readonly gids: readonly Gid[];
  readonly mtu: Mtu;
  readonly limits: NicLimits;
}

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

/** A queue pair type that this NIC does not make. */
export function checkQpType(type: QpType): void {
  if (type !== QpType.RC)
    throw new CommandError(
      'EOPNOTSUPP',
      `queue pairs of type ${type} are not supported; this device has RC (${QpType.RC})`,
    );
}

/** What a checked modification comes to, beside the attributes themselves. */
export interface Modification {
  readonly path: Path | undefined;
  readonly mtuBytes: number;
}

/** Checks a modification whole, before anything of it is done (PROTOCOL.md 3.9, 3.10). */
export function checkModification(qp: QueuePair, attr: Partial<QpAttr>, port: PortFacts): Modification {
  const refuse = (sentence: string): never => {
    throw new CommandError('EINVAL', sentence);
  };
  const from = qp.state;
  if (attr.curQpState !== undefined && attr.curQpState !== from)
    refuse(`IBV_QP_CUR_STATE says ${attr.curQpState}, but the queue pair is in state ${from}`);
  const to = attr.qpState ?? from;
  const objection = checkTransition(qp.type, from, to, attrMaskOf(attr)) ?? checkAttributes(attr);
  if (objection !== undefined) refuse(objection);
  const { limits } = port;
  if (from === QpState.SQD && to === QpState.RTS && qp.window.busy) refuse('the send queue is still draining');
  if (attr.portNum !== undefined && attr.portNum !== 1)
    refuse(`there is no port ${attr.portNum}; this device has port 1`);
  if (attr.pkeyIndex !== undefined && attr.pkeyIndex !== 0)
    refuse(`the P_Key table has one entry, index 0, not ${attr.pkeyIndex}`);
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

function pathOf(qp: QueuePair, ahAttr: QpAttr['ahAttr'], port: PortFacts): Path {
  const { grh } = ahAttr;
  assert(grh !== undefined, 'an address without a GRH passed checkAttributes');
  if (ahAttr.portNum !== qp.attr.portNum)
    throw new CommandError(
      'EINVAL',
      `ahAttr.portNum is ${ahAttr.portNum}, the queue pair's port is ${qp.attr.portNum}`,
    );
  if (grh.sgidIndex >= port.gids.length)
    throw new CommandError('EINVAL', `GID index ${grh.sgidIndex} is empty; the table has ${port.gids.length} entries`);
  const sgid = port.gids[grh.sgidIndex];
  if (isIpv4Gid(sgid) !== isIpv4Gid(grh.dgid))
    throw new CommandError(
      'EINVAL',
      'source and destination GID are of different IP versions; choose another GID index',
    );
  return createPath({
    sgid,
    dgid: Uint8Array.from(grh.dgid),
    trafficClass: grh.trafficClass,
    hopLimit: grh.hopLimit,
    flowLabel: grh.flowLabel,
  });
}
