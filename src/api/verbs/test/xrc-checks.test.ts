import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openQpProblem, xrcdProblem } from '../index.js';
import { XrcdOpenFlags } from '../../../device/ibta/index.js';

const { CREAT, EXCL } = XrcdOpenFlags;

describe('an XRC domain (man ibv_open_xrcd)', () => {
  const good: readonly [what: string, fd: number, oFlags: number, exists: boolean][] = [
    ['of its own', -1, CREAT, false],
    ['of its own without CREAT, which files alone need', -1, 0, false],
    ['made for a file', 3, CREAT, false],
    ['made for a file that must have none', 3, CREAT | EXCL, false],
    ['shared by a file', 3, 0, true],
    ['shared by a file, or made', 3, CREAT, true],
  ];
  for (const [what, fd, oFlags, exists] of good) {
    it(`can be ${what}`, () => assert.equal(xrcdProblem(fd, oFlags, exists), undefined));
  }

  const bad: readonly [what: string, fd: unknown, oFlags: unknown, exists: boolean, errno: string][] = [
    ['of a file that is none', -2, CREAT, false, 'EBADF'],
    ['of a name', 'xrcd', CREAT, false, 'EBADF'],
    ['opened with flags that do not exist', 3, 1, false, 'EINVAL'],
    ['found where a file has none', 3, 0, false, 'EAGAIN'],
    ['made alone where a file has one', 3, CREAT | EXCL, true, 'EINVAL'],
  ];
  for (const [what, fd, oFlags, exists, errno] of bad) {
    it(`cannot be ${what}`, () => assert.equal(xrcdProblem(fd, oFlags, exists)?.errno, errno));
  }
});

describe('an XRC target that is opened', () => {
  it('has a number of 24 bits', () => {
    assert.equal(openQpProblem(0xffffff), undefined);
    for (const qpNum of [2 ** 24, -1, undefined]) assert.equal(openQpProblem(qpNum)?.errno, 'EINVAL', String(qpNum));
  });
});
