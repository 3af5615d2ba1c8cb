import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { connect, listen } from '../../messages/index.js';
import { simulate } from '../../../entry/sim.js';
import { printed } from '../../../cli/test/in-process.js';

const folder = mkdtempSync(join(tmpdir(), 'verbena-dissectors-'));
const capture = join(folder, 'messages.pcapng');
after(() => rmSync(folder, { recursive: true }));

describe('messages in a capture', () => {
  before(() =>
    simulate(async (sim) => {
      const [server, client] = [sim.host('server'), sim.host('client')];
      const listener = await server.run(() => listen({ port: 7 }));
      const serving = server.run(() =>
        listener.serve(async (connection) => {
          for await (const message of connection.messages()) await connection.send(message);
        }),
      );
      await client.run(async () => {
        const connection = await connect({ host: 'server', port: 7 });
        for (const bytes of [5, 10_000]) {
          await connection.send(new Uint8Array(bytes));
          await connection.receive();
        }
        await connection.close();
      });
      listener.close();
      await serving;
      sim.writeCapture(capture);
    }),
  );

  it('are told by what they mean', async () => {
    const meanings = (await printed('dump', capture)).split('\n').flatMap((line) => /\[(.*)\]/.exec(line)?.[1] ?? []);
    const [asked] = meanings;
    const agreed = meanings.findLast((meaning) => meaning.includes('window'));
    const first = meanings.find((meaning) => meaning.includes('DATA'));
    assert.match(asked, /^messages: window \d+ to \d+, buffers of \d+ B, messages up to \d+ B$/);
    assert.match(agreed ?? '', /^messages: window \d+ to \d+/);
    assert.match(first ?? '', /^messages: DATA 5 B, credit to \d+/);
    const kinds = meanings.map((meaning) => meaning.replace(/, .*/, ''));
    assert.ok(kinds.includes('messages: MORE 4096 B'), kinds.join('\n'));
    assert.ok(kinds.includes('messages: DATA 1808 B'));
    assert.match(kinds.join('\n'), /messages: CLOSE/);
  });

  it('are named where it is explained what went wrong', () =>
    simulate(async (sim) => {
      const lost = join(folder, 'lost.pcapng');
      const [server, client] = [sim.host('server'), sim.host('client')];
      const listener = await server.run(() => listen({ port: 7 }));
      const serving = server.run(() => listener.serve((accepted) => accepted.closed));
      const connection = await client.run(() => connect({ host: 'server', port: 7 }));
      sim.cut(client, server);
      await assert.rejects(connection.send(new Uint8Array(100)));
      listener.close();
      await serving;
      sim.writeCapture(lost);
      assert.match(await printed('explain', lost), /SEND .*\[messages: DATA 100 B, credit to \d+/);
    }));

  it('are in the JSON of each packet, too', async () => {
    const packets = (await printed('dump', '--json', capture)).trim().split('\n');
    const meanings = packets.map((line) => (JSON.parse(line) as { meaning?: string }).meaning);
    assert.match(meanings.find((meaning) => meaning?.includes('DATA')) ?? '', /^messages: DATA 5 B, credit to \d+/);
  });
});
