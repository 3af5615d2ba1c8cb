import { describe, it } from 'node:test';
import { playCmSeeds } from './cm/seeds.js';

const FIRST = 1001;
const SEEDS = 1000;
const SEEDS_PER_TEST = 100;

describe('identifiers on hosts that come and go tell what has happened to them, again', () => {
  for (let first = FIRST; first < FIRST + SEEDS; first += SEEDS_PER_TEST)
    it(`for seeds ${first} to ${first + SEEDS_PER_TEST - 1}`, () => playCmSeeds(first, SEEDS_PER_TEST));
});
