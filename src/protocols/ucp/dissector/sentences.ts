import { amount, hex, type CaptureWay } from '../../core/index.js';
import {
  AmId,
  type AmIdName,
  AtomicOp,
  type Format,
  type MessageName,
  Messages,
  UcxMessages,
  ucxQueuePairs,
  WireupType,
} from '../wire/index.js';
import { type LaneFollower, amText, statusText, tagText } from './lanes.js';
import type { RendezvousFollower } from './rendezvous.js';

// What each active message says, in a few words, by its name.

interface Seen {
  readonly way: CaptureWay;
  readonly lanes: LaneFollower;
  readonly rendezvous: RendezvousFollower;
}

/** Whose messages they are: the forms differ. */
export type Speaker = 'ours' | 'UCX';

/** @returns words, or what is wrong with the bytes */
type Sentence = (bytes: Uint8Array, seen: Seen) => { readonly words: string } | { readonly problem: string };

function says<M>(format: Pick<Format<M>, 'decode'>, words: (message: M, seen: Seen) => string): Sentence {
  return (bytes, seen) => {
    const message = format.decode(bytes);
    return typeof message === 'string' ? { problem: message } : { words: words(message, seen) };
  };
}

interface Tagged {
  readonly head: { readonly tag: bigint };
  readonly payload: Uint8Array;
}

interface Program {
  readonly head: { readonly amId: number };
  readonly payload: Uint8Array;
  readonly userHeader: Uint8Array;
}

const tagged =
  (kind: string) =>
  ({ head, payload }: Tagged): string =>
    `${kind} ${tagText(head.tag)}, ${amount(payload.length)}`;

const taggedFirst =
  (kind: string) =>
  ({ head, payload }: Tagged & { readonly head: { readonly total: number } }): string =>
    `${kind} ${tagText(head.tag)}, first ${amount(payload.length)} of ${amount(head.total)}`;

const middle = ({ head, payload }: { head: { readonly offset: number }; payload: Uint8Array }): string =>
  `eager, ${amount(payload.length)} at ${head.offset}`;

/** `AM 3, 8 B header + 100 B`. */
function program({ head, payload, userHeader }: Program): string {
  const header = userHeader.length === 0 ? '' : `${amount(userHeader.length)} header + `;
  return `AM ${head.amId}, ${header}${amount(payload.length)}`;
}

const programFirst = (message: Program & { readonly foot: { readonly total: number } }): string =>
  `${program(message)}, first of ${amount(message.foot.total)}`;

const programMiddle = ({ head, payload }: { head: { readonly offset: number }; payload: Uint8Array }): string =>
  `AM, ${amount(payload.length)} at ${head.offset}`;

interface Rts {
  readonly head: {
    readonly header: bigint;
    readonly requestId: number;
    readonly address: bigint;
    readonly size: number;
    readonly opcode: number;
  };
  readonly userHeader: Uint8Array;
}

function rts({ head, userHeader }: Rts, { way, rendezvous }: Seen): string {
  const what = head.opcode === 0 ? tagText(head.header) : amText(head.header);
  const words = rendezvous.announce(way, { ...head, what });
  return userHeader.length === 0 ? words : `${words}, ${amount(userHeader.length)} header`;
}

interface Rtr {
  readonly head: {
    readonly sendRequestId: number;
    readonly receiveRequestId: number;
    readonly address: bigint;
    readonly size: number;
  };
}

const rtr = ({ head }: Rtr, { way, rendezvous }: Seen): string => rendezvous.ask(way, head);

interface WireupMessage {
  readonly head: { readonly type: number; readonly sourceEpId: bigint; readonly destinationEpId: bigint };
  readonly payload: Uint8Array;
}

/** `WIREUP REQUEST, rc_verbs queue pair 0x1b6add, ud_verbs queue pair 0x9cf98c`. */
function wireup({ head, payload }: WireupMessage, { way, lanes }: Seen): string {
  const kind = `WIREUP ${nameIn(WireupType, head.type)}`;
  const queuePairs = ucxQueuePairs(payload);
  if (queuePairs === undefined) return `${kind}, address of ${amount(payload.length)}`;
  lanes.told(way, head, queuePairs);
  return [kind, ...queuePairs.map(({ transport, qpn }) => `${transport} queue pair ${hex(qpn)}`)].join(', ');
}

function nameIn(names: Readonly<Record<string, number>>, value: number): string {
  return Object.entries(names).find(([, number]) => number === value)?.[0] ?? String(value);
}

