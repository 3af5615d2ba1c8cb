import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { Cause, type Verdict } from '../verdicts/cause.js';
import { wordsOf } from './captured.js';
import { failed } from '../print.js';
import { readCaptures } from '../read.js';
import { type Connection, WrOpcode } from '../../../entry/index.js';
import { type Sim, simulate } from '../../../entry/sim.js';

const folder = mkdtempSync(join(tmpdir(), 'verbena-explain-cm-'));
after(() => rmSync(folder, { recursive: true }));

/** A connection that does not come to be, and how it is told by the client's capture and by both. */
interface Failure {
  readonly name: string;
  readonly listens?: false;
  readonly accepts?: false;
  /** Whether another one comes to be before. */
  readonly first?: true;
  readonly disturb?: (sim: Sim) => void;
  readonly oneSide: RegExp | undefined;
  readonly bothSides?: RegExp;
}

const failures: readonly Failure[] = [
  { name: 'nobody listens', listens: false, oneSide: /10\.0\.0\.1 refused: invalid service ID: nobody listens/ },
  {
    name: 'every request is lost',
    disturb: (sim) => sim.cut('client', 'server'),
    oneSide: /REQ was sent \d+ times in .*, and nothing came back: nobody is there, or the way there or back is cut/,
  },
  {
    name: 'requests are lost after a first connection',
    first: true,
    disturb: (sim) => sim.cut('client', 'server'),
    oneSide: /REQ was sent \d+ times in .*, and nothing came back/,
    bothSides: /never arrived at 10\.0\.0\.1: it is lost on the way there/,
  },
  {
    name: 'every answer is lost',
    disturb: (sim) => sim.cut('server', 'client'),
    oneSide: /and nothing came back/,
    bothSides: /10\.0\.0\.1 accepted \(REP, \d+ times in .*\), and that never arrived at 10\.0\.0\.2/,
  },
  {
    name: 'the program does not accept',
    accepts: false,
    oneSide: /REQ was sent|neither accepted nor rejected/,
    bothSides: /neither accepted nor rejected/,
  },
  {
    name: 'the confirmation is lost',
    disturb: (sim) => sim.when({ cm: 'RTU', nth: 1 }, () => sim.partition('server')),
    oneSide: undefined,
    bothSides: /the RTU of 10\.0\.0\.2 never arrived: that side has a connection, and 10\.0\.0\.1 has none/,
  },
];

/** What is told of the connections of a capture that failed. */
async function told(path: string): Promise<Verdict[]> {
  return failed(await readCaptures([path])).map(({ verdict }) => verdict);
}

async function play({ listens, accepts, first, disturb }: Failure): Promise<{ oneSide: string; bothSides: string }> {
  return simulate(async (sim) => {
    const [server, client] = [sim.host('server'), sim.host('client')];
    if (listens !== false) {
      const listener = server.listen({ port: 7174 });
      const accept = async (): Promise<void> => {
        for await (const request of listener) void request.accept().catch(() => undefined);
      };
      if (accepts !== false) void accept();
    }
    if (first) await client.connect({ host: 'server', port: 7174 });
    disturb?.(sim);
    await client.connect({ host: 'server', port: 7174, timeoutMs: 20_000 }).catch(() => undefined);
    await sim.sleep(100e6);
    return {
      oneSide: sim.writeCapture(join(folder, 'one.pcapng'), { at: client }),
      bothSides: sim.writeCapture(join(folder, 'both.pcapng')),
    };
  });
}

describe('a connection whose confirmation is lost is one, if data comes in its place', () => {
  it('as the captures of either side and of both tell', async () => {
    const files = await simulate(async (sim) => {
      const [server, client] = [sim.host('server'), sim.host('client')];
      const listener = server.listen({ port: 7174 });
      const accept = async (): Promise<Connection> => (await listener.next()).accept();
      const accepted = accept();
      sim.drop({ cm: 'RTU' });
      const { qp } = await client.connect({ host: 'server', port: 7174 });
      qp.postSend({ opcode: WrOpcode.SEND });
      await accepted;
      return [{}, { at: server }, { at: client }].map((options, i) => sim.writeCapture(join(folder, `${i}`), options));
    });
    for (const file of files) assert.deepEqual(await told(file), []);
  });
});

describe('why connection managers made no connection is explained', () => {
  for (const failure of failures)
    it(failure.name, async () => {
      const captures = await play(failure);
      for (const [side, words] of [
        ['oneSide', failure.oneSide],
        ['bothSides', failure.bothSides ?? failure.oneSide],
      ] as const) {
        const verdicts = await told(captures[side]);
        assert.deepEqual(
          verdicts.map(({ cause }) => cause),
          words === undefined ? [] : [Cause.NOT_CONNECTED],
          side,
        );
        if (words !== undefined) assert.match(wordsOf(verdicts[0]), words);
      }
    });
});
