import {
  assert,
  CmEventType,
  Errno,
  type Gid,
  nameOf,
  type QpAttr,
  QpState,
  QpType,
  RejectReason,
  Syndrome,
} from '../../ibta/index.js';
import {
  CmAttribute,
  type CmDreq,
  type CmMessage,
  type CmMra,
  type CmRej,
  type CmRep,
  type CmReq,
  encodeCmMessage,
} from '../../wire/index.js';
import type { CmClient, Refusal } from '../host.js';
import { CmError } from '../checks.js';
import type { CmAccept, CmConnParam, CmEvent, CmQp, CmReject } from '../command.js';
import {
  type KnownConnection,
  ConnectionState,
  isFarewell,
  mayFollow,
  onAbandon,
  onDisconnect,
  onTimeout,
  WITH_PEER,
} from './connection-rules.js';
import type { CmCore, WaitingRequest } from '../core.js';
import { freshTransaction } from '../tables/directory.js';
import { About, answererIn, type Names, rejectionOf, replyOf, timeoutOf } from './connection-messages.js';
import { Peer } from './peer.js';
import { type Agreement, connectedAttributes } from './qp-attributes.js';
import { Retransmission } from './retransmission.js';
import {
  ackTimeout,
  LONGEST_FAREWELL,
  MRA_SERVICE_TIMEOUT,
  PEER_GONE_US,
  requestIntervalUs,
  timeoutUs,
} from './timeouts.js';

export interface ConnectionParts {
  readonly core: CmCore;
  readonly id: number;
  readonly client: CmClient;
  readonly agreement: Agreement;
  readonly transactionId: bigint;
  readonly packetLifetime: number;
  /** Exponent of the time within which the peer answers. */
  readonly responseTimeout: number;
  readonly maxRetries: number;
  readonly asking?: {
    readonly qp: CmQp;
    /** The program's own ACK timeout; without it what the peer says of itself counts as well. */
    readonly ackTimeout: number | undefined;
  };
  readonly asked?: {
    readonly place: WaitingRequest;
    readonly qpType: QpType;
  };
}

const NOTHING = new Uint8Array(0);

/**
 * One end of a connection: the CM's state machine (protocol/connections.md 4.4). What a message, a timeout or the program's leaving
 * does in which state is in the tables of `connection-rules.ts`, in terms of the methods here.
 */
export class Connection implements KnownConnection {
  readonly commId: number;
  readonly peer: Peer;
  /** The program's name for it, as long as the program has one. */
  #id: number | undefined;
  #state: ConnectionState;
  #agreement: Agreement;
  #qp: CmQp | undefined;
  #transactionId: bigint;
  readonly #core: CmCore;
  readonly #client: CmClient;
  readonly #packetLifetime: number;
  readonly #responseTimeout: number;
  readonly #maxRetries: number;
  /** The ACK timeout that the program wants, whatever the peer says. */
  readonly #ackTimeout: number | undefined;
  readonly #place: WaitingRequest | undefined;
  /** The type of queue pair that the peer asks for. */
  readonly #wanted: QpType | undefined;
  readonly #retransmission: Retransmission;
  /** What we have told the peer of RNR NAKs, or are about to. */
  #peerRnrRetry = 0;

