/** Why nothing comes back: what one side can tell, and what both can. */
import { hex } from '../../../device/wire/index.js';
import { formatMicroseconds, psnAdd } from '../../../entry/index.js';
import { count } from '../numbers.js';
import { type Answers, AnswerKind } from '../requests/answers.js';
import type { Request } from '../requests/requests.js';
import { attemptsOf, type Study, wantsData } from '../requests/study.js';
import { attemptWords, formatRequest, nameRequest } from '../requests/words.js';
import { Cause, type Verdict } from './cause.js';
import { lengthHint } from './lengths.js';

const DEFAULT_PKEY = 0xffff;
const PKEY_MASK = 0x7fff;
/** Attempts after which one may say that there was no answer, and not only that there was none yet. */
const TRIED = 3;
/** A capture that goes on for so long after a request shows that it was never answered. */
const WAITED_US = 1e6;

const isDefault = (pkey: number): boolean => (pkey & PKEY_MASK) === (DEFAULT_PKEY & PKEY_MASK);

function pkeyHints({ half, sightings: { table } }: Study): string[] {
  const strange = half.requests.find((row) => !isDefault(table.pkey(row)));
  return strange === undefined
    ? []
    : [`P_Key ${hex(table.pkey(strange))} is not the default one: does the peer's table have it?`];
}

const lengthHints = (study: Study, pending: Request): string[] =>
  [lengthHint(study, pending)].filter((hint) => hint !== '');

/** What the requester did about it. */
const whatWasTried = (study: Study, pending: Request): string =>
  `${formatRequest(study.requests, pending)} ${attemptWords(study, attemptsOf(study.requests, pending))}`;

/** The PSN of a place. */
const psnAt = ({ half, sightings }: Study, place: number): number =>
  psnAdd(sightings.table.psn(half.requests[0]), place);

/** Those of damaged packets that were of the request that waits, or of answers to it, as far as their PSNs can be believed. */
function damagedOf(damaged: readonly number[], study: Study, { first, last }: Request): number {
  const from = psnAt(study, first);
  return damaged.filter((row) => ((study.sightings.table.psn(row) - from) & 0xffffff) <= last - first).length;
}

/** Times that packets of a request arrived, and whether any arrived more than once. */
function arrivalsOf({ requests: { packets } }: Study, { begin, end }: Request): { total: number; again: boolean } {
  let [total, again] = [0, false];
  for (let packet = begin; packet < end; packet += 1) {
    total += packets.arrived.count(packet);
    again ||= packets.arrived.count(packet) > 1;
  }
  return { total, again };
}

/** The connection was ended by those who manage it, and what was under way with it. */
function disconnectedVerdict(study: Study, pending: Request): Verdict | undefined {
  const { over } = study.half;
  const attempts = attemptsOf(study.requests, pending);
  if (over === undefined || attempts.length === 0 || attempts.length >= TRIED) return undefined;
  return {
    cause: Cause.DISCONNECTED,
    text: `${nameRequest(study.requests, pending)} was not answered before the connection was ended (DREQ)`,
    evidence: [`${whatWasTried(study, pending)} and was not answered`, `${over.by} ended the connection (DREQ)`],
  };
}

