import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { XioRejectedError, type XioRejectOptions, type XioSession } from '../../../../entry/xio.js';
import { type Net, NETS } from '../support/nets.js';
import { rejection } from '../support/scenes.js';

async function rejected(net: Net): Promise<XioRejectedError> {
  const error = await rejection(net.settled(net.connect()));
  assert.ok(error instanceof XioRejectedError, String(error));
  return error;
}

for (const [name, play] of Object.entries(NETS)) {
  const test = (what: string, scene: (net: Net) => Promise<void>): void => void it(what, () => play(scene));

  describe(`a client over ${name} whose session is rejected`, () => {
    test('is told why, by a code, in words, and by private data', async (net) => {
      const privateData = Uint8Array.of(0, 255, 7);
      await net.listen((session) => session.reject('come back later', { code: 'XIO_E_NO_BUFS', privateData }));
      const error = await rejected(net);
      assert.equal(error.code, 'XIO_E_NO_BUFS');
      assert.match(error.message, /^the server has refused the session: come back later/);
      assert.deepEqual(error.privateData, privateData);
    });

    test('is told so, where the server says nothing', async (net) => {
      await net.listen((session) => session.reject());
      const error = await rejected(net);
      assert.equal(error.code, 'XIO_E_SESSION_REJECTED');
      assert.match(error.message, /^the server has refused the session/);
      assert.equal(error.privateData.length, 0);
    });

    test('is told the longest words and the most private data that there can be', async (net) => {
      const options = { privateData: new Uint8Array(2048).fill(3) };
      await net.listen((session) => session.reject('w'.repeat(1024), options));
      const error = await rejected(net);
      assert.match(error.message, /w{1024}/);
      assert.deepEqual(error.privateData, options.privateData);
    });

    test('has words without what moves a terminal', async (net) => {
      await net.listen((session) => session.reject('\u001b[2J'));
      assert.match((await rejected(net)).message, /: \?\[2J/);
    });

    test('by one that it goes on with has that as its failure', async (net) => {
      await net.listen((session) => session.accept());
      const session = await net.connect({ keepAliveMs: 100, keepAliveIntervalMs: 50 });
      net.crash(net.server);
      net.server.restart();
      await net.listen((next) => next.reject('', { privateData: 'not you' }));
      await net.settled(session.closed);
      const { failure } = session;
      assert.ok(failure instanceof XioRejectedError, String(failure));
      assert.equal(new TextDecoder().decode(failure.privateData), 'not you');
    });

    test('is not rejected by what cannot be said, and may be afterwards', async (net) => {
      const wrong: readonly (readonly [string, XioRejectOptions])[] = [
        ['w'.repeat(1025), {}],
        ['', { privateData: new Uint8Array(2049) }],
        ['', { code: 'XIO_E_SUCCESS' }],
        ['', Object({ code: 'XIO_E_NOTHING' }) as XioRejectOptions],
        ['', Object({ words: 'no' }) as XioRejectOptions],
      ];
      let refused = 0;
      const refuse = (session: XioSession): void => {
        for (const [words, options] of wrong) {
          assert.throws(() => session.reject(words, options), { code: 'EINVAL' });
          refused += 1;
        }
        session.reject('at last');
      };
      await net.listen(refuse);
      assert.match((await rejected(net)).message, /at last/);
      assert.equal(refused, wrong.length);
    });
  });
}
