import { assert, CmEventType, PrivateDataBytes, type QpAttr, QpState } from '../ibta/index.js';
import { type CmMessage, decodeCmMessage, encodeCmMessage } from '../wire/index.js';
import { checkAccept, checkPrivateData, CmError } from './checks.js';
import {
  type CmClient,
  type Commands,
  type CmDatagram,
  type CmHost,
  type CmLimits,
  DEFAULT_CM_LIMITS,
} from './host.js';
import type {
  CmAccept,
  CmBind,
  CmConnect,
  CmCreateId,
  CmEvent,
  CmInitQpAttr,
  CmListen,
  CmReject,
  CmShare,
} from './command.js';
import { Connection } from './connections/connection.js';
import { ConnectionState, type Conversation, type KnownConnection } from './connections/connection-rules.js';
import { initiate } from './connections/initiation.js';
import { initialAttributes } from './connections/qp-attributes.js';
import type { CmCore } from './core.js';
import { CmCounters } from './counters.js';
import { Listener, type Pending } from './listener.js';
import { Reception } from './reception.js';
import { AnsweredRequests } from './resolution/answered-requests.js';
import { ResolutionRequest } from './resolution/resolution-request.js';
import { addressBack } from './tables/addresses.js';
import { Directory, OldestFirst } from './tables/directory.js';
import type { CmIdState, Identifier, ShownCmId } from './tables/identifier.js';
import { PortTable } from './tables/port-table.js';

/**
 * The connection manager of a device (IBTA 12; protocol/connections.md 4): identifiers with their ports, and the connections behind
 * them. It has no input or output of its own: datagrams, commands and timers come in; datagrams, events and changes of
 * queue pairs go out through its {@link CmHost}.
 */
export class ConnectionManager implements CmCore {
  readonly counters = new CmCounters();
  readonly directory: Directory;
  readonly limits: CmLimits;
  readonly ports: PortTable;
  readonly identifiers = new Map<number, Identifier>();
  readonly answered: AnsweredRequests;
  readonly halfOpen: OldestFirst<KnownConnection>;
  readonly farewells: OldestFirst<KnownConnection>;

  readonly #reception: Reception;
  readonly #pending: Pending = { count: 0 };
  #nextId = 1;
  /** The device is lost: its identifiers have been told, and hear no more. */
  #lost = false;

  constructor(
    readonly host: CmHost,
    limits: Partial<CmLimits> = {},
  ) {
    this.limits = { ...DEFAULT_CM_LIMITS, ...limits };
    this.directory = new Directory(host.random);
    this.ports = new PortTable(() => host.random() >>> 0);
    this.answered = new AnsweredRequests(this.limits.maxAnswers);
    this.halfOpen = new OldestFirst(this.limits.maxHalfOpen, (oldest) => oldest.giveUpConnecting());
    this.farewells = new OldestFirst(this.limits.maxFarewells, (oldest) => oldest.giveUpFarewell());
    this.#reception = new Reception(this);
  }

