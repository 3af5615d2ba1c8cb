/** What was answered in the end: what went wrong until then, and whether the requester still waited for it. */
import { formatMicroseconds } from '../../index.js';
import { Cause, type Verdict } from './cause.js';
import { acknowledges, type Answer, AnswerKind, attemptsOf, repeatsOf, type Request, type Study } from './study.js';
import { count, formatRequest, greatest } from './words.js';

/** Who has not tried again after so many times what was the longest time between tries has stopped trying. */
const SURELY_OVER = 2;

/** Where both captures are there: what came of all that was sent, in either direction. */
function losses({ half, requests, given, answers, damagedAtRequester, damagedAtResponder }: Study): string[] {
  const packets = requests.flatMap((request) => request.packets);
  const there = packets.reduce((sum, { sentUs, arrivedUs }) => sum + Math.max(0, sentUs.length - arrivedUs.length), 0);
  const back = given.length - answers.length;
  const damaged = (n: number): string => (n === 0 ? '' : ` (${n} came damaged, with a wrong ICRC)`);
  return [
    ...(there > 0
      ? [`${count(there, 'packet')} sent to ${half.responder} did not arrive there whole${damaged(damagedAtResponder)}`]
      : []),
    ...(back > 0 ? [`${count(back, 'answer')} did not come back${damaged(damagedAtRequester)}`] : []),
  ];
}

/** What a request's answers say before it is answered. */
function objections({ answers }: Study, { first, last }: Request): Answer[] {
  return answers.filter(
    ({ kind, place }) =>
      (kind === AnswerKind.NOT_READY || kind === AnswerKind.REFUSAL) && place >= first && place <= last,
  );
}

/** The side that answered: whether it, or the way, took so long. */
function whoTookLong({ half, atResponder, given }: Study, { packets, last }: Request, patienceUs: number): string {
  const answer = given.find((one) => acknowledges(one) >= last);
  const arrivedUs = packets
    .flatMap((one) => one.arrivedUs)
    .sort((a, b) => a - b)
    .at(0);
  if (!atResponder || answer === undefined || arrivedUs === undefined)
    return 'the peer was busy or stood still, or the way takes that long';
  const heldUs = answer.timeUs - arrivedUs;
  return heldUs > patienceUs
    ? `it had lain at ${half.responder} for ${formatMicroseconds(heldUs)} before that answered: it was busy or stood still`
    : `${half.responder} answered ${formatMicroseconds(heldUs)} after it came: the way takes that long, or all of that machine stood still`;
}

/** An answer that came when nobody waited for it any more: a success for the peer, and a failure for the requester. */
function lateVerdict(study: Study): Verdict | undefined {
  const { requests, answers } = study;
  // Who asks for something new after that had not given up.
  const newestUs = greatest(requests.map(({ firstUs }) => firstUs));
  const inTime = greatest(answers.filter(({ timeUs }) => timeUs < newestUs).map(acknowledges));
  const late = answers.filter(({ timeUs }) => timeUs >= newestUs);
  for (const request of requests.filter(({ last }) => last > inTime)) {
    const sentUs = attemptsOf(request);
    const answer = late.find((one) => acknowledges(one) >= request.last);
    if (sentUs.length < 2 || answer === undefined || objections(study, request).length > 0) continue;
    const lastUs = sentUs[sentUs.length - 1];
    const patienceUs = greatest(sentUs.slice(1).map((timeUs, i) => timeUs - sentUs[i]));
    const lateUs = answer.timeUs - lastUs;
    if (lateUs <= SURELY_OVER * patienceUs) continue;
    return {
      cause: Cause.TOO_LATE,
      text:
        `${formatRequest(request)} was sent ${count(sentUs.length, 'time')} in ${formatMicroseconds(lastUs - sentUs[0])}, then no more, and was answered ` +
        `${formatMicroseconds(lateUs)} after that, when the requester had given up: ${whoTookLong(study, request, patienceUs)}; ` +
        "are the requester's timeout and retryCnt large enough for that? The peer has carried it out all the same",
    };
  }
  return undefined;
}

/** The verdict where everything was answered: how much was sent again, and what asked for it. */
export function answeredVerdict(study: Study): Verdict {
  const late = lateVerdict(study);
  if (late !== undefined) return late;
  const { requests, answers, atRequester, atResponder } = study;
  const packets = requests.flatMap((request) => request.packets);
  const repeats = packets.reduce((sum, packet) => sum + repeatsOf(packet).length, 0);
  const counted = (kind: AnswerKind): number => answers.filter((answer) => answer.kind === kind).length;
  const naks = counted(AnswerKind.REFUSAL);
  const waits = counted(AnswerKind.NOT_READY);
  if (repeats === 0 && naks + waits === 0)
    return { cause: Cause.ANSWERED, text: 'everything was answered at the first attempt' };
  const asked = [
    ...(naks > 0 ? [`${count(naks, 'NAK')} of a PSN sequence error: packets were lost or overtaken`] : []),
    ...(waits > 0 ? [`${count(waits, 'RNR NAK')}: the peer had no receive request at first`] : []),
    ...(packets.some(({ again }) => again) ? ['answers to a READ were missing: it was asked for the rest'] : []),
  ];
  const unasked = 'nobody asked for that: the requester had waited for answers in vain';
  const reasons = asked.length > 0 ? asked : [unasked];
  if (atRequester && atResponder) {
    const lost = losses(study);
    const nothing =
      'nothing was lost: answers took longer than it waits for them; is its timeout too short for the way?';
    reasons.push(...(lost.length === 0 && asked.length === 0 ? [nothing] : lost));
  }
  return {
    cause: Cause.REPAIRED,
    text: `everything was answered in the end, after ${count(repeats, 'packet')} had been sent again; ${reasons.join('; ')}`,
  };
}
