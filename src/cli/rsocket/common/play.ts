import { MAY_BE_GONE, MAY_NOT_ANSWER, toldIfSilent } from '../../rdmacm/common/silence.js';
import type { Carrier, Carriers } from './rsocket-carrier.js';
import type { StreamFlags } from './flags.js';
import { type Round, roundsOf } from './plan.js';
import { headLine, type Measured, measuredFacts, measuredLine } from './table.js';
import type { StreamTest } from './tests.js';

/** Plays all rounds, each over a connection of its own, and prints the table. `play` does a test, and says how many µs it took. */
export async function playRounds<C extends Carrier>(
  tool: string,
  flags: StreamFlags,
  carriers: Carriers<C>,
  begin: (round: Round) => void,
  play: (carrier: C, test: StreamTest) => Promise<number>,
): Promise<void> {
  const say = (line: string): void => {
    if (flags.json !== true) process.stdout.write(`${line}\n`);
  };
  const all: Measured[] = [];
  say(headLine());
  for (const round of roundsOf(flags)) {
    begin(round);
    const next = carriers.next();
    const carrier = await (flags.s === undefined ? next : toldIfSilent(next, MAY_NOT_ANSWER));
    for (const test of round.tests) {
      const measured = { ...test, elapsedUs: await play(carrier, test) };
      all.push(measured);
      say(measuredLine(measured));
    }
    await toldIfSilent(carrier.close(flags.s === undefined), MAY_BE_GONE);
  }
  carriers.close();
  if (flags.json !== true) return;
  const role = flags.s === undefined ? 'server' : 'client';
  process.stdout.write(`${JSON.stringify({ tool, role, tests: all.map(measuredFacts) })}\n`);
}
