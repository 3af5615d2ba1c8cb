/** What was answered in the end: what was sent again until then, and what of that the capture shows to have been needed. */
import { Direction, OpcodeBit, opcodeBits } from '../../../device/wire/index.js';
import { formatMicroseconds } from '../../../entry/index.js';
import { RowIndex } from '../captures/row-index.js';
import type { Sightings } from '../captures/sightings.js';
import { count, greatest } from '../numbers.js';
import { acknowledges, AnswerKind } from '../requests/answers.js';
import { newestFirst, type Request } from '../requests/requests.js';
import { attemptsOf, type Study } from '../requests/study.js';
import { formatRequest, nameRequest } from '../requests/words.js';
import { Cause, type Verdict } from './cause.js';
import { isSequenceNak, type Repeat, repeatsOf, Why } from './repeats.js';

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

/** Packets of one way: those that were sent at one end, and those that arrived at the other. */
class Way {
  /** Whether a file that does not tell where it was made stands for what was sent. */
  readonly isPlaced: boolean;
  /** Sent, and did not arrive whole. */
  missing = 0;
  /** Arrived more often than they were sent, whether the way has doubled them, or who captured missed some that were sent. */
  more = 0;
  /** Arrived, and were never seen before. */
  unseen = 0;

  constructor(sightings: Sightings, sent: Uint32Array, arrived: Uint32Array) {
    this.isPlaced = sent.some((row) => sightings.isPlaced(row));
    const index = new RowIndex(sightings.table, sent.length + arrived.length);
    const counts = new Int32Array(2 * index.size);
    for (const row of sent) counts[2 * index.numberOf(row)] += 1;
    for (const row of arrived) counts[2 * index.numberOf(row) + 1] += 1;
    for (let i = 0; i < counts.length; i += 2) {
      const [left, came] = [counts[i], counts[i + 1]];
      this.missing += Math.max(0, left - came);
      if (left > 0) this.more += Math.max(0, came - left);
      else this.unseen += came;
    }
  }
}

const PSNS = 1 << 24;

