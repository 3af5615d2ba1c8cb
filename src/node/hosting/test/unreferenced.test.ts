import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { loopback } from '../../../../test/support/loopback.js';
import { Program } from './programs.js';

for (const host of ['inline', 'thread'] as const) {
  describe(`sockets whose NIC is hosted ${host}`, () => {
    it('let the process end that are not referenced', async () => {
      const program = new Program('unreferenced', [host, loopback(1), 'unreferenced']);
      const { code, signal, stderr } = await program.ended();
      assert.deepEqual([code, signal, stderr], [0, null, '']);
    });

    it('keep it alive that are referenced again', async () => {
      const program = new Program('unreferenced', [host, loopback(1), 'referenced']);
      assert.equal(await program.message(), 'ready');
      program.send({});
      assert.equal(await program.message(), 'was there');
      const { code, signal, stderr } = await program.ended();
      assert.deepEqual([code, signal, stderr], [0, null, '']);
    });
  });
}
