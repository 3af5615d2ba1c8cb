import { handshake, oneOf, only, reserved, struct, u16, u32, u64, u8 } from '../../../device/wire/index.js';

// What workers say of themselves in the private data of rdma_cm, behind what their transports say there. The form is ours: UCX's WIREUP messages come once a transport is
// there, and describe lanes, of which there is one here.

const BY_ADDRESS = 1;
const HAS_CLIENT_ID = 2;
const FLAGS = BY_ADDRESS | HAS_CLIENT_ID;

const ASKER = struct({
  flags: only(u8, (flags) => (flags & ~FLAGS) === 0, 'and others are not known'),
  reserved: reserved(u8),
  reservedToo: reserved(u16),
  call: u32,
  uuid: u64,
  toUuid: u64,
  clientId: u64,
});

export interface Meeting {
  /** Which of the asker's calls it is, 1 to 2^32 - 1, random: it is the same however often it asks. */
  readonly call: number;
  readonly uuid: bigint;
  readonly toUuid: bigint;
}

export interface Introduction {
  /** Undefined where it asks for whoever listens. */
  readonly meeting?: Meeting | undefined;
  /** What the program calls itself (`ucp_worker_params_t.client_id`), where it wants that to be known. */
  readonly clientId?: bigint | undefined;
}

export function encodeIntroduction({ meeting, clientId }: Introduction): Uint8Array {
  const flags = (meeting === undefined ? 0 : BY_ADDRESS) | (clientId === undefined ? 0 : HAS_CLIENT_ID);
  const { call, uuid, toUuid } = meeting ?? { call: 0, uuid: 0n, toUuid: 0n };
  return ASKER.encode({ flags, call, uuid, toUuid, clientId: clientId ?? 0n });
}

/** What the peer said, or a sentence that says what is wrong with it. Zeros may follow; zeros alone say nothing, and are right. */
export function decodeIntroduction(bytes: Uint8Array): Introduction | string {
  const said = ASKER.decode(bytes);
  if (typeof said === 'string') return said;
  const { flags, call, uuid, toUuid, clientId } = said;
  const isByAddress = (flags & BY_ADDRESS) !== 0;
  if (isByAddress && call === 0) return 'call is 0, and calls by address have a number';
  if (!isByAddress && (call !== 0 || uuid !== 0n || toUuid !== 0n)) return 'it names workers, and asks for none';
  const hasClientId = (flags & HAS_CLIENT_ID) !== 0;
  if (!hasClientId && clientId !== 0n) return `clientId is ${clientId}, and there is to be none`;
  return { ...(isByAddress && { meeting: { call, uuid, toUuid } }), ...(hasClientId && { clientId }) };
}

const ANSWERER = struct({ call: u32 });

/** What one says who accepts. @param call for which of its own calls by address the connection is as well; 0 for none */
export function encodeAcceptance(call: number): Uint8Array {
  return ANSWERER.encode({ call });
}

/** The call that the peer named; 0 for none, or where it has said too little to name one. */
export function decodeAcceptance(bytes: Uint8Array): number {
  const said = ANSWERER.decode(bytes);
  return typeof said === 'string' ? 0 : said.call;
}

/** Why a worker does not connect to whoever has its address. */
export const NoMeeting = {
  /** Both ask for each other at the same time: the connection is that which the refuser asks for, and comes by itself. */
  CROSSED: 1,
  /** The worker that is asked for is not here. */
  GONE: 2,
  /** It has as many endpoints as it may have that lead to nobody its program knows. */
  FULL: 3,
} as const;
export type NoMeeting = (typeof NoMeeting)[keyof typeof NoMeeting];

const REFUSAL = handshake('VUCN', 1, { why: oneOf(u8, NoMeeting, 'which is no reason'), reserved: reserved(u16) });

export function encodeNoMeeting(why: NoMeeting): Uint8Array {
  return REFUSAL.encode({ why });
}

/** Why the peer has refused, or a sentence that says what is wrong with what it said. */
export function decodeNoMeeting(bytes: Uint8Array): NoMeeting | string {
  const said = REFUSAL.decode(bytes);
  return typeof said === 'string' ? said : said.why;
}
