/** What was asked, how often each packet was sent, and what came back. */
import { psnDiff } from '../../index.js';
import { Aeth, OpcodeBit, opcodeBits } from '../../wire/index.js';
import type { Half } from './halves.js';
import { greatest } from './words.js';
import { psnOf, type SeenPacket, type Sighting, type Sightings } from './sightings.js';

/** A packet of a request, which may have been sent several times. */
export interface Asked {
  readonly packet: SeenPacket;
  /** Counted from the PSN of the half's first packet, so that they can be compared. */
  readonly place: number;
  /** When the requester sent it, or where nobody looked on there, when it reached the responder. */
  readonly sentUs: number[];
  /** When it reached the responder, where somebody looked on there. */
  readonly arrivedUs: number[];
  /** Of a READ whose answers came in part: it asks for the rest, and so is a repeat each time. */
  readonly again?: true;
}

/** A request: its packets, and how much of the PSN space it takes. */
export interface Request {
  readonly packets: Asked[];
  /** Places of its first and its last PSN; of a READ, that of its last answer. */
  readonly first: number;
  last: number;
  /** Bytes of its data. */
  lengthBytes: number;
  readonly firstUs: number;
}

/** What an answer says. */
export const AnswerKind = { ACK: 'ACK', NOT_READY: 'RNR NAK', REFUSAL: 'NAK', DATA: 'response' } as const;
export type AnswerKind = (typeof AnswerKind)[keyof typeof AnswerKind];

export interface Answer {
  readonly kind: AnswerKind;
  /** The RNR timer's code, or that of a NAK. */
  readonly code: number;
  readonly place: number;
  readonly psn: number;
  readonly payloadBytes: number;
  /** Of a response: whether a READ ends with it. */
  readonly ends: boolean;
  readonly timeUs: number;
}

/** A half of a connection, looked through. */
export interface Study {
  readonly half: Half;
  /** Whether somebody looked on at either end, and so knows what was sent and what arrived there. */
  readonly atRequester: boolean;
  readonly atResponder: boolean;
  readonly requests: readonly Request[];
  /** Answers that the requester got, or where nobody looked on there, that the responder sent. */
  readonly answers: readonly Answer[];
  /** Answers that the responder is known to have sent. */
  readonly given: readonly Answer[];
  /** The greatest place that an answer acknowledges; -1 when none does. */
  readonly acknowledged: number;
  /** Damaged packets seen at either end as they arrived. */
  readonly damagedAtRequester: number;
  readonly damagedAtResponder: number;
}

const LEAST_MTU = 256;

const bitsOf = (packet: SeenPacket): number => opcodeBits[packet.bth.opcode];
const has = (packet: SeenPacket, bit: number): boolean => (bitsOf(packet) & bit) !== 0;

function askedOf({ requests }: Half, atRequester: boolean): Asked[] {
  const base = psnOf(requests[0]);
  const byPlace = new Map<number, Asked>();
  for (const { packet, direction, timeUs } of requests) {
    const place = psnDiff(packet.bth.psn, base);
    let asked = byPlace.get(place);
    if (asked === undefined) {
      asked = { packet, place, sentUs: [], arrivedUs: [] };
      byPlace.set(place, asked);
    }
    if (direction === 'in') asked.arrivedUs.push(timeUs);
    // Where nobody was at the requester, what arrived is all that is known of what was sent.
    if (direction !== 'in' || !atRequester) asked.sentUs.push(timeUs);
  }
  return [...byPlace.values()].sort((a, b) => a.place - b.place);
}

/** Whether a READ asks for the end of what another one has asked for, as who misses an answer in between does. */
function asksForRest({ packet, place }: Asked, { packets, last }: Request): boolean {
  if (place > last || !has(packet, OpcodeBit.READ_REQUEST)) return false;
  const { reth } = packet;
  const { reth: whole } = packets[0].packet;
  if (reth === undefined || reth.rkey !== whole?.rkey) return false;
  return reth.va > whole.va && reth.va + BigInt(reth.length) === whole.va + BigInt(whole.length);
}

