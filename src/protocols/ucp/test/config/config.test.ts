import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { runtime, useRuntime } from '../../../../api/runtime/index.js';
import type { Context } from '../../../../entry/index.js';
import { type Sim, simulate } from '../../../../entry/sim.js';
import { readUcpConfig } from '../../config/read-config.js';
import { settingsOf, type UcpConfig } from '../../config/settings.js';
import { UcpWorker } from '../../worker/worker.js';
import type { UcpWorkerOptions } from '../../worker/worker-options.js';

const read = (config: UcpConfig) => settingsOf('test', config, 'config.');

describe('a setting', () => {
  const SIZES: readonly [text: string | number, bytes: number | undefined][] = [
    ['0', 0],
    ['8192', 8192],
    [8192, 8192],
    ['100b', 100],
    ['8k', 8192],
    ['8KB', 8192],
    ['1m', 2 ** 20],
    ['2G', 2 ** 31],
    ['1t', 2 ** 40],
    ['inf', Infinity],
    ['INF', Infinity],
    [Infinity, Infinity],
    ['auto', undefined],
  ];
  for (const [text, bytes] of SIZES)
    it(`of a length is read as UCX does: ${text}`, () => assert.equal(read({ RNDV_THRESH: text }).rndv, bytes));

  const TIMES: readonly [text: string | number, ms: number][] = [
    ['20s', 20_000],
    ['20', 20_000],
    [20, 20_000],
    ['1.5s', 1500],
    ['2m', 120_000],
    ['100ms', 100],
    ['100us', 1],
    ['inf', Infinity],
  ];
  for (const [text, ms] of TIMES)
    it(`of a time is read as UCX does: ${text}`, () =>
      assert.equal(read({ KEEPALIVE_INTERVAL: text }).keepAliveMs, ms));

  const LISTS: readonly [text: string, transport: string | undefined][] = [
    ['rc', 'rc'],
    ['ud_v', 'ud'],
    ['tcp,ud_verbs,rc', 'ud'],
    ['self,rc_v', 'rc'],
    ['all', 'rc'],
    ['^rc', 'ud'],
    ['^ud,tcp', 'rc'],
    ['self', undefined],
  ];
  for (const [text, transport] of LISTS)
    it(`of transports gives the first that there is: ${text}`, () =>
      assert.equal(read({ TLS: text }).transport, transport));

  const BAD: readonly [name: keyof UcpConfig, text: string][] = [
    ['RNDV_THRESH', ''],
    ['RNDV_THRESH', '8 k'],
    ['RNDV_THRESH', '-1'],
    ['RNDV_THRESH', '1.5k'],
    ['RNDV_THRESH', '8kk'],
    ['RNDV_THRESH', '99999999t'],
    ['ZCOPY_THRESH', 'never'],
    ['BCOPY_THRESH', '0x10'],
    ['RNDV_SCHEME', 'put_ppln'],
    ['KEEPALIVE_INTERVAL', '0'],
    ['KEEPALIVE_INTERVAL', '5h'],
    ['RC_FC_WND_SIZE', '0'],
    ['RC_FC_WND_SIZE', '1025'],
    ['UD_MAX_WINDOW', '1'],
    ['UD_TIMEOUT', 'auto'],
    ['TLS', 'tcp'],
    ['TLS', ''],
    ['TLS', '^rc,ud'],
    ['TLS', '^all'],
    ['LOG_LEVEL', 'loud'],
    ['LOG_LEVEL', ''],
    ['PROTO_INFO', 'maybe'],
  ];
  for (const [name, text] of BAD)
    it(`that makes no sense is refused by its name: ${name}=${text}`, () =>
      assert.throws(() => read({ [name]: text }), {
        errno: 'EINVAL',
        message: new RegExp(`config.${name} is '${text}'`.replace('^', '\\^')),
      }));

  it('of the log is read as UCX does', () => {
    const { logLevel, logFile, protoInfo } = read({ LOG_LEVEL: 'DEBUG', LOG_FILE: '', PROTO_INFO: 'Y' });
    assert.deepEqual({ logLevel, logFile, protoInfo }, { logLevel: 'debug', logFile: 'stdout', protoInfo: true });
    assert.deepEqual(
      [read({ LOG_FILE: '/tmp/%p.log' }).logFile, read({ PROTO_INFO: 0 }).protoInfo],
      ['/tmp/%p.log', false],
    );
  });

  it('that there is not is refused with one that is near', () => {
    // @ts-expect-error what JavaScript allows
    assert.throws(() => read({ RNDV_TRESH: '8k' }), { errno: 'EINVAL', message: /RNDV_TRESH.*Is it RNDV_THRESH\?/ });
    // @ts-expect-error what JavaScript allows
    assert.throws(() => read({ RNDV_THRESH: true }), { errno: 'EINVAL' });
  });
});

