import { CmEventType, type QpAttr, QpState, QpType } from '../spec/index.js';
import { type CmMessage, decodeCmMessage, encodeCmMessage } from '../wire/index.js';
import { addressBack, addressTo, flowLabelOf } from './addresses.js';
import { AnsweredRequests } from './answered-requests.js';
import { CmError } from './cm-error.js';
import type {
  CmAccept,
  CmBind,
  CmCommandTable,
  CmConnect,
  CmCreateId,
  CmEvent,
  CmInitQpAttr,
  CmListen,
  CmReject,
} from './command.js';
import { Connection, freshPsn } from './connection.js';
import type { CmCore } from './core.js';
import { CmCounters } from './counters.js';
import { Directory } from './directory.js';
import { type CmDatagram, type CmHost, type CmLimits, DEFAULT_CM_LIMITS } from './host.js';
import { type Identifier, isDatagramSpace } from './identifier.js';
import { Listener, type Pending } from './listener.js';
import { PortTable } from './port-table.js';
import { initialAttributes } from './qp-attributes.js';
import { requestOf, resolutionOf, type RequestFacts } from './requests.js';
import { Reception } from './reception.js';
import { Resolution } from './resolution.js';
import { ResolutionRequest } from './resolution-request.js';
import { ackTimeout, LOCAL_ACK_DELAY, MAX_CM_RETRIES, PACKET_LIFETIME, RESPONSE_TIMEOUT } from './timeouts.js';

/** Each command as a method: `CmCommandTable` says what they take and give. */
type Commands = { readonly [V in keyof CmCommandTable]: (argument: CmCommandTable[V][0]) => CmCommandTable[V][1] };

/**
 * The connection manager of a device (IBTA 12; PROTOCOL.md 4): identifiers with their ports, and the connections behind
 * them. It has no input or output of its own: datagrams, commands and timers come in; datagrams, events and changes of
 * queue pairs go out through its {@link CmHost}.
 */
export class ConnectionManager implements CmCore {
  readonly counters = new CmCounters();
  readonly directory: Directory;
  readonly limits: CmLimits;
  readonly ports: PortTable;
  /** The commands of programs; each throws CmError, and has changed nothing then. */
  readonly commands: Commands;
  readonly identifiers = new Map<number, Identifier>();
  readonly answered: AnsweredRequests;

  readonly #reception: Reception;
  readonly #pending: Pending = { count: 0 };
  #events: CmEvent[] = [];
  #nextId = 1;

  constructor(
    readonly host: CmHost,
    limits: Partial<CmLimits> = {},
  ) {
    this.limits = { ...DEFAULT_CM_LIMITS, ...limits };
    this.directory = new Directory(host.random);
    this.ports = new PortTable(() => host.random() >>> 0);
    this.answered = new AnsweredRequests(this.limits.maxAnswers);
    this.#reception = new Reception(this);
    this.commands = {
      cmCreateId: (create) => this.#createId(create),
      cmBind: (bind) => this.#bind(bind),
      cmListen: (listen) => this.#listen(listen),
      cmConnect: (connect) => this.#connect(connect),
      cmAccept: (accept) => this.#accept(accept),
      cmReject: (reject) => this.#reject(reject),
      cmEstablish: (id) => {
        this.#connectionOf(id).establish();
      },
      cmNotify: (id) => {
        this.#connectionOf(id).notify();
      },
      cmDisconnect: (id) => {
        this.#connectionOf(id).disconnect();
      },
      cmInitQpAttr: (init) => this.#initQpAttr(init),
      cmDestroyId: (id) => this.#destroyId(id),
      cmTakeEvents: (count) => this.#events.splice(0, count),
    };
  }

  /** Takes a management datagram. Whatever is wrong with it, it is counted and dropped. */
  receive(datagram: CmDatagram): void {
    const message = decodeCmMessage(datagram.mad);
    if (message === undefined) {
      this.counters.rxMalformed += 1;
      return;
    }
    this.counters.add('rx_msgs', message.attribute);
    if (!this.#reception.take(message, datagram)) this.counters.rxDropped += 1;
  }

  /** The first packet of its peer came to a queue pair: if the RTU was lost, this says the same (PROTOCOL.md 4.4). */
  heard(qpNum: number): void {
    const connection = this.directory.findQp(qpNum);
    if (connection?.isAgreed === true) connection.notify();
  }

  /** The device is lost: every identifier is told. */
  fail(): void {
    for (const { id } of this.identifiers.values())
      this.raise({ type: CmEventType.DEVICE_REMOVAL, id, status: 0, privateData: new Uint8Array(0) });
  }

  /** Ends every identifier, with what the protocol owes its peer. */
  close(): void {
    for (const id of [...this.identifiers.keys()]) this.#destroyId(id);
  }

  raise(event: CmEvent): void {
    this.#events.push(event);
    this.host.eventReady();
  }

  reply(datagram: CmDatagram, message: CmMessage): void {
    this.counters.add('tx_msgs', message.attribute);
    this.host.send(addressBack(this.host, datagram), encodeCmMessage(message));
  }

  /** Makes an identifier; undefined when there are as many as there may be. */
  newIdentifier(portSpace: Identifier['portSpace']): Identifier | undefined {
    if (this.identifiers.size >= this.limits.maxIds) return undefined;
    const identifier = {
      id: this.#nextId++,
      portSpace,
      port: undefined,
      listener: undefined,
      conversation: undefined,
    };
    this.identifiers.set(identifier.id, identifier);
    return identifier;
  }

  #createId({ portSpace }: CmCreateId): number {
    const identifier = this.newIdentifier(portSpace);
    if (identifier === undefined) throw new CmError('ENOMEM', `a device has ${this.limits.maxIds} identifiers at most`);
    return identifier.id;
  }

