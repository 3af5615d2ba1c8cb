import {
  Errno,
  MwBindReason,
  nameOf,
  rnrTimerUs,
  Syndrome,
  WcOpcode,
  WrOpcode,
  XrcSrqReason,
} from '../../../device/ibta/index.js';
import { formatMicroseconds, joinWords, qpStateStr, wcOpcodeStr, wrOpcodeStr } from '../../../api/verbs/index.js';

export interface Evidence {
  readonly opcode: WcOpcode;
  /** The numbers of the syndrome, unsigned; those that are absent are 0. */
  readonly detail: readonly [number, number, number, number, number, number];
  /** The peer's address, or nothing. */
  readonly peer: string | undefined;
}

/** An explanation: what happened, and what to look at. */
export type Template = (evidence: Evidence) => string;

const hex = (word: number): string => `0x${word.toString(16)}`;
const address = (high: number, low: number): string => `0x${joinWords(high, low).toString(16)}`;
const count = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : 's'}`;

function peerQp({ peer }: Evidence, qpn: number): string {
  return peer === undefined ? `the peer's QP ${hex(qpn)}` : `${peer} QP ${hex(qpn)}`;
}

/** The access flag that the peer's region must have for this operation. */
function rightFor(opcode: WcOpcode): string {
  switch (opcode) {
    case WcOpcode.RDMA_READ:
      return 'REMOTE_READ';
    case WcOpcode.COMP_SWAP:
    case WcOpcode.FETCH_ADD:
      return 'REMOTE_ATOMIC';
    case WcOpcode.FLUSH:
      return 'FLUSH_GLOBAL or FLUSH_PERSISTENT as the request asks for';
    default:
      return 'REMOTE_WRITE';
  }
}

/** What a peer may hold against a request that it finds invalid (protocol/reliable.md 2.3, checks 2 to 5). */
function invalidRequestQuestion(opcode: number): string {
  switch (opcode) {
    case WrOpcode.SEND:
    case WrOpcode.SEND_WITH_IMM:
    case WrOpcode.SEND_WITH_INV:
      return 'is the receive request that the peer posted long enough, its pathMtu ours, and in XRC, is xrc.remoteSrqn what its srq.srqNum shows?';
    case WrOpcode.RDMA_READ:
      return "do the peer's qpAccessFlags have REMOTE_READ, and is its maxDestRdAtomic at least our maxRdAtomic?";
    case WrOpcode.ATOMIC_CMP_AND_SWP:
    case WrOpcode.ATOMIC_FETCH_AND_ADD:
      return (
        "do the peer's qpAccessFlags have REMOTE_ATOMIC, is its maxDestRdAtomic at least our maxRdAtomic, " +
        'and is its address a multiple of 8?'
      );
    case WrOpcode.FLUSH:
      return "do the peer's qpAccessFlags have FLUSH_GLOBAL or FLUSH_PERSISTENT, and is its maxDestRdAtomic above 0?";
    case WrOpcode.ATOMIC_WRITE:
      return "do the peer's qpAccessFlags have REMOTE_WRITE, and is its maxDestRdAtomic above 0?";
    default:
      return "do the peer's qpAccessFlags have REMOTE_WRITE, and is its pathMtu ours?";
  }
}

/** A piece of local memory, from the details that all LOCAL_KEY syndromes share. */
function piece({ detail: [lkey, index, high, low, length] }: Evidence): string {
  return `sgList[${index}] (${count(length, 'byte')} at ${address(high, low)}, lkey ${hex(lkey)})`;
}

/** What is wrong with a bind (protocol/services.md 3.7). */
const bindReasons: Readonly<Record<MwBindReason, string>> = {
  [MwBindReason.WINDOW_UNKNOWN]: 'no window has that key; was it deallocated?',
  [MwBindReason.WINDOW_PD]: 'the window is of another protection domain than the QP',
  [MwBindReason.WINDOW_BOUND]: 'the window is bound already; a type 2 window has to be invalidated first',
  [MwBindReason.WINDOW_KEY]: 'the new key may differ from the old one in its low byte alone; incRkey makes one',
  [MwBindReason.NOTHING_TO_BIND]: 'a type 2 window needs a region and at least one byte; LOCAL_INV closes it',
  [MwBindReason.REGION_UNKNOWN]: 'no region has that key; was it deregistered?',
  [MwBindReason.REGION_PD]: 'the region is of another protection domain than the QP',
  [MwBindReason.REGION_NOT_BINDABLE]: 'the region was registered without MW_BIND',
  [MwBindReason.REGION_ZERO_BASED]: 'the region is zero-based, and windows cannot lie in such',
  [MwBindReason.REGION_NOT_WRITABLE]: 'peers may write to the window, for which its region needs LOCAL_WRITE',
  [MwBindReason.RANGE]: 'the bytes are not all inside the region',
  [MwBindReason.WINDOW_ACCESS]: 'a window of its type cannot have these access flags',
};

