import { QpType, RejectReason } from '../../ibta/index.js';
import { CmAttribute, type CmRej, type CmRep, putU32 } from '../../wire/index.js';
import type { CmAccept } from '../command.js';
import type { Agreement } from './qp-attributes.js';
import { LOCAL_ACK_DELAY } from './timeouts.js';

const NOTHING = new Uint8Array(0);
const GUID_BYTES = 8;

/** Which message a rejection or a request for patience is about. */
export const About = { REQ: 0, REP: 1, OTHER: 2 } as const;
export type About = (typeof About)[keyof typeof About];

export interface Names {
  readonly transactionId: bigint;
  readonly localCommId: number;
  readonly remoteCommId: number;
}

export function replyOf(names: Names, { qp, ...accept }: CmAccept, agreement: Agreement, localCaGuid: bigint): CmRep {
  // The number of a target queue pair stands in the place of the end-to-end context's, as Linux has it.
  const isTarget = qp.qpType === QpType.XRC_RECV;
  return {
    ...names,
    attribute: CmAttribute.REP,
    localQkey: 0,
    localQpn: isTarget ? 0 : qp.qpNum,
    localEecn: isTarget ? qp.qpNum : 0,
    vendorId: 0,
    startingPsn: agreement.localPsn,
    responderResources: agreement.responderResources,
    initiatorDepth: agreement.initiatorDepth,
    targetAckDelay: LOCAL_ACK_DELAY,
    failoverAccepted: 0,
    endToEndFlowControl: accept.flowControl,
    rnrRetryCount: accept.rnrRetryCount,
    srq: isTarget || qp.srq,
    localCaGuid,
    privateData: accept.privateData,
  };
}

/** The queue pair that answers a request for one of `type`. */
export function answererIn({ localQpn, localEecn }: CmRep, type: QpType): number {
  return type === QpType.XRC_SEND ? localEecn : localQpn;
}

export function rejectionOf(
  names: Names,
  messageRejected: About,
  reason: number,
  privateData: Uint8Array = NOTHING,
): CmRej {
  const info = { rejectedInfoLength: 0, additionalInfo: NOTHING };
  return { ...names, attribute: CmAttribute.REJ, messageRejected, reason, ...info, privateData };
}

/** Rejects after a timeout, with our node GUID: that may be all that the peer knows of us. */
export function timeoutOf(names: Names, messageRejected: About, nodeGuid: bigint): CmRej {
  const additionalInfo = new Uint8Array(GUID_BYTES);
  putU32(additionalInfo, 0, Number(nodeGuid >> 32n));
  putU32(additionalInfo, 4, Number(nodeGuid & 0xffffffffn));
  const rejection = rejectionOf(names, messageRejected, RejectReason.TIMEOUT);
  return { ...rejection, rejectedInfoLength: GUID_BYTES, additionalInfo };
}
