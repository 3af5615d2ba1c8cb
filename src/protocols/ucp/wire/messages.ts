import { AmId, type AmIdName } from './am-id.js';
import { bare, type Format, type WithPayload, withPayload, withRkey, withSize, withUserHeader } from './format.js';
import { ACK_SIZE, AM_HEADER, Feet, Heads, operandsOf, RtsOpcode } from './headers.js';
import { struct, u64, type ValuesOf, viewOf } from '../../../device/wire/index.js';

// WIREUP and OFFLOAD_SYNC_ACK are not here: connections are made by rdma_cm, and no adapter matches tags.

const NO_FIELDS = struct({});

export function isPart({ payload }: WithPayload<unknown>): string | undefined {
  return payload.length === 0 ? 'a part of a message has no data' : undefined;
}

/** What comes first of several is not all of it. */
export function isFirst(payloadBytes: number, total: number): string | undefined {
  return payloadBytes < total ? undefined : `the first ${payloadBytes} bytes are of a message of ${total}`;
}

export const userHeaderBytes = ({ headerBytes }: ValuesOf<typeof AM_HEADER>): number => headerBytes;

/** What an AM says in the `header` of its rendezvous, or a sentence that says what is wrong with it. */
export function amHeaderOf(header: bigint): ValuesOf<typeof AM_HEADER> | string {
  const view = viewOf(new Uint8Array(u64.bytes));
  u64.write(view, 0, header);
  return AM_HEADER.parse(view, 0);
}

export function rtsUserHeaderBytes({ opcode, header }: ValuesOf<typeof Heads.RNDV_RTS>): number | string {
  if (opcode === RtsOpcode.TAG) return 0;
  const said = amHeaderOf(header);
  return typeof said === 'string' ? said : said.headerBytes;
}

/** The formats of messages, by their names. */
export const Messages = {
  EAGER_ONLY: withPayload(Heads.EAGER_ONLY),
  EAGER_FIRST: withPayload(Heads.EAGER_FIRST, ({ head, payload }) => isFirst(payload.length, head.total)),
  EAGER_MIDDLE: withPayload(Heads.EAGER_MIDDLE, isPart),
  EAGER_SYNC_ONLY: withPayload(Heads.EAGER_SYNC_ONLY),
  EAGER_SYNC_FIRST: withPayload(Heads.EAGER_SYNC_FIRST, ({ head, payload }) => isFirst(payload.length, head.total)),
  EAGER_SYNC_ACK: bare(Heads.EAGER_SYNC_ACK),
  RNDV_RTS: withRkey(Heads.RNDV_RTS, rtsUserHeaderBytes, (head) => head),
  RNDV_ATS: withSize(Heads.RNDV_ATS, ACK_SIZE),
  RNDV_RTR: withRkey(
    Heads.RNDV_RTR,
    () => 0,
    (head) => head,
  ),
  RNDV_DATA: withPayload(Heads.RNDV_DATA, isPart),
  STREAM_DATA: withPayload(Heads.STREAM_DATA),
  RNDV_ATP: withSize(Heads.RNDV_ATP, ACK_SIZE),
  PUT: withPayload(Heads.PUT),
  GET_REQ: bare(Heads.GET_REQ),
  GET_REP: withPayload(Heads.GET_REP),
  ATOMIC_REQ: withPayload(Heads.ATOMIC_REQ, ({ head: { length, opcode }, payload }) => {
    const operands = length * operandsOf(opcode);
    return payload.length === operands ? undefined : `${payload.length} bytes of operands, and not ${operands}`;
  }),
  ATOMIC_REP: withPayload(Heads.ATOMIC_REP, ({ payload: { length } }) =>
    length === 4 || length === 8 ? undefined : `a value of ${length} bytes`,
  ),
  CMPL: bare(Heads.CMPL),
  AM_SINGLE: withUserHeader(Heads.AM_SINGLE, NO_FIELDS, userHeaderBytes),
  AM_FIRST: withUserHeader(Heads.AM_FIRST, Feet.AM_FIRST, userHeaderBytes, ({ payload, foot }) =>
    isFirst(payload.length, foot.total),
  ),
  AM_MIDDLE: withUserHeader(Heads.AM_MIDDLE, Feet.AM_MIDDLE, () => 0, isPart),
  AM_SINGLE_REPLY: withUserHeader(Heads.AM_SINGLE_REPLY, Feet.AM_SINGLE_REPLY, userHeaderBytes),
  RNDV_CANCEL: bare(Heads.RNDV_CANCEL),
} as const satisfies Partial<Record<AmIdName, Format<object>>>;

export type MessageName = keyof typeof Messages;

export type MessageOf<Name extends MessageName> = (typeof Messages)[Name] extends Format<infer M> ? M : never;

// The keys of an object of ours are those that its type names.
const NAME_OF: ReadonlyMap<number, MessageName> = new Map(
  (Object.keys(Messages) as MessageName[]).map((name) => [AmId[name], name]),
);

/** Which message an id is of; undefined for one that nobody sends. */
export function messageName(id: number): MessageName | undefined {
  return NAME_OF.get(id);
}
