/** What was answered in the end: what was sent again until then, and what of that the capture shows to have been needed. */
import { OpcodeBit, opcodeBits } from '../../../device/wire/index.js';
import { formatMicroseconds } from '../../../entry/index.js';
import { Cause, type Verdict } from './cause.js';
import { isSequenceNak, type Repeat, repeatsOf, Why } from './repeats.js';
import type { Asked, Request } from '../requests/requests.js';
import { nameOf, psnOf, type Sighting } from '../captures/sighting.js';
import { attemptsOf, type Study } from '../requests/study.js';
import { acknowledges, type Answer, AnswerKind, greatest } from '../requests/answers.js';
import { count, formatRequest } from '../requests/words.js';

/** A timer takes up to four times what it was set to (IBTA 9.7.6.1.3). */
const TIMER_SLACK = 4;
const TIMER_ATTEMPTS = 3;

const WHYS: Readonly<Record<Why, string>> = {
  [Why.NAK]: 'after a NAK had asked for it',
  [Why.NOT_READY]: 'after an RNR NAK',
  [Why.REST]: 'that asked for the rest of a READ whose answers had not all come',
  [Why.PASSED]: 'because later requests or packets were answered, and it was not',
  [Why.QUESTION]: 'to ask for the acknowledgement that had not been asked for at first',
  [Why.ANSWERED]: 'that had been answered',
  [Why.NOTHING]: 'without a NAK, before there was an answer',
};

/** Datagrams of one way: by what they are, those that were sent at one end, and those that arrived at the other. */
class Way {
  /** Whether a file that does not tell where it was made stands for what was sent. */
  readonly isPlaced: boolean;
  /** Sent, and did not arrive whole. */
  missing = 0;
  /** Arrived more often than they were sent, whether the way has doubled them, or who captured missed some that were sent. */
  more = 0;
  /** Arrived, and were never seen before. */
  unseen = 0;

  constructor(sent: readonly Sighting[], arrived: readonly Sighting[]) {
    this.isPlaced = sent.some(({ placed }) => placed);
    const counts = new Map<string, { sent: number; arrived: number }>();
    const countOf = (sighting: Sighting): { sent: number; arrived: number } => {
      const name = nameOf(sighting);
      const known = counts.get(name) ?? { sent: 0, arrived: 0 };
      counts.set(name, known);
      return known;
    };
    for (const sighting of sent) countOf(sighting).sent += 1;
    for (const sighting of arrived) countOf(sighting).arrived += 1;
    for (const one of counts.values()) {
      this.missing += Math.max(0, one.sent - one.arrived);
      if (one.sent > 0) this.more += Math.max(0, one.arrived - one.sent);
      else this.unseen += one.arrived;
    }
  }
}

const bringsData = ({ packet: { bth } }: Sighting): boolean => (opcodeBits[bth.opcode] & OpcodeBit.ACK) === 0;

/** Packets without which nothing would have been answered, and of which no copy was seen to arrive. */
function overlooked(requests: readonly Asked[], given: readonly Sighting[], got: readonly Sighting[]): number {
  const arrived = new Set(got.map(psnOf));
  const data = new Set(given.filter(bringsData).map(psnOf));
  return (
    requests.filter((one) => !one.again && one.sent.length > 0 && one.arrived.length === 0).length +
    [...data].filter((psn) => !arrived.has(psn)).length
  );
}

/** What captures of both sides show of losses, where all was answered in the end. */
interface Losses {
  /** Something was lost, beyond doubt. */
  readonly any: boolean;
  /** A capture is known to lack packets: what is missing, or came too often, may have been overlooked. */
  readonly incomplete: boolean;
  /** The requester's capture is one of those, so it does not show how often packets were sent. */
  readonly uncounted: boolean;
  readonly words: readonly string[];
}

const NO_LOSSES: Losses = { any: false, incomplete: false, uncounted: false, words: [] };

