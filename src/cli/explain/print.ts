/** Stories for people and for programs. */
import { Direction, Ecn, hex, Opcode, PacketBit } from '../../device/wire/index.js';
import { formatMicroseconds } from '../../entry/index.js';
import type { CapturedExchange } from '../../protocols/dissect/index.js';
import { formatCmMessage } from '../dump/cm-line.js';
import type { CaptureFile } from './captures/capture-file.js';
import type { Sightings } from './captures/sightings.js';
import { count } from './numbers.js';
import { AnswerKind } from './requests/answers.js';
import { firstPending, type Study } from './requests/study.js';
import { memoryOf } from './requests/words.js';
import { kindsOf, type Story } from './story.js';
import type { Verdict } from './verdicts/cause.js';
import { type Conversation, conversationsOf } from './verdicts/conversation.js';

/** Lines in the middle of a story; more are only counted. */
const MOST_LINES = 12;

/** What has a time and a text. */
interface Timed {
  readonly timeUs: number;
  readonly text: string;
}

function line({ timeUs, text }: Timed): string {
  return `  ${(timeUs / 1e6).toFixed(6)}  ${text}`;
}

/** All of a list, or its beginning and its end. */
function shortened(
  all: { readonly length: number; slice(begin: number, end?: number): Timed[] },
  whole: boolean,
): string[] {
  if (whole || all.length <= MOST_LINES) return all.slice(0).map(line);
  const half = MOST_LINES / 2;
  return [
    ...all.slice(0, half).map(line),
    `  ...       ${all.length - MOST_LINES} more of that kind (-v shows them)`,
    ...all.slice(all.length - half).map(line),
  ];
}

/** A verdict, and below it what it is based on. */
function verdictLines({ cause, text, evidence }: Verdict): string[] {
  return [`  ${cause.toUpperCase()}: ${text}`, ...evidence.map((each) => `    ${each}`)];
}

/** Where a half was captured: the basis of its verdict. */
function vantage({ half, atRequester, atResponder }: Study): string {
  if (atRequester && atResponder) return 'seen at both';
  if (atRequester || atResponder) return `seen at ${atRequester ? half.requester : half.responder}`;
  return 'seen on the way';
}

function heading({ study }: Story): string {
  const { half } = study;
  const to = half.answersQpn === undefined ? '' : `, from queue pair ${hex(half.answersQpn)}`;
  return `${half.requester} to ${half.responder} queue pair ${hex(half.qpn)} (${half.service}${to}), ${vantage(study)}`;
}

export function placementLines({ placements }: Sightings): string[] {
  return placements.map(
    ({ name, at }) =>
      `${name} does not tell which packets were sent and which received: taken for what was seen at ${at}`,
  );
}

/** What the connection managers said to each other. */
export function conversationLines(sightings: Sightings, notConnected = failed(sightings)): string[] {
  const said = sightings.cms.filter(
    ({ direction, source }) => direction !== Direction.IN || !sightings.isVantage(source),
  );
  if (said.length === 0) return [];
  return [
    'connection managers',
    ...said
      .toSorted((a, b) => a.timeUs - b.timeUs)
      .map(({ timeUs, source, destination, cm }) =>
        line({ timeUs, text: `${source} > ${destination} ${formatCmMessage(cm)}` }),
      ),
    ...notConnected.flatMap(({ requester, responder, service, verdict: { cause, text, evidence } }) => [
      `  ${cause.toUpperCase()}: ${text}`,
      ...evidence.map((each) => `    ${requester} asked ${responder} for ${service}; ${each}`),
    ]),
  ];
}

/** Marks of congestion and congestion notifications, by the flow that has them. */
interface Congestion {
  readonly source: string;
  readonly destination: string;
  readonly qpn: number;
  cnps: number;
  marked: number;
  packets: number;
  firstUs: number;
}

/** What was seen of congestion. */
export function congestionOf(sightings: Sightings): Congestion[] {
  const { table, flows } = sightings;
  const found: (Congestion | undefined)[] = [];
  for (const row of sightings.rows()) {
    if (table.direction(row) === Direction.IN && sightings.isVantage(sightings.source(row))) continue;
    const flow = table.flow(row);
    const one = (found[flow] ??= {
      source: flows.source(flow),
      destination: flows.destination(flow),
      qpn: flows.qpn(flow),
      cnps: 0,
      marked: 0,
      packets: 0,
      firstUs: -1,
    });
    one.packets += 1;
    const isCnp = table.opcode(row) === Opcode.CNP;
    const isMarked = table.ecn(row) === Ecn.CE || (!isCnp && (table.bits(row) & PacketBit.FECN) !== 0);
    if (isCnp) one.cnps += 1;
    if (isMarked) one.marked += 1;
    if ((isCnp || isMarked) && one.firstUs < 0) one.firstUs = sightings.timeUs(row);
  }
  return found.filter((one) => one !== undefined && one.cnps + one.marked > 0) as Congestion[];
}

/** The same in lines. */
export function congestionLines(all: readonly Congestion[]): string[] {
  if (all.length === 0) return [];
  const lines = all.map(({ source, destination, qpn, cnps, marked, packets, firstUs }) => {
    const words = [
      ...(cnps > 0 ? [`${count(cnps, 'CNP')} (congestion notifications)`] : []),
      ...(marked > 0 ? [`${marked} of ${count(packets, 'packet')} marked CE (congestion)`] : []),
    ];
    return { timeUs: firstUs, text: `${source} > ${destination} queue pair ${hex(qpn)}: ${words.join(', ')}` };
  });
  return ['congestion', ...lines.sort((a, b) => a.timeUs - b.timeUs).map(line)];
}