/** Packets without which nothing would have been answered, and of which no copy was seen to arrive. */
function overlooked({ requests, sightings }: Study, given: Uint32Array, got: Uint32Array): number {
  const { table } = sightings;
  const { packets } = requests;
  let n = 0;
  for (let packet = 0; packet < packets.length; packet += 1)
    if (!requests.isAgain(packet) && packets.sent.count(packet) > 0 && packets.arrived.count(packet) === 0) n += 1;
  const arrived = new Uint8Array(PSNS);
  for (const row of got) arrived[table.psn(row)] = 1;
  for (const row of given) {
    if ((opcodeBits[table.opcode(row)] & OpcodeBit.ACK) !== 0 || arrived[table.psn(row)] !== 0) continue;
    arrived[table.psn(row)] = 1;
    n += 1;
  }
  return n;
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

const inDirection = ({ table }: Sightings, rows: Uint32Array, wanted: Direction): Uint32Array =>
  rows.filter((row) => table.direction(row) === wanted);

/** With captures of both sides: what is in one and not in the other. */
function losses(study: Study): Losses {
  const { half, sightings } = study;
  const of = (rows: Uint32Array, direction: Direction): Uint32Array => inDirection(sightings, rows, direction);
  const there = new Way(sightings, of(half.requests, Direction.OUT), of(half.requests, Direction.IN));
  const [given, got] = [of(half.answers, Direction.OUT), of(half.answers, Direction.IN)];
  const back = new Way(sightings, given, got);
  const ways = [there, back];
  const sum = (of: (way: Way) => number): number => ways.reduce((total, way) => total + of(way), 0);
  const doubled = sum((way) => (way.isPlaced ? 0 : way.more));
  const doubtful = sum((way) => (way.isPlaced ? way.more : 0));
  const unseen = sum((way) => way.unseen);
  const lacking = unseen + overlooked(study, given, got);
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

/** Whether answers to a request say something else before it is answered. */
function hasObjections({ answers }: Study, { first, last }: Request): boolean {
  return answers.some(
    ({ kind, place }) =>
      (kind === AnswerKind.NOT_READY || kind === AnswerKind.REFUSAL) && place >= first && place <= last,
  );
}

/** Whether a NAK had asked for a request, or for what was sent before it, and had not been satisfied: no timer sent it then. */
function wasAskedFor({ answers, reach }: Study, { last }: Request, first: number): boolean {
  const reached = reach.before(first);
  return answers.some((one) => isSequenceNak(one) && one.place <= last && one.place > reached);
}

/** The side that answered: whether it, or the way, took so long. */
function whoTookLong(study: Study, request: Request, patienceUs: number): string {
  const { half, atResponder, given, requests, sightings } = study;
  const answer = given.find((one) => acknowledges(one) >= request.last);
  let arrived = Infinity;
  for (let packet = request.begin; packet < request.end; packet += 1) {
    const first = requests.packets.arrived.first(packet);
    if (first >= 0) arrived = Math.min(arrived, first);
  }
  if (!atResponder || answer === undefined || arrived === Infinity)
    return 'the peer was busy or stood still, or the way takes that long';
  const heldUs = answer.timeUs - sightings.timeUs(arrived);
  return heldUs > patienceUs
    ? `it had lain at ${half.responder} for ${formatMicroseconds(heldUs)} before that answered: it was busy or stood still`
    : `${half.responder} answered ${formatMicroseconds(heldUs)} after it came: the way takes that long, or all of that machine stood still`;
}

/**
 * An answer that came long after its request was sent for the last time, by the time between tries before. No capture shows
 * whether a requester still waits.
 */
function lateVerdict(study: Study): Verdict | undefined {
  const { requests, answers, atRequester, reach, sightings } = study;
  if (!atRequester) return undefined;
  // A requester that sends something new after that had not given up.
  const newest = newestFirst(requests);
  const inTime = reach.before(newest);
  for (let i = requests.length - 1; i >= 0 && requests.last(i) > inTime; i -= 1) {
    const request = requests.at(i);
    const attempts = attemptsOf(requests, request);
    if (attempts.length < TIMER_ATTEMPTS) continue;
    const answer = answers.find((one) => one.row >= newest && acknowledges(one) >= request.last);
    if (answer === undefined || hasObjections(study, request)) continue;
    if (wasAskedFor(study, request, attempts[0])) continue;
    const last = attempts[attempts.length - 1];
    const times = attempts.map((row) => sightings.timeUs(row));
    const patienceUs = greatest(times.slice(1).map((us, n) => us - times[n]));
    const lateUs = answer.timeUs - sightings.timeUs(last);
    // A requester that has sent new requests since then was still waiting.
    if (answer.row < last || lateUs <= TIMER_SLACK * patienceUs) continue;
    const spanUs = sightings.timeUs(last) - times[0];
    return {
      cause: Cause.ANSWERED_LATE,
      text: `${nameRequest(requests, request)} was answered ${formatMicroseconds(lateUs)} after it was sent for the last time`,
      evidence: [
        `${formatRequest(requests, request)} was sent ${count(attempts.length, 'time')} in ${formatMicroseconds(spanUs)}, at most ` +
          `${formatMicroseconds(patienceUs)} apart, then no more, and was answered ${formatMicroseconds(lateUs)} after that`,
        whoTookLong(study, request, patienceUs),
        'No capture shows whether the requester still waited: if it had used up its retryCnt, ' +
          'it has given up (its completion says RETRY_EXC_ERR), though the peer has carried the request out',
      ],
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
function nothingMissing({ half, sightings }: Study): string {
  const isPlaced = (row: number): boolean => sightings.isPlaced(row);
  // One that was made on the way does not show what was lost or doubled before.
  return half.requests.some(isPlaced) || half.answers.some(isPlaced)
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
  const naks = answers.count(isSequenceNak);
  const waits = answers.count(({ kind }) => kind === AnswerKind.NOT_READY);
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
      ? `, after ${count(again.length, 'packet')} had been sent again`
      : copies > 0 || lost.uncounted
        ? ''
        : ' at the first attempt';
  if (again.length > 0) notes.unshift(`sent again: ${reasons(again).join(', ')}`);
  if (copies > 0)
    notes.unshift(
      `${count(copies, 'packet')} came by once more just as before: sent again, or doubled on the way, which takes the capture of ${half.requester}`,
    );
  const unprompted = repeats.some(({ why }) => UNPROMPTED.has(why));
  const cause = repeats.length > 0 && shown ? Cause.REPAIRED : unprompted ? Cause.REPEATED : Cause.ANSWERED;
  if (cause === Cause.REPEATED && both && !lost.incomplete) notes.push(nothingMissing(study));
  else if (cause === Cause.REPEATED && atRequester && !both)
    notes.push(`whether packets were lost or answers late takes the capture of ${half.responder}`);
  return { cause, text: everything(study) + sentAgain, evidence: notes };
}