/** With captures of both sides: what is in one and not in the other. */
export function losses({ half, requests }: Study): Losses {
  const packets = requests.flatMap((request) => request.packets);
  const there = new Way(
    packets.flatMap(({ sent }) => sent),
    packets.flatMap(({ arrived }) => arrived),
  );
  const answers = (wanted: 'in' | 'out'): Sighting[] => half.answers.filter(({ direction }) => direction === wanted);
  const [given, got] = [answers('out'), answers('in')];
  const back = new Way(given, got);
  const ways = [there, back];
  const sum = (of: (way: Way) => number): number => ways.reduce((total, way) => total + of(way), 0);
  const doubled = sum((way) => (way.isPlaced ? 0 : way.more));
  const doubtful = sum((way) => (way.isPlaced ? way.more : 0));
  const unseen = sum(({ unseen: count }) => count);
  const lacking = unseen + overlooked(packets, given, got);
  const missing = there.missing + back.missing;
  const incomplete = lacking > 0;
  const words: string[] = [];
  const fate = incomplete ? 'not seen whole there' : 'lost or damaged on the way';
  if (there.missing > 0) words.push(`${count(there.missing, 'packet')} to ${half.responder} ${fate}`);
  if (back.missing > 0) words.push(`${count(back.missing, 'answer')} to ${half.requester} ${fate}`);
  if (doubled > 0) words.push(`the way doubled ${count(doubled, 'packet')}`);
  if (doubtful > 0)
    words.push(
      `${count(doubtful, 'packet')} more arrived than the captures show sent: doubled on the way, or overlooked by who captured`,
    );
  if (incomplete)
    words.push(
      `the captures lack ${count(lacking, 'packet')} that must have come by: what is missing there may have been overlooked by who captured`,
    );
  const uncounted = there.unseen > 0 || (there.isPlaced && there.more > 0);
  return { any: missing > 0 && !incomplete, incomplete, uncounted, words };
}

/** What a request's answers say before it is answered. */
function objections({ answers }: Study, { first, last }: Request): Answer[] {
  return answers.filter(
    ({ kind, place }) =>
      (kind === AnswerKind.NOT_READY || kind === AnswerKind.REFUSAL) && place >= first && place <= last,
  );
}

/** Whether a NAK had asked for a request, or for what was sent before it, and had not been satisfied: no timer sent it then. */
function wasAskedFor({ answers }: Study, { last }: Request, first: Sighting): boolean {
  const reached = greatest(answers.filter(({ order }) => order < first.order).map(acknowledges));
  return answers.some((one) => isSequenceNak(one) && one.place <= last && one.place > reached);
}

/** The side that answered: whether it, or the way, took so long. */
function whoTookLong({ half, atResponder, given }: Study, { packets, last }: Request, patienceUs: number): string {
  const answer = given.find((one) => acknowledges(one) >= last);
  const arrived = packets
    .flatMap((one) => one.arrived)
    .sort((a, b) => a.order - b.order)
    .at(0);
  if (!atResponder || answer === undefined || arrived === undefined)
    return 'the peer was busy or stood still, or the way takes that long';
  const heldUs = answer.timeUs - arrived.timeUs;
  return heldUs > patienceUs
    ? `it had lain at ${half.responder} for ${formatMicroseconds(heldUs)} before that answered: it was busy or stood still`
    : `${half.responder} answered ${formatMicroseconds(heldUs)} after it came: the way takes that long, or all of that machine stood still`;
}

/**
 * An answer that came long after its request was sent for the last time, by the time between tries before. No capture shows
 * whether a requester still waits.
 */
function lateVerdict(study: Study): Verdict | undefined {
  const { requests, answers, atRequester } = study;
  if (!atRequester) return undefined;
  // A requester that sends something new after that had not given up.
  const newest = greatest(requests.map(({ packets }) => packets[0].sent[0]?.order ?? -1));
  const inTime = greatest(answers.filter(({ order }) => order < newest).map(acknowledges));
  const late = answers.filter(({ order }) => order >= newest);
  for (const request of requests.filter(({ last }) => last > inTime)) {
    const attempts = attemptsOf(request);
    const answer = late.find((one) => acknowledges(one) >= request.last);
    if (attempts.length < TIMER_ATTEMPTS || answer === undefined || objections(study, request).length > 0) continue;
    if (wasAskedFor(study, request, attempts[0])) continue;
    const last = attempts[attempts.length - 1];
    const gapsUs = attempts.slice(1).map(({ timeUs }, i) => timeUs - attempts[i].timeUs);
    const patienceUs = greatest(gapsUs);
    const lateUs = answer.timeUs - last.timeUs;
    // A requester that has sent new requests since then was still waiting.
    if (answer.order < last.order || lateUs <= TIMER_SLACK * patienceUs) continue;
    return {
      cause: Cause.ANSWERED_LATE,
      text:
        `${formatRequest(request)} was sent ${count(attempts.length, 'time')} in ${formatMicroseconds(last.timeUs - attempts[0].timeUs)}, at most ` +
        `${formatMicroseconds(patienceUs)} apart, then no more, and was answered ${formatMicroseconds(lateUs)} after that: ` +
        `${whoTookLong(study, request, patienceUs)}. No capture shows whether the requester still waited: if it had used up its retryCnt, ` +
        'it has given up (its completion says RETRY_EXC_ERR), though the peer has carried the request out',
    };
  }
  return undefined;
}