  /** The commands of one client; each throws CmError, and has changed nothing then. Identifiers of others are none to it. */
  commandsOf(client: CmClient): Commands {
    const find = (id: number): Identifier => this.#find(client, id);
    return {
      cmCreateId: (create) => this.#createId(client, create),
      cmBind: (bind) => this.#bind(find(bind.id), bind),
      cmShare: (share) => this.#share(find(share.id), share),
      cmListen: (listen) => this.#listen(find(listen.id), listen),
      cmConnect: (connect) => this.#connect(find(connect.id), connect),
      cmTaken: (id) => {
        requestOf(find(id)).taken();
      },
      cmAccept: (accept) => this.#accept(find(accept.id), accept),
      cmReject: (reject) => this.#reject(find(reject.id), reject),
      cmEstablish: (id) => {
        connectionOf(find(id)).establish();
      },
      cmNotify: (id) => {
        connectionOf(find(id)).notify();
      },
      cmDisconnect: (id) => {
        connectionOf(find(id)).disconnect();
      },
      cmInitQpAttr: (init) => this.#initQpAttr(find(init.id), init),
      cmDestroyId: (id) => this.#destroyId(find(id)),
      cmTakeEvents: (count) => client.events.splice(0, count),
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

  /** The first packet of its peer came to a queue pair: if the RTU was lost, this says the same (protocol/connections.md 4.4). */
  heard(qpNum: number): void {
    const connection = this.directory.findQp(qpNum);
    if (connection?.isAgreed === true) connection.notify();
  }

  /** A NIC is gone by whose memory packets came: as Linux has it for a process that is killed, its connections end (protocol/connections.md 4.4). */
  gone(way: number): void {
    const conversations: readonly (Conversation | undefined)[] = [...this.identifiers.values()].map(
      ({ conversation }) => conversation,
    );
    for (const conversation of conversations) conversation?.onGone?.(way);
  }

  /** The device is lost: every identifier is told. */
  fail(): void {
    for (const { id } of this.identifiers.values())
      this.raise({ type: CmEventType.DEVICE_REMOVAL, id, status: 0, privateData: new Uint8Array(0) });
    this.#lost = true;
  }

  /** Ends every identifier of a client, or of all, with what the protocol owes its peer. */
  close(client?: CmClient): void {
    for (const identifier of [...this.identifiers.values()]) {
      const isMeant = client === undefined || identifier.client === client;
      // A listener takes requests with it.
      if (isMeant && this.identifiers.has(identifier.id)) this.#destroyId(identifier);
    }
  }

  /** The identifiers, for `rdma resource show cm_id`. */
  *shown(): IterableIterator<ShownCmId> {
    for (const identifier of this.identifiers.values()) {
      const { id, client, portSpace, port, peer, conversation } = identifier;
      const qpNum = conversation instanceof Connection ? conversation.qpNum : undefined;
      yield { id, client, portSpace, state: stateOf(identifier), port, peer, qpNum };
    }
  }

  raise(event: CmEvent): void {
    const identifier = this.identifiers.get(event.id);
    assert(identifier !== undefined, 'an event of an identifier that is gone');
    if (!this.#lost) identifier.client.raise(event);
  }

  reply(datagram: CmDatagram, message: CmMessage): void {
    this.counters.add('tx_msgs', message.attribute);
    this.host.send(addressBack(this.host, datagram), encodeCmMessage(message));
  }

  newIdentifier(client: CmClient, portSpace: Identifier['portSpace']): Identifier | undefined {
    if (this.identifiers.size >= this.limits.maxIds || client.ids >= this.#mostOf(client)) return undefined;
    const identifier = {
      id: this.#nextId++,
      client,
      portSpace,
      port: undefined,
      peer: undefined,
      qkey: undefined,
      listener: undefined,
      conversation: undefined,
    };
    this.identifiers.set(identifier.id, identifier);
    client.ids += 1;
    return identifier;
  }

  #mostOf({ host }: CmClient): number {
    return Math.min(host.maxIds ?? Infinity, this.limits.maxIds);
  }

  #createId(client: CmClient, { portSpace }: CmCreateId): number {
    const identifier = this.newIdentifier(client, portSpace);
    if (identifier === undefined)
      throw new CmError('ENOMEM', `a device has ${this.#mostOf(client)} identifiers at most`);
    return identifier.id;
  }

  #bind(identifier: Identifier, { id, port, reuseAddr }: CmBind): number {
    if (identifier.port !== undefined)
      throw new CmError('EINVAL', `the identifier has port ${identifier.port} already`);
    identifier.port = this.ports.bind(id, identifier.portSpace, port, reuseAddr);
    return identifier.port;
  }

  #share({ portSpace, port, listener }: Identifier, { id, reuseAddr }: CmShare): undefined {
    if (port === undefined) throw new CmError('EINVAL', 'the identifier has no port');
    if (listener !== undefined && reuseAddr)
      throw new CmError('EINVAL', 'the identifier listens, and shares its port with nobody');
    this.ports.share(id, portSpace, port, reuseAddr);
  }

