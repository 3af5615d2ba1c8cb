/** `npm run matrix`: C programs of Debian's packages on our NIC, with each other and with our tools. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, chmodSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { loopback, loopbackGroup } from '../../support/loopback.js';
import { type Meeting, meetings, serverOf } from './meetings.js';
import { play, type Played, Setting, settingsOf } from './play.js';

interface Options {
  readonly only: readonly string[];
  readonly setting: readonly string[];
  readonly repeat: number;
  readonly unprivileged: boolean;
  readonly json: boolean;
}

/** Nobody, with no capability to be had again. */
const NOBODY = [
  'setpriv',
  '--reuid=65534',
  '--regid=65534',
  '--clear-groups',
  '--bounding-set=-all',
  '--inh-caps=-all',
];
/** Ports of a process: far from those that the system gives out. */
const FIRST_PORT = 18_600;
const PORTS = 12_000;

function isInstalled(program: string): boolean {
  try {
    execFileSync('sh', ['-c', 'command -v "$0"', program], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

function count(text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 1) return value;
  throw new InvalidArgumentError('It is a number from 1 on.');
}

function chosen({ only, setting }: Options): [Meeting, Setting][] {
  return meetings
    .filter(({ name }) => only.length === 0 || only.some((word) => name.includes(word)))
    .flatMap((meeting) =>
      settingsOf(meeting)
        .filter((one) => setting.length === 0 || setting.some((word) => one.includes(word)))
        .map((one): [Meeting, Setting] => [meeting, one]),
    );
}

function cell(played: readonly Played[]): string {
  if (played.length === 0) return '';
  const failed = played.filter(({ ok }) => !ok).length;
  const seconds = played.reduce((sum, one) => sum + one.seconds, 0) / played.length;
  return failed === 0 ? `${seconds.toFixed(1)} s` : `FAILED ${failed} of ${played.length}`;
}

function table(all: readonly Played[]): string {
  const settings = Object.values(Setting);
  const names = [...new Set(all.map(({ meeting }) => meeting))];
  const rows = names.map((name) => [
    name,
    ...settings.map((setting) => cell(all.filter((one) => one.meeting === name && one.setting === setting))),
  ]);
  const lines = [['program', ...settings], ...rows];
  const widths = lines[0].map((_, column) => Math.max(...lines.map((line) => line[column].length)));
  return lines
    .map((line) =>
      line
        .map((text, column) => text.padEnd(widths[column]))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

async function run(options: Options): Promise<number> {
  const prefix = options.unprivileged ? NOBODY : [];
  const folder = mkdtempSync(join(tmpdir(), 'verbena-matrix-'));
  chmodSync(folder, 0o777);
  const all: Played[] = [];
  let port = FIRST_PORT + (process.pid % PORTS);
  try {
    for (const [meeting, setting] of chosen(options)) {
      if (!isInstalled(meeting.program) || !isInstalled(serverOf(meeting.program))) {
        process.stderr.write(
          `${meeting.name}: ${meeting.program} is not installed (apt-get install ibverbs-utils rdmacm-utils perftest)\n`,
        );
        continue;
      }
      for (let i = 0; i < options.repeat; i += 1) {
        port = FIRST_PORT + ((port + 1 - FIRST_PORT) % PORTS);
        const places = { server: loopback(1), client: loopback(2), port, group: loopbackGroup(1) };
        const played = await play(meeting, setting, prefix, places, join(folder, `${port}`));
        all.push(played);
        const verdict = played.ok ? `ok, ${played.seconds.toFixed(1)} s` : `FAILED: ${played.why}`;
        process.stderr.write(`${meeting.name}, ${setting}: ${verdict}\n`);
      }
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const failed = all.filter(({ ok }) => !ok).length;
  process.stdout.write(options.json ? `${JSON.stringify(all, undefined, 2)}\n` : `${table(all)}\n`);
  process.stderr.write(`${all.length - failed} of ${all.length} went well\n`);
  return failed === 0 ? 0 : 1;
}

const command = new Command('npm run matrix --')
  .description('C programs of Debian’s packages on our NIC, with each other and with our tools')
  .option('--only <word...>', 'only programs and arguments with one of these words', [])
  .option('--setting <word...>', `only these settings: ${Object.values(Setting).join(', ')}`, [])
  .option('--repeat <n>', 'how often each is played', count, 1)
  .option('--unprivileged', 'as nobody, without any capability', false)
  .option('--json', 'the results as JSON', false);
command.parse();
process.exitCode = await run(command.opts<Options>());
