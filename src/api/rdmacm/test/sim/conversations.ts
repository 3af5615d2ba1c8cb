import type { Behaviour, Step } from './end.js';
import type { Conversation } from './conversation-runner.js';

/**
 * A conversation and its endings: the client's events and last state, and after a slash those of the server. The first is
 * what comes of it undisturbed.
 */
export interface Row extends Conversation {
  readonly name: string;
  /** What the two say undisturbed, and how often. */
  readonly messages: string;
  /** What it ends in when whatever is repeated gets through in the end, and no refusal, which nobody repeats, is harmed. */
  readonly ends: readonly string[];
  /** What it may end in beside, when something never gets through. */
  readonly broken: readonly string[];
  /** Whether the client sends at once, which is as good as saying that it is ready. */
  readonly speaks?: true;
}

const SOON_US = 1000;
/** So that a message that is late (6 s) comes while the end is remembered (0.5 s). */
const BEFORE_LATE_US = 5.8e6;
/** Later than two repeats of a request. */
const LATE_US = 10e6;
/** Later than all of them, were it not for requests for patience (MRA). */
const PATIENCE_US = 100e6;

const accepting = { CONNECT_REQUEST: [{ call: 'accept' }] } as const;
const acceptingLate = { CONNECT_REQUEST: [{ call: 'accept', afterUs: LATE_US }] } as const;
const answering = { DISCONNECTED: [{ call: 'disconnect' }] } as const;
const parting = (afterUs: number): { readonly ESTABLISHED: readonly Step[] } => ({
  ESTABLISHED: [{ call: 'disconnect', afterUs }],
});

const stay: Behaviour = { on: answering };
const accept: Behaviour = { on: { ...accepting, ...answering } };
const acceptLate: Behaviour = { on: { ...acceptingLate, ...answering } };
const part = (afterUs: number): Behaviour => ({ on: parting(afterUs) });
const acceptAndPart = (afterUs: number): Behaviour => ({ on: { ...accepting, ...answering, ...parting(afterUs) } });

/** What keeps a connection from coming up, and how its ends learn of that; of its refusal the last two do not. */
const NOT_ASKED = 'UNREACHABLE -110 [over] / nobody';
const NOT_ANSWERED = [
  NOT_ASKED,
  'REJECTED 4 [over] / UNREACHABLE -110 [over]',
  'UNREACHABLE -110 [over] / REJECTED 4 [over]',
  'UNREACHABLE -110 [over] / UNREACHABLE -110 [over]',
] as const;
const NOT_CONFIRMED = [
  'ESTABLISHED, REJECTED 4, TIMEWAIT_EXIT [over] / UNREACHABLE -110 [over]',
  'ESTABLISHED [up] / UNREACHABLE -110 [over]',
] as const;
/** The same for a client that moves its queue pair itself. */
const asOwn = (ending: string): string => ending.replace('ESTABLISHED', 'CONNECT_RESPONSE');
const NOT_CONFIRMED_OWN = NOT_CONFIRMED.map(asOwn);

/** A connection that ended as it should, for the side that parts as for the other, who may not have known that it was up. */
const PARTED = 'ESTABLISHED, DISCONNECTED, TIMEWAIT_EXIT [over]';
const PARTED_EARLY = 'DISCONNECTED, TIMEWAIT_EXIT [over]';
/** The peer did not answer. */
const PARTED_ALONE = 'ESTABLISHED, DISCONNECTED -110, TIMEWAIT_EXIT [over]';

const CLIENT_PARTS = {
  ends: [`${PARTED} / ${PARTED}`, `${PARTED} / ${PARTED_EARLY}`],
  broken: [
    ...NOT_ANSWERED,
    `${PARTED_ALONE} / ESTABLISHED [up]`,
    `${PARTED_ALONE} / ${PARTED}`,
    `${PARTED_ALONE} / ${PARTED_EARLY}`,
    `${PARTED_ALONE} / UNREACHABLE -110 [over]`,
  ],
} as const;

const SERVER_PARTS = {
  ends: [`${PARTED} / ${PARTED}`],
  broken: [...NOT_ANSWERED, ...NOT_CONFIRMED, `ESTABLISHED [up] / ${PARTED_ALONE}`, `${PARTED} / ${PARTED_ALONE}`],
} as const;

