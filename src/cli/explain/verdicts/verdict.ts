/** Why a half of a connection came to what it came to, as far as a capture can show it. */
import { dethOffset, getU32, hex, NakCode, PacketBit } from '../../../device/wire/index.js';
import { formatMicroseconds, psnAdd, rnrTimerUs } from '../../../entry/index.js';
import { count } from '../numbers.js';
import { type Answer, AnswerKind } from '../requests/answers.js';
import type { Request } from '../requests/requests.js';
import { attemptsOf, firstPending, type Study, wantsData } from '../requests/study.js';
import { attemptWords, formatRequest, nameRequest } from '../requests/words.js';
import { Cause, type Verdict } from './cause.js';
import { refusalHints } from './refusals.js';
import { answeredVerdict } from './repairs.js';
import { isSequenceNak } from './repeats.js';
import { silenceVerdict } from './silence.js';

/** Attempts at the same PSN that make a loop. */
const LOOP = 2;

const REFUSALS: Readonly<Partial<Record<number, readonly [cause: Cause, name: string]>>> = {
  [NakCode.INVALID_REQUEST]: [Cause.INVALID_REQUEST, 'invalid request'],
  [NakCode.REMOTE_ACCESS_ERROR]: [Cause.REMOTE_ACCESS, 'remote access error'],
  [NakCode.REMOTE_OPERATIONAL_ERROR]: [Cause.REMOTE_OPERATION, 'remote operational error'],
};

const isReliable = ({ half }: Study): boolean => half.service === 'RC' || half.service === 'XRC';

/** Once a request was answered, only a repeat of it can be refused, and nobody waits for that answer. */
function isStale({ answers, requests, reach }: Study, { place, row }: Answer): boolean {
  const request = requests.atPlace(place);
  return request !== undefined && wantsData(requests, request)
    ? answers.some((one) => one.row < row && one.kind === AnswerKind.DATA && one.place === place)
    : reach.before(row) >= place;
}

function refusalVerdict(study: Study): Verdict | undefined {
  const { answers, requests } = study;
  for (let i = 0; i < answers.length; i += 1) {
    if (answers.kind(i) !== AnswerKind.REFUSAL) continue;
    const answer = answers.at(i);
    const refusal = REFUSALS[answer.code];
    if (refusal === undefined || isStale(study, answer)) continue;
    const [cause, name] = refusal;
    const request = requests.atPlace(answer.place);
    const psn = `PSN ${hex(answer.psn)}`;
    return {
      cause,
      text: `the peer refused ${request === undefined ? psn : nameRequest(requests, request)}: NAK ${name}`,
      evidence: [
        ...(request === undefined ? [] : [`refused: ${formatRequest(requests, request)}`]),
        ...refusalHints(study, request, answer),
      ],
    };
  }
  return undefined;
}

/** A requester whose PSN never advances: a row that has the first request's headers, but another payload; else -1. */
function neverAdvances({ requests, half, sightings: { table } }: Study): number {
  if (requests.packets.length > 1) return -1;
  const [first, ...others] = half.requests;
  const flags = PacketBit.ACK_REQUEST | PacketBit.SOLICITED | PacketBit.MIG_REQ;
  const isOther = (row: number): boolean =>
    ((table.bits(first) ^ table.bits(row)) & flags) === 0 &&
    table.pkey(first) === table.pkey(row) &&
    table.hasOtherPayload(first, row);
  return others.find(isOther) ?? -1;
}

/** PSNs that two requests share: the requester does not count them as it should. */
function reusedVerdict(study: Study, pending: Request | undefined): Verdict | undefined {
  const { requests, half, sightings } = study;
  const { packets, overlap } = requests;
  const { table } = sightings;
  const who = `a mistake of ${half.requester}: the next PSN is the one after all packets and responses of the request before`;
  if (packets.conflicts > 0) {
    const by = packets.firstConflict;
    const psn = hex(table.psn(packets.rows[by]));
    const [one, other] = [by - 1, by].map((packet) => requests.at(requests.indexOfPacket(packet)));
    return {
      cause: Cause.PSN_REUSED,
      text: `different requests have the same PSN ${psn}: the requester does not count its PSNs as it should`,
      evidence: [
        `${formatRequest(requests, one)} and ${formatRequest(requests, other)} are different requests`,
        ...(packets.conflicts > 1 ? [`${count(packets.conflicts, 'packet')} have the PSN of a different one`] : []),
        who,
      ],
    };
  }
  const other = neverAdvances(study);
  if (other >= 0) {
    const psn = hex(table.psn(other));
    return {
      cause: Cause.PSN_REUSED,
      text: `all requests have the same PSN ${psn}: the requester does not count its PSNs`,
      evidence: [
        `${formatRequest(requests, requests.at(0))} was sent ${count(packets.sent.count(0), 'time')}, and not with the same payload: by their ICRCs these are different requests`,
        who,
      ],
    };
  }
  if (overlap === undefined) return undefined;
  const read = requests.at(overlap.read);
  const by = requests.at(overlap.by);
  const [from, to] = [read.first, read.last].map((place) => hex(psnAdd(table.psn(half.requests[0]), place)));
  const isPending = pending !== undefined && pending.index === by.index;
  return {
    cause: Cause.PSN_REUSED,
    text: `${nameRequest(requests, by)} has a PSN of the READ's responses (${from} to ${to})`,
    evidence: [
      `${formatRequest(requests, read)} takes PSNs ${from} to ${to}, one for each response`,
      `${formatRequest(requests, by)} begins among them${isPending ? ', and was not answered' : ''}: the responder takes it for a repeat and delivers nothing`,
      who,
    ],
  };
}

