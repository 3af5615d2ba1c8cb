import { CmEventType, RejectReason } from '../../device/ibta/index.js';

const eventNames = new Map<number, string>(Object.entries(CmEventType).map(([name, value]) => [value, name]));

/** The C name of an event (`rdma_event_str`): `RDMA_CM_EVENT_ADDR_RESOLVED`, or `UNKNOWN EVENT`. */
export function cmEventStr(event: number): string {
  const name = eventNames.get(event);
  return name === undefined ? 'UNKNOWN EVENT' : `RDMA_CM_EVENT_${name}`;
}

const reasonWords: Readonly<Record<RejectReason, string>> = {
  [RejectReason.NO_QP]: 'no queue pair',
  [RejectReason.NO_EEC]: 'no end-to-end context',
  [RejectReason.NO_RESOURCES]: 'no resources',
  [RejectReason.TIMEOUT]: 'timeout',
  [RejectReason.UNSUPPORTED]: 'unsupported request',
  [RejectReason.INVALID_COMM_ID]: 'invalid communication ID',
  [RejectReason.INVALID_COMM_INSTANCE]: 'invalid communication instance',
  [RejectReason.INVALID_SERVICE_ID]: 'invalid service ID: nobody listens at that port',
  [RejectReason.INVALID_TRANSPORT_TYPE]: 'invalid transport type',
  [RejectReason.STALE_CONN]: 'stale connection',
  [RejectReason.RDC_NOT_EXIST]: 'reliable datagram channel does not exist',
  [RejectReason.INVALID_GID]: 'invalid GID',
  [RejectReason.INVALID_LID]: 'invalid LID',
  [RejectReason.INVALID_SL]: 'invalid service level',
  [RejectReason.INVALID_TRAFFIC_CLASS]: 'invalid traffic class',
  [RejectReason.INVALID_HOP_LIMIT]: 'invalid hop limit',
  [RejectReason.INVALID_PACKET_RATE]: 'invalid packet rate',
  [RejectReason.INVALID_ALT_GID]: 'invalid alternate GID',
  [RejectReason.INVALID_ALT_LID]: 'invalid alternate LID',
  [RejectReason.INVALID_ALT_SL]: 'invalid alternate service level',
  [RejectReason.INVALID_ALT_TRAFFIC_CLASS]: 'invalid alternate traffic class',
  [RejectReason.INVALID_ALT_HOP_LIMIT]: 'invalid alternate hop limit',
  [RejectReason.INVALID_ALT_PACKET_RATE]: 'invalid alternate packet rate',
  [RejectReason.PORT_CM_REDIRECT]: 'port and connection manager redirected',
  [RejectReason.PORT_REDIRECT]: 'port redirected',
  [RejectReason.INVALID_MTU]: 'invalid MTU',
  [RejectReason.INSUFFICIENT_RESP_RESOURCES]: 'insufficient responder resources',
  [RejectReason.CONSUMER_DEFINED]: 'the program there turned it down',
  [RejectReason.INVALID_RNR_RETRY]: 'invalid RNR retry count',
  [RejectReason.DUPLICATE_LOCAL_COMM_ID]: 'duplicate local communication ID',
  [RejectReason.INVALID_CLASS_VERSION]: 'invalid class version',
  [RejectReason.INVALID_FLOW_LABEL]: 'invalid flow label',
  [RejectReason.INVALID_ALT_FLOW_LABEL]: 'invalid alternate flow label',
  [RejectReason.VENDOR_OPTION_NOT_SUPPORTED]: 'vendor option not supported',
};

/** Why a connection was refused, in words: the status of REJECTED, one of `RejectReason`. */
export function rejectReasonStr(reason: number): string {
  // A peer may send any number, so the table is asked for one that it may not have.
  const words = (reasonWords as Readonly<Record<number, string | undefined>>)[reason];
  return words ?? `unknown reason ${reason}`;
}
