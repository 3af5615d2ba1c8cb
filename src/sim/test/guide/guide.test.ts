import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import * as sim from 'verbena/sim';

const read = (path: string): string =>
  readFileSync(fileURLToPath(new URL(`../../../../../${path}`, import.meta.url)), 'utf8');
const guide = read('docs/guide/sim.md');

describe('the guide to simulations', () => {
  for (const name of ['lost-ack', 'dead-peer'])
    it(`shows the very code of ${name}.test.ts`, () => {
      const [shown] = new RegExp(`^// ${name}\\.test\\.ts\n[^]*?(?=^\`\`\`$)`, 'm').exec(guide) ?? [''];
      assert.equal(shown, `// ${name}.test.ts\n${read(`src/sim/test/guide/${name}.test.ts`)}`);
    });

  it('names what a simulation and its hosts can do', () => {
    const methods = [sim.Sim, sim.SimHost].flatMap(({ prototype }) => Object.getOwnPropertyNames(prototype));
    // close is what simulate does; the others are what error messages are made of.
    const unnamed = ['constructor', 'close', 'waiting', 'trace', 'unmetRules', 'hosts', 'statistics', 'state', 'name'];
    const missing = methods.filter((name) => !new RegExp(`\\b${name}\\b`).test(guide) && !unnamed.includes(name));
    assert.deepEqual(missing, []);
  });
});