const BOTH_PART = {
  ends: [`${PARTED} / ${PARTED}`, `${PARTED} / ${PARTED_EARLY}`],
  broken: [...CLIENT_PARTS.broken, `${PARTED_ALONE} / ${PARTED_ALONE}`, `${PARTED} / ${PARTED_ALONE}`],
} as const;

const connections: readonly Omit<Row, 'transport'>[] = [
  {
    name: 'the server accepts',
    messages: 'REQ, REP, RTU',
    client: stay,
    server: accept,
    ends: ['ESTABLISHED [up] / ESTABLISHED [up]'],
    broken: [...NOT_ANSWERED, ...NOT_CONFIRMED],
  },
  {
    name: 'the server accepts, on the same host',
    messages: 'REQ, REP, RTU',
    self: true,
    client: stay,
    server: accept,
    ends: ['ESTABLISHED [up] / ESTABLISHED [up]'],
    broken: [...NOT_ANSWERED, ...NOT_CONFIRMED],
  },
  {
    name: 'the server accepts late',
    messages: '2 REQ, MRA, REP, RTU',
    client: stay,
    server: acceptLate,
    ends: ['ESTABLISHED [up] / ESTABLISHED [up]'],
    broken: [...NOT_ANSWERED, ...NOT_CONFIRMED],
  },
  {
    name: 'the server accepts after all that a client without patience would wait',
    messages: '3 REQ, 2 MRA, REP, RTU',
    client: stay,
    server: { on: { CONNECT_REQUEST: [{ call: 'accept', afterUs: PATIENCE_US }] } },
    ends: ['ESTABLISHED [up] / ESTABLISHED [up]'],
    broken: [...NOT_ANSWERED, ...NOT_CONFIRMED],
  },
  {
    name: 'the server accepts, and the client sends at once',
    messages: 'REQ, REP, RTU',
    speaks: true,
    client: { on: { ESTABLISHED: [{ call: 'send' }], ...answering } },
    server: accept,
    ends: ['ESTABLISHED [up] / ESTABLISHED [up]'],
    broken: [...NOT_ANSWERED, ...NOT_CONFIRMED],
  },
  {
    name: 'the server never answers',
    messages: '16 REQ, 15 MRA, REJ',
    client: stay,
    server: {},
    ends: ['UNREACHABLE -110 [over] / REJECTED 4 [over]'],
    broken: [NOT_ASKED, 'UNREACHABLE -110 [over] / [asked]'],
  },
  {
    name: 'the server rejects',
    messages: 'REQ, REJ',
    client: stay,
    server: { on: { CONNECT_REQUEST: [{ call: 'reject' }] } },
    ends: ['REJECTED 28 [over] / [over]'],
    broken: [NOT_ASKED, 'UNREACHABLE -110 [over] / [over]'],
  },
  {
    name: 'the server rejects late',
    messages: '2 REQ, MRA, REJ',
    client: stay,
    server: { on: { CONNECT_REQUEST: [{ call: 'reject', afterUs: LATE_US }] } },
    ends: ['REJECTED 28 [over] / [over]'],
    broken: [NOT_ASKED, 'UNREACHABLE -110 [over] / [over]', 'UNREACHABLE -110 [over] / [over]; REJECTED 4 [over]'],
  },
  {
    name: 'the server destroys the request',
    messages: 'REQ, REJ',
    client: stay,
    server: { on: { CONNECT_REQUEST: [{ call: 'destroy' }] } },
    ends: ['REJECTED 28 [over] / [destroyed]'],
    broken: [NOT_ASKED, 'UNREACHABLE -110 [over] / [destroyed]'],
  },
  {
    name: 'nobody listens',
    messages: 'REQ, REJ',
    client: stay,
    ends: ['REJECTED 8 [over] / nobody'],
    broken: [NOT_ASKED],
  },
  {
    name: 'the client takes its request back at once',
    messages: 'REQ, REJ',
    client: { start: [{ call: 'destroy' }] },
    server: acceptLate,
    // Nothing is repeated: the request itself, or what takes it back, may be all that arrives.
    ends: ['[destroyed] / REJECTED 4 [over]', '[destroyed] / nobody', '[destroyed] / UNREACHABLE -110 [over]'],
    broken: [],
  },
  {
    name: 'the client takes its request back',
    messages: '2 REQ, MRA, REJ',
    client: { start: [{ call: 'destroy', afterUs: LATE_US / 2 }] },
    server: acceptLate,
    ends: ['[destroyed] / REJECTED 4 [over]', '[destroyed] / nobody', '[destroyed] / UNREACHABLE -110 [over]'],
    broken: [],
  },
  {
    name: 'the client parts at once',
    messages: 'REQ, REP, RTU, DREQ, DREP',
    client: part(0),
    server: accept,
    ...CLIENT_PARTS,
  },
  {
    name: 'the client parts',
    messages: 'REQ, REP, RTU, DREQ, DREP',
    client: part(SOON_US),
    server: accept,
    ...CLIENT_PARTS,
  },
  {
    name: 'the client parts shortly before what is late',
    messages: 'REQ, REP, RTU, DREQ, DREP',
    client: part(BEFORE_LATE_US),
    server: accept,
    ...CLIENT_PARTS,
  },
  {
    name: 'the server parts at once',
    messages: 'REQ, REP, RTU, DREQ, DREP',
    client: stay,
    server: acceptAndPart(0),
    ...SERVER_PARTS,
  },
  {
    name: 'the server parts',
    messages: 'REQ, REP, RTU, DREQ, DREP',
    client: stay,
    server: acceptAndPart(SOON_US),
    ...SERVER_PARTS,
  },
  {
    name: 'both part',
    messages: 'REQ, REP, RTU, 2 DREQ, 2 DREP',
    client: part(SOON_US),
    server: acceptAndPart(SOON_US),
    ...BOTH_PART,
  },
  {
    name: 'both part, on the same host',
    messages: 'REQ, REP, RTU, 2 DREQ, 2 DREP',
    self: true,
    client: part(SOON_US),
    server: acceptAndPart(SOON_US),
    ...BOTH_PART,
  },
  {
    name: 'the client destroys its identifier',
    messages: 'REQ, REP, RTU, DREQ, DREP',
    client: { on: { ESTABLISHED: [{ call: 'destroy', afterUs: SOON_US }] } },
    server: accept,
    ends: [`ESTABLISHED [destroyed] / ${PARTED}`, `ESTABLISHED [destroyed] / ${PARTED_EARLY}`],
    broken: [
      ...NOT_ANSWERED,
      'ESTABLISHED [destroyed] / UNREACHABLE -110 [over]',
      'ESTABLISHED [destroyed] / ESTABLISHED [up]',
    ],
  },
  {
    name: 'the server destroys its identifier',
    messages: 'REQ, REP, RTU, DREQ, DREP',
    client: stay,
    server: { on: { ...accepting, ESTABLISHED: [{ call: 'destroy' }] } },
    ends: [`${PARTED} / ESTABLISHED [destroyed]`],
    broken: [...NOT_ANSWERED, ...NOT_CONFIRMED, 'ESTABLISHED [up] / ESTABLISHED [destroyed]'],
  },
  {
    name: 'the server destroys its identifier as soon as it has accepted',
    messages: 'REQ, REP, REJ, RTU',
    client: stay,
    server: { on: { CONNECT_REQUEST: [{ call: 'accept' }, { call: 'destroy' }] } },
    ends: ['ESTABLISHED, REJECTED 28, TIMEWAIT_EXIT [over] / [destroyed]', 'REJECTED 28 [over] / [destroyed]'],
    broken: [NOT_ASKED, 'ESTABLISHED [up] / [destroyed]', 'UNREACHABLE -110 [over] / [destroyed]'],
  },
  {
    name: 'the server parts as soon as it has accepted',
    messages: 'REQ, REP, REJ, RTU',
    client: stay,
    server: { on: { CONNECT_REQUEST: [{ call: 'accept' }, { call: 'disconnect' }] } },
    ends: [`ESTABLISHED, REJECTED 28, TIMEWAIT_EXIT [over] / ${PARTED_EARLY}`, `REJECTED 28 [over] / ${PARTED_EARLY}`],
    broken: [NOT_ASKED, `ESTABLISHED [up] / ${PARTED_EARLY}`, `UNREACHABLE -110 [over] / ${PARTED_EARLY}`],
  },
  {
    name: 'the server answers late that the client parts',
    messages: 'REQ, REP, RTU, 3 DREQ, DREP',
    client: part(SOON_US),
    server: { on: { ...accepting, DISCONNECTED: [{ call: 'disconnect', afterUs: LATE_US }] } },
    ...CLIENT_PARTS,
  },
  {
    name: 'the server never answers that the client parts',
    messages: 'REQ, REP, RTU, 16 DREQ',
    client: part(SOON_US),
    server: { on: accepting },
    ends: [`${PARTED_ALONE} / ESTABLISHED, DISCONNECTED [left]`, `${PARTED_ALONE} / DISCONNECTED [left]`],
    broken: [...NOT_ANSWERED, `${PARTED_ALONE} / UNREACHABLE -110 [over]`, `${PARTED_ALONE} / ESTABLISHED [up]`],
  },
  {
    name: 'the server destroys its identifier when the client parts',
    messages: 'REQ, REP, RTU, DREQ, DREP',
    client: part(SOON_US),
    server: { on: { ...accepting, DISCONNECTED: [{ call: 'destroy' }] } },
    ends: [`${PARTED} / ESTABLISHED, DISCONNECTED [destroyed]`, `${PARTED} / DISCONNECTED [destroyed]`],
    broken: [
      ...NOT_ANSWERED,
      `${PARTED_ALONE} / ESTABLISHED, DISCONNECTED [destroyed]`,
      `${PARTED_ALONE} / DISCONNECTED [destroyed]`,
      `${PARTED_ALONE} / UNREACHABLE -110 [over]`,
      `${PARTED_ALONE} / ESTABLISHED [up]`,
    ],
  },
  {
    name: 'both move their queue pairs themselves',
    messages: 'REQ, REP, RTU',
    client: { external: true, on: { CONNECT_RESPONSE: [{ call: 'establish' }], ...answering } },
    server: { ...accept, external: true },
    ends: ['CONNECT_RESPONSE [up] / ESTABLISHED [up]'],
    broken: [...NOT_ANSWERED, ...NOT_CONFIRMED_OWN],
  },
  {
    name: 'the client moves its queue pair itself, and is late',
    messages: 'REQ, 2 REP, MRA, RTU',
    client: { external: true, on: { CONNECT_RESPONSE: [{ call: 'establish', afterUs: LATE_US }] } },
    server: accept,
    ends: ['CONNECT_RESPONSE [up] / ESTABLISHED [up]'],
    broken: [...NOT_ANSWERED, ...NOT_CONFIRMED_OWN],
  },
  {
    name: 'the client moves its queue pair itself, after all that a server without patience would wait',
    messages: 'REQ, 3 REP, 2 MRA, RTU',
    client: { external: true, on: { CONNECT_RESPONSE: [{ call: 'establish', afterUs: PATIENCE_US }] } },
    server: accept,
    ends: ['CONNECT_RESPONSE [up] / ESTABLISHED [up]'],
    broken: [...NOT_ANSWERED, ...NOT_CONFIRMED_OWN, 'CONNECT_RESPONSE, REJECTED 4 [over] / UNREACHABLE -110 [over]'],
  },
  {
    name: 'the client moves its queue pair itself, is late, and parts at once',
    messages: 'REQ, 2 REP, MRA, RTU, DREQ, DREP',
    client: {
      external: true,
      on: {
        CONNECT_RESPONSE: [
          { call: 'establish', afterUs: LATE_US },
          { call: 'disconnect', afterUs: LATE_US },
        ],
      },
    },
    server: accept,
    ends: CLIENT_PARTS.ends.map(asOwn),
    broken: [...NOT_ANSWERED, ...CLIENT_PARTS.broken.map(asOwn)],
  },
  {
    name: 'the client moves its queue pair itself, and never says so',
    messages: 'REQ, 16 REP, 15 MRA, REJ',
    client: { external: true },
    server: accept,
    ends: ['CONNECT_RESPONSE, REJECTED 4 [over] / UNREACHABLE -110 [over]'],
    broken: [...NOT_ANSWERED, 'CONNECT_RESPONSE [answered] / UNREACHABLE -110 [over]'],
  },
  {
    name: 'the client rejects the answer',
    messages: 'REQ, REP, REJ',
    client: { external: true, on: { CONNECT_RESPONSE: [{ call: 'reject' }] } },
    server: accept,
    ends: ['CONNECT_RESPONSE [over] / REJECTED 28 [over]'],
    broken: [...NOT_ANSWERED, 'CONNECT_RESPONSE [over] / UNREACHABLE -110 [over]'],
  },
  {
    name: 'the client parts instead of confirming the answer',
    messages: 'REQ, REP, REJ',
    client: { external: true, on: { CONNECT_RESPONSE: [{ call: 'disconnect' }] } },
    server: accept,
    ends: ['CONNECT_RESPONSE, DISCONNECTED, TIMEWAIT_EXIT [over] / REJECTED 28 [over]'],
    broken: [...NOT_ANSWERED, 'CONNECT_RESPONSE, DISCONNECTED, TIMEWAIT_EXIT [over] / UNREACHABLE -110 [over]'],
  },
  {
    name: 'the client destroys its identifier instead of confirming the answer',
    messages: 'REQ, REP, REJ',
    client: { external: true, on: { CONNECT_RESPONSE: [{ call: 'destroy' }] } },
    server: accept,
    ends: ['CONNECT_RESPONSE [destroyed] / REJECTED 28 [over]'],
    broken: [...NOT_ANSWERED, 'CONNECT_RESPONSE [destroyed] / UNREACHABLE -110 [over]'],
  },
];

