import { AttackRun } from './attack-run.js';
import { attacks, type Knower, KNOWERS, knowerWords } from './attacks/index.js';
import { GOALS, goalWords } from './judge.js';
import { runSeeded, type SeededRunResult } from '../support/seeded-run.js';

const HELP = `An adversary that knows the protocol, and not the numbers: it sends what it likes to a device with connections, memory
and listeners, and guesses queue pair numbers, PSNs, keys, Q_Keys, names of connections; or it is connected, or holds a key,
and tries for more. Fails when a byte of memory changes or is sent that is not its own, when a request of others completes,
when a connection is made, ended or held up by somebody who is no part of it, or when more is kept than is stated; and when
those who are entitled do not get through any more.

usage: npm run adversary -- [--attempts N] [--seed S] [--json]

  --attempts N  how many (default 1000000; 1e6 is understood)
  --seed S      seed of all choices (default 1)
  --json        print the summary as JSON

Ctrl-C ends it with the summary so far. The exit status is 1 when an attempt came to something.`;

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

function text(attackRun: AttackRun, { seed, wanted, seconds, failure }: SeededRunResult): string {
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
  if (failure === undefined) lines.push('none came to anything');
  return lines.join('\n');
}

function json(attackRun: AttackRun, { seed, wanted, seconds, failure }: SeededRunResult): object {
  const kinds = KNOWERS.map((knower) => figuresOf(attackRun, knower));
  const rows = attacks.map((attack) => {
    const { knower, goal, name } = attack;
    return { knower, goal, name, ...attackRun.tallies.get(attack) };
  });
  const { attempts } = attackRun;
  return { seed, wanted, attempts, seconds, breach: failure?.message, kinds, attacks: rows };
}

await runSeeded({
  name: 'adversary',
  steps: 'attempts',
  help: HELP,
  slice: 2000,
  start: (seed) => new AttackRun(seed),
  text,
  json,
});
