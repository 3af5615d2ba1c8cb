import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { udOptions } from '../../protocols/ucp/uct/ud/options.js';
import { workerSettings } from '../../protocols/ucp/worker/worker-options.js';
import { sizeText } from '../ucx/info/objects.js';
import { loopback } from '../../../test/support/loopback.js';
import { run } from './tool.js';

let game = 0;

/** What the tool prints when all is well. */
async function printed(...flags: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await run(['ucx_info', '--addr', loopback((game += 1)), ...flags]);
  assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
  return stdout;
}

describe('ucx_info', () => {
  it('prints the version', async () => {
    assert.match(await printed('-v'), /^# Version \d+\.\d+\.\d+\n# Calls of UCX 1\.13, by verbena\/ucp\n# Node v/);
  });

  it('prints what each transport does', async () => {
    const text = await printed('-d');
    assert.deepEqual(text.match(/(?<=Transport: )\w+/g), ['rc', 'ud', 'self']);
    assert.match(text, /^# Memory domain: verbena0$/m);
    assert.match(text, /^# {11}remote key: \d+ bytes$/m);
    assert.match(text, /^# {12}put_zcopy: <= 1G$/m);
    const [rc, ud, self] = text.split('Transport: ').slice(1);
    assert.match(rc, /^# {11}atomic_add: 64 bit$/m);
    assert.doesNotMatch(ud, /put_|get_|atomic_/);
    assert.match(self, /^# {11}atomic_xor: 32, 64 bit$/m);
  });

  it('prints one transport alone by -t', async () => {
    assert.deepEqual((await printed('-d', '-t', 'ud')).match(/(?<=Transport: )\w+/g), ['ud']);
  });

  it('prints by which protocols messages go, and what objects take', async () => {
    const text = await printed('-u');
    assert.match(text, /^# UCP worker$/m);
    for (const transport of ['rc', 'ud', 'self'])
      assert.match(text, new RegExp(`^# UCP endpoint by ${transport}$`, 'm'));
    assert.match(text, /^# tag_send: 0\.\.<eager short>\.\..*\.\.32K\.\.<rendezvous get zcopy>\.\.\(inf\)$/m);
    assert.equal(text.match(/^# memory: \d+\.\dKB, buffers: \d+\.\dKB$/gm)?.length, 4);
  });

  it('prints endpoints alone by -e, also with the letters of features that users of UCX give', async () => {
    const text = await printed('-u', 't', '-e');
    assert.match(text, /^# UCP endpoint by rc$/m);
    assert.doesNotMatch(text, /UCP worker|UCP memory/);
  });

  it('prints settings as they are, each in a line that a shell takes', async () => {
    const { code, stdout, stderr } = await run(['ucx_info', '-c'], { UCX_RNDV_THRESH: '64k', UCX_NET_DEVICES: 'all' });
    assert.equal(code, 0);
    const lines = stdout.trimEnd().split('\n');
    assert.ok(lines.every((line) => /^UCX_[A-Z_]+=\w+$/.test(line)));
    assert.ok(['UCX_RNDV_THRESH=64k', 'UCX_TLS=rc', 'UCX_LOG_LEVEL=WARN'].every((line) => lines.includes(line)));
    assert.match(stderr, /^UCX_NET_DEVICES changes nothing here: .*\n$/);
  });

  it('says by -f what each setting is for', async () => {
    assert.match(await printed('-c', '-f'), /^# How messages go .*\n#\n# default: rc\n#\nUCX_TLS=rc$/m);
  });

  it('prints defaults that workers have', async () => {
    const said = JSON.parse(await printed('-c', '--json')) as { settings: { name: string; preset: string }[] };
    const config = Object.fromEntries(said.settings.map(({ name, preset }) => [name.slice('UCX_'.length), preset]));
    const { ud: saidUd, ...saidOthers } = workerSettings({ config });
    const { ud, ...others } = workerSettings({});
    assert.deepEqual(
      [udOptions(saidUd).window, udOptions(saidUd).timeoutMs],
      [udOptions(ud).window, udOptions(ud).timeoutMs],
    );
    assert.deepEqual(saidOthers, others);
  });

  it('prints all as one JSON object', async () => {
    const said = JSON.parse(await printed('-v', '-d', '-c', '-u', '--json')) as Record<string, unknown>;
    assert.deepEqual(Object.keys(said), ['version', 'transports', 'objects', 'settings']);
    const [{ transport, tagProtocols }] = said['transports'] as {
      transport: string;
      tagProtocols: { to: unknown }[];
    }[];
    assert.deepEqual([transport, tagProtocols.at(-1)?.to], ['rc', 'inf']);
  });

  for (const [flags, sentence] of [
    [[], 'Say what to print: -v, -d, -c, -u, -e or -w; --help says what they are.'],
    [['-v', '-t', 'rc'], '-t needs -d.'],
  ] as const)
    it(`refuses ${flags.length === 0 ? 'to print nothing' : flags.join(' ')}`, async () => {
      const { code, stderr } = await run(['ucx_info', ...flags]);
      assert.deepEqual({ code, stderr }, { code: 1, stderr: `${sentence}\n` });
    });

  it('writes lengths as UCX does', () => {
    const texts = [0, 255, 4160, 8192, 2 ** 20, 3 * 2 ** 30, Infinity].map(sizeText);
    assert.deepEqual(texts, ['0', '255', '4160', '8K', '1M', '3G', 'inf']);
  });
});
