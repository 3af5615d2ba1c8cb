/** Stories for people and for programs. */
import { hex } from '../../device/wire/index.js';
import { formatMicroseconds } from '../../entry/index.js';
import type { CapturedExchange } from '../../protocols/dissect/index.js';
import { formatCmMessage } from '../dump/cm-line.js';
import type { Verdict } from './verdicts/cause.js';
import { type Conversation, conversationsOf } from './verdicts/conversation.js';
import type { Sightings } from './captures/sightings.js';
import type { Happening, Story } from './story.js';
import type { Study } from './requests/study.js';

/** Lines in the middle of a story; more are only counted. */
const MOST_LINES = 12;

function line({ timeUs, text }: Happening): string {
  return `  ${(timeUs / 1e6).toFixed(6)}  ${text}`;
}

function shortened(happenings: readonly Happening[], all: boolean): string[] {
  if (all || happenings.length <= MOST_LINES) return happenings.map(line);
  const half = MOST_LINES / 2;
  const between = happenings.length - MOST_LINES;
  return [
    ...happenings.slice(0, half).map(line),
    `  ...       ${between} more of that kind (-v shows them)`,
    ...happenings.slice(-half).map(line),
  ];
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
    ({ name = '', at }) =>
      `${name} does not tell which packets were sent and which received: taken for what was seen at ${at}`,
  );
}

/** What the connection managers said to each other. */
export function conversationLines(sightings: Sightings): string[] {
  const said = sightings.all.filter(
    ({ cm, direction, source }) => cm !== undefined && (direction !== 'in' || !sightings.isVantage(source)),
  );
  if (said.length === 0) return [];
  return [
    'connection managers',
    ...said
      .toSorted((a, b) => a.timeUs - b.timeUs)
      .map(({ timeUs, source, destination, cm }) =>
        line({ timeUs, text: `${source} > ${destination} ${cm === undefined ? '' : formatCmMessage(cm)}` }),
      ),
    ...failed(sightings).map(
      ({ requester, responder, service, verdict: { cause, text } }) =>
        `  ${cause.toUpperCase()}: ${requester} asked ${responder} for ${service}; ${text}`,
    ),
  ];
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
  const { cause, text } = story.verdict;
  return [heading(story), ...shortened(story.happenings, all), `  ${cause.toUpperCase()}: ${text}`];
}

/** The same for programs. */
export function storyJson({ study, happenings, verdict }: Story) {
  const { half, requests, atRequester, atResponder, damagedAtRequester, damagedAtResponder } = study;
  return {
    requester: half.requester,
    responder: half.responder,
    service: half.service,
    qpn: half.qpn,
    ...(half.answersQpn !== undefined && { requesterQpn: half.answersQpn }),
    capturedAt: { requester: atRequester, responder: atResponder },
    requests: requests.length,
    packets: requests.reduce((sum, { packets }) => sum + packets.length, 0),
    transmissions: requests.flatMap(({ packets }) => packets).reduce((sum, { sent }) => sum + sent.length, 0),
    damaged: { atRequester: damagedAtRequester.length, atResponder: damagedAtResponder.length },
    cause: verdict.cause,
    verdict: verdict.text,
    happenings,
  };
}
