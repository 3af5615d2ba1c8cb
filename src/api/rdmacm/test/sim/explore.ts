import { CmAttribute } from '../../../../device/wire/index.js';
import { check } from '../../../../../test/sim/failure.js';
import type { Row } from './conversations.js';
import { attributeName, describeFault, type Fault, type FaultKind, FAULTS, type Transmission } from './faults.js';
import { type Result, ConversationRunner } from './conversation-runner.js';

/** How far a conversation is disturbed. */
export interface Depth {
  /** Faults at once. */
  readonly faults: number;
  /** Of the faults after the first: which kinds, and up to which transmission of a kind. */
  readonly kinds: readonly FaultKind[];
  readonly transmissions: number;
}

export interface Figures {
  runs: number;
  virtualUs: number;
  /** Which messages have met which states of connections. */
  readonly met: Set<string>;
}

export const SINGLE: Depth = { faults: 1, kinds: FAULTS, transmissions: Infinity };

/** A request that came too late asks once more, and nobody is there to confirm or to take the answer. */
const AFTERMATHS = new Set(['UNREACHABLE -110 [over]', '[asked]']);

function endingOf({ client, servers }: Result): string {
  const all = [...new Set(servers.map((server) => server.ending))];
  const real = all.filter((ending) => !AFTERMATHS.has(ending));
  const told = real.length > 0 ? real : all;
  return `${client.ending} / ${told.length === 0 ? 'nobody' : told.join('; ')}`;
}

function messagesOf({ transmissions }: Result): string {
  const counts = new Map<string, number>();
  for (const { attribute } of transmissions) {
    const name = attributeName(attribute);
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts].map(([name, count]) => (count === 1 ? name : `${count} ${name}`)).join(', ');
}

/** Whether everything that is repeated gets through in the end, and so did all that is not. */
function isPassing({ speaks }: Row, faults: readonly Fault[], { refusalHarmed }: Result): boolean {
  const passes = ({ kind, attribute }: Fault): boolean =>
    kind === 'gone' ? speaks === true && attribute === CmAttribute.RTU : kind !== 'cut for good';
  return !refusalHarmed && faults.every(passes);
}

/** Disturbs every transmission of a conversation in every way, one or more at a time. @throws at the first wrong ending */
export function explore(row: Row, depth: Depth): Figures {
  const figures: Figures = { runs: 0, virtualUs: 0, met: new Set() };
  const runner = new ConversationRunner(row.self);
  const play = (faults: readonly Fault[], from: number): void => {
    const result = playOne(runner, row, faults);
    figures.runs += 1;
    figures.virtualUs += result.virtualUs;
    if (faults.length === depth.faults) return;
    result.transmissions.forEach((transmission, i) => {
      if (i < from || (faults.length > 0 && transmission.number > depth.transmissions)) return;
      for (const kind of faults.length === 0 ? FAULTS : depth.kinds)
        play([...faults, withKind(transmission, kind)], i + 1);
    });
  };
  play([], 0);
  for (const meeting of runner.met) figures.met.add(meeting);
  runner.close();
  return figures;
}

const withKind = (transmission: Transmission, kind: FaultKind): Fault => ({ ...transmission, kind });

function playOne(runner: ConversationRunner, row: Row, faults: readonly Fault[]): Result {
  try {
    const result = runner.play(row, faults);
    const ending = endingOf(result);
    const allowed = isPassing(row, faults, result) ? row.ends : [...row.ends, ...row.broken];
    check(
      faults.length === 0 ? ending === row.ends[0] : allowed.includes(ending),
      () => `it ends with "${ending}", not with one of\n  ${allowed.join('\n  ')}`,
    );
    const messages = messagesOf(result);
    check(faults.length > 0 || messages === row.messages, () => `the two say ${messages}, and not ${row.messages}`);
    return result;
  } catch (error) {
    const story = faults.length === 0 ? 'undisturbed' : faults.map(describeFault).join(' and ');
    const problem = error instanceof Error ? error.message : String(error);
    throw new Error(`"${row.name}" over ${row.transport}, ${story}: ${problem}`, { cause: error });
  }
}
