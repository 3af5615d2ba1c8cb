import { describe, it } from 'node:test';
import { Game, type Misfortune } from './life.js';
import { seedsOf } from '../../../../../test/support/share.js';

const GAMES = Number(process.env['VERBENA_TEST_TIMES'] ?? 300);

function play(misfortune: Misfortune): () => void {
  return () => {
    for (const seed of seedsOf(GAMES)) new Game(seed, misfortune).play();
  };
}

describe('a store that is kept on disk holds what was promised', () => {
  it('after a machine or a program that ends at any moment', play({ fails: false, lies: false }));
  it('and one whose disk fails, or is full, now and then', play({ fails: true, lies: false }));
  it('or says that it is damaged, where the disk lied', play({ fails: false, lies: true }));
});
