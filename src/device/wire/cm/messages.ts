import type { Gid } from '../../ibta/index.js';

/** Attribute IDs of the CM's messages (protocol/connections.md 4.1). */
export const CmAttribute = {
  REQ: 0x10,
  MRA: 0x11,
  REJ: 0x12,
  REP: 0x13,
  RTU: 0x14,
  DREQ: 0x15,
  DREP: 0x16,
  SIDR_REQ: 0x17,
  SIDR_REP: 0x18,
  LAP: 0x19,
  APR: 0x1a,
} as const;
export type CmAttribute = (typeof CmAttribute)[keyof typeof CmAttribute];

/** What the messages of one exchange share. Communication IDs are unsigned 32-bit numbers. */
interface Exchange {
  readonly transactionId: bigint;
}
interface Pair extends Exchange {
  readonly localCommId: number;
  readonly remoteCommId: number;
}

/** A way between two ports, as a REQ names it. */
export interface CmPath {
  readonly localLid: number;
  readonly remoteLid: number;
  readonly localGid: Gid;
  readonly remoteGid: Gid;
  readonly flowLabel: number;
  readonly packetRate: number;
  readonly trafficClass: number;
  readonly hopLimit: number;
  readonly sl: number;
  readonly subnetLocal: boolean;
  /** 5 bits, in 4.096 µs · 2^n. */
  readonly localAckTimeout: number;
}

export interface CmReq extends Exchange {
  readonly attribute: typeof CmAttribute.REQ;
  readonly localCommId: number;
  readonly vendorId: number;
  readonly serviceId: bigint;
  readonly localCaGuid: bigint;
  readonly localQkey: number;
  readonly localQpn: number;
  readonly responderResources: number;
  readonly localEecn: number;
  readonly initiatorDepth: number;
  readonly remoteEecn: number;
  readonly remoteCmResponseTimeout: number;
  /** 0 RC, 1 UC, 2 RD, 3 as `extendedTransportType` says. */
  readonly transportType: number;
  readonly endToEndFlowControl: boolean;
  readonly startingPsn: number;
  readonly localCmResponseTimeout: number;
  readonly retryCount: number;
  readonly pkey: number;
  /** Of `Mtu`. */
  readonly pathMtu: number;
  readonly rdcExists: boolean;
  readonly rnrRetryCount: number;
  readonly maxCmRetries: number;
  readonly srq: boolean;
  /** 1 XRC. */
  readonly extendedTransportType: number;
  readonly primaryPath: CmPath;
  /** All zeros where there is none. */
  readonly alternatePath: CmPath;
  /** 92 bytes. */
  readonly privateData: Uint8Array;
}

export interface CmMra extends Pair {
  readonly attribute: typeof CmAttribute.MRA;
  /** 0 REQ, 1 REP, 2 LAP. */
  readonly messageMraed: number;
  readonly serviceTimeout: number;
  /** 222 bytes. */
  readonly privateData: Uint8Array;
}

export interface CmRej extends Pair {
  readonly attribute: typeof CmAttribute.REJ;
  /** 0 REQ, 1 REP, 2 none of them. */
  readonly messageRejected: number;
  readonly reason: number;
  /** Bytes of `additionalInfo` that mean something, 0 to 72. */
  readonly rejectedInfoLength: number;
  /** 72 bytes. */
  readonly additionalInfo: Uint8Array;
  /** 148 bytes. */
  readonly privateData: Uint8Array;
}

export interface CmRep extends Pair {
  readonly attribute: typeof CmAttribute.REP;
  readonly localQkey: number;
  readonly localQpn: number;
  readonly localEecn: number;
  readonly vendorId: number;
  readonly startingPsn: number;
  readonly responderResources: number;
  readonly initiatorDepth: number;
  readonly targetAckDelay: number;
  readonly failoverAccepted: number;
  readonly endToEndFlowControl: boolean;
  readonly rnrRetryCount: number;
  readonly srq: boolean;
  readonly localCaGuid: bigint;
  /** 196 bytes. */
  readonly privateData: Uint8Array;
}

export interface CmRtu extends Pair {
  readonly attribute: typeof CmAttribute.RTU;
  /** 224 bytes. */
  readonly privateData: Uint8Array;
}

export interface CmDreq extends Pair {
  readonly attribute: typeof CmAttribute.DREQ;
  readonly remoteQpn: number;
  /** 220 bytes. */
  readonly privateData: Uint8Array;
}

export interface CmDrep extends Pair {
  readonly attribute: typeof CmAttribute.DREP;
  /** 224 bytes. */
  readonly privateData: Uint8Array;
}

export interface CmLap extends Pair {
  readonly attribute: typeof CmAttribute.LAP;
  readonly remoteQpn: number;
  readonly remoteCmResponseTimeout: number;
  readonly alternatePath: CmPath;
  /** 168 bytes. */
  readonly privateData: Uint8Array;
}

export interface CmApr extends Pair {
  readonly attribute: typeof CmAttribute.APR;
  readonly infoLength: number;
  readonly status: number;
  /** 72 bytes. */
  readonly additionalInfo: Uint8Array;
  /** 148 bytes. */
  readonly privateData: Uint8Array;
}

export interface CmSidrReq extends Exchange {
  readonly attribute: typeof CmAttribute.SIDR_REQ;
  readonly requestId: number;
  readonly pkey: number;
  readonly serviceId: bigint;
  /** 216 bytes. */
  readonly privateData: Uint8Array;
}

export interface CmSidrRep extends Exchange {
  readonly attribute: typeof CmAttribute.SIDR_REP;
  readonly requestId: number;
  readonly status: number;
  readonly infoLength: number;
  readonly vendorId: number;
  readonly qpn: number;
  readonly serviceId: bigint;
  readonly qkey: number;
  /** 72 bytes. */
  readonly additionalInfo: Uint8Array;
  /** 136 bytes. */
  readonly privateData: Uint8Array;
}

export type CmMessage = CmReq | CmMra | CmRej | CmRep | CmRtu | CmDreq | CmDrep | CmLap | CmApr | CmSidrReq | CmSidrRep;