  constructor(parts: ConnectionParts) {
    const { core } = parts;
    this.#core = core;
    this.#client = parts.client;
    this.#id = parts.id;
    this.#agreement = parts.agreement;
    this.#transactionId = parts.transactionId;
    this.#packetLifetime = parts.packetLifetime;
    this.#responseTimeout = parts.responseTimeout;
    this.#maxRetries = parts.maxRetries;
    this.#qp = parts.asking?.qp;
    this.#ackTimeout = parts.asking?.ackTimeout;
    this.#place = parts.asked?.place;
    this.#wanted = parts.asked?.qpType;
    this.peer = new Peer(this, core.directory, destinationOf(parts.agreement));
    this.#state = parts.asked === undefined ? ConnectionState.REQ_SENT : ConnectionState.REQ_RCVD;
    this.#retransmission = new Retransmission(core.host, core.counters, () => onTimeout(this));
    this.commId = core.directory.add(this);
    if (this.#qp !== undefined) core.directory.addQp(this, this.#qp.qpNum);
  }

  get state(): ConnectionState {
    return this.#state;
  }

  /** Of our queue pair, once it is known. */
  get qpNum(): number | undefined {
    return this.#qp?.qpNum;
  }

  get isAgreed(): boolean {
    return this.state === ConnectionState.REP_SENT || this.state === ConnectionState.MRA_REP_RCVD;
  }

  /** Whether it connects our queue pair of that number. */
  isOf(qpNum: number): boolean {
    return this.#qp?.qpNum === qpNum;
  }

  isFrom(sender: Gid, commId: number): boolean {
    return this.peer.isAt(sender) && this.peer.isNamed(commId);
  }

  cameBy(way: number): void {
    this.peer.way = way;
  }

  /** The NIC behind a way is gone: if it was the peer's, nothing will ever come of it. What has come is delivered first, and requests fail. */
  onGone(way: number): void {
    const own = this.#qp && this.#core.host.wayOf?.(this.#qp.qpNum);
    if (this.state !== ConnectionState.ESTABLISHED) this.#retransmission.lookAgain();
    else if (this.peer.way === way || own === way) this.#retransmission.wait(PEER_GONE_US);
  }

  // What the program wants.

  /** Sends the request. */
  ask(req: CmReq): void {
    this.#peerRnrRetry = req.rnrRetryCount;
    const intervalUs = requestIntervalUs(this.#packetLifetime, this.#responseTimeout);
    const { to } = this.#agreement;
    this.#retransmission.start(req, to, intervalUs, this.#maxRetries, {
      isVacant: () => this.#core.host.isVacant?.(destinationOf(this.#agreement)) === true,
      // As Linux's own answer where nobody listens: there, a device is at each address of a machine that has one.
      onAbsent: () =>
        this.#finish({ type: CmEventType.REJECTED, status: RejectReason.INVALID_SERVICE_ID, isAbsent: true }),
    });
  }

