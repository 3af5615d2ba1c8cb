import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { arePinnable, ListedMappings, type Mapping } from '../../node/system/index.js';
import { Errno } from '../../entry/index.js';
import { compile } from './c-programs.js';
import { run } from './support.js';

const { EFAULT, EINVAL, ENOENT, EOPNOTSUPP, EPERM } = Errno;
const ANSWERS = compile('answers');

/** What the program prints: a result for each name. */
async function answers(what: string): Promise<ReadonlyMap<string, string>> {
  const { code, out, errors } = await run([ANSWERS.file, what]);
  assert.deepEqual([code, errors], [0, ''], out);
  const lines = out.trimEnd().split('\n');
  return new Map(lines.map((line) => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)]));
}

async function expectAnswers(what: string, expected: Readonly<Record<string, number | string>>): Promise<void> {
  const found = await answers(what);
  assert.deepEqual(
    Object.fromEntries(Object.keys(expected).map((name) => [name, found.get(name)])),
    Object.fromEntries(Object.entries(expected).map(([name, result]) => [name, String(result)])),
  );
}

describe('a C program', { skip: ANSWERS.problem }, () => {
  after(() => {
    ANSWERS.remove();
  });

  it('registers memory that Linux can pin, and no other', () =>
    expectAnswers('memory', {
      mapped: 0,
      half: EFAULT,
      'half-unaligned': EFAULT,
      unmapped: EFAULT,
      'unmapped-read': EFAULT,
      null: EFAULT,
      kernel: EFAULT,
      wrap: EINVAL,
      huge: EINVAL,
      none: EFAULT,
      'none-read': EFAULT,
      'ro-read': 0,
      'ro-write': EFAULT,
      'ro-remote-write': EFAULT,
      'ro-atomic': EFAULT,
      'ro-bind': EFAULT,
      'text-write': EFAULT,
      'text-read': 0,
      'shared-ro-write': EFAULT,
      'shared-ro-read': 0,
      'file-within': 0,
      'file-past-end': EFAULT,
      stack: 0,
      'many-read': 0,
      'many-write': EFAULT,
    }));

  it('registers with the access flags and lengths that Linux takes', () =>
    expectAnswers('memory', {
      'zero-aligned': EINVAL,
      'zero-unaligned': 0,
      'zero-unmapped': EFAULT,
      'on-demand': EOPNOTSUPP,
      hugetlb: 0,
      'unknown-flag': EINVAL,
      'remote-without-local': EINVAL,
      'zero-based': 0,
      'iova-offset': EINVAL,
      'iova-same-offset': 0,
    }));

  it('is told of wrong handles, and of limits that apply', () =>
    expectAnswers('handles', {
      'srq-limit': 0,
      'with-srq': 0,
      'without-srq': EINVAL,
      'dealloc-unknown': ENOENT,
      'dealloc-other-kind': EINVAL,
      dealloc: 0,
    }));

  it('binds windows with any key, of which the low byte counts, and writes to a zero-based region', () =>
    expectAnswers('windows', {
      'bind-400': 0,
      'write-400': '0 from',
      'bind-11': 0,
      'write-11': '0 from',
      'bind-badd0ba': 0,
      'write-badd0ba': '0 from',
      'zero-based-write': '0 from',
    }));

  it('sets Q_Keys with the top bit only with CAP_NET_RAW, which raw packet queue pairs need as well', async () => {
    const found = await answers('privileged');
    const nobody = ['nobody-qkey', 'nobody-plain-qkey', 'nobody-raw'].map((name) => Number(found.get(name)));
    assert.deepEqual(nobody, [EPERM, 0, EPERM]);
    // A program without the capability prints nothing of root.
    const root = ['root-qkey', 'root-raw'].map((name) => found.get(name));
    assert.ok(root[0] === undefined || root[0] === '0', root[0]);
    assert.ok(root[1] === undefined || root[1] === String(EOPNOTSUPP), root[1]);
  });
});

describe('the mappings of a process', () => {
  const MAPS = [
    '00001000-00003000 rw-p 00000000 00:00 0 ',
    '00003000-00004000 r--p 00000000 00:00 0                                  [stack]',
    '00006000-00008000 rw-s 00001000 fe:01 42                                 /tmp/with space',
    '00009000-0000a000 ---p 00000000 00:00 0 ',
    '7f0000000000-7f0000001000 -w-p 00000000 00:00 0 ',
  ];
  const mappings = new ListedMappings(`${MAPS.join('\n')}\n`);
  const pin = (start: number, end: number, isToBeWritten: boolean, there: (at: number) => boolean = () => true) =>
    arePinnable(mappings, start, end, isToBeWritten, there);

  it('are found by an address', () => {
    const found = (at: number): Mapping | undefined => mappings.at(at);
    const anonymous = { isReadable: true, isWritable: true, isOfFile: false };
    assert.deepEqual(found(0x1000), { end: 0x3000, ...anonymous });
    assert.deepEqual(found(0x2fff), { end: 0x3000, ...anonymous });
    assert.deepEqual(found(0x6000), { end: 0x8000, ...anonymous, isOfFile: true });
    assert.deepEqual(
      [0, 0xfff, 0x4000, 0x8000, 0x7f0000001000].map(found),
      Array.from({ length: 5 }, () => undefined),
    );
  });

  it('can be pinned where they meet and have the right', () => {
    assert.equal(pin(0x1000, 0x4000, false), true);
    assert.equal(pin(0x1000, 0x4000, true), false);
    assert.equal(pin(0x2000, 0x5000, false), false);
    assert.equal(pin(0x9000, 0xa000, false), false);
    assert.equal(pin(0x7f0000000000, 0x7f0000001000, true), true);
    assert.equal(pin(0x7f0000000000, 0x7f0000001000, false), false);
  });

  it('are looked at for the last byte of a file alone', () => {
    const asked: number[] = [];
    const there = (at: number): boolean => asked.push(at) > 0;
    assert.equal(pin(0x1000, 0x3000, true, there), true);
    assert.equal(pin(0x6000, 0x7000, true, there), true);
    assert.deepEqual(asked, [0x6fff]);
    assert.equal(
      pin(0x6000, 0x8000, true, (at) => at < 0x7000),
      false,
    );
  });
});
