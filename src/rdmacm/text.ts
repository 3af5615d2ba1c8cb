import { CmEventType, type RejectReason } from '../spec/index.js';

/** The C name of an event (`rdma_event_str`): `RDMA_CM_EVENT_ADDR_RESOLVED`, or `UNKNOWN EVENT`. */
export function cmEventStr(event: CmEventType): string {
  const name = Object.entries(CmEventType).find(([, value]) => value === event)?.[0];
  return name === undefined ? 'UNKNOWN EVENT' : `RDMA_CM_EVENT_${name}`;
}

const REASONS: Readonly<Record<RejectReason, string>> = {
  1: 'no queue pair',
  2: 'no end-to-end context',
  3: 'no resources',
  4: 'timeout',
  5: 'unsupported request',
  6: 'invalid communication ID',
  7: 'invalid communication instance',
  8: 'invalid service ID: nobody listens on that port',
  9: 'invalid transport type',
  10: 'stale connection',
  11: 'no such reliable datagram channel',
  12: 'invalid GID',
  13: 'invalid LID',
  14: 'invalid service level',
  15: 'invalid traffic class',
  16: 'invalid hop limit',
  17: 'invalid packet rate',
  18: 'invalid alternate GID',
  19: 'invalid alternate LID',
  20: 'invalid alternate service level',
  21: 'invalid alternate traffic class',
  22: 'invalid alternate hop limit',
  23: 'invalid alternate packet rate',
  24: 'redirected, port and connection manager',
  25: 'redirected, port',
  26: 'invalid MTU',
  27: 'insufficient responder resources',
  28: 'refused by the program there',
  29: 'invalid RNR retry count',
  30: 'duplicate local communication ID',
  31: 'invalid class version',
  32: 'invalid flow label',
  33: 'invalid alternate flow label',
  35: 'vendor option not supported',
};

/** Why a connection was refused, in words: the status of REJECTED. */
export function rejectReasonStr(reason: RejectReason): string {
  // What a peer sends may be any number.
  const text = (REASONS as Readonly<Record<number, string | undefined>>)[reason];
  return text ?? `unknown reason ${reason}`;
}
