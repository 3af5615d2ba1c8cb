import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Program } from './programs.js';
import { loopback } from '../../../../test/support/loopback.js';

const EXIT_CODES = {
  normal: 0,
  'await-then-normal': 0,
  exit: 7,
  'exit-while-awaiting': 7,
  error: 1,
  unhandled: 1,
} as const;

for (const host of ['thread', 'inline'] as const) {
  describe(`a process ends cleanly, its NIC hosted ${host}`, () => {
    for (const [way, expected] of Object.entries(EXIT_CODES)) {
      test(`by ${way}, the device never closed`, async () => {
        const program = new Program('ending', [host, loopback(1), way]);
        const { code, signal } = await program.ended();
        assert.deepEqual([code, signal], [expected, null]);
      });
    }

    test('by a normal end, the device closed before', async () => {
      const program = new Program('ending', [host, loopback(1), 'normal', 'close']);
      const { code, signal, stderr } = await program.ended();
      assert.deepEqual([code, signal, stderr], [0, null, '']);
    });
  });
}

test('a process without system calls ends cleanly as well', async () => {
  for (const [way, expected] of [
    ['normal', 0],
    ['exit', 7],
    ['error', 1],
  ] as const) {
    const program = new Program('ending', ['thread', loopback(1), way], { VERBENA_NATIVE: 'off' });
    const { code, signal } = await program.ended();
    assert.deepEqual([code, signal], [expected, null]);
  }
});
