import { AttackRun, Breach } from './attack-run.js';
import { attacks, type Knower, KNOWERS, knowerWords } from './attacks/index.js';
import { GOALS, goalWords } from './judge.js';
import { clearLine, readOptions, wholeNumber } from '../support/command-line.js';

const HELP = `An adversary that knows the protocol, and not the numbers: it sends what it likes to a device with connections, memory
and listeners, and guesses queue pair numbers, PSNs, keys, Q_Keys, names of connections; or it is connected, or holds a key,
and tries for more. Fails when a byte of memory changes or is sent that is not its own, when a request of others completes,
when a connection is made, ended or held up by somebody who is no part of it, or when more is kept than is stated; and when
those who are entitled do not get through any more.

usage: npm run adversary -- [--attempts N] [--seed S] [--json]

  --attempts N  how many (default 1000000; 1e6 is understood)
  --seed S      where all choices come from (default 1)
  --json        print the summary as JSON

Ctrl-C ends it with the summary so far. The exit status is 1 when an attempt came to something.`;

const SLICE = 2000;
const PROGRESS_MS = 250;

const OPTIONS = {
  attempts: { type: 'string', default: '1000000' },
  seed: { type: 'string', default: '1' },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

const count = (value: number): string => value.toLocaleString('en');

/** Attempts by who made them and what for, and what luck alone would have given. */
function figuresOf({ tallies }: AttackRun, knower: Knower) {
  const own = attacks.filter((attack) => attack.knower === knower);
  const sum = (of: typeof own, what: 'attempts' | 'luck'): number =>
    of.reduce((total, attack) => total + (tallies.get(attack)?.[what] ?? 0), 0);
  return {
    knower,
    attempts: sum(own, 'attempts'),
    luck: sum(own, 'luck'),
    goals: Object.fromEntries(
      GOALS.map((goal) => [
        goal,
        sum(
          own.filter((attack) => attack.goal === goal),
          'attempts',
        ),
      ]),
    ),
  };
}

function printSummary(
  attackRun: AttackRun,
  wanted: number,
  seed: number,
  seconds: number,
  breach: Breach | undefined,
): void {
  const figures = KNOWERS.map((knower) => figuresOf(attackRun, knower));
  const lines = [
    `${count(attackRun.attempts)} of ${count(wanted)} attempts of seed ${seed} in ${seconds.toFixed(1)} s`,
  ];
  for (const { knower, attempts, luck, goals } of figures) {
    lines.push(
      `${knower} (${knowerWords[knower]}): ${count(attempts)}; luck alone would give ${luck.toExponential(1)} successes`,
    );
    for (const goal of GOALS) if (goals[goal] > 0) lines.push(`  to ${goalWords[goal]}: ${count(goals[goal])}`);
  }
  lines.push(breach === undefined ? 'none came to anything' : `FAILED: ${breach.message}`);
  process.stdout.write(`${lines.join('\n')}\n`);
}

function printJson(
  attackRun: AttackRun,
  wanted: number,
  seed: number,
  seconds: number,
  breach: Breach | undefined,
): void {
  const kinds = KNOWERS.map((knower) => figuresOf(attackRun, knower));
  const rows = attacks.map((attack) => {
    const { knower, goal, name } = attack;
    return { knower, goal, name, ...attackRun.tallies.get(attack) };
  });
  const { attempts } = attackRun;
  const summary = { seed, wanted, attempts, seconds, breach: breach?.message, kinds, attacks: rows };
  process.stdout.write(`${JSON.stringify(summary, null, 2)}\n`);
}

async function main(): Promise<void> {
  const options = readOptions(OPTIONS, HELP);
  if (options.help) {
    process.stdout.write(`${HELP}\n`);
    return;
  }
  const wanted = wholeNumber('attempts', options.attempts);
  const seed = wholeNumber('seed', options.seed);
  const interruption = new AbortController();
  process.once('SIGINT', () => interruption.abort());
  const attackRun = new AttackRun(seed);
  const startMs = performance.now();
  let shownMs = startMs;
  let breach: Breach | undefined;
  try {
    while (attackRun.attempts < wanted && !interruption.signal.aborted) {
      attackRun.run(Math.min(SLICE, wanted - attackRun.attempts));
      if (process.stderr.isTTY && performance.now() - shownMs > PROGRESS_MS) {
        shownMs = performance.now();
        process.stderr.write(`${clearLine()}${count(attackRun.attempts)} attempts, none came to anything`);
      }
      await new Promise((resolve) => setImmediate(resolve));
    }
  } catch (error) {
    if (!(error instanceof Breach)) throw error;
    breach = error;
  }
  process.stderr.write(clearLine());
  const print = options.json ? printJson : printSummary;
  print(attackRun, wanted, seed, (performance.now() - startMs) / 1000, breach);
  if (breach !== undefined) {
    process.stderr.write(`replay: npm run adversary -- --seed ${seed} --attempts ${wanted}\n`);
    process.exitCode = 1;
  } else if (interruption.signal.aborted) {
    process.exitCode = 130;
  }
}

await main();