  /**
   * The program has taken the request, which makes room in the backlog. A peer that takes its request back makes none: it
   * could fill the program's queue with requests of which none waits.
   *
   * @throws CmError EINVAL for a connection that this side asked for
   */
  taken(): void {
    if (this.#place === undefined) throw new CmError('EINVAL', 'the connection was not asked for by the peer');
    this.#place.taken();
  }

  /** Notes who asks. */
  asked(req: CmReq): void {
    this.peer.meet(req.localCommId, req.localQpn, req.localCaGuid);
  }

  /**
   * A queue pair that cannot be moved ends the connection: the peer is rejected, as in Linux, and does not wait any longer.
   *
   * @throws CmError EINVAL unless the request waits for an answer, or what moving the queue pair is refused with
   */
  accept(accept: CmAccept): void {
    this.#require('accepted', ConnectionState.REQ_RCVD);
    const { qp } = accept;
    if (qp.qpType !== this.#wanted)
      throw new CmError('EINVAL', `the request is for a queue pair of type ${nameOf(QpType, this.#wanted ?? 0)}`);
    const agreement: Agreement = {
      ...this.#agreement,
      responderResources: accept.responderResources,
      // More than the peer has room for would be refused by its queue pair (protocol/reliable.md 2.3).
      initiatorDepth: this.#least(qp, accept.initiatorDepth, this.#agreement.initiatorDepth),
      ackTimeout: accept.ackTimeout ?? this.#agreement.ackTimeout,
    };
    const problem = qp.managed ? this.#connect(qp, agreement) : undefined;
    if (problem !== undefined) {
      this.#client.host.modifyQp(qp.qpNum, { qpState: QpState.ERR }, Syndrome.NOT_CONNECTED);
      this.#place?.answered();
      this.refuse();
      throw new CmError(problem.errno, problem.message);
    }
    this.#agreement = agreement;
    this.#qp = qp;
    this.#client.host.limitRnrRetries?.(qp.qpNum, accept.rnrRetryCount);
    this.#core.directory.addQp(this, qp.qpNum);
    this.#place?.answered();
    this.#become(ConnectionState.REP_SENT);
    const rep = replyOf(this.#names(), accept, agreement, this.#core.host.nodeGuid);
    this.#retransmission.start(rep, agreement.to, timeoutUs(this.#responseTimeout), this.#maxRetries);
  }

  /** @throws CmError EINVAL unless a request or a reply waits for an answer */
  reject({ privateData, reason = RejectReason.CONSUMER_DEFINED }: CmReject): void {
    this.#require('rejected', ConnectionState.REQ_RCVD, ConnectionState.REP_RCVD);
    this.#sendRejection(reason, privateData);
    this.#place?.answered();
    this.#end();
  }

  /** @throws CmError EINVAL unless the peer agreed and waits */
  establish(): void {
    this.#require('established', ConnectionState.REP_RCVD);
    this.#becomeEstablished();
  }

  notify(): void {
    if (this.state === ConnectionState.ESTABLISHED) throw new CmError('EISCONN', 'the connection is there already');
    this.#require('established', ConnectionState.REP_SENT, ConnectionState.MRA_REP_RCVD);
    this.takeReady();
  }

  /** @throws CmError EINVAL while a request waits for an answer */
  disconnect(): void {
    const { REQ_SENT, MRA_REQ_RCVD, REQ_RCVD } = ConnectionState;
    if (this.state === REQ_SENT || this.state === MRA_REQ_RCVD || this.state === REQ_RCVD)
      throw new CmError('EINVAL', 'there is no connection yet; destroying the identifier takes the request back');
    this.#fail(this.state === ConnectionState.DREQ_RCVD ? Syndrome.PEER_DISCONNECTED : Syndrome.DISCONNECTED);
    onDisconnect(this);
  }

  /**
   * Attributes for a queue pair that the program moves itself.
   *
   * @throws CmError EINVAL for RTR and RTS while there is no peer, and when there is none any more
   */
  attributes(qpType: QpType, qpState: QpState): Partial<QpAttr> {
    if (qpState === QpState.RTR || qpState === QpState.RTS) this.#require('joined by a queue pair', ...WITH_PEER);
    const attributes = connectedAttributes(qpType, qpState, this.#agreement);
    if (attributes === undefined) throw new CmError('EINVAL', 'a connection has attributes for INIT, RTR and RTS');
    return attributes;
  }

  abandon(): void {
    this.#id = undefined;
    this.#place?.answered();
    this.#become(this.#state);
    onAbandon(this);
  }

  // What messages do.

  takeReply(rep: CmRep): void {
    const qp = this.#qp;
    if (qp === undefined) return;
    const remoteQpn = answererIn(rep, qp.qpType);
    const stale = this.peer.ownerOf(remoteQpn, rep.localCaGuid);
    if (stale !== undefined && stale !== this) {
      const names = { ...this.#names(), remoteCommId: rep.localCommId };
      this.#send(rejectionOf(names, About.REP, RejectReason.STALE_CONN));
      stale.becomeStale();
      return;
    }
    this.#retransmission.stop();
    this.peer.meet(rep.localCommId, remoteQpn, rep.localCaGuid);
    const own = this.#agreement;
    this.#agreement = {
      ...own,
      remoteQpn,
      remotePsn: rep.startingPsn,
      responderResources: this.#least(qp, rep.initiatorDepth, own.responderResources),
      initiatorDepth: this.#least(qp, rep.responderResources, own.initiatorDepth),
      ackTimeout: this.#ackTimeout ?? ackTimeout(rep.targetAckDelay, this.#packetLifetime),
      rnrRetryCount: rep.rnrRetryCount,
    };
    this.#become(ConnectionState.REP_RCVD);
    const conn: CmConnParam = {
      responderResources: rep.initiatorDepth,
      initiatorDepth: rep.responderResources,
      flowControl: rep.endToEndFlowControl,
      // A REP says none.
      retryCount: 0,
      rnrRetryCount: rep.rnrRetryCount,
      srq: rep.srq,
      qpNum: remoteQpn,
    };
    this.#client.host.limitRnrRetries?.(qp.qpNum, this.#peerRnrRetry);
    if (!qp.managed) {
      this.#raise({ type: CmEventType.CONNECT_RESPONSE, privateData: rep.privateData, conn });
      return;
    }
    const problem = this.#connect(qp, this.#agreement);
    if (problem !== undefined) {
      this.#sendRejection(RejectReason.CONSUMER_DEFINED);
      this.#finish({ type: CmEventType.CONNECT_ERROR, status: -Errno[problem.errno] });
      return;
    }
    this.#becomeEstablished();
    this.#raise({ type: CmEventType.ESTABLISHED, privateData: rep.privateData, conn });
  }

  takeRejection({ reason, privateData }: CmRej): void {
    if (this.state === ConnectionState.ESTABLISHED || reason === RejectReason.STALE_CONN) {
      this.#fail(Syndrome.NOT_CONNECTED);
      this.#enterTimewait();
      this.#raise({ type: CmEventType.REJECTED, status: reason, privateData });
    } else this.#finish({ type: CmEventType.REJECTED, status: reason, privateData });
  }

  bePatient({ messageMraed, serviceTimeout }: CmMra): void {
    const { REQ_SENT, MRA_REQ_RCVD, REP_SENT, MRA_REP_RCVD } = ConnectionState;
    const requested = this.state === REQ_SENT || this.state === MRA_REQ_RCVD;
    if (messageMraed !== (requested ? About.REQ : About.REP)) return;
    if (this.state === REQ_SENT) this.#become(MRA_REQ_RCVD);
    if (this.state === REP_SENT) this.#become(MRA_REP_RCVD);
    this.#retransmission.hold(timeoutUs(serviceTimeout) + timeoutUs(this.#packetLifetime));
  }

  askForPatience(attribute: typeof CmAttribute.REQ | typeof CmAttribute.REP): void {
    this.noteDuplicate(attribute);
    const messageMraed = attribute === CmAttribute.REQ ? About.REQ : About.REP;
    const serviceTimeout = MRA_SERVICE_TIMEOUT;
    this.#send({ ...this.#names(), attribute: CmAttribute.MRA, messageMraed, serviceTimeout, privateData: NOTHING });
  }

  noteDuplicate(attribute: CmAttribute): void {
    this.#core.counters.add('rx_duplicates', attribute);
  }

  takeReady(): void {
    this.#retransmission.stop();
    this.#become(ConnectionState.ESTABLISHED);
    this.#raise({ type: CmEventType.ESTABLISHED });
  }

  repeatReady(): void {
    this.noteDuplicate(CmAttribute.REP);
    this.#sendReady();
  }

  takeDisconnect(dreq: CmDreq): void {
    this.#retransmission.stop();
    this.#transactionId = dreq.transactionId;
    this.#become(ConnectionState.DREQ_RCVD);
    this.#raise({ type: CmEventType.DISCONNECTED });
  }

  missPeer(): void {
    this.#become(ConnectionState.DREQ_RCVD);
    this.#raise({ type: CmEventType.DISCONNECTED });
  }

  crossDisconnect(dreq: CmDreq): void {
    this.#transactionId = dreq.transactionId;
    this.#sendDisconnected();
    this.takeDisconnected();
  }

  takeDisconnected(): void {
    this.#enterTimewait();
    this.#raise({ type: CmEventType.DISCONNECTED });
  }

  repeatDisconnected(dreq: CmDreq): void {
    this.noteDuplicate(CmAttribute.DREQ);
    this.#transactionId = dreq.transactionId;
    this.#sendDisconnected();
  }

  refuseAsStale({ transactionId }: CmReq): void {
    this.noteDuplicate(CmAttribute.REQ);
    this.#send(rejectionOf({ ...this.#names(), transactionId, localCommId: 0 }, About.REQ, RejectReason.STALE_CONN));
  }

  becomeStale(): void {
    if (this.state === ConnectionState.ESTABLISHED) this.part();
  }

  // Further actions of the tables.

  part(): void {
    this.#become(ConnectionState.DREQ_SENT);
    this.#transactionId = freshTransaction(this.#core.host.random);
    const remoteQpn = this.#agreement.remoteQpn;
    const dreq: CmDreq = { ...this.#names(), attribute: CmAttribute.DREQ, remoteQpn, privateData: NOTHING };
    const intervalUs = requestIntervalUs(
      Math.min(this.#packetLifetime, LONGEST_FAREWELL),
      Math.min(this.#responseTimeout, LONGEST_FAREWELL),
    );
    this.#retransmission.start(dreq, this.#agreement.to, intervalUs, this.#maxRetries);
  }

  answerDisconnect(): void {
    this.#sendDisconnected();
    this.#enterTimewait();
  }

  refuse(): void {
    this.#sendRejection(RejectReason.CONSUMER_DEFINED);
    this.#end();
  }

  retract(): void {
    this.#sendRejection(RejectReason.CONSUMER_DEFINED);
    this.takeDisconnected();
  }

  withdraw(): void {
    this.#sendTimeout(About.OTHER);
    this.#end();
  }

  giveUpConnecting(): void {
    this.#sendTimeout(this.isAgreed ? About.REP : About.OTHER);
    this.#finish({ type: CmEventType.UNREACHABLE, status: -Errno.ETIMEDOUT });
  }

  giveUpDisconnecting(): void {
    this.#enterTimewait();
    this.#raise({ type: CmEventType.DISCONNECTED, status: -Errno.ETIMEDOUT });
  }

  giveUpFarewell(): void {
    this.#end();
  }

  leaveTimewait(): void {
    this.#raise({ type: CmEventType.TIMEWAIT_EXIT });
    this.#end();
  }

  #become(state: ConnectionState): void {
    const { halfOpen, farewells } = this.#core;
    assert(mayFollow(this.#state, state), 'a connection goes where no way leads');
    this.#state = state;
    if (this.isAgreed) halfOpen.enter(this);
    else halfOpen.leave(this);
    if (this.#id === undefined && isFarewell(state)) farewells.enter(this);
    else farewells.leave(this);
  }

  #becomeEstablished(): void {
    this.#become(ConnectionState.ESTABLISHED);
    this.#sendReady();
  }

  #sendReady(): void {
    this.#send({ ...this.#names(), attribute: CmAttribute.RTU, privateData: NOTHING });
  }

  #sendDisconnected(): void {
    this.#send({ ...this.#names(), attribute: CmAttribute.DREP, privateData: NOTHING });
  }

  #sendRejection(reason: RejectReason, privateData: Uint8Array = NOTHING): void {
    const about: Partial<Record<ConnectionState, About>> = { REQ_RCVD: About.REQ, REP_RCVD: About.REP };
    const messageRejected = about[this.state] ?? About.OTHER;
    this.#send(rejectionOf(this.#names(), messageRejected, reason, privateData));
  }

  #sendTimeout(messageRejected: About): void {
    this.#send(timeoutOf(this.#names(), messageRejected, this.#core.host.nodeGuid));
  }

  #names(): Names {
    return { transactionId: this.#transactionId, localCommId: this.commId, remoteCommId: this.peer.commId };
  }

  #send(message: CmMessage): void {
    this.#core.counters.add('tx_msgs', message.attribute);
    this.#core.host.send(this.#agreement.to, encodeCmMessage(message));
  }

  #raise(event: Omit<CmEvent, 'id' | 'status' | 'privateData'> & Partial<CmEvent>): void {
    if (this.#id !== undefined) this.#core.raise({ status: 0, privateData: NOTHING, ...event, id: this.#id });
  }

  /** Moves a queue pair to RTS. @returns why that cannot be */
  #connect(qp: CmQp, agreement: Agreement): Refusal | undefined {
    for (const state of [QpState.RTR, QpState.RTS]) {
      const attributes = connectedAttributes(qp.qpType, state, agreement);
      const problem = attributes && this.#client.host.modifyQp(qp.qpNum, attributes);
      if (problem !== undefined) return problem;
    }
    return undefined;
  }

  /**
   * What the two sides agree on. A program that moves its queue pair itself gets what was said last, as in Linux, also where that
   * is more than was offered.
   */
  #least({ managed }: CmQp, said: number, offered: number): number {
    return managed ? Math.min(said, offered) : said;
  }

  /** Ends what is under way on the queue pair; it may be gone already, or another connection's. */
  #fail(cause: Syndrome): void {
    if (this.#qp?.managed !== true) return;
    const owner = this.#core.directory.findQp(this.#qp.qpNum) ?? this;
    if (owner === this) this.#client.host.modifyQp(this.#qp.qpNum, { qpState: QpState.ERR }, cause);
  }

  /** It ended before it was established. */
  #finish(event: Omit<CmEvent, 'id' | 'status' | 'privateData'> & Partial<CmEvent>): void {
    this.#fail(Syndrome.NOT_CONNECTED);
    this.#raise(event);
    this.#end();
  }

  #enterTimewait(): void {
    this.#become(ConnectionState.TIMEWAIT);
    this.#retransmission.wait(timeoutUs(Math.min(this.#agreement.ackTimeout, LONGEST_FAREWELL)));
  }

  #end(): void {
    const { directory } = this.#core;
    this.#become(ConnectionState.CLOSED);
    this.#retransmission.release();
    directory.forget(this.commId);
    this.peer.forget();
    if (this.#qp !== undefined) directory.forgetQp(this, this.#qp.qpNum);
  }

  /** @throws CmError EINVAL in another state */
  #require(what: string, ...states: readonly ConnectionState[]): void {
    if (!states.includes(this.state))
      throw new CmError('EINVAL', `a connection in ${this.state} cannot be ${what}, only in ${states.join(' or ')}`);
  }
}

function destinationOf({ to }: Agreement): Gid {
  assert(to.grh !== undefined, 'a connection without an address');
  return to.grh.dgid;
}
