import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { descriptorRanges } from '../launcher/descriptor-ranges.js';
import { filterRules } from '../launcher/filter.js';
import { InterruptedCalls } from '../notifications/interrupted-calls.js';
import { NativeBlock, nativeHostProblem } from '../../node/system/index.js';

const ranges = descriptorRanges(1024);
const rules = filterRules(ranges, 'call');
const EINTR = -4;
const Saved = { RDI: 104, RSI: 112, RDX: 136, RAX: 144, RIP: 168 };
const [READ, WRITE, CLOSE, STAT, IOCTL, OPENAT, SIGRETURN] = [0, 1, 3, 4, 16, 257, 15];
const RDMA_VERBS_IOCTL = 0xc018_1b01;
const DEVICE = ranges.uverbs.first;
const CHANNEL = ranges.rdmaCm.first;

/** `mov $number, %eax; syscall`, as the C library's functions have it. */
const direct = (number: number): number[] => [0x90, 0x90, 0xb8, number & 255, number >> 8, 0, 0, 0x0f, 0x05];
/** `mov $number, %rax; syscall`, as its handlers return. */
const long = (number: number): number[] => [0x48, 0xc7, 0xc0, number & 255, number >> 8, 0, 0, 0x0f, 0x05];
/** `mov 8(%rsp), %r8; mov %r11, …; syscall`: the number comes from a register. */
const generic = [0x49, 0x89, 0xc0, 0x4c, 0x89, 0x5c, 0x24, 0x0f, 0x05];

/** What becomes of a call that was interrupted: the memory of the program is that of this process. */
function outcome(
  code: readonly number[],
  args: readonly [number, number, number],
  result = EINTR,
): number | 'as it was' {
  const files = {
    find: (_: number, fd: number) =>
      fd === DEVICE ? {} : fd === CHANNEL ? { mayBlock: (_tid: number, at: number) => at === 4096 } : undefined,
  };
  const [frame, text] = [new NativeBlock(176), new NativeBlock(16)];
  text.bytes.set(code);
  const after = text.address + code.length;
  [Saved.RDI, Saved.RSI, Saved.RDX].forEach((at, i) => frame.putPointer(at, args[i]));
  frame.words[Saved.RAX >> 2] = result;
  frame.words[(Saved.RAX >> 2) + 1] = result < 0 ? -1 : 0;
  frame.putPointer(Saved.RIP, after);
  new InterruptedCalls('x64', rules, files).restart(process.pid, frame.address);
  if (frame.getPointer(Saved.RIP) === after) {
    assert.equal(frame.words[Saved.RAX >> 2], result);
    return 'as it was';
  }
  assert.equal(frame.getPointer(Saved.RIP), after - 2);
  return frame.getPointer(Saved.RAX);
}

describe('a call that was interrupted before it was received', { skip: nativeHostProblem() ?? false }, () => {
  it('is made again when the handler returns', () => {
    assert.equal(outcome(direct(WRITE), [DEVICE, 8192, 32]), WRITE);
    assert.equal(outcome(direct(IOCTL), [7, RDMA_VERBS_IOCTL, 8192]), IOCTL);
    assert.equal(outcome(direct(CLOSE), [DEVICE, 0, 0]), CLOSE);
    assert.equal(outcome(direct(STAT), [8192, 8192, 0]), STAT);
    assert.equal(outcome(direct(OPENAT), [0xffff_ff9c, 8192, 0]), OPENAT);
  });

  it('is made again when it is the end of another handler', () => {
    assert.equal(outcome(long(SIGRETURN), [0, 0, 0]), SIGRETURN);
  });

  it('is known by its arguments where the code does not tell its number', () => {
    assert.equal(outcome(generic, [DEVICE, 8192, 32]), WRITE);
    assert.equal(outcome(generic, [DEVICE, 0, 0]), CLOSE);
    assert.equal(outcome(generic, [DEVICE, RDMA_VERBS_IOCTL, 8192]), IOCTL);
    assert.equal(outcome(generic, [0xffff_ff9c, 8192, 0]), OPENAT);
    assert.equal(outcome(generic, [5, 8192, 32]), 'as it was');
  });

  it('returns EINTR where it waits for something', () => {
    assert.equal(outcome(direct(WRITE), [CHANNEL, 4096, 16]), 'as it was');
    assert.equal(outcome(direct(WRITE), [CHANNEL, 8192, 16]), WRITE);
  });

  it('returns EINTR where its file was closed meanwhile', () => {
    assert.equal(outcome(direct(WRITE), [CHANNEL + 1, 4096, 16]), 'as it was');
  });
});

describe('a call that never comes here', { skip: nativeHostProblem() ?? false }, () => {
  it('is left to the kernel', () => {
    assert.equal(outcome(direct(READ), [DEVICE, 8192, 32]), 'as it was');
    assert.equal(outcome(direct(WRITE), [5, 8192, 32]), 'as it was');
    assert.equal(outcome(direct(CLOSE), [5, 0, 0]), 'as it was');
    assert.equal(outcome(direct(IOCTL), [5, 0x5413, 8192]), 'as it was');
  });

  it('and one that has returned something else, is left as it is', () => {
    assert.equal(outcome(direct(WRITE), [DEVICE, 8192, 32], 32), 'as it was');
    assert.equal(outcome(direct(WRITE), [DEVICE, 8192, 32], -22), 'as it was');
    assert.equal(outcome([0x90, 0x90, 0xb8, 1, 0, 0, 0, 0x90, 0x90], [DEVICE, 8192, 32]), 'as it was');
  });
});
