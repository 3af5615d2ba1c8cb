import { type Gid, isIpv4Gid, PortSpace, RejectReason } from '../../../ibta/index.js';
import {
  CmAttribute,
  type CmDreq,
  type CmMra,
  type CmPath,
  type CmRej,
  type CmRep,
  type CmReq,
  type CmRtu,
  type CmSidrRep,
  type CmSidrReq,
  serviceId,
  writeCmaHeader,
} from '../../../wire/index.js';
import { PORT } from './two-devices.js';

/** Messages as a peer writes them who is not a connection manager. */

const NOTHING = new Uint8Array(0);
const NOWHERE = new Uint8Array(16);
export const GHOST_COMM_ID = 0x5000_0001;
export const GHOST_QPN = 0xabcde;
export const GHOST_GUID = 0xfeed_f00d_0000_0001n;
const TRANSACTION = 0x1234_5678_9abc_def0n;

const noPath: CmPath = {
  localLid: 0,
  remoteLid: 0,
  localGid: NOWHERE,
  remoteGid: NOWHERE,
  flowLabel: 0,
  packetRate: 0,
  trafficClass: 0,
  hopLimit: 0,
  sl: 0,
  subnetLocal: false,
  localAckTimeout: 0,
};

interface Way {
  readonly from: { readonly gid: Gid };
  readonly to: { readonly gid: Gid };
}

/** The addresses that come before private data. */
export function header({ from, to }: Way, ipVersion: 4 | 6 = isIpv4Gid(from.gid) ? 4 : 6): Uint8Array {
  return writeCmaHeader({ ipVersion, sourcePort: 40000, source: from.gid, destination: to.gid });
}

export function req(way: Way, overrides: Partial<CmReq> = {}): CmReq {
  return {
    attribute: CmAttribute.REQ,
    transactionId: TRANSACTION,
    localCommId: GHOST_COMM_ID,
    vendorId: 0,
    serviceId: serviceId(PortSpace.TCP, PORT),
    localCaGuid: GHOST_GUID,
    localQkey: 0,
    localQpn: GHOST_QPN,
    responderResources: 3,
    localEecn: 0,
    initiatorDepth: 2,
    remoteEecn: 0,
    remoteCmResponseTimeout: 20,
    transportType: 0,
    endToEndFlowControl: false,
    startingPsn: 0x111111,
    localCmResponseTimeout: 20,
    retryCount: 6,
    pkey: 0xffff,
    pathMtu: 3,
    rdcExists: false,
    rnrRetryCount: 5,
    maxCmRetries: 15,
    srq: false,
    extendedTransportType: 0,
    primaryPath: { ...noPath, localGid: way.from.gid, remoteGid: way.to.gid, hopLimit: 64, localAckTimeout: 17 },
    alternatePath: noPath,
    privateData: header(way),
    ...overrides,
  };
}

/** Who is named in what follows a REQ: `localCommId` is the speaker's. */
interface Names {
  readonly localCommId?: number;
  readonly remoteCommId: number;
}

const names = ({ localCommId = GHOST_COMM_ID, remoteCommId }: Names) => ({
  transactionId: TRANSACTION,
  localCommId,
  remoteCommId,
});

export function rep(of: Names, overrides: Partial<CmRep> = {}): CmRep {
  return {
    ...names(of),
    attribute: CmAttribute.REP,
    localQkey: 0,
    localQpn: GHOST_QPN,
    localEecn: 0,
    vendorId: 0,
    startingPsn: 0x222222,
    responderResources: 3,
    initiatorDepth: 2,
    targetAckDelay: 15,
    failoverAccepted: 0,
    endToEndFlowControl: false,
    rnrRetryCount: 5,
    srq: false,
    localCaGuid: GHOST_GUID,
    privateData: NOTHING,
    ...overrides,
  };
}

export function rtu(of: Names): CmRtu {
  return { ...names(of), attribute: CmAttribute.RTU, privateData: NOTHING };
}

export function mra(of: Names, messageMraed: number, serviceTimeout: number): CmMra {
  return { ...names(of), attribute: CmAttribute.MRA, messageMraed, serviceTimeout, privateData: NOTHING };
}

export function rej(of: Names, overrides: Partial<CmRej> = {}): CmRej {
  return {
    ...names(of),
    attribute: CmAttribute.REJ,
    messageRejected: 2,
    rejectedInfoLength: 0,
    reason: RejectReason.CONSUMER_DEFINED,
    additionalInfo: NOTHING,
    privateData: NOTHING,
    ...overrides,
  };
}

export function dreq(of: Names, remoteQpn: number): CmDreq {
  return { ...names(of), attribute: CmAttribute.DREQ, remoteQpn, privateData: NOTHING };
}

export function sidrReq(way: Way, overrides: Partial<CmSidrReq> = {}): CmSidrReq {
  return {
    attribute: CmAttribute.SIDR_REQ,
    transactionId: TRANSACTION,
    requestId: GHOST_COMM_ID,
    pkey: 0xffff,
    serviceId: serviceId(PortSpace.UDP, PORT),
    privateData: header(way),
    ...overrides,
  };
}

export function sidrRep(requestId: number, overrides: Partial<CmSidrRep> = {}): CmSidrRep {
  return {
    attribute: CmAttribute.SIDR_REP,
    transactionId: TRANSACTION,
    requestId,
    status: 0,
    infoLength: 0,
    vendorId: 0,
    qpn: GHOST_QPN,
    serviceId: serviceId(PortSpace.UDP, PORT),
    qkey: 0x01234567,
    additionalInfo: NOTHING,
    privateData: NOTHING,
    ...overrides,
  };
}

export function guidInfo(guid: bigint): Pick<CmRej, 'additionalInfo' | 'rejectedInfoLength'> {
  const additionalInfo = new Uint8Array(8);
  new DataView(additionalInfo.buffer).setBigUint64(0, guid);
  return { additionalInfo, rejectedInfoLength: 8 };
}
