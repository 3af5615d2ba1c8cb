import type { MemberWatch } from './member-watch.js';
import type { Footprint } from './protocol.js';
import type { Soak } from './soak.js';

const count = (value: number): string => Math.round(value).toLocaleString('en');
const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(1);

function listOf(map: ReadonlyMap<string, number>): string {
  const entries = [...map].sort(([, a], [, b]) => b - a).map(([name, times]) => `${name} ${count(times)}`);
  return entries.length === 0 ? 'none' : entries.join(', ');
}

interface MemberFigures {
  readonly name: string;
  readonly lives: number;
  readonly peakRssBytes: number;
  readonly last: Footprint | undefined;
  /** After its first minute; 0 where it was not watched for longer. */
  readonly watchedSeconds: number;
  readonly rssBytesPerHour: number;
  readonly heapBytesPerHour: number;
  readonly externalBytesPerHour: number;
}

function memberFigures(member: MemberWatch): MemberFigures {
  return {
    name: member.name,
    lives: member.lives,
    peakRssBytes: member.peak?.rssBytes ?? 0,
    last: member.last,
    watchedSeconds: member.settledMs / 1000,
    rssBytesPerHour: member.slopeOf(({ rssBytes }) => rssBytes),
    heapBytesPerHour: member.slopeOf(({ heapBytes }) => heapBytes),
    externalBytesPerHour: member.slopeOf(({ externalBytes }) => externalBytes),
  };
}

function memberLine(member: MemberFigures): string {
  const { name, lives, peakRssBytes, last, watchedSeconds } = member;
  if (last === undefined) return `  ${name.padEnd(16)}${lives} lives, never looked at`;
  const now = [last.rssBytes, last.heapBytes, last.externalBytes].map(megabytes).join(' / ');
  const slopes = [member.rssBytesPerHour, member.heapBytesPerHour, member.externalBytesPerHour]
    .map(megabytes)
    .join(' / ');
  return (
    `  ${name.padEnd(16)}${String(lives).padStart(4)} ${lives === 1 ? 'life ' : 'lives'}  peak ${megabytes(peakRssBytes)}  ` +
    `last ${now}  ${last.descriptors} fds  ${(last.cpuMs / 1000).toFixed(1)} s CPU` +
    (watchedSeconds < 30 ? '' : `  slope ${slopes} per hour, over ${watchedSeconds.toFixed(0)} s`)
  );
}

export function figuresOf(soak: Soak, seed: number, wantedSeconds: number, skipped: readonly string[]): object {
  const { tally, seconds, connections, members } = soak;
  return {
    seed,
    wantedSeconds,
    seconds,
    ...tally.figures,
    longestNoticeMs: connections.longestMs,
    longestCrowdMs: tally.longestCrowdMs,
    longestTerminationMs: tally.longestTerminationMs,
    capturesEnded: tally.capturesEnded,
    faults: Object.fromEntries(tally.faults),
    errors: Object.fromEntries(tally.errors),
    excused: tally.excused,
    skipped,
    members: members.map(memberFigures),
    violations: tally.violations,
  };
}

export function textOf(soak: Soak, seed: number, wantedSeconds: number, skipped: readonly string[]): string {
  const { tally, seconds, connections, members } = soak;
  const { figures } = tally;
  const faults = [...tally.faults.values()].reduce((sum, times) => sum + times, 0);
  return [
    `${seconds.toFixed(0)} of ${wantedSeconds.toFixed(0)} s, seed ${seed}: ${count(figures.rounds)} rounds, ` +
      `${count(figures.writes)} WRITEs, ${count(figures.sends)} SENDs, ${count(figures.reads)} READs, ` +
      `${count(figures.atomics)} atomics, ${megabytes(figures.bytes)} MB, ${count(figures.connections)} connections`,
    `${count(faults)} faults: ${listOf(tally.faults)}`,
    `errors that are right so: ${listOf(tally.errors)}`,
    `longest until a side noticed ${(connections.longestMs / 1000).toFixed(1)} s, longest crowd of 100 ` +
      `${(tally.longestCrowdMs / 1000).toFixed(1)} s, longest termination of a thread ` +
      `${(tally.longestTerminationMs / 1000).toFixed(1)} s; ${count(tally.capturesEnded)} captures met the limit of their file or disk`,
    ...(tally.excused === 0
      ? []
      : [`${count(tally.excused)} breaks while the machine held programs up are not counted`]),
    ...skipped.map((sentence) => `skipped: ${sentence}`),
    'memory in MB (resident / heap / external):',
    ...members.map(memberFigures).map(memberLine),
    tally.violations.length === 0
      ? 'no violation'
      : tally.violations.map(({ atSeconds, who, text }) => `VIOLATION at ${atSeconds} s, ${who}: ${text}`).join('\n'),
  ].join('\n');
}
