/** Where the fields of each message lie (protocol/connections.md 4.2): bytes from the end of the MAD header on, bits as documented. */
import {
  be16,
  be24,
  be32,
  be64,
  bits,
  type Field,
  flag,
  gid,
  nested,
  octets,
  type Struct,
  struct,
  u8,
} from '../struct.js';
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

/** The fields of the MAD header, which lies before the message. */
function head<Attribute extends CmAttribute>(attribute: Attribute) {
  const field: Field<Attribute> = { ...be16(16 - MAD_HEADER_BYTES), read: () => attribute };
  return { attribute: field, transactionId: be64(8 - MAD_HEADER_BYTES) };
}

/** 24 bits whose bytes do not lie together. */
function vendorId(high: number, middle: number, low: number): Field<number> {
  return {
    ...be24(0),
    read: (view, at) => (view.getUint8(at + high) << 16) | (view.getUint8(at + middle) << 8) | view.getUint8(at + low),
    write: (view, at, value) => {
      view.setUint8(at + high, value >>> 16);
      view.setUint8(at + middle, value >>> 8);
      view.setUint8(at + low, value);
    },
  };
}

function privateData(attribute: CmAttribute): Field<Uint8Array> {
  const length = CM_PRIVATE_DATA_BYTES[attribute];
  return octets(MAD_BYTES - MAD_HEADER_BYTES - length, length);
}

const pair = { localCommId: be32(0), remoteCommId: be32(4) };

const requestPath = (start: number): Field<CmPath> =>
  nested<CmPath>(
    0,
    struct({
      localLid: be16(start),
      remoteLid: be16(start + 2),
      localGid: gid(start + 4),
      remoteGid: gid(start + 20),
      flowLabel: bits(start + 36, 31, 12, be32),
      packetRate: bits(start + 39, 5, 0),
      trafficClass: u8(start + 40),
      hopLimit: u8(start + 41),
      sl: bits(start + 42, 7, 4),
      subnetLocal: flag(start + 42, 3),
      localAckTimeout: bits(start + 43, 7, 3),
    }),
  );

const req: Struct<CmReq> = struct({
  ...head(CmAttribute.REQ),
  localCommId: be32(0),
  vendorId: be24(5),
  serviceId: be64(8),
  localCaGuid: be64(16),
  localQkey: be32(28),
  localQpn: be24(32),
  responderResources: u8(35),
  localEecn: be24(36),
  initiatorDepth: u8(39),
  remoteEecn: be24(40),
  remoteCmResponseTimeout: bits(43, 7, 3),
  transportType: bits(43, 2, 1),
  endToEndFlowControl: flag(43, 0),
  startingPsn: be24(44),
  localCmResponseTimeout: bits(47, 7, 3),
  retryCount: bits(47, 2, 0),
  pkey: be16(48),
  pathMtu: bits(50, 7, 4),
  rdcExists: flag(50, 3),
  rnrRetryCount: bits(50, 2, 0),
  maxCmRetries: bits(51, 7, 4),
  srq: flag(51, 3),
  extendedTransportType: bits(51, 2, 0),
  primaryPath: requestPath(52),
  alternatePath: requestPath(96),
  privateData: privateData(CmAttribute.REQ),
});

const mra: Struct<CmMra> = struct({
  ...head(CmAttribute.MRA),
  ...pair,
  messageMraed: bits(8, 7, 6),
  serviceTimeout: bits(9, 7, 3),
  privateData: privateData(CmAttribute.MRA),
});

const rej: Struct<CmRej> = struct({
  ...head(CmAttribute.REJ),
  ...pair,
  messageRejected: bits(8, 7, 6),
  rejectedInfoLength: bits(9, 7, 1),
  reason: be16(10),
  additionalInfo: octets(12, ADDITIONAL_INFO_BYTES),
  privateData: privateData(CmAttribute.REJ),
});

const rep: Struct<CmRep> = struct({
  ...head(CmAttribute.REP),
  ...pair,
  localQkey: be32(8),
  localQpn: be24(12),
  vendorId: vendorId(15, 19, 23),
  localEecn: be24(16),
  startingPsn: be24(20),
  responderResources: u8(24),
  initiatorDepth: u8(25),
  targetAckDelay: bits(26, 7, 3),
  failoverAccepted: bits(26, 2, 1),
  endToEndFlowControl: flag(26, 0),
  rnrRetryCount: bits(27, 7, 5),
  srq: flag(27, 4),
  localCaGuid: be64(28),
  privateData: privateData(CmAttribute.REP),
});

const rtu: Struct<CmRtu> = struct({ ...head(CmAttribute.RTU), ...pair, privateData: privateData(CmAttribute.RTU) });

const dreq: Struct<CmDreq> = struct({
  ...head(CmAttribute.DREQ),
  ...pair,
  remoteQpn: be24(8),
  privateData: privateData(CmAttribute.DREQ),
});

const drep: Struct<CmDrep> = struct({ ...head(CmAttribute.DREP), ...pair, privateData: privateData(CmAttribute.DREP) });

const lap: Struct<CmLap> = struct({
  ...head(CmAttribute.LAP),
  ...pair,
  remoteQpn: be24(12),
  remoteCmResponseTimeout: bits(15, 7, 3),
  alternatePath: nested<CmPath>(
    0,
    struct({
      localLid: be16(20),
      remoteLid: be16(22),
      localGid: gid(24),
      remoteGid: gid(40),
      flowLabel: bits(56, 31, 12, be32),
      trafficClass: u8(59),
      hopLimit: u8(60),
      packetRate: bits(61, 5, 0),
      sl: bits(62, 7, 4),
      subnetLocal: flag(62, 3),
      localAckTimeout: bits(63, 7, 3),
    }),
  ),
  privateData: privateData(CmAttribute.LAP),
});

const apr: Struct<CmApr> = struct({
  ...head(CmAttribute.APR),
  ...pair,
  infoLength: u8(8),
  status: u8(9),
  additionalInfo: octets(12, ADDITIONAL_INFO_BYTES),
  privateData: privateData(CmAttribute.APR),
});

const sidrReq: Struct<CmSidrReq> = struct({
  ...head(CmAttribute.SIDR_REQ),
  requestId: be32(0),
  pkey: be16(4),
  serviceId: be64(8),
  privateData: privateData(CmAttribute.SIDR_REQ),
});

const sidrRep: Struct<CmSidrRep> = struct({
  ...head(CmAttribute.SIDR_REP),
  requestId: be32(0),
  status: u8(4),
  infoLength: u8(5),
  vendorId: vendorId(6, 7, 11),
  qpn: be24(8),
  serviceId: be64(12),
  qkey: be32(20),
  additionalInfo: octets(24, ADDITIONAL_INFO_BYTES),
  privateData: privateData(CmAttribute.SIDR_REP),
});

/** The messages as fields that begin right after the MAD header. */
export const cmLayouts: { readonly [Attribute in CmAttribute]: Struct<CmMessageTable[Attribute]> } = {
  [CmAttribute.REQ]: req,
  [CmAttribute.MRA]: mra,
  [CmAttribute.REJ]: rej,
  [CmAttribute.REP]: rep,
  [CmAttribute.RTU]: rtu,
  [CmAttribute.DREQ]: dreq,
  [CmAttribute.DREP]: drep,
  [CmAttribute.LAP]: lap,
  [CmAttribute.APR]: apr,
  [CmAttribute.SIDR_REQ]: sidrReq,
  [CmAttribute.SIDR_REP]: sidrRep,
};