/** The peer's answers name nothing that was asked for. */
function mismatchVerdict({ requests, answers, sightings }: Study, pending: Request): Verdict | undefined {
  // The capture may hold answers to requests from before it began; a requester without any other answer tries again.
  if (attemptsOf(requests, pending).length < 2) return undefined;
  const end = requests.last(requests.length - 1) + 1;
  if (answers.length === 0 || answers.some(({ place }) => place >= 0 && place <= end)) return undefined;
  const answer = answers.at(0);
  const asksFor = answer.kind === AnswerKind.REFUSAL ? 'asks for' : 'acknowledges';
  const psn = hex(answer.psn);
  const first = hex(sightings.table.psn(requests.at(0).row));
  return {
    cause: Cause.PSN_MISMATCH,
    text: `the peer ${asksFor} PSN ${psn}, which was never sent: requests begin at PSN ${first}`,
    evidence: [
      `the peer ${asksFor} PSN ${psn}, which the capture never shows being sent: requests begin there at PSN ${first}; ` +
        "if the connection begins there as well, the peer's rqPsn is not the requester's sqPsn",
    ],
  };
}

function waitingVerdict(study: Study, pending: Request): Verdict | undefined {
  const { answers, requests } = study;
  const isOf = ({ place }: Answer): boolean => place >= pending.first && place <= pending.last;
  const last = answers.findLast(isOf);
  if (last === undefined) return undefined;
  const alike = answers.count((one) => isOf(one) && one.kind === last.kind);
  const attempts = attemptsOf(requests, pending);
  const tried = attemptWords(study, attempts);
  if (last.kind === AnswerKind.NOT_READY)
    return {
      cause: Cause.NOT_READY,
      text: `the peer had no receive ready for ${nameRequest(requests, pending)}: ${count(alike, 'RNR NAK')}`,
      evidence: [
        `${formatRequest(requests, pending)} ${tried}, and the last that the peer said is that it is not ready: ` +
          `${count(alike, 'RNR NAK')}, which ask for ${formatMicroseconds(rnrTimerUs(last.code))}; does it post receive requests, and in time?`,
      ],
    };
  if (!isSequenceNak(last) || Math.min(alike, attempts.length - 1) < LOOP) return undefined;
  return {
    cause: Cause.SEQUENCE,
    text: `the packet of PSN ${hex(last.psn)} does not get through, while others do: ${count(alike, 'NAK')} asked for it`,
    evidence: [
      `the peer asked for PSN ${hex(last.psn)} ${count(alike, 'time')} (NAK PSN sequence error), and what begins there ${tried}: ` +
        'this packet does not get through, while others do',
    ],
  };
}

function unreliableVerdict(study: Study): Verdict {
  const { half, requests, atRequester, atResponder, damagedAtResponder } = study;
  const { packets } = requests;
  let [sent, arrived] = [0, 0];
  for (let packet = 0; packet < packets.length; packet += 1) {
    sent += packets.sent.count(packet);
    // What the way doubled makes up for nothing that it lost.
    arrived += Math.min(packets.sent.count(packet), packets.arrived.count(packet));
  }
  const silent = `${half.service} answers nothing, so the sender learns nothing`;
  if (!atResponder)
    return {
      cause: Cause.UNACKNOWLEDGED,
      text: `${count(sent, 'packet')} sent; ${silent}`,
      evidence: ["whether they arrived takes the peer's capture"],
    };
  const dropped =
    half.service === 'UD'
      ? "a wrong Q_Key or P_Key, no receive request, or a queue pair that is not ready, and the peer's counters say which"
      : "no receive request, a key or a length that does not fit, or a queue pair that is not ready, and the peer's counters say which";
  const arrivals = `${atRequester ? `${arrived} of ${count(sent, 'packet')}` : count(arrived, 'packet')} arrived`;
  if (damagedAtResponder.length > 0)
    return {
      cause: Cause.DAMAGED,
      text: `${arrivals}, and ${damagedAtResponder.length} damaged (wrong ICRC), which are dropped`,
      evidence: [silent],
    };
  if (atRequester && arrived < sent)
    return { cause: Cause.LOST, text: `${arrivals}, ${sent - arrived} were lost on the way`, evidence: [silent] };
  const shown = qkeysOf(study);
  return {
    cause: Cause.ARRIVED,
    text: arrivals,
    evidence: [
      ...(shown.length === 0 ? [] : [`${arrivals} with Q_Key ${shown.join(', ')}`]),
      `what arrived and is missing nevertheless was dropped by the peer: ${dropped}`,
    ],
  };
}

/** Different ones that are told. */
const MOST_QKEYS = 8;

function qkeysOf({ half, sightings: { table } }: Study): string[] {
  const keys = new Set<number>();
  for (const row of half.requests) {
    const offset = dethOffset[table.opcode(row)];
    if (offset !== 0) keys.add(getU32(table.headers(row), table.headerAt(row) + offset) >>> 0);
    if (keys.size >= MOST_QKEYS) break;
  }
  return [...keys].map((key) => hex(key));
}

/** The verdict about a half of a connection. */
export function verdictOf(study: Study): Verdict {
  if (!isReliable(study)) return unreliableVerdict(study);
  const refusal = refusalVerdict(study);
  if (refusal !== undefined) return refusal;
  const pending = firstPending(study);
  const reused = reusedVerdict(study, pending);
  if (reused !== undefined) return reused;
  if (pending === undefined) return answeredVerdict(study);
  return mismatchVerdict(study, pending) ?? waitingVerdict(study, pending) ?? silenceVerdict(study, pending);
}
