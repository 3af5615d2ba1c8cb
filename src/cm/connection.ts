import {
  CmEventType,
  Errno,
  type Gid,
  gidsEqual,
  PSN_MASK,
  type QpAttr,
  QpState,
  type QpType,
  RejectReason,
} from '../spec/index.js';
import {
  CmAttribute,
  type CmDreq,
  type CmMessage,
  type CmMra,
  type CmRej,
  type CmRep,
  type CmReq,
  encodeCmMessage,
  putU32,
} from '../wire/index.js';
import { CmError } from './cm-error.js';
import type { CmAccept, CmConnParam, CmEvent, CmQp, CmReject } from './command.js';
import { ConnectionState, onAbandon, onDisconnect, onTimeout } from './connection-rules.js';
import type { Backlog, CmCore, Conversation } from './core.js';
import type { Refusal } from './host.js';
import { type Agreement, connectedAttributes } from './qp-attributes.js';
import { Retransmission } from './retransmission.js';
import { ackTimeout, LOCAL_ACK_DELAY, MRA_SERVICE_TIMEOUT, requestIntervalUs, timeoutUs } from './timeouts.js';

const NOTHING = new Uint8Array(0);
const NO_INFO = { rejectedInfoLength: 0, additionalInfo: NOTHING } as const;
/** Which message a rejection or a request for patience is about. */
const About = { REQ: 0, REP: 1, OTHER: 2 } as const;
type About = (typeof About)[keyof typeof About];

/** What a connection begins with, on either side. */
export interface ConnectionParts {
  readonly core: CmCore;
  readonly id: number;
  readonly agreement: Agreement;
  readonly transactionId: bigint;
  readonly packetLifetime: number;
  /** Exponent of the time within which the peer answers. */
  readonly responseTimeout: number;
  readonly maxRetries: number;
  /** What we ask for with. */
  readonly qp?: CmQp | undefined;
  /** Where we were asked. */
  readonly backlog?: Backlog | undefined;
}

/**
 * One end of a connection: the CM's state machine (PROTOCOL.md 4.4). What a message, a timeout or the program's leaving
 * does in which state is in the tables of `connection-rules.ts`, in terms of the methods here.
 */
export class Connection implements Conversation {
  state: ConnectionState;
  readonly commId: number;
  /** The program's name for it, as long as the program has one. */
  #id: number | undefined;
  #agreement: Agreement;
  #qp: CmQp | undefined;
  #backlog: Backlog | undefined;
  #transactionId: bigint;
  #remoteCommId = 0;
  #remoteCaGuid = 0n;
  readonly #core: CmCore;
  readonly #peer: Gid;
  readonly #packetLifetime: number;
  readonly #responseTimeout: number;
  readonly #maxRetries: number;
  readonly #retransmission: Retransmission;

  constructor(parts: ConnectionParts) {
    const { core } = parts;
    this.#core = core;
    this.#id = parts.id;
    this.#agreement = parts.agreement;
    this.#transactionId = parts.transactionId;
    this.#packetLifetime = parts.packetLifetime;
    this.#responseTimeout = parts.responseTimeout;
    this.#maxRetries = parts.maxRetries;
    this.#qp = parts.qp;
    this.#backlog = parts.backlog;
    this.#peer = peerOf(parts.agreement);
    this.state = parts.backlog === undefined ? ConnectionState.REQ_SENT : ConnectionState.REQ_RCVD;
    this.#retransmission = new Retransmission(core.host, core.counters, () => onTimeout(this));
    this.commId = core.directory.add(this);
    if (parts.qp !== undefined) core.directory.addQp(this, parts.qp.qpNum);
  }