/** Each reason why something was sent again, with how often it was. */
function reasons(repeats: readonly Repeat[]): string[] {
  return Object.values(Why).flatMap((why) => {
    const n = repeats.filter((repeat) => repeat.why === why).length;
    return n === 0 ? [] : [`${n} ${WHYS[why]}`];
  });
}

/** What all of it was: what was seen nowhere but here says nothing of what became of answers on their way. */
function everything({ atRequester, atResponder }: Study): string {
  if (atRequester) return 'everything was answered';
  return atResponder ? 'everything that came was answered' : 'everything that came by was answered';
}

/** What follows where packets were sent again, and none is missing. */
function nothingMissing({ requests, half }: Study): string {
  const sightings = [...requests.flatMap(({ packets }) => packets.flatMap(({ sent }) => sent)), ...half.answers];
  // One that was made on the way does not show what was lost or doubled before.
  return sightings.some(({ placed }) => placed)
    ? 'no fewer packets arrived than the captures show sent, either way'
    : 'no fewer packets arrived than were sent, either way: answers were late, or the requester asked early';
}

const UNPROMPTED: ReadonlySet<Why> = new Set([Why.REST, Why.ANSWERED, Why.NOTHING]);

/** The verdict where everything was answered: how much was sent again, and what asked for it. */
export function answeredVerdict(study: Study): Verdict {
  const late = lateVerdict(study);
  if (late !== undefined) return late;
  const { answers, half, atRequester, atResponder } = study;
  const repeats = repeatsOf(study);
  const naks = answers.filter(isSequenceNak).length;
  const waits = answers.filter(({ kind }) => kind === AnswerKind.NOT_READY).length;
  const both = atRequester && atResponder;
  const lost = both ? losses(study) : NO_LOSSES;
  const damaged = study.damagedAtRequester.length + study.damagedAtResponder.length;
  const shown = naks + waits > 0 || lost.any || damaged > 0 || repeats.some(({ why }) => why === Why.PASSED);
  const notes = [
    ...(naks > 0 ? [`${count(naks, 'NAK')} of a PSN sequence error: packets were lost, damaged or overtaken`] : []),
    ...(waits > 0 ? [`${count(waits, 'RNR NAK')}: the peer was not ready at first, as without a receive request`] : []),
    ...lost.words,
    ...(damaged > 0 ? [`${count(damaged, 'packet')} came damaged, with a wrong ICRC`] : []),
  ];
  const copies = repeats.filter(({ mayBeCopy }) => mayBeCopy).length;
  const again = repeats.filter(({ mayBeCopy }) => !mayBeCopy);
  const sentAgain =
    again.length > 0
      ? `, after ${count(again.length, 'packet')} had been sent again: ${reasons(again).join(', ')}`
      : copies > 0 || lost.uncounted
        ? ''
        : ' at the first attempt';
  if (copies > 0)
    notes.unshift(
      `${count(copies, 'packet')} came by once more just as before: sent again, or doubled on the way, which takes the capture of ${half.requester}`,
    );
  const unprompted = repeats.some(({ why }) => UNPROMPTED.has(why));
  const cause = repeats.length > 0 && shown ? Cause.REPAIRED : unprompted ? Cause.REPEATED : Cause.ANSWERED;
  if (cause === Cause.REPEATED && both && !lost.incomplete) notes.push(nothingMissing(study));
  else if (cause === Cause.REPEATED && atRequester && !both)
    notes.push(`whether packets were lost or answers late takes the capture of ${half.responder}`);
  return { cause, text: [everything(study) + sentAgain, ...notes].join('; ') };
}
