import assert from 'node:assert/strict';
import { closeSync, existsSync, openSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { inboxDirectory, type InboxDirectory, sweep } from '../local/local-directory.js';
import { CONTROL_BYTES, Slot, SlotState, slotWord } from '../local/local-layout.js';
import {
  lockByte,
  lockFile,
  nativeHostProblem,
  requireNativeHost,
  SharedMapping,
  unlockByte,
} from '../../system/index.js';
import { assertWay, LocalWorld } from './local-support.js';

const skip = nativeHostProblem() ?? false;
const LOOKS = 20;

describe('a slot that somebody has claimed and not opened', { skip }, () => {
  /** Claims slot 0 of a link at address 1 as a sender does that is stopped right after. */
  function withClaim(look: (claim: { fd: number; words: Int32Array; at: number; world: LocalWorld }) => void): void {
    using world = new LocalWorld();
    world.open(1);
    const fd = openSync(join(world.directory, world.files[0]), 'r+');
    const mapping = new SharedMapping(fd, 0, CONTROL_BYTES);
    const at = slotWord(0) + Slot.STATE;
    assert.equal(lockByte(fd, 0), true);
    Atomics.store(mapping.words, at, (7 << SlotState.BITS) | SlotState.CLAIMED);
    look({ fd, words: mapping.words, at, world });
    mapping.close();
    closeSync(fd);
  }

  test('stays that of a process that was stopped, however long', () => {
    withClaim(({ words, at, world }) => {
      for (let looks = 0; looks < LOOKS; looks += 1) world.links[0].refresh();
      assert.equal(words[at] & SlotState.MASK, SlotState.CLAIMED);
    });
  });

  test('is given to nobody else, who takes another', () => {
    withClaim(({ words, at, world }) => {
      const before = words[at];
      assertWay(world.open(2), world.links[0], true);
      assert.equal(words[at], before);
    });
  });

  test('is free as soon as it is seen that its process is gone', () => {
    withClaim(({ fd, words, at, world }) => {
      unlockByte(fd, 0);
      world.links[0].refresh();
      assert.equal(words[at] & SlotState.MASK, SlotState.FREE);
    });
  });
});

describe('files in the directory of inboxes', { skip }, () => {
  const LONG_AGO = new Date(Date.now() - 3_600_000);

  /** Makes a file there, of that age, has all swept, and says whether the file is left. */
  function isLeft(directory: InboxDirectory, last: Date, locked: boolean): boolean {
    const path = join(directory.path, 'some-file');
    writeFileSync(path, '');
    const fd = openSync(path, 'r+');
    if (locked) assert.equal(lockFile(fd), true);
    utimesSync(path, last, last);
    sweep(directory);
    closeSync(fd);
    return existsSync(path);
  }

  test('are swept away when they are old and nobody holds them, and only then', () => {
    using world = new LocalWorld();
    world.open(1);
    const directory = inboxDirectory(world.parent);
    assert.ok('path' in directory);
    assert.equal(isLeft(directory, LONG_AGO, false), false);
    assert.equal(isLeft(directory, LONG_AGO, true), true);
    assert.equal(isLeft(directory, new Date(), false), true);
    assert.equal(world.files.length, 2);
  });

  test('are not even asked for their lock when they are new: whoever made them wants it', () => {
    using world = new LocalWorld();
    world.open(1);
    const directory = inboxDirectory(world.parent);
    assert.ok('path' in directory);
    writeFileSync(join(directory.path, 'new-file'), '');
    const { libc } = requireNativeHost();
    const flock = libc.flock.bind(libc);
    let asked = 0;
    libc.flock = (fd, operation) => {
      asked += 1;
      return flock(fd, operation);
    };
    sweep(directory);
    libc.flock = flock;
    assert.equal(asked, 0);
  });
});
