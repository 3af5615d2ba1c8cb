import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { Descendants } from '../launcher/descendants.js';
import { type EndedChild, spawnProgram } from '../../node/system/index.js';
import { cannotRun } from './support.js';

describe('a program', { skip: cannotRun }, () => {
  it('gets the signals that came for it before it was there', async () => {
    const descendants = new Descendants();
    assert.equal(descendants.tellProgram('SIGTERM'), true);
    const ends: EndedChild[] = [];
    descendants.begin(spawnProgram('sleep', ['sleep', '60'], process.env), (end) => ends.push(end));
    // A signal that it has ended keeps nobody waiting for it.
    while (ends.length === 0) await setImmediate();
    assert.equal(ends[0]?.signal, 'SIGTERM');
    assert.equal(descendants.tellProgram('SIGTERM'), false);
  });
});
