import { runSeeded } from '../support/seeded-run.js';
import { Fuzz } from './fuzz.js';

const HELP = `Throws hostile packets at a NIC with queue pairs of every type in every state: every opcode, right and wrong keys,
addresses, lengths, PSNs, P_Keys, Q_Keys, senders and checksums. Fails when a packet has an effect that the rules of the
protocol do not give it, when a byte beside a memory region changes, or when anything throws.

usage: npm run fuzz -- [--packets N] [--seed S] [--json]

  --packets N  how many packets (default 1000000; 1e7 is understood)
  --seed S     seed of all choices (default 1)
  --json       print the summary as JSON

Ctrl-C ends it with the summary so far. The exit status is 1 when something is wrong.`;

const count = (value: number): string => value.toLocaleString('en');

await runSeeded({
  name: 'fuzz',
  steps: 'packets',
  help: HELP,
  slice: 20_000,
  start: (seed) => new Fuzz(seed),
  text: ({ figures }, { seed, wanted, seconds }) => {
    const drops = Object.entries(figures.counters).filter(([name, value]) => name.startsWith('rx_') && value > 0);
    return (
      `${count(figures.packets)} of ${count(wanted)} packets of seed ${seed} in ${seconds.toFixed(1)} s ` +
      `(${count(Math.round(figures.packets / seconds))} packets/s)\n` +
      `entitled to an effect ${count(figures.entitled)}, answers ${count(figures.answers)}, ` +
      `completions ${count(figures.completions)}, events ${count(figures.events)}\n` +
      `dropped: ${drops.map(([name, value]) => `${name} ${count(value)}`).join(', ')}`
    );
  },
  json: ({ figures }, { seed, wanted, seconds }) => {
    return { seed, wanted, seconds, packetsPerSecond: figures.packets / seconds, ...figures };
  },
});
