import {
  CmEventType,
  gidsEqual,
  isIpv4Gid,
  Mtu,
  mtuBytes,
  PortSpace,
  QpType,
  RejectReason,
  SidrStatus,
} from '../ibta/index.js';
import {
  CMA_HEADER_BYTES,
  type CmaHeader,
  CmAttribute,
  type CmMessage,
  type CmRej,
  type CmReq,
  type CmSidrReq,
  getU32,
  readCmaHeader,
  splitServiceId,
} from '../wire/index.js';
import type { CmClient, CmDatagram } from './host.js';
import type { CmRequest } from './command.js';
import { onMessage, type KnownConnection } from './connections/connection-rules.js';
import { Connection } from './connections/connection.js';
import type { CmCore, WaitingRequest } from './core.js';
import type { Listener } from './listener.js';
import { answererOf } from './requests.js';
import type { AnsweredRequests } from './resolution/answered-requests.js';
import { ResolutionRequest, sidrReply } from './resolution/resolution-request.js';
import { Resolution } from './resolution/resolution.js';
import { addressTo, indexOfGid } from './tables/addresses.js';
import { freshPsn } from './tables/directory.js';
import { type Identifier, isDatagramSpace } from './tables/identifier.js';
import type { PortTable } from './tables/port-table.js';

const NOTHING = new Uint8Array(0);
const GUID_BYTES = 8;
/** Requests with an alternate path are refused so (protocol/connections.md 4.3). */
const APR_UNSUPPORTED = 2;

/** Why a request is refused: a reason, and its details. */
interface Objection {
  readonly reason: RejectReason;
  readonly info?: Uint8Array;
}

interface Facts {
  readonly header: CmaHeader;
  readonly qpType: QpType;
}

interface Admission {
  readonly identifier: Identifier;
  readonly listener: Listener;
  readonly place: WaitingRequest;
}

/** What reception needs of the connection manager. */
interface Receiver extends CmCore {
  readonly ports: PortTable;
  readonly identifiers: ReadonlyMap<number, Identifier>;
  readonly answered: AnsweredRequests;
  /** Makes an identifier; undefined when there are as many as there may be. */
  newIdentifier(client: CmClient, portSpace: PortSpace): Identifier | undefined;
}

/** Finds out what an arriving message is for: a listener, a connection or nothing. */
export class Reception {
  constructor(private readonly manager: Receiver) {}

  /** @returns false when a message is for nothing here */
  take(message: CmMessage, datagram: CmDatagram): boolean {
    switch (message.attribute) {
      case CmAttribute.REQ:
        return this.#takeRequest(message, datagram);
      case CmAttribute.SIDR_REQ:
        this.#takeResolutionRequest(message, datagram);
        return true;
      case CmAttribute.SIDR_REP: {
        const resolution = this.manager.directory.find(message.requestId);
        if (!(resolution instanceof Resolution) || !resolution.isPeer(datagram.source)) return false;
        resolution.takeReply(message);
        return true;
      }
      case CmAttribute.REJ:
        return this.#deliver(message, this.#rejected(message, datagram), datagram);
      case CmAttribute.DREQ: {
        const connection = this.#find(message.remoteCommId);
        if (connection?.peer.isMet === true)
          return connection.isOf(message.remoteQpn) && this.#deliver(message, connection, datagram);
        // A DREQ for no connection, or for one that is not established, is answered by a DREP (protocol/connections.md 4.4).
        const { transactionId, localCommId, remoteCommId } = message;
        const names = { transactionId, localCommId: remoteCommId, remoteCommId: localCommId };
        this.manager.reply(datagram, { ...names, attribute: CmAttribute.DREP, privateData: NOTHING });
        return true;
      }
      case CmAttribute.LAP: {
        const { transactionId, localCommId, remoteCommId } = message;
        const names = { transactionId, localCommId: remoteCommId, remoteCommId: localCommId };
        const answer = { status: APR_UNSUPPORTED, infoLength: 0, additionalInfo: NOTHING, privateData: NOTHING };
        this.manager.reply(datagram, { ...names, attribute: CmAttribute.APR, ...answer });
        return true;
      }
      default:
        return this.#deliver(message, this.#find(message.remoteCommId), datagram);
    }
  }