/** Puts packets together to requests. What is missing in between does not matter: a capture may begin anywhere. */
function requestsOf(asked: readonly Asked[], answers: readonly Sighting[]): Request[] {
  const whole = asked
    .filter(({ packet }) => has(packet, OpcodeBit.FIRST | OpcodeBit.MIDDLE))
    .map(({ packet }) => packet);
  const mtu = greatest([
    LEAST_MTU,
    ...[...whole, ...answers.map(({ packet }) => packet)].map(({ payloadBytes }) => payloadBytes),
  ]);
  const requests: Request[] = [];
  for (const one of asked) {
    const { packet, place } = one;
    const open = requests.at(-1);
    const continues = has(packet, OpcodeBit.MIDDLE | OpcodeBit.LAST) && open !== undefined;
    if (continues) {
      open.packets.push(one);
      open.last = place;
      if (open.packets[0].packet.reth === undefined) open.lengthBytes += packet.payloadBytes;
      continue;
    }
    if (open !== undefined && asksForRest(one, open)) {
      open.packets.push({ ...one, again: true });
      continue;
    }
    const lengthBytes = packet.reth?.length ?? (packet.atomicEth === undefined ? packet.payloadBytes : 8);
    const span = has(packet, OpcodeBit.READ_REQUEST) ? Math.max(1, Math.ceil(lengthBytes / mtu)) : 1;
    const [firstUs = 0] = [...one.sentUs, ...one.arrivedUs];
    requests.push({ packets: [one], first: place, last: place + span - 1, lengthBytes, firstUs });
  }
  return requests;
}

function answerOf({ packet, timeUs }: Sighting, base: number): Answer {
  const { psn } = packet.bth;
  const ends = has(packet, OpcodeBit.LAST | OpcodeBit.ONLY);
  const at = { place: psnDiff(psn, base), psn, payloadBytes: packet.payloadBytes, ends, timeUs };
  const { syndrome = 0 } = packet.aeth ?? {};
  const code = syndrome & Aeth.VALUE_MASK;
  switch (syndrome & Aeth.KIND_MASK) {
    case Aeth.NAK:
      return { ...at, kind: AnswerKind.REFUSAL, code };
    case Aeth.RNR_NAK:
      return { ...at, kind: AnswerKind.NOT_READY, code };
    default:
      return { ...at, kind: has(packet, OpcodeBit.ACK) ? AnswerKind.ACK : AnswerKind.DATA, code: 0 };
  }
}

/** What an answer acknowledges: all that came before it, and itself if it is no refusal and the end of what was asked for. */
export function acknowledges({ kind, place }: Answer): number {
  return kind === AnswerKind.ACK || kind === AnswerKind.DATA ? place : place - 1;
}

/** Looks a half through. */
export function study(half: Half, sightings: Sightings): Study {
  const atRequester = sightings.isVantage(half.requester);
  const atResponder = sightings.isVantage(half.responder);
  const asked = askedOf(half, atRequester);
  const requests = requestsOf(asked, half.answers);
  const base = psnOf(half.requests[0]);
  const at = (wanted: 'in' | 'out'): Answer[] =>
    half.answers
      .filter(({ direction }) => direction === undefined || direction === wanted)
      .map((one) => answerOf(one, base));
  const given = at('out');
  const answers = atRequester ? at('in') : given;
  const end = requests.at(-1)?.last ?? 0;
  const places = answers.map(acknowledges).filter((place) => place >= 0 && place <= end);
  const damagedAt = (address: string): number =>
    half.damaged.filter(({ destination, direction }) => direction !== 'out' && destination === address).length;
  return {
    half,
    atRequester,
    atResponder,
    requests,
    answers,
    given,
    acknowledged: greatest([-1, ...places]),
    damagedAtRequester: damagedAt(half.requester),
    damagedAtResponder: damagedAt(half.responder),
  };
}

/** When it was tried to have a request answered: each time that the packet that was sent most often was sent, or a rest. */
export function attemptsOf({ packets }: Request): number[] {
  if (packets.some(({ again }) => again)) return packets.flatMap(({ sentUs }) => sentUs).sort((a, b) => a - b);
  return packets.reduce((most, one) => (one.sentUs.length > most.sentUs.length ? one : most)).sentUs;
}

/** The first request that has no answer. What acknowledges a READ without bringing its data does not answer it. */
export function firstPending({ requests, answers, acknowledged }: Study): Request | undefined {
  const endsUs = new Map<number, number>();
  for (const { kind, ends, place, timeUs } of answers) if (kind === AnswerKind.DATA && ends) endsUs.set(place, timeUs);
  return requests.find((request) => {
    const { packets, first, last } = request;
    if (last > acknowledged) return true;
    if (!has(packets[0].packet, OpcodeBit.READ_REQUEST)) return false;
    const triedUs = attemptsOf(request).at(-1) ?? 0;
    for (let place = first; place <= last; place += 1) if ((endsUs.get(place) ?? -1) >= triedUs) return false;
    return true;
  });
}

/** When a packet was sent though it, or what it asks for, had been sent before. */
export const repeatsOf = ({ sentUs, again }: Asked): number[] => (again ? sentUs : sentUs.slice(1));
