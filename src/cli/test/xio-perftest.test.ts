import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { XIO_TESTS } from '../xio/perftest/tests.js';
import { connect } from '../../entry/xio.js';
import { loopback } from '../../../test/support/loopback.js';
import { type Ended, run, Tool } from './tool.js';
import { freePort } from '../../../test/support/ports.js';

const HEAD = /^#bytes +#threads +#TPS +BW average\[MBps\] +Latency average\[usecs\] +low +peak\n/;
const SHORT = ['--seconds', '0.05', '--warm-up', '0.01'];

/** A server at an address of its own, and how its clients are started. */
interface Served {
  readonly server: Tool;
  readonly port: string;
  readonly host: string;
}

async function serve(n: number, ...flags: readonly string[]): Promise<Served> {
  const [host, port] = [loopback(n), String(await freePort())];
  const server = new Tool(['xio_perftest', '-p', port, '--addr', host, ...flags]);
  await server.printed('Listening at');
  return { server, host, port };
}

function client({ host, port }: Served, n: number, test: string, ...flags: readonly string[]): readonly string[] {
  const own = flags.includes('tcp') ? [] : ['--addr', loopback(n)];
  return ['xio_perftest', test, host, '-p', port, ...own, ...SHORT, ...flags];
}

async function stopped({ server }: Served): Promise<Ended> {
  server.child.kill('SIGINT');
  return server.ended;
}

function rowsOf({ code, stdout, stderr }: Ended): number[][] {
  assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
  assert.match(stdout, HEAD);
  const [, ...lines] = stdout.trimEnd().split('\n');
  return lines.map((line) => line.trim().split(/ +/).map(Number));
}

describe('xio_perftest', () => {
  let served: Served;
  before(async () => {
    served = await serve(1);
  });
  after(() => stopped(served));

  for (const { name } of XIO_TESTS)
    it(`plays ${name} with bodies that go along, and with longer ones`, async () => {
      const rows = rowsOf(await run(client(served, 2, name, '-s', '0,1,100000')));
      assert.deepEqual(
        rows.map(([bytes, threads]) => [bytes, threads]),
        [0, 1, 100_000].map((bytes) => [bytes, 1]),
      );
      for (const [, , perSecond, , latencyUs, low, peak] of rows)
        assert.ok(perSecond > 0 && low <= latencyUs && latencyUs <= peak, String(rows));
    });

  it('knows tests by the names of Accelio, writes its file, and prints one JSON object', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'verbena-xio-'));
    try {
      const file = join(folder, 'figures');
      const flags = ['-s', '64', '-q', '4', '-o', file, '--json'];
      const { stdout, stderr } = await run(client(served, 2, 'xio_read_bw', ...flags));
      assert.equal(stderr, '');
      const { results, ...said } = JSON.parse(stdout) as { results: Record<string, unknown>[] };
      assert.deepEqual(said, {
        tool: 'xio_perftest',
        role: 'client',
        test: 'read_bw',
        transport: 'rdma',
        threads: 1,
        depth: 4,
        interrupted: false,
      });
      assert.deepEqual([results.length, results[0]['bytes']], [1, 64]);
      assert.match(
        readFileSync(file, 'utf8'),
        /^size, threads, tps, bw\[Mbps\], lat\[usec\]\n64, 1, \d+, \d+\.\d\d, \d+\.\d\d\n$/,
      );
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('has several threads, which share a NIC', async () => {
    const [[bytes, threads, perSecond]] = rowsOf(await run(client(served, 2, 'read_bw', '-n', '2', '-s', '1000')));
    assert.deepEqual([bytes, threads], [1000, 2]);
    assert.ok(perSecond > 0);
  });

  it('prints what it has at Ctrl-C', async () => {
    const sizes = Array.from({ length: 500 }, () => 1).join(',');
    const tool = new Tool(client(served, 2, 'read_lat', '-s', sizes));
    await tool.printed('\n1 ');
    tool.child.kill('SIGINT');
    const { code, stdout } = await tool.ended;
    assert.equal(code, 130);
    const rows = stdout.match(/^1 +1 +\d+ .*$/gm) ?? [];
    assert.ok(rows.length > 0 && rows.length < 500, stdout);
  });

  it('says how the server is started where there is none', async () => {
    const port = String(await freePort());
    const { code, stderr } = await run(client({ ...served, port }, 2, 'read_lat'));
    assert.equal(code, 1);
    assert.match(stderr, /^no server at rdma:.*; `verbena xio_perftest` is the server: .*\n$/);
  });

  it('refuses questions of other programs, and goes on', async () => {
    await using session = await connect(`rdma://${served.host}:${served.port}`);
    await assert.rejects(session.request('hello'), { code: 'XIO_E_UNSUCCESSFUL' });
    await assert.rejects(session.request(Uint8Array.of(1, 255, 0, 0, 0)), { code: 'XIO_E_UNSUCCESSFUL' });
    const { body } = await session.request(Uint8Array.of(1, 0, 0, 0, 3));
    assert.equal(body.length, 3);
  });

  it('sends sessions on to threads of the server, by -w', async () => {
    const portals = await serve(3, '-w', '2');
    rowsOf(await run(client(portals, 4, 'write_lat', '-s', '64')));
    rowsOf(await run(client(portals, 4, 'write_lat', '-n', '2', '-s', '64')));
    const { code, stdout } = await stopped(portals);
    assert.equal(code, 130);
    assert.equal(stdout.match(/^Portal rdma:/gm)?.length, 2);
    assert.equal(stdout.match(/has ended: \d+ requests$/gm)?.length, 3);
  });

  for (const w of ['0', '2'])
    it(`goes by TCP, with ${w} portals`, async () => {
      const tcp = await serve(5, '-r', 'tcp', '-w', w);
      const rows = rowsOf(await run(client(tcp, 6, 'read_bw', '-r', 'tcp', '-n', '2', '-s', '32,100000')));
      assert.deepEqual(
        rows.map(([bytes]) => bytes),
        [32, 100_000],
      );
      assert.equal((await stopped(tcp)).code, 130);
    });

  for (const [words, sentence] of [
    [['read', '127.0.0.1'], `There is no test 'read'; there are ${XIO_TESTS.map(({ name }) => name).join(', ')}.`],
    [
      ['read_bw', '127.0.0.1', '-q', '8192', '-s', '1048576'],
      '1 x 8192 requests of 1048576 bytes take too much memory.',
    ],
    [
      ['read_bw', '127.0.0.1', '-n', '2', '--host', 'inline'],
      'Threads share a NIC that runs in a thread of its own, not one that is inline: leave that out.',
    ],
  ] as const)
    it(`refuses ${words.join(' ')}`, async () => {
      const { code, stderr } = await run(['xio_perftest', ...words]);
      assert.deepEqual({ code, stderr }, { code: 1, stderr: `${sentence}\n` });
    });
});
