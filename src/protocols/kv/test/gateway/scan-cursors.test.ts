import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ScanCursors } from '../../gateway/commands/command.js';

const LONG = 2n ** 64n;

describe('cursors of SCAN', () => {
  it('of one server are the server’s own', () => {
    const cursors = new ScanCursors();
    for (const cursor of [0n, 1n, LONG - 1n]) {
      assert.equal(cursors.given(cursor), cursor);
      assert.equal(cursors.taken(cursor), cursor);
    }
  });

  it('of several servers have 64 bits for clients, and lead where those of the store do, as often as they are asked for', () => {
    const cursors = new ScanCursors();
    const given = Array.from({ length: 100 }, (_, n) => cursors.given(LONG + BigInt(n)));
    assert.ok(given.every((cursor) => cursor > 0n && cursor < LONG));
    for (let turn = 0; turn < 2; turn += 1)
      for (const [n, cursor] of given.entries()) assert.equal(cursors.taken(cursor), LONG + BigInt(n));
  });

  it('are forgotten when many others were given, and lead to the beginning then', () => {
    const cursors = new ScanCursors();
    const [old] = Array.from({ length: 5000 }, () => cursors.given(LONG));
    assert.ok(cursors.taken(old) < LONG);
  });
});
