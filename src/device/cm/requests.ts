import { type Gid, isIpv4Gid, type Mtu, type PortSpace, QpType } from '../ibta/index.js';
import { CmAttribute, type CmPath, type CmReq, type CmSidrReq, serviceId, writeCmaHeader } from '../wire/index.js';
import { CmError } from './checks.js';
import type { CmConnect, CmQp } from './command.js';
import { ackTimeout, LOCAL_ACK_DELAY, MAX_CM_RETRIES, RESPONSE_TIMEOUT } from './connections/timeouts.js';
import { flowLabelOf } from './tables/addresses.js';

const DEFAULT_PKEY = 0xffff;
const HOP_LIMIT = 64;
/** Of a port without a LID, when packets may be routed (protocol/connections.md 4.2). */
const PERMISSIVE_LID = 0xffff;
const EXTENDED = 3;

/** How a REQ says what kind of connection it is for (protocol/connections.md 4.2). */
interface Transport {
  readonly type: number;
  readonly extended: number;
}
const transports: Readonly<Partial<Record<QpType, Transport>>> = {
  [QpType.RC]: { type: 0, extended: 0 },
  [QpType.UC]: { type: 1, extended: 0 },
  [QpType.XRC_SEND]: { type: EXTENDED, extended: 1 },
};

/** The queue pair that a program requests a connection with. */
export interface Asker {
  readonly qp: CmQp;
  readonly transport: Transport;
}

/** @throws CmError EINVAL without a queue pair, or for one of a type that cannot ask */
export function askerOf({ qp }: CmConnect): Asker {
  if (qp === undefined) throw new CmError('EINVAL', 'a connection needs a queue pair');
  const transport = transports[qp.qpType];
  if (transport === undefined) throw new CmError('EINVAL', 'a queue pair of this type asks for no connection');
  return { qp, transport };
}

/** What answers a request of each transport. */
const answerers: readonly (Transport & { readonly qpType: QpType })[] = [
  { type: 0, extended: 0, qpType: QpType.RC },
  { type: 1, extended: 0, qpType: QpType.UC },
  { type: EXTENDED, extended: 1, qpType: QpType.XRC_RECV },
];

/** The type of queue pair that is to answer a request, or undefined where this device has none. */
export function answererOf({ transportType, extendedTransportType }: CmReq): QpType | undefined {
  const extended = transportType === EXTENDED ? extendedTransportType : 0;
  return answerers.find((one) => one.type === transportType && one.extended === extended)?.qpType;
}

const NOWHERE = new Uint8Array(16);
const NO_PATH: CmPath = {
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

/** What a request says beyond the program's parameters. */
export interface RequestFacts {
  readonly portSpace: PortSpace;
  readonly localGid: Gid;
  readonly localPort: number;
  readonly localCommId: number;
  readonly transactionId: bigint;
  readonly caGuid: bigint;
}

/** The private data of a request: the addresses first (protocol/connections.md 4.5). */
function addressed(facts: RequestFacts, { destination, privateData }: CmConnect): Uint8Array {
  const header = writeCmaHeader({
    ipVersion: isIpv4Gid(destination) ? 4 : 6,
    sourcePort: facts.localPort,
    source: facts.localGid,
    destination,
  });
  const bytes = new Uint8Array(header.length + privateData.length);
  bytes.set(header);
  bytes.set(privateData, header.length);
  return bytes;
}

export function requestOf(
  facts: RequestFacts,
  connect: CmConnect,
  { qp, transport }: Asker,
  own: { readonly startingPsn: number; readonly pathMtu: Mtu; readonly packetLifetime: number },
): CmReq {
  return {
    attribute: CmAttribute.REQ,
    transactionId: facts.transactionId,
    localCommId: facts.localCommId,
    vendorId: 0,
    serviceId: serviceId(facts.portSpace, connect.port),
    localCaGuid: facts.caGuid,
    localQkey: 0,
    localQpn: qp.qpNum,
    responderResources: connect.responderResources,
    localEecn: 0,
    initiatorDepth: connect.initiatorDepth,
    remoteEecn: 0,
    remoteCmResponseTimeout: RESPONSE_TIMEOUT,
    transportType: transport.type,
    endToEndFlowControl: connect.flowControl,
    startingPsn: own.startingPsn,
    localCmResponseTimeout: RESPONSE_TIMEOUT,
    retryCount: connect.retryCount,
    pkey: DEFAULT_PKEY,
    pathMtu: own.pathMtu,
    rdcExists: false,
    rnrRetryCount: connect.rnrRetryCount,
    maxCmRetries: MAX_CM_RETRIES,
    srq: qp.srq,
    extendedTransportType: transport.extended,
    primaryPath: {
      ...NO_PATH,
      localLid: PERMISSIVE_LID,
      remoteLid: PERMISSIVE_LID,
      localGid: facts.localGid,
      remoteGid: connect.destination,
      flowLabel: flowLabelOf(facts.localPort, connect.port),
      trafficClass: connect.trafficClass,
      hopLimit: HOP_LIMIT,
      localAckTimeout: ackTimeout(LOCAL_ACK_DELAY, own.packetLifetime),
    },
    alternatePath: NO_PATH,
    privateData: addressed(facts, connect),
  };
}

/** The request for the name of a datagram queue pair. */
export function resolutionOf(facts: RequestFacts, connect: CmConnect): CmSidrReq {
  return {
    attribute: CmAttribute.SIDR_REQ,
    transactionId: facts.transactionId,
    requestId: facts.localCommId,
    pkey: DEFAULT_PKEY,
    serviceId: serviceId(facts.portSpace, connect.port),
    privateData: addressed(facts, connect),
  };
}