  #listen(identifier: Identifier, { id, backlog }: CmListen): undefined {
    if (identifier.port === undefined) throw new CmError('EINVAL', 'the identifier has no port to listen on');
    this.#requireFree(identifier);
    this.ports.listen(id, identifier.portSpace, identifier.port);
    const { maxBacklog, maxPending } = this.limits;
    const limit = backlog > 0 ? Math.min(backlog, maxBacklog) : maxBacklog;
    identifier.listener = new Listener(id, limit, this.#pending, maxPending);
  }

  #connect(identifier: Identifier, connect: CmConnect): undefined {
    this.#requireFree(identifier);
    initiate(this, identifier, connect);
    identifier.peer = { gid: connect.destination, port: connect.port };
  }

  #accept(identifier: Identifier, accept: CmAccept): undefined {
    const conversation = requestOf(identifier);
    checkAccept(accept, conversation instanceof ResolutionRequest);
    conversation.accept(accept);
  }

  #reject(identifier: Identifier, reject: CmReject): undefined {
    const conversation = requestOf(identifier);
    const isDatagrams = conversation instanceof ResolutionRequest;
    checkPrivateData(reject.privateData, isDatagrams ? PrivateDataBytes.RESOLVED : PrivateDataBytes.REJECT);
    conversation.reject(reject);
  }

  #initQpAttr(identifier: Identifier, { qpType, qpState }: CmInitQpAttr): Partial<QpAttr> {
    const { conversation } = identifier;
    if (conversation instanceof Connection) return conversation.attributes(qpType, qpState);
    if (qpState !== QpState.INIT)
      throw new CmError('EINVAL', 'without a connection there are attributes for INIT only');
    const attributes = initialAttributes(qpType);
    identifier.qkey ??= attributes.qkey;
    return attributes;
  }

  #destroyId(identifier: Identifier): undefined {
    const { id, client } = identifier;
    this.identifiers.delete(id);
    client.ids -= 1;
    const taken = client.events.filter((event) => event.id === id || event.request?.listenId === id);
    if (taken.length > 0) client.events = client.events.filter((event) => !taken.includes(event));
    // Requests that the program has not heard of are nobody's any more.
    for (const { id: unheard } of taken) if (unheard !== id) this.#destroyId(this.#find(client, unheard));
    identifier.conversation?.abandon();
    if (identifier.port !== undefined) this.ports.release(id, identifier.portSpace, identifier.port);
  }

  #find(client: CmClient, id: number): Identifier {
    const identifier = this.identifiers.get(id);
    if (identifier?.client !== client) throw new CmError('EINVAL', `there is no identifier ${id}`);
    return identifier;
  }

  #requireFree({ listener, conversation }: Identifier): void {
    if (listener !== undefined) throw new CmError('EINVAL', 'the identifier listens');
    if (conversation !== undefined) throw new CmError('EINVAL', 'the identifier is connected, or was');
  }
}

const ENDED: ReadonlySet<ConnectionState> = new Set([
  ConnectionState.DREQ_SENT,
  ConnectionState.DREQ_RCVD,
  ConnectionState.TIMEWAIT,
  ConnectionState.CLOSED,
]);

function stateOf({ port, listener, conversation }: Identifier): CmIdState {
  if (listener !== undefined) return 'LISTEN';
  if (conversation instanceof Connection) return ENDED.has(conversation.state) ? 'DISCONNECT' : 'CONNECT';
  if (conversation !== undefined) return 'CONNECT';
  return port === undefined ? 'IDLE' : 'ADDR_BOUND';
}

/** @throws CmError EINVAL for an identifier that has none */
function requestOf({ conversation }: Identifier): Connection | ResolutionRequest {
  if (conversation instanceof Connection || conversation instanceof ResolutionRequest) return conversation;
  throw new CmError('EINVAL', 'the identifier has no request');
}

/** @throws CmError EINVAL for an identifier that has none */
function connectionOf({ conversation }: Identifier): Connection {
  if (conversation instanceof Connection) return conversation;
  throw new CmError('EINVAL', 'the identifier has no connection');
}
