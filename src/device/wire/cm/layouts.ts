/** Where the fields of each message lie (protocol/connections.md 4.2): bytes from the end of the MAD header on, bits as documented. */
import {
  always,
  bits,
  type Field,
  flag,
  gid,
  type Layout,
  octets,
  record,
  u16,
  u24,
  u32,
  u64,
  u8,
  wordBits,
} from '../layout.js';
import { MAD_BYTES, MAD_HEADER_BYTES } from '../mad.js';
import {
  type CmApr,
  CmAttribute,
  type CmDrep,
  type CmDreq,
  type CmLap,
  type CmMra,
  type CmPath,
  type CmRej,
  type CmRep,
  type CmReq,
  type CmRtu,
  type CmSidrRep,
  type CmSidrReq,
} from './messages.js';

/** Bytes of private data in each message. It is always the last of it. */
export const CM_PRIVATE_DATA_BYTES = {
  [CmAttribute.REQ]: 92,
  [CmAttribute.MRA]: 222,
  [CmAttribute.REJ]: 148,
  [CmAttribute.REP]: 196,
  [CmAttribute.RTU]: 224,
  [CmAttribute.DREQ]: 220,
  [CmAttribute.DREP]: 224,
  [CmAttribute.SIDR_REQ]: 216,
  [CmAttribute.SIDR_REP]: 136,
  [CmAttribute.LAP]: 168,
  [CmAttribute.APR]: 148,
} as const;

const ADDITIONAL_INFO_BYTES = 72;

/** Each message by its attribute. */
export interface CmMessageTable {
  [CmAttribute.REQ]: CmReq;
  [CmAttribute.MRA]: CmMra;
  [CmAttribute.REJ]: CmRej;
  [CmAttribute.REP]: CmRep;
  [CmAttribute.RTU]: CmRtu;
  [CmAttribute.DREQ]: CmDreq;
  [CmAttribute.DREP]: CmDrep;
  [CmAttribute.LAP]: CmLap;
  [CmAttribute.APR]: CmApr;
  [CmAttribute.SIDR_REQ]: CmSidrReq;
  [CmAttribute.SIDR_REP]: CmSidrRep;
}

/** What the header says, which lies before the message. */
const head = <Attribute extends CmAttribute>(attribute: Attribute) => ({
  attribute: always(16 - MAD_HEADER_BYTES, attribute),
  transactionId: u64(8 - MAD_HEADER_BYTES),
});

/** The rest of the datagram. */
function privateData(attribute: CmAttribute): Field<Uint8Array> {
  const length = CM_PRIVATE_DATA_BYTES[attribute];
  return octets(MAD_BYTES - MAD_HEADER_BYTES - length, length);
}

const pair = { localCommId: u32(0), remoteCommId: u32(4) };

/** A path within a REQ. */
const requestPath = (start: number): Field<CmPath> =>
  record<CmPath>({
    localLid: u16(start),
    remoteLid: u16(start + 2),
    localGid: gid(start + 4),
    remoteGid: gid(start + 20),
    flowLabel: wordBits(start + 36, 31, 12),
    packetRate: bits(start + 39, 5, 0),
    trafficClass: u8(start + 40),
    hopLimit: u8(start + 41),
    sl: bits(start + 42, 7, 4),
    subnetLocal: flag(start + 42, 3),
    localAckTimeout: bits(start + 43, 7, 3),
  });

const req: Layout<CmReq> = {
  ...head(CmAttribute.REQ),
  localCommId: u32(0),
  vendorId: u24(5),
  serviceId: u64(8),
  localCaGuid: u64(16),
  localQkey: u32(28),
  localQpn: u24(32),
  responderResources: u8(35),
  localEecn: u24(36),
  initiatorDepth: u8(39),
  remoteEecn: u24(40),
  remoteCmResponseTimeout: bits(43, 7, 3),
  transportType: bits(43, 2, 1),
  endToEndFlowControl: flag(43, 0),
  startingPsn: u24(44),
  localCmResponseTimeout: bits(47, 7, 3),
  retryCount: bits(47, 2, 0),
  pkey: u16(48),
  pathMtu: bits(50, 7, 4),
  rdcExists: flag(50, 3),
  rnrRetryCount: bits(50, 2, 0),
  maxCmRetries: bits(51, 7, 4),
  srq: flag(51, 3),
  extendedTransportType: bits(51, 2, 0),
  primaryPath: requestPath(52),
  alternatePath: requestPath(96),
  privateData: privateData(CmAttribute.REQ),
};

