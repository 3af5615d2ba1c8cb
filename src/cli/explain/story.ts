/** The story of a half of a connection: what happened, in lines, and the verdict. */
import { hex, NakCode } from '../../device/wire/index.js';
import { formatMicroseconds, rnrTimerUs } from '../../entry/index.js';
import type { Verdict } from './verdicts/cause.js';
import { repeatsOf } from './verdicts/repeats.js';
import { type Study } from './requests/study.js';
import { type Answer, AnswerKind } from './requests/answers.js';
import { verdictOf } from './verdicts/verdict.js';
import { count, formatRequest, kindOf } from './requests/words.js';

/** Something that happened. */
export interface Happening {
  readonly timeUs: number;
  readonly text: string;
}

export interface Story {
  readonly study: Study;
  readonly happenings: readonly Happening[];
  readonly verdict: Verdict;
}

const NAKS = new Map<number, string>(
  Object.entries(NakCode).map(([name, code]) => [code, name.toLowerCase().replaceAll('_', ' ')]),
);

function answerText({ kind, code, psn }: Answer): string | undefined {
  if (kind === AnswerKind.NOT_READY)
    return `the peer is not ready for PSN ${hex(psn)}: RNR NAK, wait ${formatMicroseconds(rnrTimerUs(code))}`;
  if (kind === AnswerKind.REFUSAL) return `NAK ${NAKS.get(code) ?? String(code)} of PSN ${hex(psn)}`;
  return undefined;
}

/** Each time that the requester went back: where it began again, and how much it sent anew. */
function repeats(study: Study): Happening[] {
  const again = repeatsOf(study).map((repeat) => ({
    packet: repeat.sighting.packet,
    timeUs: repeat.sighting.timeUs,
    place: repeat.asked.place,
    words: repeat.mayBeCopy ? 'came by once more' : 'sent again',
  }));
  const happenings: Happening[] = [];
  for (let i = 0; i < again.length;) {
    let end = i + 1;
    const { packet, timeUs, words } = again[i];
    while (end < again.length && again[end].place > again[end - 1].place && again[end].words === words) end += 1;
    const more = end - i > 1 ? ` and ${count(end - i - 1, 'packet')} after it` : '';
    happenings.push({ timeUs, text: `PSN ${hex(packet.bth.psn)} (${kindOf(packet)})${more} ${words}` });
    i = end;
  }
  return happenings;
}

/** Everything about a half that is worth a line. */
export function storyOf(study: Study): Story {
  const { requests, answers } = study;
  const kinds = new Map<string, number>();
  for (const { packets } of requests) {
    const kind = kindOf((packets.at(-1) ?? packets[0]).packet);
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  }
  const asked = [...kinds].map(([kind, n]) => `${n} ${kind}`).join(', ');
  const [first] = requests;
  const last = requests[requests.length - 1];
  const beginning = {
    timeUs: first.packets[0].sent[0]?.timeUs ?? 0,
    text: `asked for: ${asked}; the first is ${formatRequest(first)}${last === first ? '' : `, the last ${formatRequest(last)}`}`,
  };
  const told = answers.flatMap((answer) => {
    const text = answerText(answer);
    return text === undefined ? [] : [{ timeUs: answer.timeUs, text }];
  });
  const good = answers.filter(({ kind }) => kind === AnswerKind.ACK || kind === AnswerKind.DATA).at(-1);
  const done =
    good === undefined
      ? []
      : [{ timeUs: good.timeUs, text: `the last good answer: ${good.kind} of PSN ${hex(good.psn)}` }];
  const happenings = [beginning, ...repeats(study), ...told, ...done].sort((a, b) => a.timeUs - b.timeUs);
  return { study, happenings, verdict: verdictOf(study) };
}