/** The same for programs. */
export const congestionJson = ({ source, destination, qpn, cnps, marked, packets }: Congestion) => ({
  congestion: { source, destination, qpn, cnps, marked, packets },
});

/** What of a file was not used as it is, in sentences. */
export function fileNotes({ cursor, unreadable, wrong, copies, failure, name }: CaptureFile): string[] {
  const { skipped } = cursor;
  const notes: string[] = [];
  if (skipped.total > 0) notes.push(skipped.toString());
  if (unreadable > 0) notes.push(`${count(unreadable, 'packet')} with an unknown opcode or no whole BTH left out`);
  if (wrong > 0) notes.push(`${count(wrong, 'packet')} with a wrong ICRC`);
  if (copies > 0) notes.push(`${count(copies, 'copy').replace(/ys$/, 'ies')} of packets on other interfaces left out`);
  const prefix = name === '' ? '' : `${name}: `;
  return [...notes.map((note) => `${prefix}${note}`), ...(failure === undefined ? [] : [failure.message])];
}

/** The same for programs; undefined for a file of which there is nothing to say. */
export function fileJson({ cursor, table, unreadable, wrong, copies, failure, name }: CaptureFile) {
  const { skipped, frames } = cursor;
  if (skipped.total + unreadable + wrong + copies === 0 && failure === undefined) return undefined;
  return {
    file: name,
    frames: frames.count,
    packets: table.packets,
    skipped: skipped.reasons(),
    unreadable,
    wrongIcrc: wrong,
    copies,
    ...(failure !== undefined && { failure: failure.message }),
  };
}

/** What took several messages of a protocol. */
export function exchangeLines({ exchanges }: Sightings, all: boolean): string[] {
  if (exchanges.length === 0) return [];
  const happenings = exchanges.map(({ timeUs, tookUs, from, to, words }) => {
    const took = tookUs === undefined ? 'the capture has no end of it' : formatMicroseconds(tookUs);
    return { timeUs, text: `${from} > ${to} ${words}: ${took}` };
  });
  return ['exchanges of messages', ...shortened(happenings, all)];
}

export function exchangeJson({ words, ...exchange }: CapturedExchange) {
  return { exchange: words, ...exchange };
}

type Failed = Conversation & { readonly verdict: Verdict };

/** Connections that were asked for and did not come to be. */
export function failed(sightings: Sightings): Failed[] {
  return conversationsOf(sightings).filter((each): each is Failed => each.verdict !== undefined);
}

export function conversationJson({ requester, responder, service, verdict }: Failed) {
  return { requester, responder, service, cause: verdict.cause, verdict: verdict.text };
}

export function storyLines(story: Story, all: boolean): string[] {
  return [heading(story), ...shortened(story.happenings, all), ...verdictLines(story.verdict)];
}

/** The first request that was not answered, for programs. */
function pendingJson(study: Study) {
  const pending = firstPending(study);
  if (pending === undefined) return undefined;
  const { requests, sightings } = study;
  const memory = memoryOf(sightings, pending.row);
  return {
    psn: sightings.table.psn(pending.row),
    lengthBytes: pending.lengthBytes,
    ...(memory !== undefined && { remoteAddr: hex(memory.va), rkey: memory.rkey }),
    frame: sightings.table.frame(pending.row),
    transmissions: requests.packets.sent.count(pending.begin),
  };
}

/** How many answers of each kind there are. */
function answerCounts({ answers }: Study) {
  const counts = { acks: 0, responses: 0, naks: 0, rnrNaks: 0 };
  for (let i = 0; i < answers.length; i += 1) {
    const kind = answers.kind(i);
    if (kind === AnswerKind.ACK) counts.acks += 1;
    else if (kind === AnswerKind.DATA) counts.responses += 1;
    else if (kind === AnswerKind.REFUSAL) counts.naks += 1;
    else counts.rnrNaks += 1;
  }
  return counts;
}

/** A story for programs. */
export function storyJson({ study, happenings, verdict }: Story) {
  const { half, requests, atRequester, atResponder, damagedAtRequester, damagedAtResponder } = study;
  const { packets } = requests;
  let transmissions = 0;
  for (let packet = 0; packet < packets.length; packet += 1) transmissions += packets.sent.count(packet);
  const isReliable = half.service === 'RC' || half.service === 'XRC';
  return {
    requester: half.requester,
    responder: half.responder,
    service: half.service,
    qpn: half.qpn,
    ...(half.answersQpn !== undefined && { requesterQpn: half.answersQpn }),
    capturedAt: { requester: atRequester, responder: atResponder },
    requests: requests.length,
    kinds: Object.fromEntries(kindsOf(study)),
    packets: packets.length,
    transmissions,
    answers: answerCounts(study),
    damaged: { atRequester: damagedAtRequester.length, atResponder: damagedAtResponder.length },
    marked: half.marked,
    cause: verdict.cause,
    verdict: verdict.text,
    pending: isReliable ? pendingJson(study) : undefined,
    happenings: [...happenings].map(({ timeUs, fields }) => ({ timeUs, ...fields })),
  };
}
