/** Why nothing comes back: what one side can tell, and what both can. */
import { hex } from '../../../device/wire/index.js';
import { formatMicroseconds, psnAdd } from '../../../entry/index.js';
import { Cause, type Verdict } from './cause.js';
import { lengthHint } from './lengths.js';
import type { Request } from '../requests/requests.js';
import { psnOf, type Sighting } from '../captures/sighting.js';
import { attemptsOf, type Study, wantsData } from '../requests/study.js';
import { type Answer, AnswerKind } from '../requests/answers.js';
import { attemptWords, count, formatRequest } from '../requests/words.js';

const DEFAULT_PKEY = 0xffff;
const PKEY_MASK = 0x7fff;
/** Attempts after which one may say that there was no answer, and not only that there was none yet. */
const TRIED = 3;

const isDefault = (pkey: number): boolean => (pkey & PKEY_MASK) === (DEFAULT_PKEY & PKEY_MASK);

function pkeyHint({ half }: Study): string {
  const strange = half.requests.find(({ packet }) => !isDefault(packet.bth.pkey));
  return strange === undefined
    ? ''
    : `P_Key ${hex(strange.packet.bth.pkey)} is not the default one: does the peer's table have it? `;
}

function whatWasTried(study: Study, pending: Request): string {
  return `${formatRequest(pending)} ${attemptWords(study, attemptsOf(pending))}`;
}

/** Those of damaged packets that were of the request that waits, or of answers to it, as far as their PSNs can be believed. */
function damagedOf(damaged: readonly Sighting[], { half: { requests } }: Study, { first, last }: Request): number {
  const from = psnAdd(psnOf(requests[0]), first);
  return damaged.filter((one) => ((psnOf(one) - from) & 0xffffff) <= last - first).length;
}

/** The connection was ended by those who manage it, and what was under way with it. */
function disconnectedVerdict(study: Study, pending: Request): Verdict | undefined {
  const { over } = study.half;
  const last = attemptsOf(pending).at(-1);
  if (over === undefined || last === undefined || attemptsOf(pending).length >= TRIED) return undefined;
  return {
    cause: Cause.DISCONNECTED,
    text: `${whatWasTried(study, pending)} and was not answered; ${over.by} ended the connection (DREQ)`,
  };
}

/** Too little to say anything of it: it was tried once or twice, or the last try was being answered. */
function unfinishedVerdict(study: Study, pending: Request): Verdict | undefined {
  const attempts = attemptsOf(pending);
  const { atResponder, given, half, answers } = study;
  const { first, last } = pending;
  const tried = attempts.at(-1)?.order ?? 0;
  const sameFile = answers.filter(({ place, order }) => place >= first && place <= last && order > tried);
  if (attempts.length >= TRIED && sameFile.length === 0) return undefined;
  const arrived = pending.packets.some((one) => one.arrived.length > 0);
  const answered = given.some(({ place }) => place >= pending.first);
  const known = !atResponder
    ? ''
    : arrived
      ? `; it arrived at ${half.responder}, which answered ${answered ? 'it' : 'nothing'} there`
      : `; it does not stand in the capture of ${half.responder}`;
  const came = placesOf(answers, pending).size;
  const shown =
    came === 0 ? 'the capture shows no answer' : `of its ${last - first + 1} answers the capture shows ${came}`;
  return {
    cause: Cause.UNFINISHED,
    text: `${whatWasTried(study, pending)}, and ${shown}${known}: it ends too early, or who made it missed packets`,
  };
}

