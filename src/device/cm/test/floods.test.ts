import { describe, test } from 'node:test';
import { playFlood, waves } from './support/floods.js';

describe('a flood from many addresses leaves memory bounded, and serves our own clients meanwhile:', () => {
  for (const [name, wave] of Object.entries(waves)) test(name, () => playFlood([wave], 1));
  for (const seed of [1, 2, 3])
    test(`all of these by chance, seed ${seed}`, () => playFlood(Object.values(waves), seed));
});
