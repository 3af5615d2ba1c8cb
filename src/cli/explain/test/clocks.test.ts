import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import type { Sightings } from '../captures/sightings.js';
import { conversationLines, failed } from '../print.js';
import { Cause } from '../verdicts/cause.js';
import { pcapngHeader, pcapngPacket, readCapture } from '../../../device/wire/index.js';
import { simulate } from '../../../entry/sim.js';
import { sightingsIn, wordsOf } from './captured.js';

const folder = mkdtempSync(join(tmpdir(), 'verbena-explain-clocks-'));
after(() => rmSync(folder, { recursive: true }));

type Ending = 'closes' | 'crashes';

/** The captures of client and server of a connection; half a minute after it began, one of them ends it. */
function captures(ending: Ending): Promise<string[]> {
  return simulate(async (sim) => {
    const [server, client] = [sim.host('server'), sim.host('client')];
    const listener = server.listen({ port: 7174 });
    const accept = async (): Promise<void> => {
      await (await listener.next()).accept();
    };
    const accepted = accept();
    const connection = await client.connect({ host: 'server', port: 7174 });
    await accepted;
    await sim.sleep(30e6);
    if (ending === 'crashes') server.crash();
    await sim.sleep(30e6);
    await connection.close();
    await sim.sleep(100e6);
    return [client, server].map((at, i) => sim.writeCapture(join(folder, `${ending}-${i}.pcapng`), { at }));
  });
}

/** Simulations begin in 1970. */
const NOW_NS = 1_700_000_000_000_000_000n;

/** @param skewNs what the clock of the second file is wrong by */
function seenIn(files: readonly string[], skewNs = 0n): Sightings {
  return sightingsIn(
    ...files.map((file, i) => {
      const records = [...readCapture(readFileSync(file))];
      return Buffer.concat([
        pcapngHeader({ linkType: records[0].linkType }),
        ...records.map(({ timestampNs, data, direction }) =>
          pcapngPacket(NOW_NS + timestampNs + (i === 1 ? skewNs : 0n), data, { ...(direction && { direction }) }),
        ),
      ]);
    }),
  );
}

describe('messages of connection managers in several captures', () => {
  for (const [name, skewNs] of [
    ['by one clock', 0n],
    ['by a clock that is 5 s late', -5_000_000_000n],
    ['by a clock that is an hour early', 3_600_000_000_000n],
  ] as const)
    for (const turned of [false, true])
      it(`stand in the order of time, written ${name}${turned ? ', the later file first' : ''}`, async () => {
        const files = await captures('closes');
        const lines = conversationLines(seenIn(turned ? files.toReversed() : files, skewNs));
        const names = lines.flatMap((line) => /cm\{(\w+)/.exec(line)?.[1] ?? []);
        assert.deepEqual(names, ['REQ', 'REP', 'RTU', 'DREQ', 'DREP']);
        const times = lines.flatMap((line) => /^ {2}(\d+\.\d{6}) /.exec(line)?.[1] ?? []).map(Number);
        assert.deepEqual(
          times,
          times.toSorted((x, y) => x - y),
        );
        assert.equal(Math.round(times[3]), 60);
      });
});

describe('a connection whose peer is silent when it ends', () => {
  for (const [name, count] of [
    ['by the captures of both sides', 2],
    ['by the capture of the side that is left', 1],
  ] as const)
    it(name, async () => {
      const sightings = seenIn((await captures('crashes')).slice(0, count));
      const verdicts = failed(sightings).map(({ verdict }) => verdict);
      assert.deepEqual(
        verdicts.map(({ cause }) => cause),
        [Cause.FELL_SILENT],
      );
      assert.match(
        wordsOf(verdicts[0]),
        /10\.0\.0\.1 was silent from 0\.\d{3} s on: the DREQ of 10\.0\.0\.2 at 60\.\d{3} s was sent \d+ times? .*never answered/,
      );
    });

  it('is none when the peer has answered', async () => {
    for (const files of [await captures('closes'), (await captures('closes')).slice(0, 1)])
      assert.deepEqual(failed(seenIn(files)), []);
  });
});
