/** Why a half of a connection came to what it came to, as far as a capture can show it. */
import { hex, NakCode } from '../../../device/wire/index.js';
import { formatMicroseconds, rnrTimerUs } from '../../../entry/index.js';
import { Cause, type Verdict } from './cause.js';
import { refusalHints } from './refusals.js';
import { answeredVerdict } from './repairs.js';
import { isSequenceNak } from './repeats.js';
import type { Request } from '../requests/requests.js';
import { silenceVerdict } from './silence.js';
import { attemptsOf, firstPending, type Study, wantsData } from '../requests/study.js';
import { acknowledges, type Answer, AnswerKind } from '../requests/answers.js';
import { attemptWords, count, formatRequest } from '../requests/words.js';

/** Attempts at the same PSN that make a loop. */
const LOOP = 2;

const REFUSALS: Readonly<Partial<Record<number, readonly [cause: Cause, name: string]>>> = {
  [NakCode.INVALID_REQUEST]: [Cause.INVALID_REQUEST, 'invalid request'],
  [NakCode.REMOTE_ACCESS_ERROR]: [Cause.REMOTE_ACCESS, 'remote access error'],
  [NakCode.REMOTE_OPERATIONAL_ERROR]: [Cause.REMOTE_OPERATION, 'remote operational error'],
};

const isReliable = ({ half }: Study): boolean => half.service === 'RC' || half.service === 'XRC';

/** Once a request was answered, only a repeat of it can be refused, and nobody waits for that answer. */
function isStale({ answers, requests }: Study, { place, order }: Answer): boolean {
  const request = requests.find(({ first, last }) => first <= place && place <= last);
  const earlier = answers.filter((one) => one.order < order);
  return request !== undefined && wantsData(request)
    ? earlier.some((one) => one.kind === AnswerKind.DATA && one.place === place)
    : earlier.some((one) => acknowledges(one) >= place);
}

function refusalVerdict(study: Study): Verdict | undefined {
  for (const answer of study.answers) {
    const refusal = answer.kind === AnswerKind.REFUSAL ? REFUSALS[answer.code] : undefined;
    if (refusal === undefined) continue;
    const [cause, name] = refusal;
    if (isStale(study, answer)) continue;
    const request = study.requests.find(({ first, last }) => first <= answer.place && answer.place <= last);
    const what = request === undefined ? `PSN ${hex(answer.psn)}` : formatRequest(request);
    const text = `the peer refused ${what}: NAK ${name}, ${refusalHints(study, request, answer).join('; ')}`;
    return { cause, text };
  }
  return undefined;
}

/** The peer's answers name nothing that was asked for. */
function mismatchVerdict({ requests, answers }: Study, pending: Request): Verdict | undefined {
  // The capture may hold answers to requests from before it began; a requester without any other answer tries again.
  if (attemptsOf(pending).length < 2) return undefined;
  const end = (requests.at(-1)?.last ?? 0) + 1;
  if (answers.length === 0 || answers.some(({ place }) => place >= 0 && place <= end)) return undefined;
  const [answer] = answers;
  const asksFor = answer.kind === AnswerKind.REFUSAL ? 'asks for' : 'acknowledges';
  const [first] = requests[0].packets;
  return {
    cause: Cause.PSN_MISMATCH,
    text:
      `the peer ${asksFor} PSN ${hex(answer.psn)}, which the capture never shows being sent: requests begin there at PSN ${hex(first.packet.bth.psn)}; ` +
      "if the connection begins there as well, the peer's rqPsn is not the requester's sqPsn",
  };
}

function waitingVerdict(study: Study, pending: Request): Verdict | undefined {
  const { answers } = study;
  const of = answers.filter(({ place }) => place >= pending.first && place <= pending.last);
  const last = of.at(-1);
  if (last === undefined) return undefined;
  const alike = of.filter(({ kind }) => kind === last.kind);
  const attempts = attemptsOf(pending);
  const tried = attemptWords(study, attempts);
  if (last.kind === AnswerKind.NOT_READY)
    return {
      cause: Cause.NOT_READY,
      text:
        `${formatRequest(pending)} ${tried}, and the last that the peer said is that it is not ready: ` +
        `${count(alike.length, 'RNR NAK')}, which ask for ${formatMicroseconds(rnrTimerUs(last.code))}; does it post receive requests, and in time?`,
    };
  if (!isSequenceNak(last) || Math.min(alike.length, attempts.length - 1) < LOOP) return undefined;
  return {
    cause: Cause.SEQUENCE,
    text:
      `the peer asked for PSN ${hex(last.psn)} ${count(alike.length, 'time')} (NAK PSN sequence error), and what begins there ${tried}: ` +
      'this packet does not get through, while others do',
  };
}

function unreliableVerdict(study: Study): Verdict {
  const { half, requests, atRequester, atResponder, damagedAtResponder } = study;
  const packets = requests.flatMap((request) => request.packets);
  const sent = packets.reduce((sum, packet) => sum + packet.sent.length, 0);
  // What the way doubled makes up for nothing that it lost.
  const arrived = packets.reduce(
    (sum, { sent: copies, arrived: came }) => sum + Math.min(copies.length, came.length),
    0,
  );
  const silent = `${half.service} answers nothing, so the sender learns nothing`;
  if (!atResponder)
    return {
      cause: Cause.UNACKNOWLEDGED,
      text: `${count(sent, 'packet')} sent; ${silent}: whether they arrived takes the peer's capture`,
    };
  const dropped =
    half.service === 'UD'
      ? "a wrong Q_Key or P_Key, no receive request, or a queue pair that is not ready, and the peer's counters say which"
      : "no receive request, a key or a length that does not fit, or a queue pair that is not ready, and the peer's counters say which";
  const arrivals = `${atRequester ? `${arrived} of ${count(sent, 'packet')}` : count(arrived, 'packet')} arrived`;
  if (damagedAtResponder.length > 0)
    return {
      cause: Cause.DAMAGED,
      text: `${arrivals}, and ${damagedAtResponder.length} damaged (wrong ICRC), which are dropped; ${silent}`,
    };
  if (atRequester && arrived < sent)
    return { cause: Cause.LOST, text: `${arrivals}, ${sent - arrived} were lost on the way; ${silent}` };
  const keys = [
    ...new Set(half.requests.flatMap(({ packet }) => (packet.deth === undefined ? [] : [hex(packet.deth.qkey)]))),
  ];
  const shown = keys.length === 0 ? '' : ` with Q_Key ${keys.join(', ')}`;
  return {
    cause: Cause.ARRIVED,
    text: `${arrivals}${shown}; what arrived and is missing nevertheless was dropped by the peer: ${dropped}`,
  };
}

export function verdictOf(study: Study): Verdict {
  if (!isReliable(study)) return unreliableVerdict(study);
  const refusal = refusalVerdict(study);
  if (refusal !== undefined) return refusal;
  const pending = firstPending(study);
  if (pending === undefined) return answeredVerdict(study);
  return mismatchVerdict(study, pending) ?? waitingVerdict(study, pending) ?? silenceVerdict(study, pending);
}