/** Too little to say anything of it: it was tried once or twice, or the last try was being answered. */
function unfinishedVerdict(study: Study, pending: Request): Verdict | undefined {
  const { atResponder, given, half, answers, requests, sightings } = study;
  const attempts = attemptsOf(requests, pending);
  const { first, last } = pending;
  const tried = attempts.at(-1) ?? 0;
  const isLater = answers.some(({ place, row }) => place >= first && place <= last && row > tried);
  if (attempts.length >= TRIED && !isLater) return undefined;
  const name = nameRequest(requests, pending);
  if (!sightings.isSeen(half.responder))
    return {
      cause: Cause.UNFINISHED,
      text: `${name}: the captures have no packet of the responder`,
      evidence: [
        whatWasTried(study, pending),
        `no packet of ${half.responder} was captured: one direction is missing, or that host is silent`,
      ],
    };
  const known = !atResponder
    ? []
    : arrivalsOf(study, pending).total > 0
      ? [
          `it arrived at ${half.responder}, which answered ${given.some(({ place }) => place >= first) ? 'it' : 'nothing'} there`,
        ]
      : [`it does not stand in the capture of ${half.responder}`];
  const came = placesOf(answers, pending).size;
  const shown =
    came === 0 ? 'the capture shows no answer' : `of its ${last - first + 1} answers the capture shows ${came}`;
  const waitedUs = sightings.endUs - sightings.timeUs(tried);
  const isNever = waitedUs >= WAITED_US;
  const why = isNever
    ? `it was never answered in ${formatMicroseconds(waitedUs)}`
    : 'the capture ends too early, or who made it missed packets';
  return {
    cause: isNever ? Cause.NEVER_ANSWERED : Cause.UNFINISHED,
    text: isNever ? `${name}: ${why}` : `${name} has no answer when the capture ends`,
    evidence: [`${whatWasTried(study, pending)}, and ${shown}`, ...known, why],
  };
}

/** The side of the requester alone: several causes look the same from there. */
function fromRequester(study: Study, pending: Request): Verdict {
  const { half, acknowledged, damagedAtRequester, answers, requests } = study;
  const name = nameRequest(requests, pending);
  const what = whatWasTried(study, pending);
  const damaged = damagedOf(damagedAtRequester, study, pending);
  if (damaged > 0)
    return {
      cause: Cause.ANSWERS_DAMAGED,
      text: `answers to ${name} come back damaged: the way changes packets`,
      evidence: [
        what,
        `${count(damaged, 'packet')} came back damaged (wrong ICRC) and had to be dropped: something on the way changes packets`,
      ],
    };
  const better = `a capture at ${half.responder} would tell`;
  if (acknowledged < 0 && answers.length === 0)
    return {
      cause: Cause.NO_ANSWER,
      text: `${name} and all before it were never answered: nothing ever came back`,
      evidence: [
        `${what}, and nothing ever came back: the peer is not there, or its queue pair ${hex(half.qpn)} is none, not in RTR or RTS, or connected to somebody else; ` +
          'or requests are lost on the way there; or answers are lost on the way back',
        ...pkeyHints(study),
        better,
      ],
    };
  const lastUs = answers.length === 0 ? 0 : answers.at(answers.length - 1).timeUs;
  return {
    cause: Cause.FELL_SILENT,
    text: `${name} was never answered: the peer fell silent after ${formatMicroseconds(lastUs)}`,
    evidence: [
      `${what}; the peer's last answer came ${formatMicroseconds(lastUs)} after the beginning: it died, its queue pair failed or was ended, it drops what is sent again, ` +
        'or the way there or back was cut',
      ...lengthHints(study, pending),
      better,
    ],
  };
}

/** Which places of a request have answers. */
function placesOf(answers: Answers, { first, last }: Request): Set<number> {
  const places = new Set<number>();
  for (const place of answers.places) if (place >= first && place <= last) places.add(place);
  return places;
}

/** The first answer to a request that did not come. */
function missingPlace(study: Study, pending: Request): number {
  const came = placesOf(study.answers, pending);
  let missing = pending.first;
  while (came.has(missing)) missing += 1;
  return missing;
}

/** How many of the answers to a request came back, and where they end. */
function whatCame(study: Study, pending: Request): string {
  const { first, last } = pending;
  const came = placesOf(study.answers, pending);
  if (came.size === 0) return 'none came';
  const psn = psnAt(study, missingPlace(study, pending));
  return `of the ${last - first + 1} that make it up ${came.size} came, and never that of PSN ${hex(psn)}`;
}

