import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { stepTable } from '../rdmacm/cmtime/command.js';
import { loopback } from '../../../test/support/loopback.js';
import { type Ended, run, Tool } from './tool.js';

const HEAD = 'step              total ms     max ms     min us  us / conn';
const STEPS = ['create id', 'resolve addr', 'resolve route', 'create qp', 'connect', 'disconnect', 'destroy'];
const DOING = [
  'creating id',
  'resolving address',
  'resolving route',
  'creating qp',
  'connecting',
  'disconnecting',
  'destroying id',
];

const serverAt = (game: number): string => loopback(4 * game + 1);
const clientAt = (game: number): string => loopback(4 * game + 2);

/** Starts a server, runs a client against it, and stops the server as a user does. */
async function measure(
  game: number,
  clientFlags: readonly string[],
  serverFlags: readonly string[] = [],
): Promise<{ client: Ended; server: Ended }> {
  const server = new Tool(['cmtime', '-b', serverAt(game), ...serverFlags]);
  await server.printed('listening');
  const client = await run(['cmtime', '-s', serverAt(game), '--addr', clientAt(game), ...clientFlags]);
  server.child.kill('SIGINT');
  return { client, server: await server.ended };
}

/** The lines of a run that went well, each row of the table without its figures, which are checked. */
function linesOf({ code, stdout, stderr }: Ended): string[] {
  assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => line.replace(/^([a-z ]{13}:)(?: +\d+\.\d\d){4}$/, '$1').replace(/ *:$/, ':'));
}

const rows = (steps: readonly string[]): string[] => steps.map((step) => `${step}:`);

test('the table has the columns of the C tool', () => {
  const step = { step: 'create id', totalUs: 12_345.6, maxUs: 1234.5, minUs: 7, perConnectionUs: 123.456 } as const;
  assert.equal(stepTable([step]), `${HEAD}\ncreate id    :       12.35       1.23       7.00     123.46\n`);
});

describe('two processes connect', () => {
  for (const [game, hosting] of ['thread', 'inline'].entries()) {
    test(`a hundred times, hosted ${hosting}`, async () => {
      const { client, server } = await measure(game, ['--host', hosting], ['--host', hosting]);
      assert.deepEqual(linesOf(client), [...DOING, HEAD, ...rows(STEPS)]);
      assert.deepEqual(
        { ...server, signal: null },
        { code: 130, signal: null, stdout: `listening to port 7471 of ${serverAt(game)}, until Ctrl-C\n`, stderr: '' },
      );
    });
  }

  test('from an address that the client was told', async () => {
    const { client } = await measure(2, ['-c', '3', '-b', clientAt(2)]);
    const lines = linesOf(client);
    assert.equal(lines[1], 'binding source address');
    assert.deepEqual(
      lines.filter((line) => line.endsWith(':')),
      rows(['create id', 'bind addr', ...STEPS.slice(1)]),
    );
  });

  test('at another port', async () => {
    const { client } = await measure(3, ['-c', '3', '-p', '7000'], ['-p', '7000']);
    assert.deepEqual(linesOf(client).slice(-STEPS.length), rows(STEPS));
  });

  for (const [i, { name, flags }] of [
    { name: 'the client', flags: [['-q', '1000'], []] },
    { name: 'the server', flags: [[], ['-q', '1000']] },
    {
      name: 'both',
      flags: [
        ['-q', '1000'],
        ['-q', '5000'],
      ],
    },
  ].entries()) {
    test(`without queue pairs of ${name}`, async () => {
      const { client } = await measure(4 + i, ['-c', '20', ...flags[0]], flags[1]);
      const steps = STEPS.filter((step) => step !== 'create qp' || flags[0].length === 0);
      assert.deepEqual(linesOf(client).slice(-steps.length), rows(steps));
    });
  }

  test('more often than fit into one turn of anything', async () => {
    const { client } = await measure(7, ['-c', '500']);
    assert.deepEqual(linesOf(client).slice(-STEPS.length), rows(STEPS));
  });
});

test('--json prints one object', async () => {
  const { client } = await measure(8, ['-c', '5', '--json']);
  const result = JSON.parse(client.stdout) as { connections: number; failures: unknown[]; steps: { step: string }[] };
  assert.deepEqual(
    { connections: result.connections, failures: result.failures, steps: result.steps.map(({ step }) => step) },
    { connections: 5, failures: [], steps: STEPS },
  );
});

test('connections that nobody takes are told once, with why and how many', async () => {
  const { client } = await measure(9, ['-c', '5', '-p', '7001']);
  assert.equal(client.code, 1);
  assert.match(
    client.stderr,
    /^5 connections failed: event: RDMA_CM_EVENT_REJECTED, error: 8: Nothing listens at that port there;.*\n$/,
  );
});

test('a port that another listens to is refused', async () => {
  const server = new Tool(['cmtime', '-b', serverAt(10)]);
  await server.printed('listening');
  const { code, stderr } = await run(['cmtime', '-b', serverAt(10)]);
  server.child.kill('SIGINT');
  await server.ended;
  assert.equal(code, 1);
  assert.match(stderr, /EADDRINUSE/);
});