function bindReason(reason: number): string {
  return (
    Object.entries(bindReasons).find(([key]) => Number(key) === reason)?.[1] ?? 'window and region do not allow it'
  );
}

function xrcSrqReason(reason: number): string {
  switch (reason) {
    case XrcSrqReason.UNKNOWN:
      return 'does not exist';
    case XrcSrqReason.TYPE:
      return 'is not of type XRC';
    default:
      return 'belongs to another XRC domain than this QP';
  }
}

const transmissions = (e: Evidence): string => {
  const [psn, times, , qpn] = e.detail;
  return `retry count exceeded: ${count(times, 'transmission')} of PSN ${hex(psn)} to ${peerQp(e, qpn)}`;
};

/** The peer asked for a packet, and it did not come. */
function notThrough(e: Evidence): string {
  const [, , elapsedUs, , naks] = e.detail;
  return (
    `${transmissions(e)} in ${formatMicroseconds(elapsedUs)}, which it asked for ${count(naks, 'time')} (NAK PSN sequence error); ` +
    "this packet does not get through, though others do: does something on the path drop or damage it, and is the peer's rqPsn our sqPsn?"
  );
}

/** Requests that max_rd_atomic counts. */
const ANSWERED: ReadonlySet<number> = new Set([
  WrOpcode.RDMA_READ,
  WrOpcode.ATOMIC_CMP_AND_SWP,
  WrOpcode.ATOMIC_FETCH_AND_ADD,
  WrOpcode.FLUSH,
  WrOpcode.ATOMIC_WRITE,
]);

