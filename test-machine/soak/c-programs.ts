/** C programs under `verbena run`, of which some are killed or stopped at random moments: nothing of them may be left. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { machineProblem } from '../../src/run/launcher/check.js';
import { Choices } from '../../test/fuzz/random.js';
import { CProgram, compilerProblem } from '../../src/run/test/c-program.js';
import { loopback } from '../../test/support/loopback.js';

const TOOL = fileURLToPath(new URL('../../tools/main.js', import.meta.url));
const MARK = 'VERBENA_SOAK_C_PROGRAMS';
const ADDRESSES = [loopback(200), loopback(201)];
const FIRST_PORT = 21_000;
const PORTS = 500;
/** Between the start of a pair and what befalls it. */
const LIFE_MS = { least: 300, more: 2200 };
const STOPPED_MS = 800;
/** So long the server has to listen before its client comes. */
const START_S = 0.6;
const LOOK_MS = 100;
/** Whoever is still there then does not end. Machines of this soak are busy. */
const PATIENCE_MS = 60_000;
const AGAIN_MS = 1500;
/** How many rounds of a hundred are programs that signals interrupt. */
const SIGNALS_PERCENT = 20;
const SIGNALS_S = 5;
const INTERVALS_US = [300, 1000, 10_000];
/** Handlers with and without SA_RESTART, and a profiler's timer. */
const HANDLERS: readonly (readonly string[])[] = [
  ['interrupt'],
  ['interrupt', 'nested'],
  ['restart'],
  ['restart', 'prof'],
];

interface Pair {
  readonly name: string;
  readonly debianPackage: string;
  readonly server: (address: string, port: number) => string;
  readonly client: (address: string, port: number) => string;
}

const PAIRS: readonly Pair[] = [
  ...['ib_write_bw', 'ib_send_bw', 'ib_read_lat'].map((name) => ({
    name,
    debianPackage: 'perftest',
    server: (_: string, port: number) => `${name} -x 0 -F -D 2 -p ${port}`,
    client: (address: string, port: number) => `${name} -x 0 -F -D 2 -p ${port} ${address}`,
  })),
  {
    name: 'ibv_rc_pingpong',
    debianPackage: 'ibverbs-utils',
    server: (_, port) => `ibv_rc_pingpong -g 0 -e -n 20000 -p ${port}`,
    client: (address, port) => `ibv_rc_pingpong -g 0 -e -n 20000 -p ${port} ${address}`,
  },
  {
    name: 'rping',
    debianPackage: 'rdmacm-utils',
    server: (address, port) => `rping -s -a ${address} -p ${port} -C 5000`,
    client: (address, port) => `rping -c -a ${address} -p ${port} -C 5000`,
  },
];

const FATES = [
  'nothing',
  'kill a program',
  'kill a program',
  'stop a program',
  'kill a launcher',
  'end a launcher',
  'stop a launcher',
] as const;
type Fate = (typeof FATES)[number];

/** Why these are left out, or undefined. */
export function cProgramsProblem(): string | undefined {
  const problem = machineProblem();
  if (problem !== undefined) return problem;
  const missing = PAIRS.filter(({ name }) => spawnSync('sh', ['-c', 'command -v "$1"', 'sh', name]).status !== 0);
  if (missing.length === 0) return undefined;
  const packages = new Set(missing.map(({ debianPackage }) => debianPackage));
  return `there is no ${missing.map(({ name }) => name).join(', ')} here (Debian: ${[...packages].join(', ')})`;
}

interface Started {
  readonly child: ChildProcess;
  errors: string;
}

export interface CProgramFigures {
  rounds: number;
  interrupted: number;
  readonly fates: Partial<Record<Fate, number>>;
}

export class CPrograms {
  readonly figures: CProgramFigures = { rounds: 0, interrupted: 0, fates: {} };
  readonly #choices: Choices;
  readonly #mark = `${process.pid}-${Date.now()}`;

  constructor(
    seed: number,
    private readonly violation: (text: string) => void,
  ) {
    this.#choices = new Choices(seed ^ 0xc);
  }

  get summary(): string {
    const { rounds, interrupted, fates } = this.figures;
    const noCompiler = compilerProblem();
    const signals =
      noCompiler === undefined ? `${interrupted} programs interrupted by signals` : `no signals: ${noCompiler}`;
    const befell = Object.entries(fates).map(([fate, times]) => `${fate} ${times}`);
    return `C programs: ${signals}; ${rounds} pairs${befell.length === 0 ? '' : `; ${befell.join(', ')}`}`;
  }

