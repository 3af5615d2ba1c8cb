/** What the numbers in the connection manager's messages are called. */
import { CmAttribute, type CmMessage, hex, readCmaHeader, splitServiceId } from '../../device/wire/index.js';
import { Mtu, nameOf, PortSpace, RejectReason, SidrStatus } from '../../entry/index.js';

type Constants = Readonly<Record<string, number>>;

const REFERRED = { REQ: 0, REP: 1 };

/** protocol/connections.md 4.3. */
const APR_STATUS = {
  SUCCESS: 0,
  INVALID_COMM_ID: 1,
  UNSUPPORTED: 2,
  REJECT: 3,
  REDIRECT: 4,
  IS_CURRENT: 5,
  INVALID_QPN: 6,
  INVALID_LID: 7,
  INVALID_GID: 8,
  INVALID_FLOW_LABEL: 9,
  INVALID_TRAFFIC_CLASS: 10,
  INVALID_HOP_LIMIT: 11,
  INVALID_PACKET_RATE: 12,
  INVALID_SL: 13,
};

const CONSTANTS: Readonly<Record<string, Constants | undefined>> = {
  'REQ.transportType': { RC: 0, UC: 1, RD: 2, EXTENDED: 3 },
  'REQ.extendedTransportType': { XRC: 1 },
  'REQ.pathMtu': Mtu,
  'MRA.messageMraed': { ...REFERRED, LAP: 2 },
  'REJ.messageRejected': { ...REFERRED, OTHER: 2 },
  'REJ.reason': RejectReason,
  'APR.status': APR_STATUS,
  'SIDR_REP.status': SidrStatus,
};

/** `REQ`, as in all tables here. */
export function messageName({ attribute }: CmMessage): string {
  return nameOf(CmAttribute, attribute);
}

/** The name of a number in a field; `undefined` where it has none. */
export function valueName(message: CmMessage, field: string, value: number): string | undefined {
  const constants = CONSTANTS[`${messageName(message)}.${field}`];
  if (constants === undefined) return undefined;
  const name = nameOf(constants, value);
  return name === String(value) ? undefined : name;
}

/** `TCP:7174`; in hexadecimal when it is none of rdma_cm's. */
export function formatService(id: bigint): string {
  const service = splitServiceId(id);
  return service === undefined ? hex(id, 16) : `${nameOf(PortSpace, service.portSpace)}:${service.port}`;
}

/** The IP addresses before the private data, in those messages that have them there. */
export function addressesOf(message: CmMessage) {
  if (message.attribute !== CmAttribute.REQ && message.attribute !== CmAttribute.SIDR_REQ) return undefined;
  // Other programs than rdma_cm's have service IDs of other kinds, and may put anything into their private data.
  return splitServiceId(message.serviceId) && readCmaHeader(message.privateData);
}