  #find(commId: number): Connection | undefined {
    const found = this.manager.directory.find(commId);
    return found instanceof Connection ? found : undefined;
  }

  /** Gives a message to the connection that it names, if it comes from that one's peer. */
  #deliver(
    message: Exclude<CmMessage, CmReq | CmSidrReq | { readonly attribute: typeof CmAttribute.SIDR_REP }>,
    connection: KnownConnection | undefined,
    { source, way = 0 }: CmDatagram,
  ): boolean {
    if (connection?.isFrom(source, message.localCommId) !== true) return false;
    connection.cameBy(way);
    return onMessage(connection, message);
  }

  /** The connection that a rejection is for: a peer that gave up may never have learnt our ID, and gives its own and its GUID. */
  #rejected(rej: CmRej, { source }: CmDatagram): KnownConnection | undefined {
    if (rej.reason !== RejectReason.TIMEOUT || rej.rejectedInfoLength < GUID_BYTES) return this.#find(rej.remoteCommId);
    const info = rej.additionalInfo;
    const guid = (BigInt(getU32(info, 0) >>> 0) << 32n) | BigInt(getU32(info, 4) >>> 0);
    return this.manager.directory.findRemote(rej.localCommId, guid, source) ?? this.#find(rej.remoteCommId);
  }

  #takeRequest(req: CmReq, datagram: CmDatagram): boolean {
    const { directory } = this.manager;
    const { source } = datagram;
    const known = directory.findRemote(req.localCommId, req.localCaGuid, source);
    if (known !== undefined) return onMessage(known, req);
    const stale = directory.findRemoteQp(req.localQpn, req.localCaGuid, source);
    if (stale !== undefined) {
      this.#refuse(req, datagram, { reason: RejectReason.STALE_CONN });
      stale.becomeStale();
      return true;
    }
    const examined = this.#examine(req, datagram);
    if ('reason' in examined) {
      this.#refuse(req, datagram, examined);
      return true;
    }
    const { header, qpType } = examined;
    const admission = this.#admit(req.serviceId);
    if (admission === 'full') return true;
    if (admission === 'no listener') {
      this.#refuse(req, datagram, { reason: RejectReason.INVALID_SERVICE_ID });
      return true;
    }
    const { identifier, listener, place } = admission;
    const connection = this.#answer(req, datagram, identifier, { place, qpType });
    identifier.conversation = connection;
    identifier.peer = { gid: datagram.source, port: header.sourcePort };
    connection.asked(req);
    this.manager.raise({
      type: CmEventType.CONNECT_REQUEST,
      id: identifier.id,
      status: 0,
      privateData: req.privateData.slice(CMA_HEADER_BYTES),
      conn: {
        responderResources: req.initiatorDepth,
        initiatorDepth: req.responderResources,
        flowControl: req.endToEndFlowControl,
        retryCount: req.retryCount,
        rnrRetryCount: req.rnrRetryCount,
        srq: req.srq,
        qpNum: req.localQpn,
      },
      request: requestFacts(header, datagram, listener, req.serviceId, qpType),
    });
    return true;
  }

  #examine(req: CmReq, datagram: CmDatagram): Facts | Objection {
    const { host } = this.manager;
    const { source, destination } = datagram;
    const { localGid, remoteGid } = req.primaryPath;
    const qpType = answererOf(req);
    const space = splitServiceId(req.serviceId)?.portSpace;
    if (qpType === undefined || (space !== undefined && isDatagramSpace(space)))
      return { reason: RejectReason.INVALID_TRANSPORT_TYPE };
    // The connection goes to the sender of the request, not to another address that the request names.
    if (!gidsEqual(remoteGid, destination) || !gidsEqual(localGid, source))
      return { reason: RejectReason.INVALID_GID, info: destination };
    const mtu = Object.values(Mtu).find((known) => known === req.pathMtu);
    if (mtu === undefined || mtuBytes(mtu) > mtuBytes(host.mtu))
      return { reason: RejectReason.INVALID_MTU, info: Uint8Array.of(host.mtu) };
    const header = headerOf(req, datagram);
    return header === undefined ? { reason: RejectReason.UNSUPPORTED } : { header, qpType };
  }

  #answer(
    req: CmReq,
    datagram: CmDatagram,
    { id, client }: Identifier,
    asked: { place: WaitingRequest; qpType: QpType },
  ): Connection {
    const { host } = this.manager;
    const { flowLabel, trafficClass, localAckTimeout } = req.primaryPath;
    const packetLifetime = Math.max(0, localAckTimeout - 1);
    return new Connection({
      core: this.manager,
      id,
      client,
      agreement: {
        to: addressTo(indexOfGid(host, datagram.destination), datagram.source, flowLabel, trafficClass),
        // Checked to be one.
        pathMtu: Object.values(Mtu).find((known) => known === req.pathMtu) ?? host.mtu,
        remoteQpn: req.localQpn,
        localPsn: freshPsn(host.random),
        remotePsn: req.startingPsn,
        responderResources: req.initiatorDepth,
        initiatorDepth: req.responderResources,
        // The peer's value already includes its own delay; 0 would mean for ever.
        ackTimeout: Math.max(1, localAckTimeout),
        retryCount: req.retryCount,
        rnrRetryCount: req.rnrRetryCount,
      },
      transactionId: req.transactionId,
      packetLifetime,
      responseTimeout: req.localCmResponseTimeout,
      maxRetries: req.maxCmRetries,
      asked,
    });
  }

  #takeResolutionRequest(request: CmSidrReq, datagram: CmDatagram): void {
    const { manager } = this;
    const before = manager.answered.find(request, datagram);
    if (before !== undefined) {
      manager.counters.add('rx_duplicates', CmAttribute.SIDR_REQ);
      if (before !== 'waiting') manager.reply(datagram, before);
      return;
    }
    const header = headerOf(request, datagram);
    const isTcp = splitServiceId(request.serviceId)?.portSpace === PortSpace.TCP;
    const admission = header === undefined || isTcp ? 'no listener' : this.#admit(request.serviceId);
    if (admission === 'full') return;
    if (header === undefined || admission === 'no listener') {
      manager.reply(datagram, sidrReply(request, SidrStatus.UNSUPPORTED));
      return;
    }
    const { identifier, listener, place } = admission;
    identifier.conversation = new ResolutionRequest(manager, request, datagram, place, manager.answered);
    identifier.peer = { gid: datagram.source, port: header.sourcePort };
    manager.answered.wait(request, datagram);
    manager.raise({
      type: CmEventType.CONNECT_REQUEST,
      id: identifier.id,
      status: 0,
      privateData: request.privateData.slice(CMA_HEADER_BYTES),
      request: requestFacts(header, datagram, listener, request.serviceId, QpType.UD),
    });
  }

  /**
   * Makes room for a request to a service.
   *
   * @returns why there is none. Where it is full, the request is dropped as in Linux: the peer repeats it, and a later repeat
   *   finds room. A rejection would end the peer's attempt.
   */
  #admit(serviceId: bigint): Admission | 'no listener' | 'full' {
    const { manager } = this;
    const service = splitServiceId(serviceId);
    const listenId = service && manager.ports.listener(service.portSpace, service.port);
    const listening = listenId === undefined ? undefined : manager.identifiers.get(listenId);
    const listener = listening?.listener;
    if (service === undefined || listening === undefined || listener === undefined) return 'no listener';
    const place = manager.directory.size < manager.limits.maxIds ? listener.enter() : undefined;
    if (place !== undefined) {
      const identifier = manager.newIdentifier(listening.client, service.portSpace);
      if (identifier !== undefined) return { identifier, listener, place };
      place.answered();
    }
    manager.counters.rxOverflow += 1;
    return 'full';
  }

  #refuse({ transactionId, localCommId }: CmReq, datagram: CmDatagram, { reason, info = NOTHING }: Objection): void {
    this.manager.reply(datagram, {
      attribute: CmAttribute.REJ,
      transactionId,
      localCommId: 0,
      remoteCommId: localCommId,
      messageRejected: 0,
      reason,
      rejectedInfoLength: info.length,
      additionalInfo: info,
      privateData: NOTHING,
    });
  }
}

/** The addresses in a request; undefined where they are none, or not those of its IP version. */
function headerOf({ privateData }: CmReq | CmSidrReq, { destination }: CmDatagram): CmaHeader | undefined {
  const header = readCmaHeader(privateData);
  return header !== undefined && (header.ipVersion === 4) === isIpv4Gid(destination) ? header : undefined;
}

/** The addresses of both sides. The peer's is the one that it sends from, whatever the request says. */
function requestFacts(
  { sourcePort }: CmaHeader,
  { source, destination }: CmDatagram,
  { listenId }: Listener,
  serviceId: bigint,
  qpType: QpType,
): CmRequest {
  const localPort = splitServiceId(serviceId)?.port ?? 0;
  return { listenId, localGid: destination, localPort, remoteGid: source, remotePort: sourcePort, qpType };
}