/** What arrived at the peer is known. */
function fromResponder(study: Study, pending: Request): Verdict {
  const { half, atRequester, given, damagedAtRequester, damagedAtResponder, requests } = study;
  const name = nameRequest(requests, pending);
  const what = whatWasTried(study, pending);
  const { total: arrivals, again } = arrivalsOf(study, pending);
  if (arrivals === 0) {
    const damaged = damagedOf(damagedAtResponder, study, pending);
    if (damaged > 0)
      return {
        cause: Cause.REQUESTS_DAMAGED,
        text: `${name} arrived damaged each time: something on the way changes packets`,
        evidence: [
          what,
          `at ${half.responder} ${count(damaged, 'packet')} arrived damaged (wrong ICRC), which the peer drops`,
        ],
      };
    return {
      cause: Cause.REQUESTS_LOST,
      text: `${name} never arrived: requests are lost, or nobody is there`,
      evidence: [
        `${what}, and none of that arrived at ${half.responder}: requests are lost on the way there, or nobody is there`,
        ...lengthHints(study, pending),
      ],
    };
  }
  const answered = given.count(({ place, kind }) => place >= pending.first || kind === AnswerKind.REFUSAL);
  if (answered === 0 && !again)
    return {
      cause: Cause.FELL_SILENT,
      text: `${name} arrived once, its repeats did not: the peer died or the way was cut`,
      evidence: [
        `${what}; of the first time ${count(arrivals, 'packet')} arrived at ${half.responder}, of the repeats none, and nothing was answered: ` +
          'the peer died in the midst of it, or the way there was cut then',
      ],
    };
  if (answered === 0)
    return {
      cause: Cause.UNHEARD,
      text: `${name} arrived unanswered: queue pair ${hex(half.qpn)} does not take it`,
      evidence: [
        `${what}; ${count(arrivals, 'packet')} of it arrived at ${half.responder}, which answered nothing: its queue pair ${hex(half.qpn)} is none${study.acknowledged < 0 ? '' : ' any more (one that has started anew has others)'}, ` +
          `is not in RTR or RTS, or is connected to somebody else than ${half.requester}`,
        ...pkeyHints(study),
        "the peer's counters say why it drops them",
      ],
    };
  const answers = count(answered, 'answer');
  const damaged = damagedOf(damagedAtRequester, study, pending);
  if (damaged > 0)
    return {
      cause: Cause.ANSWERS_DAMAGED,
      text: `answers to ${name} come damaged: the way back changes packets`,
      evidence: [
        `${what}; it arrived, the peer sent ${answers}, and ${damaged} came damaged (wrong ICRC): something on the way back changes packets`,
      ],
    };
  const missing = missingPlace(study, pending);
  if (atRequester && wantsData(requests, pending) && !given.some(({ place }) => place === missing))
    return {
      cause: Cause.FELL_SILENT,
      text: `${name} was answered in part: the peer did not send PSN ${hex(psnAt(study, missing))}`,
      evidence: [
        `${what}; it arrived, the peer sent ${answers}, and ${whatCame(study, pending)}, which the capture of ${half.responder} lacks as well: the peer did not send it, or it was lost before that`,
      ],
    };
  if (atRequester)
    return {
      cause: Cause.ANSWERS_LOST,
      text: `${name} arrived and was answered: answers are lost on the way back`,
      evidence: [
        `${what}; it arrived, the peer sent ${answers}, and ${whatCame(study, pending)}: answers are lost on the way back`,
        ...lengthHints(study, pending),
      ],
    };
  return {
    cause: Cause.ANSWERS_LOST,
    text: `${name} was answered and sent again: its answers are lost, or not taken`,
    evidence: [
      `${what}, though the peer sent ${answers}: they are lost on the way back, or ${half.requester} does not take them; a capture there would tell`,
    ],
  };
}

/** The verdict about a request that was never answered. */
export function silenceVerdict(study: Study, pending: Request): Verdict {
  return (
    disconnectedVerdict(study, pending) ??
    unfinishedVerdict(study, pending) ??
    (study.atResponder ? fromResponder(study, pending) : fromRequester(study, pending))
  );
}
