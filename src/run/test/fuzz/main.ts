import { nameOf, WcStatus } from '../../../device/ibta/index.js';
import { nativeHostProblem } from '../../../node/system/index.js';
import { runSeeded } from '../../../../test/support/seeded-run.js';
import { CommandFuzz } from './fuzz.js';

const HELP = `Has programs that lie give commands to the kernel's side of verbena run: by ioctl and by rdma_cm, right and wrong ones, with
lying sizes, addresses, handles and descriptors, while their queues hold any entries and indices. Fails when anything throws, when
a call is not answered, when memory is touched that nobody registered, when a program beside them that means well notices, or
when anything is left behind.

usage: npm run fuzz:run -- [--commands N] [--seed S] [--json]

  --commands N  how many commands (default 1000000; 1e6 is understood)
  --seed S      seed of all choices (default 1)
  --json        print the summary as JSON

Ctrl-C ends it with the summary so far. The exit status is 1 when something is wrong.`;

const count = (value: number): string => value.toLocaleString('en');

function statusesOf(fuzz: CommandFuzz): string {
  const sorted = [...fuzz.statuses].sort(([a], [b]) => a - b);
  return sorted.map(([status, times]) => `${nameOf(WcStatus, status)} ${times}`).join(', ');
}

await runSeeded({
  name: 'fuzz:run',
  steps: 'commands',
  help: HELP,
  slice: 2000,
  problem: nativeHostProblem,
  start: (seed) => new CommandFuzz(seed),
  text: (fuzz, { seed, wanted, seconds }) => {
    const { figures, calls } = fuzz;
    return (
      `${count(figures.commands)} of ${count(wanted)} commands of seed ${seed} in ${seconds.toFixed(1)} s\n` +
      `programs ${figures.lives}, calls answered ${calls.answered}, refused ${calls.refused}; completions ${statusesOf(fuzz)}`
    );
  },
  json: (fuzz, { seed, wanted, seconds }) => {
    return { seed, wanted, seconds, ...fuzz.figures, ...fuzz.calls, statuses: statusesOf(fuzz) };
  },
});
