import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { describe, it } from 'node:test';
import { openDevice } from '../../entry/index.js';
import { UcpWorker } from '../../entry/ucp.js';
import { UCX_TESTS } from '../ucx/perftest/tests.js';
import { finalRow, playUcx, served } from './ucx-perftest-play.js';
import { run, Tool } from './tool.js';

function assertRow(row: readonly number[], iterations: number): void {
  assert.equal(row.length, 8);
  assert.equal(row[0], iterations);
  assert.ok(row.every((figure) => figure >= 0));
}

describe('ucx_perftest', () => {
  let game = 0;
  for (const { name, title } of UCX_TESTS.filter(({ api }) => api === 'UCP'))
    it(`plays ${name}, and the server says what it does`, async () => {
      const { server, client } = await playUcx(game++, ['-t', name]);
      assertRow(finalRow(client), 40);
      assert.deepEqual({ code: server.code, stderr: server.stderr }, { code: 0, stderr: '' });
      assert.match(server.stdout, new RegExp(`^\\| Test: +${title} +\\|$`, 'm'));
      assert.match(server.stdout, /^\| Message size: 8 +\|$/m);
    });

  for (const name of ['tag_lat', 'ucp_put_lat', 'ucp_fadd', 'stream_bw', 'ucp_am_bw'])
    it(`plays ${name} by ud, when UCX_TLS says so, in more than one datagram`, async () => {
      const size = name === 'ucp_fadd' ? '4' : '20000';
      const { client } = await playUcx(game++, ['-t', name, '-s', size, '-I'], { UCX_TLS: 'ud_v,self' });
      assert.match(client.stdout, /^Final: .* {2}by ud/m);
    });

  it('says what it does by UCX_LOG_LEVEL and UCX_PROTO_INFO, where UCX_LOG_FILE says', async () => {
    const settings = { UCX_LOG_LEVEL: 'info', UCX_LOG_FILE: 'stderr', UCX_PROTO_INFO: 'y' };
    const { client } = await playUcx(game++, ['-t', 'tag_lat'], settings);
    assert.equal(client.code, 0);
    assert.match(client.stderr, /^\[\d+\.\d{6}\] \[verbena0\] UCX {2}INFO {2}endpoint \d+: connected by rc from 127/m);
    assert.match(client.stderr, /UCX {2}PROTO endpoint \d+: tag_send 0\.\.\d+ eager short: /);
    assert.doesNotMatch(client.stdout, /INFO|PROTO/);
  });

  it('sends pieces, to receives of any tag that look for messages first', async () => {
    const flags = ['-t', 'tag_bw', '-s', '16,48', '-D', 'iov,contig', '-C', '-U'];
    const { server, client } = await playUcx(game++, flags);
    assertRow(finalRow(client), 40);
    assert.match(server.stdout, /^\| Data layout: {2}iov, \(automatic\) +\|$/m);
    assert.match(server.stdout, /^\| Message size: 64 +\|$/m);
  });

  it('sends pieces that lie apart, to others, and registers memory with a flag that says nothing', async () => {
    const flags = ['-t', 'tag_lat', '-s', '16,48,1', '-D', 'iov', '-i', '100', '-B'];
    const { server, client } = await playUcx(game++, flags);
    assertRow(finalRow(client), 40);
    assert.match(server.stdout, /^\| Message size: 65 +\|$/m);
  });

  for (const flags of [['ucp_put_bw'], ['ucp_get', '-s', '10000'], ['ucp_fadd', '--atomics', 'device']])
    it(`plays ${flags.join(' ')} with the memory of a server that sleeps`, async () => {
      const { client } = await playUcx(game++, ['-o', '--host', 'thread', '-t', ...flags], {}, ['-o']);
      assertRow(finalRow(client), 40);
    });

  it('tells a server that cannot sleep what it needs', async () => {
    const own = game++;
    const { server, client } = await served(own, '--host', 'inline');
    const { code } = await run([...client, '-t', 'ucp_put_bw', '-o']);
    const ended = await server.ended;
    assert.deepEqual([code, ended.code], [1, 1]);
    assert.match(ended.stderr, /^The NIC runs in the thread that is to sleep: give -o, or --host thread/);
  });

  it('prints CSV by -v, and by -f no rows but the last', async () => {
    const { client } = await playUcx(game++, ['-t', 'ucp_get', '-v', '-f', '-R', '99']);
    const [head, row, ...more] = client.stdout.split('\n');
    assert.equal(head, 'iterations,99.0_percentile_lat,avg_lat,overall_lat,avg_bw,overall_bw,avg_mr,overall_mr');
    assert.match(row, /^40(,\d+\.\d{3}){3}(,\d+\.\d\d){2}(,\d+){2}$/);
    assert.deepEqual(more, ['']);
  });

  it('prints one JSON object by --json', async () => {
    const { client } = await playUcx(game++, ['-t', 'ucp_am_lat', '-s', '100', '-H', '12', '--json']);
    const said = JSON.parse(client.stdout) as Record<string, unknown>;
    const { tool, test, messageBytes, headerBytes, interrupted } = said;
    const expected = {
      tool: 'ucx_perftest',
      test: 'ucp_am_lat',
      messageBytes: 100,
      headerBytes: 12,
      interrupted: false,
    };
    assert.deepEqual({ tool, test, messageBytes, headerBytes, interrupted }, expected);
    assert.equal((said['final'] as Record<string, unknown>)['iterations'], 40);
  });

  for (const name of ['tag_sync_lat', 'stream_lat', 'ucp_put_lat', 'ucp_am_bw'])
    it(`plays ${name} with itself by -l`, async () => {
      const ended = await run(['ucx_perftest', '-l', '-t', name, '-n', '40', '-w', '4', '-I']);
      assert.match(ended.stdout, /^\| API: /m);
      assert.match(ended.stdout, /^Final: .* {2}by self/m);
      assert.equal(ended.code, 0);
    });

  it('prints what it has at Ctrl-C, and the server ends well', async () => {
    const { server, client } = await served(game++);
    const tool = new Tool([...client, '-t', 'tag_lat', '-n', '0', '-w', '4']);
    await tool.printed('[thread 0]');
    tool.child.kill('SIGINT');
    const ended = await tool.ended;
    assert.equal(ended.code, 130);
    assert.match(ended.stdout, /^Final: +\d+ /m);
    const { code, stderr } = await server.ended;
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
  });

  it('tells a client whose server ends, which prints what it has', async () => {
    const { server, client } = await served(game++);
    const tool = new Tool([...client, '-t', 'tag_bw', '-n', '0', '-w', '4']);
    await tool.printed('[thread 0]');
    server.child.kill('SIGKILL');
    const ended = await tool.ended;
    assert.equal(ended.code, 1);
    assert.match(ended.stdout, /^Final: /m);
    assert.notEqual(ended.stderr, '');
  });

  for (const [what, words] of [
    ['something that is no JSON', 'hello\n'],
    ['a plan of no sense', `${JSON.stringify({ test: 'tag_lat', sizes: [-1] })}\n`],
    ['a test that there is not', `${JSON.stringify({ test: 'constructor', sizes: [8] })}\n`],
    ['a line without end', 'x'.repeat(1 << 17)],
  ] as const)
    it(`ends with a sentence when a client says ${what}`, async () => {
      const { server, client } = await served(game++);
      const socket = connect(Number(client[2]), '127.0.0.1');
      socket.on('error', () => undefined).end(words);
      await once(socket, 'close');
      const { code, stderr } = await server.ended;
      assert.equal(code, 1);
      assert.match(stderr, /^The client.*\.\n$|^The client.*\?\n$/);
    });

  it('answers an active message that comes as soon as the server says that it is there', async () => {
    const own = game++;
    const { server, client } = await served(own);
    const socket = connect(Number(client[2]), '127.0.0.1').setEncoding('utf8');
    const lines = createInterface({ input: socket })[Symbol.asyncIterator]();
    const heard = async (): Promise<Record<string, unknown>> =>
      JSON.parse(String((await lines.next()).value)) as Record<string, unknown>;
    const say = (said: object): void => void socket.write(`${JSON.stringify(said)}\n`);
    const counts = { sizes: [8], stride: 0, iterations: 0, warmUp: 1, outstanding: 1, headerBytes: 0 };
    const ways = { sendLayout: 'contig', receiveLayout: 'contig', transport: 'rc', atomics: 'messages' };
    say({ test: 'ucp_am_lat', ...counts, ...ways, wildcard: false, unexpected: false, oneSided: false });
    const { host, port } = await heard();
    using context = openDevice({ address: client[4] });
    using worker = new UcpWorker(context);
    const endpoint = await worker.connect({ host: String(host), port: Number(port) });
    const answered = new Promise<string>((resolve) => worker.setAmHandler(2, () => resolve('answered')));
    say({ rkey: Buffer.from(worker.memMap(8).packRkey()).toString('hex') });
    assert.deepEqual(await heard(), { here: true });
    await endpoint.amSend(1, new Uint8Array(0), new Uint8Array(8));
    await endpoint.flush();
    say({ here: true });
    const ended = server.ended.then(() => 'ended');
    assert.equal(await Promise.race([answered, ended]), 'answered');
    say({ done: true });
    socket.end();
    assert.equal((await server.ended).code, 0);
  });

  it('says what it may be when a server is silent', async () => {
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const accepted = once(silent, 'connection');
    const tool = new Tool(['ucx_perftest', '-p', String(port), '-t', 'tag_lat', '127.0.0.1']);
    const [socket] = (await accepted) as [Socket];
    const [said] = (await once(tool.child.stderr, 'data')) as [string];
    assert.match(said, /^Nothing has come from the peer for 5 s; if UCX's own ucx_perftest listens there/);
    socket.destroy();
    assert.equal((await tool.ended).code, 1);
    silent.close();
  });

  for (const [flags, sentence] of [
    [['127.0.0.1'], 'Give the test by -t; --help lists them.'],
    [['-t', 'ucp_add', '-s', '16', '127.0.0.1'], 'ucp_add works on words of 4 or 8 bytes, not 16; choose by -s.'],
    [['-t', 'ucp_get', '-D', 'iov', '127.0.0.1'], '-D iov is for tags; ucp_get has one piece.'],
    [['-t', 'stream_bw', '-U', '127.0.0.1'], '-C and -U are for tags, not for stream_bw.'],
    [['-t', 'tag_bw', '-H', '8', '127.0.0.1'], '-H is for active messages, not for tag_bw.'],
    [['-t', 'tag_bw', '-x', 'rc', '127.0.0.1'], '-x is for the tests of UCT; of tag_bw choose by --transport.'],
    [['-t', 'tag_bw', '-D', 'zcopy', '127.0.0.1'], '-D zcopy is for the tests of UCT, not for tag_bw.'],
    [
      ['-t', 'tag_bw', '-s', '16,48', '-i', '32', '127.0.0.1'],
      'A piece of 48 bytes does not fit between pieces that begin 32 apart (-i).',
    ],
    [
      ['-t', 'tag_bw', '-o', '127.0.0.1'],
      '-o is for what is done to memory; the server of tag_bw has something to do.',
    ],
    [['-6', '-t', 'tag_bw', '127.0.0.1'], '127.0.0.1 is an address of IPv4, and the server is to be reached by IPv6.'],
    [['-t', 'ucp_get', '-o', '-l'], 'With -l there is no other program that could sleep: no -o.'],
    [['-t', 'tag_bw', '-l', '127.0.0.1'], 'With -l the process communicates with itself: give no server.'],
  ] as const)
    it(`refuses ${flags.join(' ')}`, async () => {
      const { code, stderr } = await run(['ucx_perftest', ...flags]);
      assert.deepEqual({ code, stderr }, { code: 1, stderr: `${sentence}\n` });
    });

  it('refuses a UCX_TLS by which it cannot go', async () => {
    const { code, stderr } = await run(['ucx_perftest', '-l', '-t', 'tag_lat'], { UCX_TLS: 'tcp' });
    assert.equal(code, 1);
    assert.match(stderr, /UCX_TLS is 'tcp'.* rc .* ud /);
  });
});
