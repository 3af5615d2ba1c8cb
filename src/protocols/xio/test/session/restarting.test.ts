import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { XioRequest } from '../../index.js';
import { NETS } from '../support/nets.js';
import { rejection } from '../support/scenes.js';

for (const [name, play] of Object.entries(NETS))
  describe(`a client by ${name} whose server has begun anew`, () => {
    it('does not answer the new server with what the old one has asked for', () =>
      play(async (net) => {
        const answers: string[] = [];
        const ask = (word: string) => async (session: (typeof net.served)[number]) => {
          session.on('request', () => ({}));
          const { body } = await session.request('', word);
          answers.push(new TextDecoder().decode(body));
        };
        const first = await net.listen((session) => void rejection(ask('old')(session)));
        const other = net.sim.host('other');
        await net.listen((session) => void rejection(ask('new')(session)), {}, other);
        const session = await net.connect({ url: [net.urlOf(net.server), net.urlOf(other)] });
        const asked: XioRequest[] = [];
        session.on('request', (request) => void asked.push(request));
        await net.until(() => asked.length === 1);
        first.close();
        net.served[0].abort();
        net.crash(net.server);
        net.cut();
        await net.until(() => asked.length === 2);
        const [old, anew] = asked;
        assert.equal(old.signal.aborted, true);
        await old.reply('', 'answer to the old one');
        await session.request('', 'in between');
        assert.deepEqual(answers, []);
        await anew.reply('', 'answer to the new one');
        await net.until(() => answers.length === 1);
        assert.deepEqual(answers, ['answer to the new one']);
        await session.close();
      }));
  });