  #bind({ id, port, reuseAddr }: CmBind): number {
    const identifier = this.#find(id);
    if (identifier.port !== undefined)
      throw new CmError('EINVAL', `the identifier has port ${identifier.port} already`);
    identifier.port = this.ports.bind(id, identifier.portSpace, port, reuseAddr);
    return identifier.port;
  }

  #listen({ id, backlog }: CmListen): undefined {
    const identifier = this.#find(id);
    if (identifier.port === undefined) throw new CmError('EINVAL', 'the identifier has no port to listen on');
    this.#requireFree(identifier);
    this.ports.listen(id, identifier.portSpace, identifier.port);
    const { maxBacklog, maxPending } = this.limits;
    const limit = backlog > 0 ? Math.min(backlog, maxBacklog) : maxBacklog;
    identifier.listener = new Listener(id, limit, this.#pending, maxPending);
  }

  #connect(connect: CmConnect): undefined {
    const identifier = this.#find(connect.id);
    this.#requireFree(identifier);
    const { host } = this;
    const [localGid] = host.gids;
    if (localGid === undefined) throw new CmError('ENETUNREACH', 'the device has lost its address');
    identifier.port ??= this.ports.bind(identifier.id, identifier.portSpace, 0, false);
    const flowLabel = flowLabelOf(identifier.port, connect.port);
    const to = addressTo(0, connect.destination, flowLabel, connect.trafficClass);
    const transactionId = (BigInt(host.random() >>> 0) << 32n) | BigInt(host.random() >>> 0);
    const facts = (localCommId: number): RequestFacts => ({
      portSpace: identifier.portSpace,
      localGid,
      localPort: identifier.port ?? 0,
      localCommId,
      transactionId,
      caGuid: host.nodeGuid,
    });
    if (isDatagramSpace(identifier.portSpace) || connect.qp?.qpType === QpType.UD) {
      const resolution = new Resolution(this, identifier.id, to, connect.destination);
      identifier.conversation = resolution;
      resolution.ask(resolutionOf(facts(resolution.commId), connect));
      return;
    }
    const { qp } = connect;
    if (qp === undefined) throw new CmError('EINVAL', 'a connection needs a queue pair');
    const packetLifetime = connect.ackTimeout === undefined ? PACKET_LIFETIME : Math.max(0, connect.ackTimeout - 1);
    const localPsn = freshPsn(host.random);
    const agreement = {
      to,
      pathMtu: host.mtu,
      remoteQpn: 0,
      localPsn,
      remotePsn: 0,
      responderResources: connect.responderResources,
      initiatorDepth: connect.initiatorDepth,
      ackTimeout: ackTimeout(LOCAL_ACK_DELAY, packetLifetime),
      retryCount: connect.retryCount,
      rnrRetryCount: connect.rnrRetryCount,
    };
    const own = { startingPsn: localPsn, pathMtu: host.mtu, packetLifetime };
    // Made before the connection is, so that a queue pair that cannot ask leaves nothing behind.
    const request = requestOf(facts(0), connect, qp, own);
    const connection = new Connection({
      core: this,
      id: identifier.id,
      agreement,
      transactionId,
      packetLifetime,
      responseTimeout: RESPONSE_TIMEOUT,
      maxRetries: MAX_CM_RETRIES,
      qp,
    });
    identifier.conversation = connection;
    connection.ask({ ...request, localCommId: connection.commId });
  }

  #accept(accept: CmAccept): undefined {
    const { conversation } = this.#find(accept.id);
    if (!(conversation instanceof Connection || conversation instanceof ResolutionRequest))
      throw new CmError('EINVAL', 'the identifier has no request to accept');
    conversation.accept(accept);
  }

  #reject(reject: CmReject): undefined {
    const { conversation } = this.#find(reject.id);
    if (conversation instanceof ResolutionRequest) conversation.reject(reject.privateData);
    else if (conversation instanceof Connection) conversation.reject(reject);
    else throw new CmError('EINVAL', 'the identifier has no request to reject');
  }

  #initQpAttr({ id, qpType, qpState }: CmInitQpAttr): Partial<QpAttr> {
    const { conversation } = this.#find(id);
    if (conversation instanceof Connection) return conversation.attributes(qpType, qpState);
    if (qpState !== QpState.INIT)
      throw new CmError('EINVAL', 'without a connection there are attributes for INIT only');
    return initialAttributes(qpType);
  }

  #destroyId(id: number): undefined {
    const identifier = this.#find(id);
    this.identifiers.delete(id);
    if (this.#events.length > 0) this.#events = this.#events.filter((event) => event.id !== id);
    identifier.conversation?.abandon();
    if (identifier.port !== undefined) this.ports.release(id, identifier.portSpace, identifier.port);
  }

  #find(id: number): Identifier {
    const identifier = this.identifiers.get(id);
    if (identifier === undefined) throw new CmError('EINVAL', `there is no identifier ${id}`);
    return identifier;
  }

  #connectionOf(id: number): Connection {
    const { conversation } = this.#find(id);
    if (conversation instanceof Connection) return conversation;
    throw new CmError('EINVAL', 'the identifier has no connection');
  }

  #requireFree({ listener, conversation }: Identifier): void {
    if (listener !== undefined) throw new CmError('EINVAL', 'the identifier listens');
    if (conversation !== undefined) throw new CmError('EINVAL', 'the identifier is connected, or was');
  }
}
