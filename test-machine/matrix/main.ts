/** `npm run matrix`: C programs of Debian's packages on our NIC, with each other and with our tools. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, chmodSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { loopback, loopbackGroup } from '../../test/support/loopback.js';
import { machineProblem } from '../../src/run/launcher/check.js';
import { ownAddresses } from '../../src/node/system/index.js';
import { type Meeting, nameOf } from './meeting.js';
import { meetings } from './meetings.js';
import { play, type Played, Setting, settingsOf, VERBENA } from './play.js';
import { markdownTable, textTable } from './tables.js';

interface Options {
  readonly only: readonly string[];
  readonly setting: readonly string[];
  readonly repeat: number;
  readonly unprivileged: boolean;
  readonly part: Part;
  readonly json: boolean;
  readonly markdown: boolean;
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

function works(command: string): boolean {
  try {
    execFileSync('sh', ['-c', command], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** What everything is started by, so that it has no rights: nothing, with a sentence, where that cannot be. */
function withoutRights(): readonly string[] {
  const [setpriv, ...options] = NOBODY;
  try {
    execFileSync(setpriv, [...options, process.execPath, VERBENA, 'run', '--', 'true'], { stdio: 'pipe' });
    return NOBODY;
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    const why = /^\w*Error: .*|^setpriv: .*/m.exec(text)?.[0] ?? text;
    process.stderr.write(
      `Played by this user, since nobody cannot be had or cannot start bin/verbena, perhaps for want of rights to a folder above: ${why}\n`,
    );
    return [];
  }
}

/** An address of this machine that is not of loopback. */
function outerAddress(): string | undefined {
  return ownAddresses().find(({ address, via }) => via !== 'lo' && address.includes('.'))?.address;
}

/** Why a meeting cannot be played here: a sentence, or undefined. */
function obstacle({
  program,
  serverProgram = program,
  packages,
  probe = 'true',
  awayFromLoopback,
}: Meeting): string | undefined {
  if (!works(`command -v ${program} && command -v ${serverProgram} && ${probe}`))
    return `it takes Debian's packages ${packages.join(' ')}`;
  if (awayFromLoopback === true && outerAddress() === undefined)
    return 'it takes an IPv4 address that is not of loopback, and this machine has none';
  return undefined;
}

function count(text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 1) return value;
  throw new InvalidArgumentError('It is a number from 1 on.');
}

interface Part {
  readonly number: number;
  readonly of: number;
}

function part(text: string): Part {
  const [number, of] = text.split('/').map(Number);
  if (Number.isInteger(number) && Number.isInteger(of) && number >= 1 && number <= of) return { number, of };
  throw new InvalidArgumentError('It is such as 1/4.');
}

function chosen({ only, setting, part: { number, of } }: Options): [Meeting, Setting][] {
  return meetings
    .filter((meeting) => only.length === 0 || only.some((word) => nameOf(meeting).includes(word)))
    .flatMap((meeting, at) =>
      settingsOf(meeting)
        .filter((_, index) => (at + index) % of === number - 1)
        .filter((one) => setting.length === 0 || setting.some((word) => one.includes(word)))
        .map((one): [Meeting, Setting] => [meeting, one]),
    );
}

async function run(options: Options): Promise<number> {
  const prefix = options.unprivileged ? withoutRights() : [];
  const folder = mkdtempSync(join(tmpdir(), 'verbena-matrix-'));
  chmodSync(folder, 0o777);
  const all: Played[] = [];
  let port = FIRST_PORT + (process.pid % PORTS);
  let skipped = 0;
  try {
    for (const [meeting, setting] of chosen(options)) {
      const missing = obstacle(meeting);
      if (missing !== undefined) {
        process.stderr.write(`${nameOf(meeting)}, ${setting}: skipped: ${missing}\n`);
        skipped += 1;
        continue;
      }
      for (let i = 0; i < options.repeat; i += 1) {
        port = FIRST_PORT + ((port + 1 - FIRST_PORT) % PORTS);
        const at = meeting.awayFromLoopback === true ? outerAddress() : undefined;
        const places = { server: at ?? loopback(1), client: loopback(2), port, group: loopbackGroup(1) };
        const played = await play(meeting, setting, prefix, places, join(folder, `${port}`));
        all.push(played);
        const verdict = played.ok ? `ok, ${played.seconds.toFixed(1)} s` : `FAILED: ${played.why}`;
        process.stderr.write(`${nameOf(meeting)}, ${setting}: ${verdict}\n`);
      }
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const failed = all.filter(({ ok }) => !ok).length;
  process.stdout.write(`${print(all, options)}\n`);
  const left = skipped === 0 ? '' : `, ${skipped} skipped`;
  process.stderr.write(`${all.length - failed} of ${all.length} went well${left}\n`);
  return failed === 0 ? 0 : 1;
}

function print(all: readonly Played[], { json, markdown }: Options): string {
  if (markdown) return markdownTable(all);
  if (!json) return textTable(all);
  const plain = all.map(({ meeting, ...rest }) => ({ meeting: nameOf(meeting), ...rest }));
  return JSON.stringify(plain, undefined, 2);
}

const command = new Command('npm run matrix --')
  .description('C programs of Debian’s packages on our NIC, with each other and with our tools')
  .option('--only <word...>', 'only programs and arguments with one of these words', [])
  .option('--setting <word...>', `only these settings: ${Object.values(Setting).join(', ')}`, [])
  .option('--repeat <n>', 'how often each is played', count, 1)
  .option('--unprivileged', 'as nobody, without any capability, where that can be had', false)
  .option('--part <k/n>', 'one of n parts, each of which has all programs in turns of settings', part, {
    number: 1,
    of: 1,
  })
  .option('--markdown', 'the results as a table of a document, a line for each program', false)
  .option('--json', 'the results as JSON', false);
command.parse();
const problem = machineProblem();
if (problem === undefined) process.exitCode = await run(command.opts<Options>());
else process.stderr.write(`Nothing is played: ${problem}\n`);
