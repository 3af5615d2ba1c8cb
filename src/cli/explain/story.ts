/** The story of a half of a connection: what happened, and the verdict. */
import { hex, NakCode } from '../../device/wire/index.js';
import { formatMicroseconds, rnrTimerUs } from '../../entry/index.js';
import { count } from './numbers.js';
import { type Answer, AnswerKind } from './requests/answers.js';
import type { Study } from './requests/study.js';
import { formatRequest, kindOf, lastRow } from './requests/words.js';
import type { Verdict } from './verdicts/cause.js';
import { repeatsOf } from './verdicts/repeats.js';
import { verdictOf } from './verdicts/verdict.js';

/** Something that happened, in words and in fields. */
export interface Happening {
  readonly timeUs: number;
  readonly text: string;
  readonly fields: Readonly<Record<string, number | string>>;
}

export interface Story {
  readonly study: Study;
  readonly happenings: Happenings;
  readonly verdict: Verdict;
}

const NAKS = new Map<number, string>(
  Object.entries(NakCode).map(([name, code]) => [code, name.toLowerCase().replaceAll('_', ' ')]),
);

function answerHappening({ kind, code, psn, timeUs }: Answer): Happening {
  if (kind === AnswerKind.NOT_READY) {
    const waitUs = rnrTimerUs(code);
    return {
      timeUs,
      text: `the peer is not ready for PSN ${hex(psn)}: RNR NAK, wait ${formatMicroseconds(waitUs)}`,
      fields: { event: 'rnr-nak', psn, waitUs },
    };
  }
  const name = NAKS.get(code) ?? String(code);
  return { timeUs, text: `NAK ${name} of PSN ${hex(psn)}`, fields: { event: 'nak', code: name, psn } };
}

/** Each time that the requester went back: where it began again, and how much it sent anew. */
interface Again {
  readonly row: number;
  readonly packets: number;
  readonly mayBeCopy: boolean;
}

/** What happened in a half, in the order of time. Each is put in words when somebody asks for it. */
export class Happenings {
  readonly #makers: { readonly timeUs: number; readonly make: () => Happening }[] = [];

  constructor(study: Study) {
    const { answers, sightings } = study;
    const add = (timeUs: number, make: () => Happening): void => void this.#makers.push({ timeUs, make });
    const start = beginning(study);
    add(start.timeUs, () => start);
    for (const again of agains(study)) {
      const timeUs = sightings.timeUs(again.row);
      add(timeUs, () => againHappening(study, again, timeUs));
    }
    let good = -1;
    for (let i = 0; i < answers.length; i += 1) {
      const kind = answers.kind(i);
      if (kind !== AnswerKind.NOT_READY && kind !== AnswerKind.REFUSAL) {
        // An acknowledgement of what was never asked is no good answer.
        if (answers.places[i] >= 0) good = i;
      } else add(sightings.timeUs(answers.rows[i]), () => answerHappening(answers.at(i)));
    }
    if (good >= 0) {
      const { kind, psn, timeUs } = answers.at(good);
      add(timeUs, () => ({
        timeUs,
        text: `the last good answer: ${kind} of PSN ${hex(psn)}`,
        fields: { event: 'last-answer', kind, psn },
      }));
    }
    this.#makers.sort((a, b) => a.timeUs - b.timeUs);
  }

  get length(): number {
    return this.#makers.length;
  }

  /** Some of them. */
  slice(begin: number, end?: number): Happening[] {
    return this.#makers.slice(begin, end).map(({ make }) => make());
  }

  *[Symbol.iterator](): Generator<Happening, void, undefined> {
    for (const { make } of this.#makers) yield make();
  }
}

function agains(study: Study): Again[] {
  const { places } = study.requests.packets;
  const repeats = repeatsOf(study);
  const groups: Again[] = [];
  for (let i = 0; i < repeats.length;) {
    const { row, mayBeCopy } = repeats[i];
    let end = i + 1;
    while (
      end < repeats.length &&
      places[repeats[end].packet] > places[repeats[end - 1].packet] &&
      repeats[end].mayBeCopy === mayBeCopy
    )
      end += 1;
    groups.push({ row, packets: end - i, mayBeCopy });
    i = end;
  }
  return groups;
}

function againHappening(
  { sightings: { table } }: Study,
  { row, packets, mayBeCopy }: Again,
  timeUs: number,
): Happening {
  const kind = kindOf(table.opcode(row));
  const psn = table.psn(row);
  const more = packets > 1 ? ` and ${count(packets - 1, 'packet')} after it` : '';
  return {
    timeUs,
    text: `PSN ${hex(psn)} (${kind})${more} ${mayBeCopy ? 'came by once more' : 'sent again'}`,
    fields: { event: mayBeCopy ? 'came-by-again' : 'sent-again', kind, psn, packets },
  };
}

/** How many requests of each kind there are. */
export function kindsOf({ requests, sightings: { table } }: Study): Map<string, number> {
  const kinds = new Map<string, number>();
  for (const request of requests) {
    const kind = kindOf(table.opcode(lastRow(requests, request)));
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  }
  return kinds;
}

function beginning(study: Study): Happening {
  const { requests, sightings } = study;
  const kinds = kindsOf(study);
  const asked = [...kinds].map(([kind, n]) => `${n} ${kind}`).join(', ');
  const first = requests.at(0);
  const last = requests.at(requests.length - 1);
  const to = last.index === 0 ? '' : `, the last ${formatRequest(requests, last)}`;
  const sent = requests.packets.sent.first(first.begin);
  return {
    timeUs: sent < 0 ? sightings.timeUs(first.row) : sightings.timeUs(sent),
    text: `asked for: ${asked}; the first is ${formatRequest(requests, first)}${to}`,
    fields: { event: 'asked', psn: sightings.table.psn(first.row), ...Object.fromEntries(kinds) },
  };
}

/** Everything about a half that is worth a line. */
export function storyOf(study: Study): Story {
  return { study, happenings: new Happenings(study), verdict: verdictOf(study) };
}
