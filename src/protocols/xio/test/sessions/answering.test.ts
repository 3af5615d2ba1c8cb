import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Net, NETS } from '../support/nets.js';

for (const [name, play] of Object.entries(NETS)) {
  const test = (what: string, scene: (net: Net) => Promise<void>): void => void it(what, () => play(scene));

  describe(`a server's program over ${name}`, () => {
    test('may accept a session that it has taken by handling its requests', async (net) => {
      await net.listen((session) => session.on('request', () => ({ header: 'here' })).accept());
      const session = await net.connect();
      const { header } = await session.request();
      assert.equal(new TextDecoder().decode(header), 'here');
      assert.throws(() => net.served[0].accept({ privateData: 'late' }), { code: 'XIO_E_STATE' });
    });

    test('has its requester told of an answer that is too long, and can answer the next', async (net) => {
      await net.listen((session) => session.on('request', () => ({ body: 'too long' })));
      const session = await net.connect();
      const tooLong = { code: 'XIO_E_RSP_BUF_SIZE_MISMATCH', mayHaveRun: true };
      await assert.rejects(session.request('', '', { maxResponseBytes: 7 }), tooLong);
      await assert.rejects(session.request('', '', { into: new Uint8Array(7) }), tooLong);
      assert.equal((await session.request('', '', { maxResponseBytes: 8 })).body.length, 8);
    });

    test('has its requester told of a header that is too long', async (net) => {
      await net.listen((session) => session.on('request', () => ({ header: new Uint8Array(257) })));
      const session = await net.connect();
      await assert.rejects(session.request(), { code: 'XIO_E_MSG_SIZE' });
    });
  });
}