  /** Plays one pair after the other. */
  async run(seconds: number, signal: AbortSignal): Promise<void> {
    const endMs = performance.now() + seconds * 1000;
    const signals = compilerProblem() === undefined ? new CProgram('signals') : undefined;
    while (performance.now() < endMs && !signal.aborted) {
      if (signals !== undefined && this.#choices.chance(SIGNALS_PERCENT)) await this.#interrupt(signals.path);
      else await this.#round();
    }
    signals?.remove();
  }

  async #round(): Promise<void> {
    const choices = this.#choices;
    const pair = choices.of(PAIRS);
    const fate = choices.of(FATES);
    const together = choices.chance(50);
    const started = this.#start(pair, together);
    const what = `${pair.name}, ${together ? 'one launcher' : 'two launchers'}, ${fate}`;
    await sleep(START_S * 1000 + LIFE_MS.least + choices.below(LIFE_MS.more));
    await this.#befall(fate, started);
    await this.#end(what, started);
    this.figures.rounds += 1;
    this.figures.fates[fate] = (this.figures.fates[fate] ?? 0) + 1;
  }

  /** Makes all calls of libibverbs and librdmacm while signals come. */
  async #interrupt(path: string): Promise<void> {
    const choices = this.#choices;
    const [interval, handler] = [choices.of(INTERVALS_US), choices.of(HANDLERS)];
    const words = [path, String(interval), handler[0], String(SIGNALS_S), ...handler.slice(1)];
    const started = this.#launch([ADDRESSES[0]], words.join(' '));
    const late = setTimeout(() => started.child.kill('SIGKILL'), PATIENCE_MS);
    const code = await new Promise((resolve) => started.child.once('close', resolve));
    clearTimeout(late);
    const what = `signals each ${interval} us, ${handler.join(' ')}`;
    if (code !== 0) this.violation(`${what}: the program ended with ${String(code)}\n${started.errors}`);
    this.figures.interrupted += 1;
  }

  #start({ server, client }: Pair, together: boolean): readonly Started[] {
    const choices = this.#choices;
    const port = FIRST_PORT + choices.below(PORTS);
    const [here, there] = ADDRESSES;
    const late = `sleep ${START_S}; `;
    if (together) return [this.#launch([here], `${server(here, port)} & ${late}${client(here, port)}; wait`)];
    return [this.#launch([here], server(here, port)), this.#launch([there], `${late}${client(here, port)}`)];
  }

  #launch(addresses: readonly string[], script: string): Started {
    const args = [TOOL, 'run', ...addresses.flatMap((address) => ['--addr', address]), '--', 'sh', '-c', script];
    const child = spawn(process.execPath, args, {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { ...process.env, [MARK]: this.#mark },
    });
    const started: Started = { child, errors: '' };
    child.stderr.setEncoding('utf8').on('data', (text: string) => (started.errors += text));
    return started;
  }

  async #befall(fate: Fate, started: readonly Started[]): Promise<void> {
    const choices = this.#choices;
    const launchers = started.flatMap(({ child: { pid } }) => (pid === undefined ? [] : [pid]));
    const programs = this.#marked().filter((pid) => !launchers.includes(pid));
    const kind = fate.endsWith('launcher') ? launchers : programs;
    if (kind.length === 0) return;
    const pid = choices.of(kind);
    if (fate.startsWith('kill')) kill(pid, 'SIGKILL');
    if (fate.startsWith('end')) kill(pid, 'SIGTERM');
    if (!fate.startsWith('stop')) return;
    kill(pid, 'SIGSTOP');
    await sleep(STOPPED_MS);
    kill(pid, 'SIGCONT');
  }

  /** Tells the launchers to end as long as they have not, and looks what is left. */
  async #end(what: string, started: readonly Started[]): Promise<void> {
    const beganMs = performance.now();
    let toldMs = beganMs;
    while (this.#marked().length > 0) {
      await sleep(LOOK_MS);
      const now = performance.now();
      if (now - beganMs > PATIENCE_MS) {
        this.#giveUp(what, started);
        break;
      }
      if (now - toldMs < AGAIN_MS) continue;
      toldMs = now;
      for (const { child } of started) child.kill('SIGTERM');
    }
    for (const { errors } of started)
      if (/^\s+at .*:\d+:\d+|^\(node:\d+\) /m.test(errors)) this.violation(`${what}: the launcher says\n${errors}`);
  }

  #giveUp(what: string, started: readonly Started[]): void {
    const left = this.#marked();
    const said = started.map(({ errors }) => errors.trim()).filter((text) => text !== '');
    this.violation(
      [`${what}: still there after ${PATIENCE_MS / 1000} s: ${left.map(describe).join(', ')}`, ...said].join('\n'),
    );
    for (const pid of left) kill(pid, 'SIGKILL');
  }

  /** All processes that come of us and live. */
  #marked(): number[] {
    const mark = `${MARK}=${this.#mark}`;
    return readdirSync('/proc')
      .map(Number)
      .filter(
        (pid) =>
          pid > 0 && read(pid, 'environ').split('\0').includes(mark) && !/^State:\s*[ZX]/m.test(read(pid, 'status')),
      );
  }
}

function read(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'latin1');
  } catch {
    return '';
  }
}

function describe(pid: number): string {
  return `${read(pid, 'cmdline').replaceAll('\0', ' ').trim()} (${pid})`;
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has just ended.
  }
}
