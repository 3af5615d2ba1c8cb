import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { serve, serverAt } from './pingpong-play.js';
import { type Ended, ROOT, run, Tool } from './tool.js';
import { freePort } from '../../../test/support/ports.js';

// A place of its own for what NICs publish: those of other tests are none of ours.
const runtime = mkdtempSync(join(tmpdir(), 'verbena-rdma-'));
const settings = { XDG_RUNTIME_DIR: runtime };

const rdma = (...words: string[]): Promise<Ended> => run(['rdma', ...words], settings);

describe('rdma, while two programs run', () => {
  let servers: Tool[] = [];
  before(async () => {
    const start = async (game: number): Promise<Tool> =>
      serve('ibv_rc_pingpong', String(await freePort()), game, [], settings);
    servers = [await start(1), await start(2)];
  });
  after(async () => {
    for (const { child } of servers) child.kill();
    await Promise.all(servers.map(({ ended }) => ended));
    rmSync(runtime, { recursive: true });
  });

  const ends = (line: string): string => line.replace(/^.* address/, 'address').replace(/pid \d+/, 'pid N');
  const ENDS = [1, 2].map((game) => `address ${serverAt(game)} pid N `).sort();

  for (const words of [
    'statistic',
    'statistic show',
    'stat list link',
    'stat show link verbena0/1',
    'stat link verbena0',
  ]) {
    it(`${words} prints a line for each`, async () => {
      const { code, stdout, stderr } = await rdma(...words.split(' '));
      assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
      const lines = stdout
        .trimEnd()
        .split('\n')
        .map((line) => `${line.trimEnd()} `);
      for (const line of lines) {
        assert.match(line, /^link verbena0\/1 sent_pkts 0 rcvd_pkts 0 (?:\w+ \d+ )+address \S+ pid \d+ $/);
      }
      assert.deepEqual(lines.map(ends).sort(), ENDS);
    });
  }

  it('statistic -j prints an array of objects', async () => {
    const { stdout } = await rdma('statistic', '-j');
    const links = JSON.parse(stdout) as Record<string, string | number>[];
    assert.equal(stdout.trimEnd().split('\n').length, 1);
    const shared = { ifindex: 0, ifname: 'verbena0', port: 1, sent_pkts: 0, retransmitted_pkts: 0 };
    assert.equal(links.length, 2);
    for (const link of links) assert.deepEqual({ ...link, ...shared }, link);
    assert.deepEqual(links.map(({ pid }) => pid).sort(), servers.map(({ child }) => child.pid).sort());
  });

  it('statistic -p prints a counter a line', async () => {
    const { stdout } = await rdma('statistic', '-p');
    assert.match(stdout, /^link verbena0\/1 \n {4}sent_pkts 0 \n {4}rcvd_pkts 0 \n/);
  });

  it('statistic -jp prints an indented array', async () => {
    const { stdout } = await rdma('-jp', 'statistic');
    assert.match(stdout, /^\[\n {4}\{\n {8}"ifindex": 0,\n/);
    assert.equal((JSON.parse(stdout) as unknown[]).length, 2);
  });

  it('link show prints states and interfaces', async () => {
    const { stdout } = await rdma('link', 'show');
    const state = 'link verbena0/1 state ACTIVE physical_state LINK_UP netdev lo ';
    assert.deepEqual(
      stdout
        .split('\n')
        .map((line) => line.replace(/pid \d+/, 'pid N'))
        .sort(),
      ['', ...ENDS.map((end) => `${state}${end}`)],
    );
  });

  /** Lines of queue pairs without what differs from run to run. */
  const queuePairs = (stdout: string): string[] =>
    stdout
      .trimEnd()
      .split('\n')
      .map((line) =>
        `${line.trimEnd()} `.replace(/((?:lqpn|sq-psn|pid)) \d+/g, '$1 N').replace(/comm \S+/, 'comm NAME'),
      );
  const QPS = ENDS.map(
    (end) =>
      `link verbena0/1 lqpn N type RC state INIT rq-psn 0 sq-psn N path-mig-state MIGRATED pdn 1 ${end}comm NAME `,
  );

  const COUNTS = 'pd 1 cq 1 qp 1 cm_id 0 mr 1 ctx 1 srq 0';

  it('resource show counts objects, in the order of Linux', async () => {
    const { stdout } = await rdma('resource');
    assert.deepEqual(
      queuePairs(stdout).sort(),
      ENDS.map((end) => `0: verbena0: ${COUNTS} ${end}`),
    );
    const [first] = JSON.parse((await rdma('-j', 'resource')).stdout) as Record<string, unknown>[];
    assert.deepEqual(Object.keys(first), [
      'ifindex',
      'ifname',
      ...COUNTS.replaceAll(/ \d+/g, '').split(' '),
      'address',
      'pid',
    ]);
  });

  /** What iproute2 prints, and for whom; keys and sizes differ from run to run. */
  const OBJECTS = {
    pd: 'dev verbena0 pdn 1 users 2 ctxn 1',
    cq: 'dev verbena0 cqn N cqe N users 2 adaptive-moderation off ctxn 1',
    mr: 'dev verbena0 mrn 1 rkey 0xN lkey 0xN iova 0xN mrlen 4096 pdn 1',
    ctx: 'dev verbena0 ctxn 1',
  };
  for (const [kind, line] of Object.entries(OBJECTS))
    it(`resource show ${kind} prints a line for each, as iproute2 does`, async () => {
      const { stdout, stderr } = await rdma('resource', 'show', kind);
      const lines = stdout
        .replaceAll(/(cqn|cqe|pid) \d+/g, '$1 N')
        .replaceAll(/(key|iova) 0x[0-9a-f]+/g, '$1 0xN')
        .replaceAll(/comm \S+/g, 'comm NAME')
        .split('\n');
      assert.equal(stderr, '');
      assert.deepEqual(lines.sort(), ['', ...ENDS.map((end) => `${line} ${end}comm NAME `)].sort());
    });

  it('resource show mr -j has keys in hexadecimal, without 0x', async () => {
    const [mr] = JSON.parse((await rdma('res', 'show', 'mr', '-j')).stdout) as Record<string, unknown>[];
    assert.match(String(mr['rkey']), /^[0-9a-f]+$/);
    assert.equal(mr['mrlen'], 4096);
    assert.equal(mr['ifname'], 'verbena0');
  });

  it('resource show srq and cm_id print nothing where there are none', async () => {
    for (const kind of ['srq', 'cm_id']) {
      const { code, stdout, stderr } = await rdma('resource', 'show', kind);
      assert.deepEqual({ code, stdout, stderr }, { code: 0, stdout: '', stderr: '' });
    }
  });

  for (const words of ['link', 'link show', 'resource show', 'resource show mr', 'stat show link', 'res show qp'])
    it(`${words} takes an address, or a process`, async () => {
      const pid = String(servers[0].child.pid);
      const byPid = await rdma(...words.split(' '), 'pid', pid);
      assert.deepEqual([byPid.code, byPid.stderr], [0, '']);
      assert.match(byPid.stdout, new RegExp(`^[^\n]* address ${serverAt(1)} pid ${pid} [^\n]*\n$`));
      for (const which of [[serverAt(1)], ['address', serverAt(1)]])
        assert.equal((await rdma(...words.split(' '), ...which)).stdout, byPid.stdout);
    });

  it('resource show qp takes numbers in hexadecimal, as dump prints them', async () => {
    const [{ lqpn }] = JSON.parse((await rdma('-j', 'res', 'qp', serverAt(1))).stdout) as { lqpn: number }[];
    const { stdout } = await rdma('res', 'qp', 'lqpn', `0x${lqpn.toString(16)}`);
    assert.match(stdout, new RegExp(` lqpn ${lqpn} `));
  });

  it('statistic -n leaves out counters that are zero', async () => {
    const { stdout } = await rdma('-n', 'statistic');
    assert.doesNotMatch(stdout, / 0 /);
    assert.match(stdout, / address /);
  });

  it('resource show qp prints a line for each queue pair', async () => {
    const { stdout } = await rdma('res', 'show', 'qp', 'link', 'verbena0');
    assert.deepEqual(queuePairs(stdout).sort(), QPS);
  });

  it('resource show qp prints those that were asked for', async () => {
    const { stdout } = await rdma('res', 'qp', 'type', 'RC,UC', 'address', serverAt(1));
    assert.deepEqual(
      queuePairs(stdout),
      QPS.filter((line) => line.includes(serverAt(1))),
    );
  });

  it('resource show qp -d adds how the requests of each fare', async () => {
    const { stdout } = await rdma('-dd', 'res', 'qp', 'address', serverAt(1));
    const [, details] = queuePairs(stdout);
    assert.match(details, /^ {4}cwnd \d+ cwnd_max \d+ cwnd_cuts 0 .*rtt_us 0 .*rp_cnp_handled 0 loss_probes 0 /);
  });

  it('resource show qp -dj has them beside the rest', async () => {
    const { stdout } = await rdma('-dj', 'res', 'qp');
    for (const qp of JSON.parse(stdout) as Record<string, string | number>[])
      assert.deepEqual({ ...qp, type: 'RC', state: 'INIT', cwnd_cuts: 0, retransmitted_pkts: 0 }, qp);
  });

  for (const [words, says] of [
    ['statistic show link mlx5_0/1', 'Wrong device name\n'],
    ['statistic show link verbena0/2', 'Wrong device name\n'],
    ['link show mlx5_0', 'Wrong device name\n'],
    ['system', "Unknown object 'system'.\n"],
    ['resource show qp colour red', "Unknown parameter 'colour'.\n"],
    ['resource show mr mlx5_0', 'Wrong device name\n'],
    ['resource show mr lqpn 3', "Unknown parameter 'lqpn'.\n"],
    ['link show pid', 'Wrong device name\n'],
  ] as const) {
    it(`refuses ${words}`, async () => {
      const { code, stderr } = await rdma(...words.split(' '));
      assert.deepEqual({ code, stderr }, { code: 1, stderr: says });
    });
  }

  it('link -j has the number of the interface', async () => {
    const [link] = JSON.parse((await rdma('-j', 'link')).stdout) as Record<string, unknown>[];
    assert.equal(link['netdev_index'], 1);
  });
});

describe('rdma, while no program runs', () => {
  const alone = mkdtempSync(join(tmpdir(), 'verbena-rdma-alone-'));
  after(() => rmSync(alone, { recursive: true }));

  it('statistic says so', async () => {
    const { code, stdout, stderr } = await run(['rdma', 'statistic'], { XDG_RUNTIME_DIR: alone });
    assert.deepEqual(
      { code, stdout, stderr },
      { code: 0, stdout: '', stderr: 'No program of this user has a NIC open.\n' },
    );
  });

  it('statistic -j prints an empty array', async () => {
    const { stdout, stderr } = await run(['rdma', '-j', 'statistic'], { XDG_RUNTIME_DIR: alone });
    assert.deepEqual({ stdout, stderr }, { stdout: '[]\n', stderr: '' });
  });

  it('dev show prints the device', async () => {
    const { stdout } = await run(['rdma', 'dev', 'show'], { XDG_RUNTIME_DIR: alone });
    const { version } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8')) as { version: string };
    const [text, guid] = /^(.*node_guid) ([0-9a-f]{4}(?::[0-9a-f]{4}){3}) \n$/.exec(stdout)?.slice(1) ?? [];
    assert.equal(text, `0: verbena0: node_type ca protocol roce fw ${version} node_guid`);
    assert.notEqual(guid, undefined);
  });
});

for (const words of [[], ['help'], ['link', 'help'], ['resource', 'show', 'help'], ['st', 'help']])
  it(`rdma ${words.join(' ')} prints its usage`, async () => {
    const { code, stdout, stderr } = await run(['rdma', ...words]);
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
    assert.match(stdout, /^Usage: rdma /);
  });

describe('rdma, while a server of rdma_cm waits', () => {
  const alone = mkdtempSync(join(tmpdir(), 'verbena-rdma-cm-'));
  after(() => rmSync(alone, { recursive: true }));

  it('resource show cm_id prints its identifier', async () => {
    const at = serverAt(3);
    const server = new Tool(['rping', '-s', '-a', at], { XDG_RUNTIME_DIR: alone });
    let stdout = '';
    try {
      // A NIC writes its objects down within a quarter of a second.
      while (!stdout.includes('LISTEN') && server.child.exitCode === null)
        ({ stdout } = await run(['rdma', 'res', 'show', 'cm_id'], { XDG_RUNTIME_DIR: alone }));
    } finally {
      server.child.kill('SIGKILL');
      await server.ended;
    }
    assert.equal(
      stdout.replace(/pid \d+ comm \S+/, 'pid N comm NAME'),
      `link verbena0/1 cm-idn 1 state LISTEN ps TCP address ${at} pid N comm NAME src-addr ${at}:7174 \n`,
    );
  });
});

for (const words of [['statistic', 'qp', 'show']])
  it(`rdma ${words.join(' ')} is called not kept`, async () => {
    const { code, stdout, stderr } = await run(['rdma', ...words]);
    assert.deepEqual({ code, stdout }, { code: 1, stdout: '' });
    assert.match(stderr, /: not kept here: /);
  });
