import {
  CmAttribute,
  type CmDreq,
  type CmMessage,
  type CmMra,
  type CmRej,
  type CmRep,
  type CmReq,
} from '../../wire/index.js';
import type { Gid } from '../../ibta/index.js';

/** The states of a connection (IBTA 12.9.5 to 12.9.8; protocol/connections.md 4.4). */
export const ConnectionState = {
  REQ_SENT: 'REQ_SENT',
  /** We sent a REQ, and the peer asks for more time. */
  MRA_REQ_RCVD: 'MRA_REQ_RCVD',
  /** A REQ came; the program has not answered. */
  REQ_RCVD: 'REQ_RCVD',
  /** We sent a REP. */
  REP_SENT: 'REP_SENT',
  MRA_REP_RCVD: 'MRA_REP_RCVD',
  /** The peer's REP came; the program, which has the queue pair, must say that it is ready. */
  REP_RCVD: 'REP_RCVD',
  ESTABLISHED: 'ESTABLISHED',
  DREQ_SENT: 'DREQ_SENT',
  /** A DREQ came; the program has not answered. */
  DREQ_RCVD: 'DREQ_RCVD',
  /** Packets still under way are given time to expire. */
  TIMEWAIT: 'TIMEWAIT',
  CLOSED: 'CLOSED',
} as const;
export type ConnectionState = (typeof ConnectionState)[keyof typeof ConnectionState];

/** In which states there is somebody to talk to, or will be once the program has agreed. */
export const WITH_PEER = [
  ConnectionState.REQ_RCVD,
  ConnectionState.REP_SENT,
  ConnectionState.MRA_REP_RCVD,
  ConnectionState.REP_RCVD,
  ConnectionState.ESTABLISHED,
] as const;

export interface ConnectionActions {
  readonly state: ConnectionState;
  takeReply(rep: CmRep): void;
  takeRejection(rej: CmRej): void;
  /** The peer asks for more time (MRA). */
  bePatient(mra: CmMra): void;
  /** Answers a repeat with an MRA: the program has not answered. */
  askForPatience(attribute: typeof CmAttribute.REQ | typeof CmAttribute.REP): void;
  /** Counts a repeat that needs no answer. */
  noteDuplicate(attribute: CmAttribute): void;
  takeReady(): void;
  repeatReady(): void;
  takeDisconnect(dreq: CmDreq): void;
  /** The peer's NIC is gone: its DREQ will never come. */
  missPeer(): void;
  /** Both sides disconnect at the same time: neither waits for the other's answer. */
  crossDisconnect(dreq: CmDreq): void;
  takeDisconnected(): void;
  repeatDisconnected(dreq: CmDreq): void;
  refuseAsStale(req: CmReq): void;
  /** Sends a DREQ until the peer answers. */
  part(): void;
  answerDisconnect(): void;
  refuse(): void;
  /** Disconnects before the connection is established. The program gets its DISCONNECTED in every state. */
  retract(): void;
  /** Takes the request back: the peer may know it, though we do not know the peer's ID. */
  withdraw(): void;
  giveUpConnecting(): void;
  giveUpDisconnecting(): void;
  leaveTimewait(): void;
}

type MessageOf<A extends CmAttribute> = Extract<CmMessage, { readonly attribute: A }>;
type MessageRules = { readonly [A in CmAttribute]?: (connection: ConnectionActions, message: MessageOf<A>) => void };
type Rule = (connection: ConnectionActions) => void;

const { REQ, MRA, REJ, REP, RTU, DREQ, DREP } = CmAttribute;

/** While we wait for an answer to our request. */
const asking: MessageRules = {
  [REP]: (connection, rep) => connection.takeReply(rep),
  [REJ]: (connection, rej) => connection.takeRejection(rej),
  [MRA]: (connection, mra) => connection.bePatient(mra),
};

/** While we wait to hear that the peer is ready. */
const agreed: MessageRules = {
  // Its private data is not for programs: rdma_cm has no place for it.
  [RTU]: (connection) => connection.takeReady(),
  [REJ]: (connection, rej) => connection.takeRejection(rej),
  [MRA]: (connection, mra) => connection.bePatient(mra),
  [DREQ]: (connection, dreq) => connection.takeDisconnect(dreq),
  // Our reply has a timer of its own.
  [REQ]: (connection) => connection.noteDuplicate(REQ),
};

/** What a message does in each state. One that is not in its row is dropped. */
const messageRules: Readonly<Record<ConnectionState, MessageRules>> = {
  REQ_SENT: asking,
  MRA_REQ_RCVD: asking,
  REQ_RCVD: {
    [REQ]: (connection) => connection.askForPatience(REQ),
    [REJ]: (connection, rej) => connection.takeRejection(rej),
  },
  REP_SENT: agreed,
  MRA_REP_RCVD: agreed,
  REP_RCVD: {
    [REP]: (connection) => connection.askForPatience(REP),
    [REJ]: (connection, rej) => connection.takeRejection(rej),
  },
  ESTABLISHED: {
    [REQ]: (connection) => connection.noteDuplicate(REQ),
    // Our RTU was lost.
    [REP]: (connection) => connection.repeatReady(),
    [RTU]: (connection) => connection.noteDuplicate(RTU),
    [REJ]: (connection, rej) => connection.takeRejection(rej),
    [DREQ]: (connection, dreq) => connection.takeDisconnect(dreq),
  },
  DREQ_SENT: {
    [REQ]: (connection) => connection.noteDuplicate(REQ),
    [DREQ]: (connection, dreq) => connection.crossDisconnect(dreq),
    [DREP]: (connection) => connection.takeDisconnected(),
  },
  DREQ_RCVD: {
    [REQ]: (connection) => connection.noteDuplicate(REQ),
    [DREQ]: (connection) => connection.noteDuplicate(DREQ),
  },
  TIMEWAIT: {
    [REQ]: (connection, req) => connection.refuseAsStale(req),
    // Our DREP was lost.
    [DREQ]: (connection, dreq) => connection.repeatDisconnected(dreq),
  },
  CLOSED: {},
};