  isPeer(gid: Gid): boolean {
    return gidsEqual(gid, this.#peer);
  }

  /** Whether we have agreed, and have not heard that the peer is ready. */
  get isAgreed(): boolean {
    return this.state === ConnectionState.REP_SENT || this.state === ConnectionState.MRA_REP_RCVD;
  }

  /** Whether a message names the connection as the peer does; before its first message nobody knows. */
  isNamed(remoteCommId: number): boolean {
    return this.#remoteCommId === 0 || this.#remoteCommId === remoteCommId;
  }

  // What the program wants.

  /** Sends the request. */
  ask(req: CmReq): void {
    const intervalUs = requestIntervalUs(this.#packetLifetime, this.#responseTimeout);
    this.#retransmission.start(req, this.#agreement.to, intervalUs, this.#maxRetries);
  }

  /** Notes who asks. */
  asked(req: CmReq): void {
    this.#meet(req.localCommId, req.localQpn, req.localCaGuid);
  }

  /** @throws CmError EINVAL unless the request waits for an answer, or what moving the queue pair is refused with */
  accept(accept: CmAccept): void {
    this.#require('accepted', ConnectionState.REQ_RCVD);
    const { qp } = accept;
    const agreement: Agreement = {
      ...this.#agreement,
      responderResources: accept.responderResources,
      // More than the peer has room for would be refused by its queue pair (PROTOCOL.md 2.3).
      initiatorDepth: Math.min(accept.initiatorDepth, this.#agreement.initiatorDepth),
    };
    const problem = qp.managed ? this.#connect(qp, agreement) : undefined;
    if (problem !== undefined) throw new CmError(problem.errno, problem.message);
    this.#agreement = agreement;
    this.#qp = qp;
    this.#core.directory.addQp(this, qp.qpNum);
    this.#leaveBacklog();
    this.state = ConnectionState.REP_SENT;
    const rep: CmRep = {
      ...this.#names(),
      attribute: CmAttribute.REP,
      localQkey: 0,
      localQpn: qp.qpNum,
      localEecn: 0,
      vendorId: 0,
      startingPsn: agreement.localPsn,
      responderResources: agreement.responderResources,
      initiatorDepth: agreement.initiatorDepth,
      targetAckDelay: LOCAL_ACK_DELAY,
      failoverAccepted: 0,
      endToEndFlowControl: accept.flowControl,
      rnrRetryCount: accept.rnrRetryCount,
      srq: qp.srq,
      localCaGuid: this.#core.host.nodeGuid,
      privateData: accept.privateData,
    };
    this.#retransmission.start(rep, agreement.to, timeoutUs(this.#responseTimeout), this.#maxRetries);
  }

  /** @throws CmError EINVAL unless a request or a reply waits for an answer */
  reject({ privateData, reason = RejectReason.CONSUMER_DEFINED }: CmReject): void {
    this.#require('rejected', ConnectionState.REQ_RCVD, ConnectionState.REP_RCVD);
    this.#sendRejection(reason, privateData);
    this.#end();
  }

  /** @throws CmError EINVAL unless the peer agreed and waits */
  establish(): void {
    this.#require('established', ConnectionState.REP_RCVD);
    this.#becomeEstablished();
  }

  /**
   * The peer's first message has come: it has our reply.
   *
   * @throws CmError EISCONN when that is known, EINVAL before the request was accepted
   */
  notify(): void {
    if (this.state === ConnectionState.ESTABLISHED) throw new CmError('EISCONN', 'the connection is there already');
    this.#require('established', ConnectionState.REP_SENT, ConnectionState.MRA_REP_RCVD);
    this.takeReady(NOTHING);
  }

  /** @throws CmError EINVAL while a request waits for an answer */
  disconnect(): void {
    const { REQ_SENT, MRA_REQ_RCVD, REQ_RCVD } = ConnectionState;
    if (this.state === REQ_SENT || this.state === MRA_REQ_RCVD || this.state === REQ_RCVD)
      throw new CmError('EINVAL', 'there is no connection yet; destroying the identifier takes the request back');
    this.#fail();
    onDisconnect(this);
  }

  /** Attributes for a queue pair that the program moves itself. @throws CmError EINVAL when they are not known yet */
  attributes(qpType: QpType, qpState: QpState): Partial<QpAttr> {
    const { REQ_SENT, MRA_REQ_RCVD } = ConnectionState;
    if (qpState !== QpState.INIT && (this.state === REQ_SENT || this.state === MRA_REQ_RCVD))
      throw new CmError('EINVAL', 'the peer has not answered yet');
    const attributes = connectedAttributes(qpType, qpState, this.#agreement);
    if (attributes === undefined) throw new CmError('EINVAL', 'a connection has attributes for INIT, RTR and RTS');
    return attributes;
  }

  abandon(): void {
    this.#id = undefined;
    onAbandon(this);
  }

  // What messages do.

  takeReply(rep: CmRep): void {
    const { directory } = this.#core;
    const qp = this.#qp;
    if (qp === undefined) return;
    const stale = directory.findRemoteQp(rep.localQpn, rep.localCaGuid, this.#peer);
    if (stale !== undefined && stale !== this) {
      const about = { messageRejected: About.REP, reason: RejectReason.STALE_CONN, privateData: NOTHING };
      this.#send({ ...this.#names(), remoteCommId: rep.localCommId, attribute: CmAttribute.REJ, ...NO_INFO, ...about });
      return;
    }
    this.#retransmission.stop();
    this.#meet(rep.localCommId, rep.localQpn, rep.localCaGuid);
    const own = this.#agreement;
    this.#agreement = {
      ...own,
      remoteQpn: rep.localQpn,
      remotePsn: rep.startingPsn,
      responderResources: Math.min(own.responderResources, rep.initiatorDepth),
      initiatorDepth: Math.min(own.initiatorDepth, rep.responderResources),
      ackTimeout: ackTimeout(rep.targetAckDelay, this.#packetLifetime),
      rnrRetryCount: rep.rnrRetryCount,
    };
    this.state = ConnectionState.REP_RCVD;
    const conn: CmConnParam = {
      responderResources: rep.initiatorDepth,
      initiatorDepth: rep.responderResources,
      flowControl: rep.endToEndFlowControl,
      retryCount: own.retryCount,
      rnrRetryCount: rep.rnrRetryCount,
      srq: rep.srq,
      qpNum: rep.localQpn,
    };
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
      this.#fail();
      this.#enterTimewait();
      this.#raise({ type: CmEventType.REJECTED, status: reason, privateData });
    } else this.#finish({ type: CmEventType.REJECTED, status: reason, privateData });
  }

  bePatient({ messageMraed, serviceTimeout }: CmMra): void {
    const { REQ_SENT, MRA_REQ_RCVD, REP_SENT, MRA_REP_RCVD } = ConnectionState;
    const requested = this.state === REQ_SENT || this.state === MRA_REQ_RCVD;
    if (messageMraed !== (requested ? About.REQ : About.REP)) return;
    if (this.state === REQ_SENT) this.state = MRA_REQ_RCVD;
    if (this.state === REP_SENT) this.state = MRA_REP_RCVD;
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

  takeReady(privateData: Uint8Array): void {
    this.#retransmission.stop();
    this.state = ConnectionState.ESTABLISHED;
    this.#raise({ type: CmEventType.ESTABLISHED, privateData });
  }

  repeatReady(): void {
    this.noteDuplicate(CmAttribute.REP);
    this.#sendReady();
  }

  takeDisconnect(dreq: CmDreq): void {
    if (dreq.remoteQpn !== this.#qp?.qpNum) {
      this.#core.counters.rxDropped += 1;
      return;
    }
    this.#retransmission.stop();
    this.#transactionId = dreq.transactionId;
    this.state = ConnectionState.DREQ_RCVD;
    this.#raise({ type: CmEventType.DISCONNECTED });
  }

  /** Both part at the same time: neither waits for the other's answer. */
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

  refuseAsStale(req: CmReq): void {
    this.noteDuplicate(CmAttribute.REQ);
    this.#send({
      ...this.#names(),
      transactionId: req.transactionId,
      localCommId: 0,
      attribute: CmAttribute.REJ,
      messageRejected: About.REQ,
      reason: RejectReason.STALE_CONN,
      ...NO_INFO,
      privateData: NOTHING,
    });
  }

  /** The peer uses its queue pair for another connection: it has forgotten this one (PROTOCOL.md 4.4). */
  becomeStale(): void {
    if (this.state === ConnectionState.ESTABLISHED) this.part();
  }

  // What the tables say beside.

  /** Tells the peer to part, until it answers. */
  part(): void {
    this.state = ConnectionState.DREQ_SENT;
    const remoteQpn = this.#agreement.remoteQpn;
    const dreq: CmDreq = { ...this.#names(), attribute: CmAttribute.DREQ, remoteQpn, privateData: NOTHING };
    const intervalUs = requestIntervalUs(this.#packetLifetime, this.#responseTimeout);
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

  /** Takes the request back: the peer may know it, though we do not know what the peer calls it. */
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

  leaveTimewait(): void {
    this.#raise({ type: CmEventType.TIMEWAIT_EXIT });
    this.#end();
  }

  #becomeEstablished(): void {
    this.state = ConnectionState.ESTABLISHED;
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
    this.#send({ ...this.#names(), attribute: CmAttribute.REJ, messageRejected, reason, ...NO_INFO, privateData });
  }

  /** Says that we have waited long enough, and by our node GUID who we are: that may be all that the peer knows of us. */
  #sendTimeout(messageRejected: About): void {
    const additionalInfo = new Uint8Array(8);
    putU32(additionalInfo, 0, Number(this.#core.host.nodeGuid >> 32n));
    putU32(additionalInfo, 4, Number(this.#core.host.nodeGuid & 0xffffffffn));
    const rejectedInfoLength = additionalInfo.length;
    const reason = RejectReason.TIMEOUT;
    const what = { messageRejected, reason, rejectedInfoLength, additionalInfo, privateData: NOTHING };
    this.#send({ ...this.#names(), attribute: CmAttribute.REJ, ...what });
  }

  #names(): { transactionId: bigint; localCommId: number; remoteCommId: number } {
    return { transactionId: this.#transactionId, localCommId: this.commId, remoteCommId: this.#remoteCommId };
  }

  #send(message: CmMessage): void {
    this.#core.counters.add('tx_msgs', message.attribute);
    this.#core.host.send(this.#agreement.to, encodeCmMessage(message));
  }

  #raise(event: Omit<CmEvent, 'id' | 'status' | 'privateData'> & Partial<CmEvent>): void {
    if (this.#id !== undefined) this.#core.raise({ status: 0, privateData: NOTHING, ...event, id: this.#id });
  }

  /** Learns what the peer calls the connection. */
  #meet(remoteCommId: number, remoteQpn: number, remoteCaGuid: bigint): void {
    const { directory } = this.#core;
    this.#remoteCommId = remoteCommId;
    this.#remoteCaGuid = remoteCaGuid;
    this.#agreement = { ...this.#agreement, remoteQpn };
    directory.addRemote(this, remoteCommId, remoteCaGuid, this.#peer);
    directory.addRemoteQp(this, remoteQpn, remoteCaGuid, this.#peer);
  }

  /** Moves a queue pair to RTS. @returns why that cannot be */
  #connect(qp: CmQp, agreement: Agreement): Refusal | undefined {
    for (const state of [QpState.RTR, QpState.RTS]) {
      const attributes = connectedAttributes(qp.qpType, state, agreement);
      const problem = attributes && this.#core.host.modifyQp(qp.qpNum, attributes);
      if (problem !== undefined) return problem;
    }
    return undefined;
  }

  /** Ends what is under way on the queue pair; it may be gone already. */
  #fail(): void {
    if (this.#qp?.managed === true) this.#core.host.modifyQp(this.#qp.qpNum, { qpState: QpState.ERR });
  }

  /** It came to nothing. */
  #finish(event: Omit<CmEvent, 'id' | 'status' | 'privateData'> & Partial<CmEvent>): void {
    this.#fail();
    this.#raise(event);
    this.#end();
  }

  #enterTimewait(): void {
    this.state = ConnectionState.TIMEWAIT;
    this.#retransmission.wait(timeoutUs(this.#agreement.ackTimeout));
  }

  #leaveBacklog(): void {
    this.#backlog?.leave();
    this.#backlog = undefined;
  }

  #end(): void {
    const { directory } = this.#core;
    this.state = ConnectionState.CLOSED;
    this.#leaveBacklog();
    this.#retransmission.release();
    directory.forget(this.commId);
    directory.forgetRemote(this, this.#remoteCommId, this.#agreement.remoteQpn, this.#remoteCaGuid, this.#peer);
    if (this.#qp !== undefined) directory.forgetQp(this, this.#qp.qpNum);
  }

  /** @throws CmError EINVAL in another state */
  #require(what: string, ...states: readonly ConnectionState[]): void {
    if (!states.includes(this.state))
      throw new CmError('EINVAL', `a connection in ${this.state} cannot be ${what}, only in ${states.join(' or ')}`);
  }
}

function peerOf({ to }: Agreement): Gid {
  if (to.grh === undefined) throw new Error('a connection without an address');
  return to.grh.dgid;
}

/** The first PSN of a direction: 24 bits that nobody can guess. */
export function freshPsn(random: () => number): number {
  return random() & PSN_MASK;
}
