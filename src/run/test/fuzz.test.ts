import { describe, it } from 'node:test';
import { nativeHostProblem } from '../../node/system/index.js';
import { CommandFuzz } from './fuzz/fuzz.js';

/** What `npm test` plays; `npm run fuzz:run` plays as many as one likes. */
const COMMANDS = 6000;
const SEEDS = 3;

describe('programs that lie meet refusals, and nobody else notices', { skip: nativeHostProblem() ?? false }, () => {
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    it(`for seed ${seed}`, () => {
      try {
        const fuzz = new CommandFuzz(seed);
        fuzz.run(COMMANDS);
        fuzz.end();
      } catch (error) {
        throw new Error(`replay: npm run fuzz:run -- --seed ${seed} --commands ${COMMANDS}`, { cause: error });
      }
    });
  }
});