/** Nobody has answered, as often as it was asked; of TIMEWAIT: it is over. */
const timeoutRules: Readonly<Partial<Record<ConnectionState, Rule>>> = {
  REQ_SENT: (connection) => connection.giveUpConnecting(),
  MRA_REQ_RCVD: (connection) => connection.giveUpConnecting(),
  REP_SENT: (connection) => connection.giveUpConnecting(),
  MRA_REP_RCVD: (connection) => connection.giveUpConnecting(),
  ESTABLISHED: (connection) => connection.missPeer(),
  DREQ_SENT: (connection) => connection.giveUpDisconnecting(),
  TIMEWAIT: (connection) => connection.leaveTimewait(),
};

/** The program says that it parts. In other states there is nothing left to part from. */
const disconnectRules: Readonly<Partial<Record<ConnectionState, Rule>>> = {
  REP_SENT: (connection) => connection.retract(),
  MRA_REP_RCVD: (connection) => connection.retract(),
  REP_RCVD: (connection) => connection.retract(),
  ESTABLISHED: (connection) => connection.part(),
  DREQ_RCVD: (connection) => connection.answerDisconnect(),
};

/** The program drops its identifier: what the peer is owed (protocol/connections.md 4.4). */
const abandonRules: Readonly<Partial<Record<ConnectionState, Rule>>> = {
  ...disconnectRules,
  REQ_SENT: (connection) => connection.withdraw(),
  MRA_REQ_RCVD: (connection) => connection.withdraw(),
  REQ_RCVD: (connection) => connection.refuse(),
  REP_SENT: (connection) => connection.refuse(),
  MRA_REP_RCVD: (connection) => connection.refuse(),
  REP_RCVD: (connection) => connection.refuse(),
};

/** The states that follow on each. What the tables lead to is in here; what is not would be a mistake of ours. */
const successors: Readonly<Record<ConnectionState, readonly ConnectionState[]>> = {
  REQ_SENT: ['MRA_REQ_RCVD', 'REP_RCVD', 'TIMEWAIT', 'CLOSED'],
  MRA_REQ_RCVD: ['REP_RCVD', 'TIMEWAIT', 'CLOSED'],
  REQ_RCVD: ['REP_SENT', 'TIMEWAIT', 'CLOSED'],
  REP_SENT: ['MRA_REP_RCVD', 'ESTABLISHED', 'DREQ_RCVD', 'TIMEWAIT', 'CLOSED'],
  MRA_REP_RCVD: ['ESTABLISHED', 'DREQ_RCVD', 'TIMEWAIT', 'CLOSED'],
  REP_RCVD: ['ESTABLISHED', 'TIMEWAIT', 'CLOSED'],
  ESTABLISHED: ['DREQ_SENT', 'DREQ_RCVD', 'TIMEWAIT'],
  DREQ_SENT: ['TIMEWAIT', 'CLOSED'],
  DREQ_RCVD: ['TIMEWAIT'],
  TIMEWAIT: ['CLOSED'],
  CLOSED: [],
};

/** Whether a connection in one state may come into, or stay in, another. */
export function mayFollow(from: ConnectionState, to: ConnectionState): boolean {
  return from === to || successors[from].includes(to);
}

/** Whether a connection is only there for its peer to learn that it has ended. */
export function isFarewell(state: ConnectionState): boolean {
  return state === ConnectionState.DREQ_SENT || state === ConnectionState.TIMEWAIT;
}

/** Has a message do what it does in the connection's state. @returns false when that is nothing */
export function onMessage(connection: ConnectionActions, message: CmMessage): boolean {
  const rules = messageRules[connection.state];
  // A rule stands in the column of its message's attribute, which the compiler does not follow through a union.
  const rule = rules[message.attribute] as ((connection: ConnectionActions, message: CmMessage) => void) | undefined;
  rule?.(connection, message);
  return rule !== undefined;
}

export function onTimeout(connection: ConnectionActions): void {
  timeoutRules[connection.state]?.(connection);
}

export function onDisconnect(connection: ConnectionActions): void {
  disconnectRules[connection.state]?.(connection);
}

export function onAbandon(connection: ConnectionActions): void {
  abandonRules[connection.state]?.(connection);
}

/** What a program's identifier stands for once it is in use: a connection, or a service that is resolved. */
export interface Conversation {
  /** Ends it for the program, with what the protocol owes the peer. It may live on without the program. */
  abandon(): void;
  /** The NIC is gone by whose memory the packets of a way came. */
  onGone?(way: number): void;
}

/** A connection as it is found by its ID: what its finder may ask and do. */
export interface KnownConnection extends Conversation, ConnectionActions {
  /** Whether we have agreed, and have not heard that the peer is ready. */
  readonly isAgreed: boolean;
  /** Whether a message of that sender is the peer's, and names the connection as the peer does. */
  isFrom(sender: Gid, commId: number): boolean;
  /** Notes by which way a message of its peer came. */
  cameBy(way: number): void;
  /**
   * The peer's first message has come: it has our reply.
   *
   * @throws CmError EISCONN when that is known, EINVAL before the request was accepted
   */
  notify(): void;
  /** The peer uses its queue pair for another connection: it has forgotten this one (protocol/connections.md 4.4). */
  becomeStale(): void;
  /** Others need the place of one that its program has left: what is owed to the peer was said once at least. */
  giveUpFarewell(): void;
}
