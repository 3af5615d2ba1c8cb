import { deepEqual, ok } from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { nativeHostProblem } from '../../src/node/system/index.js';
import { Crashes } from './crashes.js';

const SEED = Number(process.env['VERBENA_SEED'] ?? 1);
const ROUNDS = 2;
const LONGEST_MS = 500;

it('what was acknowledged is there after servers and clients were killed', { skip: nativeHostProblem() }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'verbena-crash-'));
  const crashes = new Crashes(SEED, join(folder, 'data'), LONGEST_MS);
  for (let round = 0; round < ROUNDS; round += 1) await crashes.round();
  await crashes.end();
  deepEqual(crashes.violations, []);
  ok(crashes.ledger.acknowledged > 0);
  rmSync(folder, { recursive: true });
});
