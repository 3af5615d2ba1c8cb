import { withForeignKeys, withPayload, withUserHeader } from './format.js';
import { AM_HEADER, Heads } from './headers.js';
import { only, struct, u16, u53, u64, u8 } from '../../../device/wire/index.js';
import { isFirst, isPart, rtsUserHeaderBytes, userHeaderBytes } from './messages.js';

// What UCX 1.13 says in another form than workers here do, for those who look at its traffic: its numbers of messages begin anywhere in 64 bits, its keys
// name memory domains, what it answers to a get says where it belongs, and its workers tell each other of endpoints by messages (`ucp_wireup_msg_t` of ucp/wireup/wireup.h).

const eagerFirst = { tag: u64, total: u53, messageId: u64 };
const asker = { epId: u53, requestId: u53 };

/** What a message of UCX's is about that sets up endpoints. */
export const WireupType = {
  PRE_REQUEST: 0,
  REQUEST: 1,
  REPLY: 2,
  ACK: 3,
  EP_CHECK: 4,
  EP_REMOVED: 5,
} as const;

const LAST_TYPE: number = WireupType.EP_REMOVED;

const WIREUP = struct({
  type: only(u8, (type) => type <= LAST_TYPE, 'which is none'),
  errorMode: u8,
  connection: u16,
  sourceEpId: u64,
  destinationEpId: u64,
});

/** The formats of UCX's messages that differ, by their names. */
export const UcxMessages = {
  /** The rest is the sender's address. */
  WIREUP: withPayload(WIREUP),
  EAGER_FIRST: withPayload(struct(eagerFirst), ({ head, payload }) => isFirst(payload.length, head.total)),
  EAGER_MIDDLE: withPayload(struct({ messageId: u64, offset: u53 }), isPart),
  EAGER_SYNC_FIRST: withPayload(struct({ ...eagerFirst, ...asker }), ({ head, payload }) =>
    isFirst(payload.length, head.total),
  ),
  GET_REP: withPayload(struct({ requestId: u53, offset: u53 })),
  RNDV_RTS: withForeignKeys(Heads.RNDV_RTS, rtsUserHeaderBytes),
  RNDV_RTR: withForeignKeys(Heads.RNDV_RTR, () => 0),
  AM_FIRST: withUserHeader(
    AM_HEADER,
    struct({ messageId: u64, epId: u53, total: u53 }),
    userHeaderBytes,
    ({ payload, foot }) => isFirst(payload.length, foot.total),
  ),
  AM_MIDDLE: withUserHeader(Heads.AM_MIDDLE, struct({ messageId: u64, epId: u53 }), () => 0, isPart),
} as const;