describe('an environment', () => {
  it('says what a configuration says, by names that begin with UCX_', () => {
    const { config, warnings } = readUcpConfig({
      UCX_TLS: 'ud',
      UCX_RNDV_THRESH: '64k',
      PATH: '/bin',
      UCX_LATER: undefined,
    });
    assert.deepEqual([config, warnings], [{ TLS: 'ud', RNDV_THRESH: '64k' }, []]);
  });

  it('that says something in vain is warned of', () => {
    const { warnings } = readUcpConfig({ UCX_RNDV_TRESH: '1k', UCX_NET_DEVICES: 'all', UCX_XYZZY_PLUGH: '1' });
    assert.equal(warnings.length, 3);
    assert.match(warnings[0], /^UCX_RNDV_TRESH is not known here\. Is it UCX_RNDV_THRESH\?/);
    assert.match(warnings[1], /^UCX_NET_DEVICES changes nothing here: /);
    assert.match(warnings[2], /^UCX_XYZZY_PLUGH is not known here\. /);
    assert.deepEqual(readUcpConfig({ UCX_RNDV_TRESH: '1k', UCX_WARN_UNUSED_ENV_VARS: 'n' }).warnings, []);
  });

  it('that asks for statistics to be written is told where they are', () => {
    assert.deepEqual(readUcpConfig({ UCX_STATS_DEST: 'stdout' }).warnings, [
      'UCX_STATS_DEST changes nothing here: ask worker.statistics',
    ]);
  });

  it('with a value that makes no sense is refused', () => {
    assert.throws(() => readUcpConfig({ UCX_RNDV_THRESH: 'soon' }), {
      errno: 'EINVAL',
      message: /UCX_RNDV_THRESH is 'soon'/,
    });
  });
});

async function within(
  environment: Readonly<Record<string, string>>,
  play: (worker: (options?: UcpWorkerOptions) => ReturnType<UcpWorker['query']>) => void,
): Promise<string[]> {
  const before = runtime();
  const warnings: string[] = [];
  const worker = (sim: Sim) => {
    const { context } = sim.host('host');
    return (options?: UcpWorkerOptions) => made(context, options);
  };
  const made = (context: Context, options?: UcpWorkerOptions) => {
    useRuntime({
      ...before,
      environment: (name) => environment[name],
      environmentNames: () => Object.keys(environment),
      warn: (problem) => void warnings.push(String(problem)),
    });
    try {
      return new UcpWorker(context, options).query();
    } finally {
      useRuntime(before);
    }
  };
  await simulate((sim) => play(worker(sim)));
  return warnings;
}

describe('a worker', () => {
  it('does as its options say, else as its configuration says, else as the environment does', async () => {
    const environment = { UCX_TLS: 'ud', UCX_RNDV_THRESH: '1k', UCX_ZCOPY_THRESH: '2k', UCX_BCOPY_THRESH: '3k' };
    await within(environment, (worker) => {
      const { transport, thresholds } = worker();
      assert.equal(transport, 'ud');
      assert.deepEqual(thresholds, { rndv: 1024, zcopy: 2048, bcopy: 3072, rndvScheme: 'auto' });
      const config = { RNDV_THRESH: '10k', ZCOPY_THRESH: '20k', TLS: 'rc', RNDV_SCHEME: 'am' };
      const other = worker({ config, thresholds: { rndv: 5 } });
      assert.equal(other.transport, 'rc');
      assert.deepEqual(other.thresholds, { rndv: 5, zcopy: 20_480, bcopy: 3072, rndvScheme: 'am' });
      // The default again, whatever the environment says.
      assert.equal(worker({ config: { RNDV_THRESH: 'auto' } }).thresholds.rndv, 32_768);
      assert.equal(worker({ transport: 'rc' }).transport, 'rc');
    });
  });

  it('heeds no value of the environment that its program overrides, and refuses others that make no sense', async () => {
    await within({ UCX_TLS: 'tcp' }, (worker) => {
      assert.equal(worker({ config: { TLS: 'rc' } }).transport, 'rc');
      assert.throws(() => worker(), { errno: 'EINVAL', message: /UCX_TLS is 'tcp'/ });
    });
  });

  it('warns once of what the environment says in vain', async () => {
    const warnings = await within({ UCX_RNDV_SCHEMA: 'auto' }, (worker) => {
      worker();
      worker();
    });
    assert.deepEqual(warnings.length, 1);
    assert.match(warnings[0], /UCX_RNDV_SCHEMA is not known here\. Is it UCX_RNDV_SCHEME\?/);
  });

  it('warns of nothing where the log has no warnings', async () => {
    const environment = { UCX_SPLINES: '1', UCX_LOG_LEVEL: 'error' };
    assert.deepEqual(await within(environment, (worker) => void worker()), []);
  });

  const WRONG: Readonly<Record<string, unknown>> = {
    'a transport that there is not': { transport: 'tcp' },
    'a window of none': { window: 0 },
    'a window that is too large': { window: 1025 },
    'a limit that is no number': { unexpectedBytes: '1m' },
    'a negative limit': { amBytes: -1 },
    'a time of 0': { keepAliveMs: 0 },
    'a log that is no function': { log: 'stdout' },
    'a threshold that is no number': { thresholds: { rndv: NaN } },
    'a threshold that there is not': { thresholds: { rendezvous: 1 } },
    'a scheme that there is not': { thresholds: { rndvScheme: 'put' } },
    'an option that there is not': { transports: 'rc' },
  };
  for (const [what, options] of Object.entries(WRONG))
    it(`is not made with ${what}`, () =>
      simulate((sim) => {
        const { context } = sim.host('host');
        // What JavaScript allows.
        assert.throws(() => new UcpWorker(context, options as UcpWorkerOptions), { errno: 'EINVAL' });
      }));
});
