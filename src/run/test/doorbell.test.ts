import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Calls } from '../notifications/blocked-calls.js';
import { answerDoorbell } from '../uverbs/doorbell.js';
import { Structs } from '../uverbs/structs.js';
import { Errno } from '../../device/ibta/index.js';
import { nativeHostProblem } from '../../node/system/index.js';

const { bytes } = Structs.DOORBELL.request;

/** A doorbell of a program that has posted so many bytes; what is done about it, in its order. */
function ring(
  posted: number | undefined,
  { lengthBytes = bytes, goesOn = false, crowded = false } = {},
): readonly string[] {
  const told: string[] = [];
  const tell = (what: string): true => {
    told.push(what);
    return true;
  };
  const calls: Calls = {
    tid: process.pid,
    id: { low: 1, high: 1 },
    number: 1,
    int: () => 0,
    // Nothing can be read there.
    address: (index) => (index === 2 ? lengthBytes : 0),
    isWaiting: () => true,
    answer: (value) => tell(`answer ${value}`),
    refuse: (errno) => tell(`refuse ${errno}`),
    letThrough: () => tell('let through'),
    addFd: () => -1,
    answerWithFd: () => -1,
  };
  const context = {
    isCrowded: crowded,
    postedBytes: () => posted ?? 0,
    ringPosted: () => posted !== undefined && tell('post'),
    ring: () => tell('ring'),
    goesOn,
  };
  answerDoorbell(calls, context, { onPosted: () => void tell('settle'), letGo: () => void tell('let go') });
  return told;
}

describe('a doorbell', { skip: nativeHostProblem() ?? false }, () => {
  it('is answered when the NIC has done what it can', () => {
    assert.deepEqual(ring(64), ['post', 'settle', `answer ${bytes}`]);
  });

  it('is answered before where much is to be copied, and the program goes on meanwhile', () => {
    assert.deepEqual(ring(65536), ['let go', `answer ${bytes}`, 'post', 'settle']);
  });

  it('is good where what was posted has been taken before, with that of the doorbell before', () => {
    assert.deepEqual(ring(undefined, { goesOn: true }), ['settle', `answer ${bytes}`]);
  });

  it('is refused where it is none, or nobody can read whose it is', () => {
    assert.deepEqual(ring(64, { lengthBytes: bytes - 1 }), [`refuse ${Errno.EINVAL}`]);
    assert.deepEqual(ring(undefined), [`refuse ${Errno.EFAULT}`]);
    assert.deepEqual(ring(64, { crowded: true }), [`refuse ${Errno.EFAULT}`]);
  });
});