const resolutions: readonly Omit<Row, 'transport'>[] = [
  {
    name: 'the server accepts',
    messages: 'SIDR_REQ, SIDR_REP',
    client: {},
    server: { on: accepting },
    ends: ['ESTABLISHED [up] / [over]'],
    broken: [NOT_ASKED, 'UNREACHABLE -110 [over] / [over]'],
  },
  {
    name: 'the server accepts, on the same host',
    messages: 'SIDR_REQ, SIDR_REP',
    self: true,
    client: {},
    server: { on: accepting },
    ends: ['ESTABLISHED [up] / [over]'],
    broken: [NOT_ASKED, 'UNREACHABLE -110 [over] / [over]'],
  },
  {
    name: 'the server accepts late',
    messages: '3 SIDR_REQ, SIDR_REP',
    client: {},
    server: { on: acceptingLate },
    ends: ['ESTABLISHED [up] / [over]'],
    broken: [NOT_ASKED, 'UNREACHABLE -110 [over] / [over]'],
  },
  {
    name: 'the server rejects',
    messages: 'SIDR_REQ, SIDR_REP',
    client: {},
    server: { on: { CONNECT_REQUEST: [{ call: 'reject' }] } },
    ends: ['UNREACHABLE 2 [over] / [over]'],
    broken: [NOT_ASKED, 'UNREACHABLE -110 [over] / [over]'],
  },
  {
    name: 'the server destroys the request',
    messages: 'SIDR_REQ, SIDR_REP',
    client: {},
    server: { on: { CONNECT_REQUEST: [{ call: 'destroy' }] } },
    ends: ['UNREACHABLE 2 [over] / [destroyed]'],
    broken: [NOT_ASKED, 'UNREACHABLE -110 [over] / [destroyed]'],
  },
  {
    name: 'the server never answers',
    messages: '16 SIDR_REQ',
    client: {},
    server: {},
    ends: ['UNREACHABLE -110 [over] / [asked]'],
    broken: [NOT_ASKED],
  },
  {
    name: 'nobody listens',
    messages: 'SIDR_REQ, SIDR_REP',
    client: {},
    ends: ['UNREACHABLE 1 [over] / nobody'],
    broken: [NOT_ASKED],
  },
  {
    name: 'the client takes its request back',
    messages: 'SIDR_REQ, SIDR_REP',
    client: { start: [{ call: 'destroy' }] },
    server: { on: accepting },
    ends: ['[destroyed] / [over]', '[destroyed] / nobody'],
    broken: [],
  },
];

/** Every way in which a client and a server may go on with each other. */
export const rows: readonly Row[] = [
  ...connections.map((row) => ({ ...row, transport: 'RC' as const })),
  ...resolutions.map((row) => ({ ...row, transport: 'UD' as const })),
];