const mra: Layout<CmMra> = {
  ...head(CmAttribute.MRA),
  ...pair,
  messageMraed: bits(8, 7, 6),
  serviceTimeout: bits(9, 7, 3),
  privateData: privateData(CmAttribute.MRA),
};

const rej: Layout<CmRej> = {
  ...head(CmAttribute.REJ),
  ...pair,
  messageRejected: bits(8, 7, 6),
  rejectedInfoLength: bits(9, 7, 1),
  reason: u16(10),
  additionalInfo: octets(12, ADDITIONAL_INFO_BYTES),
  privateData: privateData(CmAttribute.REJ),
};

const rep: Layout<CmRep> = {
  ...head(CmAttribute.REP),
  ...pair,
  localQkey: u32(8),
  localQpn: u24(12),
  vendorId: u24(15, 19, 23),
  localEecn: u24(16),
  startingPsn: u24(20),
  responderResources: u8(24),
  initiatorDepth: u8(25),
  targetAckDelay: bits(26, 7, 3),
  failoverAccepted: bits(26, 2, 1),
  endToEndFlowControl: flag(26, 0),
  rnrRetryCount: bits(27, 7, 5),
  srq: flag(27, 4),
  localCaGuid: u64(28),
  privateData: privateData(CmAttribute.REP),
};

const rtu: Layout<CmRtu> = { ...head(CmAttribute.RTU), ...pair, privateData: privateData(CmAttribute.RTU) };

const dreq: Layout<CmDreq> = {
  ...head(CmAttribute.DREQ),
  ...pair,
  remoteQpn: u24(8),
  privateData: privateData(CmAttribute.DREQ),
};

const drep: Layout<CmDrep> = { ...head(CmAttribute.DREP), ...pair, privateData: privateData(CmAttribute.DREP) };

const lap: Layout<CmLap> = {
  ...head(CmAttribute.LAP),
  ...pair,
  remoteQpn: u24(12),
  remoteCmResponseTimeout: bits(15, 7, 3),
  alternatePath: record<CmPath>({
    localLid: u16(20),
    remoteLid: u16(22),
    localGid: gid(24),
    remoteGid: gid(40),
    flowLabel: wordBits(56, 31, 12),
    trafficClass: u8(59),
    hopLimit: u8(60),
    packetRate: bits(61, 5, 0),
    sl: bits(62, 7, 4),
    subnetLocal: flag(62, 3),
    localAckTimeout: bits(63, 7, 3),
  }),
  privateData: privateData(CmAttribute.LAP),
};

const apr: Layout<CmApr> = {
  ...head(CmAttribute.APR),
  ...pair,
  infoLength: u8(8),
  status: u8(9),
  additionalInfo: octets(12, ADDITIONAL_INFO_BYTES),
  privateData: privateData(CmAttribute.APR),
};

const sidrReq: Layout<CmSidrReq> = {
  ...head(CmAttribute.SIDR_REQ),
  requestId: u32(0),
  pkey: u16(4),
  serviceId: u64(8),
  privateData: privateData(CmAttribute.SIDR_REQ),
};

const sidrRep: Layout<CmSidrRep> = {
  ...head(CmAttribute.SIDR_REP),
  requestId: u32(0),
  status: u8(4),
  infoLength: u8(5),
  vendorId: u24(6, 7, 11),
  qpn: u24(8),
  serviceId: u64(12),
  qkey: u32(20),
  additionalInfo: octets(24, ADDITIONAL_INFO_BYTES),
  privateData: privateData(CmAttribute.SIDR_REP),
};

/** The messages as fields that begin right after the MAD header. */
export const cmLayouts: { readonly [Attribute in CmAttribute]: Field<CmMessageTable[Attribute]> } = {
  [CmAttribute.REQ]: record(req),
  [CmAttribute.MRA]: record(mra),
  [CmAttribute.REJ]: record(rej),
  [CmAttribute.REP]: record(rep),
  [CmAttribute.RTU]: record(rtu),
  [CmAttribute.DREQ]: record(dreq),
  [CmAttribute.DREP]: record(drep),
  [CmAttribute.LAP]: record(lap),
  [CmAttribute.APR]: record(apr),
  [CmAttribute.SIDR_REQ]: record(sidrReq),
  [CmAttribute.SIDR_REP]: record(sidrRep),
};