const OURS: Readonly<Record<MessageName, Sentence>> = {
  EAGER_ONLY: says(Messages.EAGER_ONLY, tagged('eager')),
  EAGER_FIRST: says(Messages.EAGER_FIRST, taggedFirst('eager')),
  EAGER_MIDDLE: says(Messages.EAGER_MIDDLE, middle),
  EAGER_SYNC_ONLY: says(Messages.EAGER_SYNC_ONLY, tagged('eager sync')),
  EAGER_SYNC_FIRST: says(Messages.EAGER_SYNC_FIRST, taggedFirst('eager sync')),
  EAGER_SYNC_ACK: says(Messages.EAGER_SYNC_ACK, ({ head }) => `sync ACK ${statusText(head.status)}`),
  RNDV_RTS: says(Messages.RNDV_RTS, rts),
  RNDV_ATS: says(Messages.RNDV_ATS, ({ head }, { way, rendezvous }) =>
    rendezvous.fetched(way, head.requestId, head.status),
  ),
  RNDV_RTR: says(Messages.RNDV_RTR, rtr),
  RNDV_DATA: says(Messages.RNDV_DATA, ({ head, payload }, { way, rendezvous }) =>
    rendezvous.data(way, head.requestId, head.offset, payload.length),
  ),
  RNDV_ATP: says(Messages.RNDV_ATP, ({ head }, { way, rendezvous }) =>
    rendezvous.put(way, head.requestId, head.status),
  ),
  STREAM_DATA: says(Messages.STREAM_DATA, ({ payload }) => `stream ${amount(payload.length)}`),
  PUT: says(Messages.PUT, ({ head, payload }) => `PUT ${amount(payload.length)} at ${hex(head.address)}`),
  CMPL: says(Messages.CMPL, () => 'CMPL'),
  GET_REQ: says(Messages.GET_REQ, ({ head }) => `GET ${amount(head.length)} at ${hex(head.address)}`),
  GET_REP: says(Messages.GET_REP, ({ payload }) => `GET answer ${amount(payload.length)}`),
  ATOMIC_REQ: says(
    Messages.ATOMIC_REQ,
    ({ head }) => `${nameIn(AtomicOp, head.opcode)} ${amount(head.length)} at ${hex(head.address)}`,
  ),
  ATOMIC_REP: says(Messages.ATOMIC_REP, ({ payload }) => `atomic answer ${amount(payload.length)}`),
  AM_SINGLE: says(Messages.AM_SINGLE, program),
  AM_FIRST: says(Messages.AM_FIRST, programFirst),
  AM_MIDDLE: says(Messages.AM_MIDDLE, programMiddle),
  AM_SINGLE_REPLY: says(Messages.AM_SINGLE_REPLY, (message) => `${program(message)}, may be answered`),
  RNDV_CANCEL: says(Messages.RNDV_CANCEL, ({ head }, { way, rendezvous }) => rendezvous.cancel(way, head.requestId)),
};

const { RNDV_CANCEL: _, ...COMMON } = OURS;

const SENTENCES: Readonly<Record<Speaker, Readonly<Partial<Record<AmIdName, Sentence>>>>> = {
  ours: OURS,
  UCX: {
    ...COMMON,
    WIREUP: says(UcxMessages.WIREUP, wireup),
    EAGER_FIRST: says(UcxMessages.EAGER_FIRST, taggedFirst('eager')),
    EAGER_MIDDLE: says(UcxMessages.EAGER_MIDDLE, middle),
    EAGER_SYNC_FIRST: says(UcxMessages.EAGER_SYNC_FIRST, taggedFirst('eager sync')),
    GET_REP: says(UcxMessages.GET_REP, ({ head, payload }) => `GET answer ${amount(payload.length)} at ${head.offset}`),
    RNDV_RTS: says(UcxMessages.RNDV_RTS, rts),
    RNDV_RTR: says(UcxMessages.RNDV_RTR, rtr),
    AM_FIRST: says(UcxMessages.AM_FIRST, programFirst),
    AM_MIDDLE: says(UcxMessages.AM_MIDDLE, programMiddle),
  },
};

// The keys of an object of ours are those that its type names.
const NAME_OF: ReadonlyMap<number, AmIdName> = new Map(
  (Object.keys(AmId) as AmIdName[]).map((name) => [AmId[name], name]),
);

/** What an active message says. One that nobody sends, or that is not as it must be, is called unknown, with what is wrong. */
export function sentenceOf(speaker: Speaker, id: number, bytes: Uint8Array, seen: Seen): string {
  const name = NAME_OF.get(id);
  const sentence = name && SENTENCES[speaker][name];
  if (sentence === undefined) return `unknown message ${id}, ${amount(bytes.length)}`;
  const said = sentence(bytes, seen);
  if ('problem' in said && seen.way.isCut) return `${name}, cut by the capture`;
  return 'words' in said ? said.words : `unknown ${name}: ${said.problem}`;
}