/** The side of the requester alone: several causes look the same from there. */
function fromRequester(study: Study, pending: Request): Verdict {
  const { half, acknowledged, damagedAtRequester, answers } = study;
  const what = whatWasTried(study, pending);
  const damaged = damagedOf(damagedAtRequester, study, pending);
  if (damaged > 0)
    return {
      cause: Cause.ANSWERS_DAMAGED,
      text: `${what}; ${count(damaged, 'packet')} came back damaged (wrong ICRC) and had to be dropped: something on the way changes packets`,
    };
  const better = `a capture at ${half.responder} would tell`;
  if (acknowledged < 0 && answers.length === 0)
    return {
      cause: Cause.NO_ANSWER,
      text:
        `${what}, and nothing ever came back: the peer is not there, or its queue pair ${hex(half.qpn)} is none, not in RTR or RTS, or connected to somebody else; ` +
        `${pkeyHint(study)}or requests are lost on the way there; or answers are lost on the way back; ${better}`,
    };
  const lastUs = answers.at(-1)?.timeUs ?? 0;
  return {
    cause: Cause.FELL_SILENT,
    text:
      `${what}; the peer's last answer came ${formatMicroseconds(lastUs)} after the beginning: it died, its queue pair failed or was ended, it drops what is sent again, ` +
      `or the way there or back was cut; ${lengthHint(study, pending)}${better}`,
  };
}

const placesOf = (answers: readonly Answer[], { first, last }: Request): Set<number> =>
  new Set(answers.map(({ place }) => place).filter((place) => place >= first && place <= last));

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
  const psn = psnAdd(psnOf(study.half.requests[0]), missingPlace(study, pending));
  return `of the ${last - first + 1} that make it up ${came.size} came, and never that of PSN ${hex(psn)}`;
}

/** What arrived at the peer is known. */
function fromResponder(study: Study, pending: Request): Verdict {
  const { half, atRequester, given, damagedAtRequester, damagedAtResponder } = study;
  const what = whatWasTried(study, pending);
  const arrivals = pending.packets.reduce((sum, { arrived }) => sum + arrived.length, 0);
  if (arrivals === 0) {
    const damaged = damagedOf(damagedAtResponder, study, pending);
    if (damaged > 0)
      return {
        cause: Cause.REQUESTS_DAMAGED,
        text: `${what}; at ${half.responder} ${count(damaged, 'packet')} arrived damaged (wrong ICRC), which the peer drops: something on the way changes packets`,
      };
    return {
      cause: Cause.REQUESTS_LOST,
      text: `${what}, and none of that arrived at ${half.responder}: ${lengthHint(study, pending)}requests are lost on the way there, or nobody is there`,
    };
  }
  const answered = given.filter(({ place, kind }) => place >= pending.first || kind === AnswerKind.REFUSAL).length;
  const again = pending.packets.some(({ arrived }) => arrived.length > 1);
  if (answered === 0 && !again)
    return {
      cause: Cause.FELL_SILENT,
      text:
        `${what}; of the first time ${count(arrivals, 'packet')} arrived at ${half.responder}, of the repeats none, and nothing was answered: ` +
        'the peer died in the midst of it, or the way there was cut then',
    };
  if (answered === 0)
    return {
      cause: Cause.UNHEARD,
      text:
        `${what}; ${count(arrivals, 'packet')} of it arrived at ${half.responder}, which answered nothing: its queue pair ${hex(half.qpn)} is none${study.acknowledged < 0 ? '' : ' any more (one that has started anew has others)'}, ` +
        `is not in RTR or RTS, or is connected to somebody else than ${half.requester}; ${pkeyHint(study)}the peer's counters say why it drops them`,
    };
  const answers = count(answered, 'answer');
  const damaged = damagedOf(damagedAtRequester, study, pending);
  if (damaged > 0)
    return {
      cause: Cause.ANSWERS_DAMAGED,
      text: `${what}; it arrived, the peer sent ${answers}, and ${damaged} came damaged (wrong ICRC): something on the way back changes packets`,
    };
  const missing = missingPlace(study, pending);
  if (atRequester && wantsData(pending) && !given.some(({ place }) => place === missing))
    return {
      cause: Cause.FELL_SILENT,
      text: `${what}; it arrived, the peer sent ${answers}, and ${whatCame(study, pending)}, which the capture of ${half.responder} lacks as well: the peer did not send it, or it was lost before that`,
    };
  if (atRequester)
    return {
      cause: Cause.ANSWERS_LOST,
      text: `${what}; it arrived, the peer sent ${answers}, and ${whatCame(study, pending)}: ${lengthHint(study, pending)}answers are lost on the way back`,
    };
  return {
    cause: Cause.ANSWERS_LOST,
    text: `${what}, though the peer sent ${answers}: they are lost on the way back, or ${half.requester} does not take them; a capture there would tell`,
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
