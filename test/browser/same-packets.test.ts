import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { bundled } from './support/bundle.js';
import { Chromium, chromiumVersion, type Page, withoutChromium } from './support/chromium.js';
import * as scenario from './support/scenario.js';
import type { Digest } from './support/scenario.js';
import { PageServer } from './support/server.js';

const SEEDS = 100;
/** For a bundle that runs in Node: what a browser does not do otherwise shows in a few. */
const FEW_SEEDS = 5;
const PATIENCE_MS = 300_000;

type Elsewhere = Pick<typeof scenario, 'digestsOf' | 'linesOf'>;

const bundle = await bundled(fileURLToPath(new URL('support/scenario.js', import.meta.url)));

/** @throws AssertionError with the first seed whose packets differ, and the first of them */
async function requireSame(here: readonly Digest[], there: readonly Digest[], elsewhere: Elsewhere): Promise<void> {
  const different = here.findIndex(({ sha256 }, i) => there.at(i)?.sha256 !== sha256);
  if (different < 0) {
    assert.equal(there.length, here.length);
    return;
  }
  const { seed } = here[different];
  const [ours, theirs] = await Promise.all([scenario.linesOf(seed), elsewhere.linesOf(seed)]);
  const first = Math.max(
    0,
    ours.findIndex((line, i) => theirs.at(i) !== line),
  );
  assert.equal(theirs.at(first), ours.at(first), `seed ${seed}, packet ${first} of ${ours.length}`);
  assert.equal(theirs.length, ours.length, `seed ${seed}: the packets begin alike`);
  assert.fail(`seed ${seed}: the packets differed, and when played again they did not`);
}

function inPage(page: Page): Elsewhere {
  const call =
    <T>(name: keyof Elsewhere) =>
    async (argument: number): Promise<T> =>
      // The very function, whose values JSON carries.
      (await page.evaluate(`import('/scenario.js').then(({ ${name} }) => ${name}(${argument}))`)) as T;
  return { digestsOf: call('digestsOf'), linesOf: call('linesOf') };
}

describe('verbena/sim, bundled for a browser', () => {
  it('leans on nothing but the package, and there on nothing of the machine', () => {
    const outside = bundle.modules.filter((path) => !/^dist\/(package\/browser|test)\//.test(path));
    assert.deepEqual([outside, bundle.imports.filter(isBuiltin), bundle.imports], [[], [], []]);
  });

  it('sends the same packets under what every runtime has, in Node', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'verbena-bundle-'));
    after(() => rmSync(folder, { recursive: true }));
    const file = join(folder, 'scenario.mjs');
    writeFileSync(file, bundle.code);
    const elsewhere = (await import(pathToFileURL(file).href)) as Elsewhere; // Bundled from that very module.
    await requireSame(await scenario.digestsOf(FEW_SEEDS), await elsewhere.digestsOf(FEW_SEEDS), elsewhere);
  });

  it(
    `sends the same packets in Chromium as in Node, byte for byte, for ${SEEDS} seeds`,
    { skip: withoutChromium, timeout: PATIENCE_MS },
    async (t) => {
      await using server = await PageServer.start({ '/': '<!doctype html>', '/scenario.js': bundle.code });
      await using chromium = new Chromium();
      const page = await chromium.open(server.url('/'));
      const elsewhere = inPage(page);
      const [there, here] = await Promise.all([elsewhere.digestsOf(SEEDS), scenario.digestsOf(SEEDS)]);
      await requireSame(here, there, elsewhere);
      const packets = here.reduce((sum, digest) => sum + digest.packets, 0);
      t.diagnostic(`${SEEDS} seeds, ${packets} packets, ${chromiumVersion}, Node ${process.version}`);
      assert.deepEqual(page.problems, []);
    },
  );
});