/** Templates by `Syndrome`; which number means what stands beside each value there. */
export const explanations: Readonly<Record<Exclude<Syndrome, typeof Syndrome.NONE>, Template>> = {
  [Syndrome.RETRY_TIMEOUT]: (e) => {
    const [, , elapsedUs, , naks] = e.detail;
    if (naks > 0) return notThrough(e);
    return (
      `${transmissions(e)}, no answer in ${formatMicroseconds(elapsedUs)}; is the peer alive, its QP in RTR or RTS, ` +
      'do destQpNum, PSNs and P_Keys of both fit each other, and do packets get through both ways?'
    );
  },
  [Syndrome.PEER_GONE]: (e) => {
    const [psn, , , qpn] = e.detail;
    return (
      `no answer to PSN ${hex(psn)} will come from ${peerQp(e, qpn)}: its NIC, which was on this machine, is gone; ` +
      'its program has ended or was killed, or has closed the device'
    );
  },
  [Syndrome.RETRY_SEQUENCE]: (e) => {
    const [, , elapsedUs, , naks] = e.detail;
    if (naks > 0) return notThrough(e);
    return (
      `${transmissions(e)} in ${formatMicroseconds(elapsedUs)}; its answer was missing each time, though later ones came: ` +
      'does something on the way back drop or damage it?'
    );
  },
  [Syndrome.RNR_EXCEEDED]: (e) => {
    const [psn, attempts, elapsedUs, qpn, timerCode] = e.detail;
    return (
      `receiver not ready: ${count(attempts, 'transmission')} of PSN ${hex(psn)} to ${peerQp(e, qpn)} ` +
      `in ${formatMicroseconds(elapsedUs)}, ${formatMicroseconds(rnrTimerUs(timerCode))} apart as it asked, ` +
      'and it had no receive request posted; does it post enough of them in time? (rnrRetry 7 waits for ever)'
    );
  },
  [Syndrome.REMOTE_ACCESS]: (e) => {
    const [psn, rkey, high, low, length, qpn] = e.detail;
    if (e.opcode === WcOpcode.SEND) {
      return (
        `remote access error: ${peerQp(e, qpn)} refused SEND of ${count(length, 'byte')} (PSN ${hex(psn)}); ` +
        'if it was to invalidate a key, is that a type 2 window which the peer has bound on that QP?'
      );
    }
    return (
      `remote access error: ${peerQp(e, qpn)} refused ${wcOpcodeStr(e.opcode)} of ${count(length, 'byte')} ` +
      `at ${address(high, low)} with rkey ${hex(rkey)} (PSN ${hex(psn)}); is that key still registered there, ` +
      `in the domain of that QP, with ${rightFor(e.opcode)}, and are all the bytes inside its region?`
    );
  },
  [Syndrome.REMOTE_INVALID_REQUEST]: (e) => {
    const [psn, opcode, length, qpn] = e.detail;
    return (
      `remote invalid request: ${peerQp(e, qpn)} refused ${wrOpcodeStr(opcode)} of ${count(length, 'byte')} ` +
      `(PSN ${hex(psn)}); ${invalidRequestQuestion(opcode)}`
    );
  },
  [Syndrome.REMOTE_OPERATIONAL]: (e) => {
    const [psn, qpn] = e.detail;
    return (
      `remote operation error: ${peerQp(e, qpn)} could not carry out the request (PSN ${hex(psn)}) ` +
      "for a reason of its own; the peer's completions say which"
    );
  },
  [Syndrome.REFUSED_BEFORE]: (e) => {
    const [, , elapsedUs, , refusedPsn, nakCode] = e.detail;
    return (
      `${transmissions(e)}, no answer in ${formatMicroseconds(elapsedUs)}. The peer's last packet refused an earlier request ` +
      `(PSN ${hex(refusedPsn)}, NAK code ${nakCode}), which was complete here: its QP is probably in ERR; ` +
      'was its memory deregistered while a READ was repeated?'
    );
  },
  [Syndrome.LOCAL_KEY_UNKNOWN]: (e) =>
    `local protection error: ${piece(e)} has a key that no memory region has; ` +
    'was it deregistered too early, or is it an rkey?',
  [Syndrome.LOCAL_KEY_PD]: (e) =>
    `local protection error: ${piece(e)} is in a region of another protection domain; ` +
    'register the memory in the domain of this QP',
  [Syndrome.LOCAL_KEY_ACCESS]: (e) =>
    `local protection error: ${piece(e)} is in a region that does not allow this; ` +
    'receives, READs and atomics write there, which needs LOCAL_WRITE',
  [Syndrome.LOCAL_KEY_RANGE]: (e) =>
    `local protection error: ${piece(e)} is not all inside its region; do address and length fit it?`,
  [Syndrome.LOCAL_MEMORY_GONE]: (e) =>
    `local protection error: the memory under ${piece(e)} is gone; its buffer was transferred or shrunk ` +
    'while it was registered (alloc() gives memory to which that cannot happen)',
  [Syndrome.LOCAL_LENGTH]: ({ detail: [needed, available] }) =>
    `local length error: a message of at least ${count(needed, 'byte')} came for ` +
    `a receive request of ${count(available, 'byte')}; post longer ones, or send shorter messages`,
  [Syndrome.LOCAL_MESSAGE_TOO_LONG]: ({ detail: [length, max] }) =>
    `local length error: the message has ${count(length, 'byte')}, and may have ${max}; send it in pieces`,
  [Syndrome.LOCAL_BAD_WQE]: ({ detail: [opcode, numSge] }) =>
    `local QP operation error: the NIC cannot carry out ${wrOpcodeStr(opcode)} with ${count(numSge, 'piece')}; ` +
    (ANSWERED.has(opcode)
      ? 'is maxRdAtomic of the QP 0?'
      : 'is it a frame shorter than the 14 bytes of its Ethernet header, or of more pieces than cap.maxSendSge?'),
  [Syndrome.FLUSHED]: ({ detail: [state, cause] }) =>
    cause === Syndrome.DEVICE_FATAL
      ? 'fatal error: the device failed before the request was carried out; close the context, and open the device again'
      : `flushed: the QP was in ${qpStateStr(state)} before the request was carried out, ${flushCause(cause)}`,
  [Syndrome.BAD_RESPONSE]: ({ detail: [psn, opcode, expected] }) =>
    `bad response: the peer answered ${wrOpcodeStr(expected)} (PSN ${hex(psn)}) with a packet of opcode ` +
    `${hex(opcode)}, which is no answer to it; do both sides agree on the PSNs, and is the peer sound?`,
  [Syndrome.RESPONDER_ACCESS]: ({ detail: [psn, rkey, high, low, length] }) =>
    `local access error: the peer named ${count(length, 'byte')} at ${address(high, low)} with rkey ${hex(rkey)} ` +
    `(PSN ${hex(psn)}), which it may not use; does it have the current key, and a range inside the region?`,
  [Syndrome.RESPONDER_INVALID_REQUEST]: ({ detail: [psn, opcode, length, open] }) =>
    `invalid request from the peer: a packet of opcode ${hex(opcode)} with ${count(length, 'byte')} ` +
    `(PSN ${hex(psn)}) is not allowed ${open === 0 ? 'here' : 'in the middle of a message'}; ` +
    'do both sides have the same pathMtu, and do our qpAccessFlags and maxDestRdAtomic allow the request?',
  [Syndrome.CQ_OVERRUN]: ({ detail: [cqn] }) =>
    `completion queue overrun: CQ ${cqn} was full; give it as many entries as requests can be outstanding`,
  [Syndrome.INVALIDATE_FAILED]: ({ detail: [rkey, psn] }) =>
    `invalid request from the peer: it asked to invalidate rkey ${hex(rkey)} (PSN ${hex(psn)}), ` +
    'which is no type 2 window that this QP has bound; it ends when the program deregisters it',
  [Syndrome.MW_BIND]: ({ detail: [rkey, lkey, high, low, length, reason] }) =>
    `memory window bind error: the window of rkey ${hex(rkey)} cannot open ${count(length, 'byte')} ` +
    `at ${address(high, low)} of the region of lkey ${hex(lkey)}: ${bindReason(reason)}`,
  [Syndrome.LOCAL_INVALIDATE]: ({ detail: [rkey] }) =>
    `memory management operation error: rkey ${hex(rkey)} cannot be invalidated; it is no type 2 window that is bound on this QP ` +
    '(deregister a region; unbind a window of type 1 by bindMw with length 0)',
  [Syndrome.LOCAL_AH_UNKNOWN]: ({ detail: [handle] }) =>
    `local QP operation error: address handle ${handle} is gone; destroy a handle only after the datagrams ` +
    'that were posted with it have completed',
  [Syndrome.LINK_REFUSED]: ({ detail: [length, errno] }) =>
    `not sent: the link refused a packet of ${count(length, 'byte')} (${nameOf(Errno, errno)}); ` +
    'is the link up, and does the packet fit its MTU?',
  [Syndrome.DEVICE_FATAL]: () => 'fatal error: the device failed; close the context, and open the device again',
  [Syndrome.XRC_SRQ]: ({ detail: [srqn, reason] }) =>
    `invalid request from the peer: it is for the shared receive queue ${hex(srqn)}, which ${xrcSrqReason(reason)}; ` +
    'does the peer have the number that srq.srqNum shows?',
  [Syndrome.SRQ_UNUSABLE]: () =>
    'local QP operation error: the shared receive queue failed, and the QP can receive nothing more from it',
  [Syndrome.DISCONNECTED]: () => 'flushed: the program ended the connection before the request was carried out',
  [Syndrome.PEER_DISCONNECTED]: () => 'flushed: the peer ended the connection before the request was carried out',
  [Syndrome.NOT_CONNECTED]: () => 'flushed: the connection of the request did not come to be',
  [Syndrome.LOCAL_MEMORY_FAULT]: ({ detail: [lkey, high, low] }) =>
    `local protection error: the byte at ${address(high, low)}, in the region of lkey ${hex(lkey)}, is not there; ` +
    'the key is good, but the program that registered the memory has unmapped or protected it since, or has ended',
  [Syndrome.RESPONDER_MEMORY_FAULT]: ({ detail: [psn, rkey, high, low] }) =>
    `local access error: the peer named memory by rkey ${hex(rkey)} (PSN ${hex(psn)}), of which the byte at ` +
    `${address(high, low)} is not there; the key is good, but the program that registered the memory has unmapped or ` +
    'protected it since, or has ended',
  [Syndrome.LOCAL_MEMORY_DEVICE]: ({ detail: [lkey, high, low, failure] }) =>
    `local protection error: the device that has the memory of lkey ${hex(lkey)} did not copy what is at ${address(high, low)}: ` +
    `its driver gave error ${failure | 0}. The key is good; whatever else is asked of that device may fail as well`,
  [Syndrome.RESPONDER_MEMORY_DEVICE]: ({ detail: [psn, rkey, high, low, failure] }) =>
    `local operation error: the peer named memory by rkey ${hex(rkey)} (PSN ${hex(psn)}), and the device that has it did not copy ` +
    `what is at ${address(high, low)}: its driver gave error ${failure | 0}. The key is good; whatever else is asked of that device ` +
    'may fail as well',
};

