/** Why nothing comes back: what one side can tell, and what both can. */
import { formatMicroseconds, psnAdd } from '../../index.js';
import { hex } from '../../wire/index.js';
import { Cause, type Verdict } from './cause.js';
import { lengthHint } from './lengths.js';
import { psnOf } from './sightings.js';
import { AnswerKind, attemptsOf, type Request, type Study } from './study.js';
import { count, formatRequest } from './words.js';

const DEFAULT_PKEY = 0xffff;
const PKEY_MASK = 0x7fff;

const isDefault = (pkey: number): boolean => (pkey & PKEY_MASK) === (DEFAULT_PKEY & PKEY_MASK);

function pkeyHint({ half }: Study): string {
  const strange = half.requests.find(({ packet }) => !isDefault(packet.bth.pkey));
  return strange === undefined
    ? ''
    : `P_Key ${hex(strange.packet.bth.pkey)} is not the default one: does the peer's table have it? `;
}

/** What the requester did about it. */
function attempts(pending: Request): string {
  const sentUs = attemptsOf(pending);
  const spanUs = (sentUs.at(-1) ?? 0) - (sentUs[0] ?? 0);
  const times = count(sentUs.length, 'time');
  return sentUs.length === 1 ? `sent ${times}` : `sent ${times} in ${formatMicroseconds(spanUs)}, then no more`;
}

/** The side of the requester alone: several causes look the same from there. */
function fromRequester(study: Study, pending: Request): Verdict {
  const { half, acknowledged, damagedAtRequester, answers } = study;
  const what = `${formatRequest(pending)} was ${attempts(pending)}`;
  if (damagedAtRequester > 0)
    return {
      cause: Cause.ANSWERS_DAMAGED,
      text: `${what}; ${count(damagedAtRequester, 'packet')} came back damaged (wrong ICRC) and had to be dropped: something on the way changes packets`,
    };
  if (attemptsOf(pending).length === 1)
    return { cause: Cause.UNFINISHED, text: `${what}, and nothing came back before the capture ends` };
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
      `${what}; the peer had answered until ${formatMicroseconds(lastUs)} after the beginning, and not since: it died, its queue pair failed or was ended, ` +
      `or the way there or back was cut; ${lengthHint(study, pending)}${better}`,
  };
}

/** How many of the answers to a request came back, and where they end. */
function whatCame({ answers, half }: Study, { first, last }: Request): string {
  const came = new Set(answers.map(({ place }) => place).filter((place) => place >= first && place <= last));
  if (came.size === 0) return 'none came';
  let missing = first;
  while (came.has(missing)) missing += 1;
  return `${came.size} of them came, and never that of PSN ${hex(psnAdd(psnOf(half.requests[0]), missing))}`;
}

/** What arrived at the peer is known. */
function fromResponder(study: Study, pending: Request): Verdict {
  const { half, atRequester, given, damagedAtRequester, damagedAtResponder } = study;
  const what = `${formatRequest(pending)} was ${attempts(pending)}`;
  const arrivals = pending.packets.reduce((sum, { arrivedUs }) => sum + arrivedUs.length, 0);
  if (arrivals === 0) {
    if (damagedAtResponder > 0)
      return {
        cause: Cause.REQUESTS_DAMAGED,
        text: `${what}; at ${half.responder} ${count(damagedAtResponder, 'packet')} arrived damaged (wrong ICRC), which the peer drops: something on the way changes packets`,
      };
    return {
      cause: Cause.REQUESTS_LOST,
      text: `${what}, and none of that arrived at ${half.responder}: ${lengthHint(study, pending)}requests are lost on the way there, or nobody is there`,
    };
  }
  const answered = given.filter(({ place, kind }) => place >= pending.first || kind === AnswerKind.REFUSAL).length;
  const again = pending.packets.some(({ arrivedUs }) => arrivedUs.length > 1);
  if (answered === 0 && !again && attemptsOf(pending).length > 1)
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
  if (damagedAtRequester > 0)
    return {
      cause: Cause.ANSWERS_DAMAGED,
      text: `${what}; it arrived, the peer sent ${answers}, and ${damagedAtRequester} came damaged (wrong ICRC): something on the way back changes packets`,
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
  return study.atResponder ? fromResponder(study, pending) : fromRequester(study, pending);
}
