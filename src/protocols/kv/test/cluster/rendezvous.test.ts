import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { placeOf, Rendezvous } from '../../cluster/rendezvous.js';

const KEYS = 2000;
const encoder = new TextEncoder();

const named = (name: string): { readonly name: string } => ({ name });
const keysOf = (seed: number): Uint8Array[] => Array.from({ length: KEYS }, (_, n) => encoder.encode(`${seed}:${n}`));

/** Names of servers, each another one. */
const names = (least: number): fc.Arbitrary<string[]> =>
  fc.uniqueArray(fc.string({ minLength: 1, maxLength: 20 }), { minLength: least, maxLength: 9 });

function homesOf(servers: readonly string[], keys: readonly Uint8Array[]): readonly string[] {
  const homes = new Rendezvous(servers.map(named));
  return keys.map((key) => homes.homeOf(key).name);
}

describe('rendezvous hashing', () => {
  it('gives each server about as many keys as any other', () => {
    fc.assert(
      fc.property(names(1), fc.nat(), (servers, seed) => {
        const homes = homesOf(servers, keysOf(seed));
        const share = 1 / servers.length;
        // Six standard deviations of a binomial distribution: one run in 10^8 or so is further away.
        const slack = 6 * Math.sqrt(KEYS * share * (1 - share)) + 1;
        for (const server of servers) {
          const count = homes.filter((home) => home === server).length;
          assert.ok(Math.abs(count - KEYS * share) <= slack, `${server} has ${count} of ${KEYS * share}`);
        }
      }),
    );
  });

  it('moves the keys of a server that goes, and no others', () => {
    fc.assert(
      fc.property(names(2), fc.nat(), fc.nat(), (servers, which, seed) => {
        const keys = keysOf(seed).slice(0, 200);
        const gone = servers[which % servers.length];
        const before = homesOf(servers, keys);
        const after = homesOf(
          servers.filter((server) => server !== gone),
          keys,
        );
        for (const [at, home] of before.entries()) {
          if (home === gone) assert.notEqual(after[at], gone);
          else assert.equal(after[at], home);
        }
      }),
    );
  });

  it('moves keys to a server that comes, and to no other', () => {
    fc.assert(
      fc.property(names(2), fc.nat(), (servers, seed) => {
        const keys = keysOf(seed).slice(0, 200);
        const [comes, ...others] = servers;
        const after = homesOf(servers, keys);
        for (const [at, home] of homesOf(others, keys).entries()) assert.ok([home, comes].includes(after[at]));
      }),
    );
  });

  it('knows nothing of the order in which servers are named', () => {
    fc.assert(
      fc.property(
        names(1).chain((servers) =>
          fc.tuple(fc.constant(servers), fc.shuffledSubarray(servers, { minLength: servers.length })),
        ),
        fc.nat(),
        ([servers, shuffled], seed) => {
          const keys = keysOf(seed).slice(0, 50);
          assert.deepEqual(homesOf(servers, keys), homesOf(shuffled, keys));
        },
      ),
    );
  });

  it('has the homes that it had in all versions before', () => {
    assert.equal(placeOf('10.0.0.1:7175').toString(16), '5a38cabd1e56560d');
    const keys = ['a', 'b', 'greeting', 'user:1', 'user:2', 'user:3'].map((key) => encoder.encode(key));
    assert.deepEqual(homesOf(['alpha', 'beta', 'gamma'], keys), ['gamma', 'alpha', 'gamma', 'beta', 'alpha', 'alpha']);
  });

  it('walks through all servers once, wherever it begins', () => {
    fc.assert(
      fc.property(names(1), (servers) => {
        const homes = new Rendezvous(servers.map(named));
        const walked: string[] = [];
        for (let at = homes.from(0n); at !== undefined; at = homes.from(at.place + 1n)) walked.push(at.who.name);
        assert.deepEqual(walked.sort(), [...servers].sort());
      }),
    );
  });
});