/** What led to a flush, for people: the failures that a QP can die of. */
const deaths: Readonly<Record<Syndrome, string>> = {
  [Syndrome.NONE]: 'where the program had moved it (modify)',
  [Syndrome.RETRY_TIMEOUT]: 'after the peer stopped answering',
  [Syndrome.PEER_GONE]: 'after the NIC of its peer was gone',
  [Syndrome.RETRY_SEQUENCE]: 'after the same packet, or its answer, was lost too often',
  [Syndrome.RNR_EXCEEDED]: 'after the peer was not ready to receive too often',
  [Syndrome.REMOTE_ACCESS]: 'after the peer refused access to its memory',
  [Syndrome.REMOTE_INVALID_REQUEST]: 'after the peer refused a request as invalid',
  [Syndrome.REMOTE_OPERATIONAL]: 'after an operation error at the peer',
  [Syndrome.REFUSED_BEFORE]: 'after the peer refused an earlier request and was silent',
  [Syndrome.LOCAL_KEY_UNKNOWN]: 'after a request with an unknown lkey',
  [Syndrome.LOCAL_KEY_PD]: 'after a request with an lkey of another domain',
  [Syndrome.LOCAL_KEY_ACCESS]: 'after a request whose memory region does not allow it',
  [Syndrome.LOCAL_KEY_RANGE]: 'after a request outside its memory region',
  [Syndrome.LOCAL_MEMORY_GONE]: 'after registered memory had gone',
  [Syndrome.LOCAL_LENGTH]: 'after a message that was too long for its receive request',
  [Syndrome.LOCAL_MESSAGE_TOO_LONG]: 'after a message that was too long',
  [Syndrome.LOCAL_BAD_WQE]: 'after a request that the NIC cannot carry out',
  [Syndrome.FLUSHED]: 'after another failure',
  [Syndrome.BAD_RESPONSE]: 'after a response that answers nothing',
  [Syndrome.RESPONDER_ACCESS]: 'after the peer named memory that it may not use',
  [Syndrome.RESPONDER_INVALID_REQUEST]: 'after the peer sent an invalid request',
  [Syndrome.CQ_OVERRUN]: 'after a completion queue overran',
  [Syndrome.INVALIDATE_FAILED]: 'after the peer asked to invalidate a key that it may not',
  [Syndrome.MW_BIND]: 'after a memory window could not be bound',
  [Syndrome.LOCAL_INVALIDATE]: 'after a key that cannot be invalidated',
  [Syndrome.LOCAL_AH_UNKNOWN]: 'after a datagram whose address handle was gone',
  [Syndrome.LINK_REFUSED]: 'after the link refused a packet',
  [Syndrome.DEVICE_FATAL]: 'after the device failed',
  [Syndrome.XRC_SRQ]: 'after the peer named a shared receive queue that it may not',
  [Syndrome.SRQ_UNUSABLE]: 'after its shared receive queue failed',
  [Syndrome.DISCONNECTED]: 'after the connection was ended here (disconnect)',
  [Syndrome.PEER_DISCONNECTED]: 'after the peer ended the connection (DREQ)',
  [Syndrome.NOT_CONNECTED]: 'after the connection did not come to be',
  [Syndrome.LOCAL_MEMORY_FAULT]: 'after memory of a request turned out to be unmapped',
  [Syndrome.RESPONDER_MEMORY_FAULT]: 'after memory that the peer named turned out to be unmapped',
  [Syndrome.LOCAL_MEMORY_DEVICE]: 'after the device that has memory of a request failed to copy it',
  [Syndrome.RESPONDER_MEMORY_DEVICE]: 'after the device that has memory that the peer named failed to copy it',
};

/** Causes that are no failure of a request, so that no completion says more of them. */
const ORDERLY: ReadonlySet<number> = new Set([
  Syndrome.NONE,
  Syndrome.DISCONNECTED,
  Syndrome.PEER_DISCONNECTED,
  Syndrome.NOT_CONNECTED,
]);

function isSyndrome(value: number): value is Syndrome {
  return Object.hasOwn(deaths, value);
}

/** What a QP has died of, for people, from a `vendorErr`; undefined for one that is not ours. */
export function causeOf(vendorErr: number): string | undefined {
  return isSyndrome(vendorErr) ? deaths[vendorErr] : undefined;
}

function flushCause(cause: number): string {
  const why = causeOf(cause) ?? 'after another failure';
  if (ORDERLY.has(cause)) return why;
  return `${why}; the first completion in error of this QP, or its asynchronous event, says more`;
}

/** The template of a `vendorErr`, or undefined for one that is not ours. */
export function templateOf(vendorErr: number): Template | undefined {
  return isSyndrome(vendorErr) && vendorErr !== Syndrome.NONE ? explanations[vendorErr] : undefined;
}
