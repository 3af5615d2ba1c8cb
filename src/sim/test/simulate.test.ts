import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { connect, openDevice } from '../../entry/index.js';
import { type Sim, simulate, type SimulateOptions } from '../../entry/sim.js';
import { connected, failureOf, send } from './support.js';

async function withSetting<T>(name: string, value: string, run: () => Promise<T>): Promise<T> {
  const before = process.env[name];
  process.env[name] = value;
  try {
    return await run();
  } finally {
    if (before === undefined) Reflect.deleteProperty(process.env, name);
    else process.env[name] = before;
  }
}

const ROUGH = { loss: 0.1, duplication: 0.1, reordering: 0.1, corruption: 0.05, jitterUs: 20 };

describe('simulate', () => {
  it('repeats a run to the byte, and to the µs, from its seed', async () => {
    const run = (seed: number): Promise<unknown> =>
      simulate({ seed, conditions: ROUGH }, async (sim) => {
        const { atClient } = await connected(sim, 8);
        for (let i = 0; i < 4; i += 1) await send(atClient, 9000);
        return sim.packets().map(({ sentUs, text, fate }) => `${sentUs} ${text} ${String(fate)}`);
      });
    assert.deepEqual(await run(5), await run(5));
    assert.notDeepEqual(await run(5), await run(6));
  });

  it('runs with as many seeds as it is asked to', async () => {
    const seeds: number[] = [];
    await simulate({ seed: 3, seeds: 4 }, (sim) => void seeds.push(sim.seed));
    assert.deepEqual(seeds, [3, 4, 5, 6]);
  });

  it('gives what the test gives', async () => {
    assert.equal(
      await simulate((sim) => sim.seed + 41),
      process.env['VERBENA_SEED'] === undefined ? 42 : Number(process.env['VERBENA_SEED']) + 41,
    );
  });

  it('fails with the very error of the test, which says how to repeat it and what was seen last', async () => {
    const error = await failureOf({ seed: 77 }, async (sim) => {
      await connected(sim);
      assert.equal(1, 2);
    });
    assert.ok(error instanceof assert.AssertionError);
    assert.match(
      error.message,
      /Simulated with seed 77, up to \d+ µs; VERBENA_SEED=77 repeats it\. The last packets:\n {2}0 µs client > server UD_SEND_ONLY/,
    );
    assert.ok(error.stack?.includes('VERBENA_SEED=77'));
  });

  it('runs with the seed of the environment where the test names none', async () => {
    const run = (options: SimulateOptions): Promise<number> =>
      withSetting('VERBENA_SEED', '9', () => simulate({ ...options }, ({ seed }: Sim) => seed));
    assert.deepEqual([await run({ seeds: 3 }), await run({ seed: 5, seeds: 3 }), await run({ seed: 4 })], [9, 9, 4]);
  });

  it('refuses a seed that is none', async () => {
    const nothing = (): void => undefined;
    await withSetting('VERBENA_SEED', 'x', () => assert.rejects(simulate(nothing), { errno: 'EINVAL' }));
    await assert.rejects(simulate({ seed: -1 }, nothing), { errno: 'EINVAL' });
    await assert.rejects(simulate({ seeds: 0 }, nothing), { errno: 'EINVAL' });
  });

  it('refuses options that do not exist, which would change nothing', async () => {
    // That they are none is the point.
    const options = { condition: { loss: 0.5 } } as SimulateOptions;
    const { message } = await failureOf(options, () => undefined);
    assert.match(message, /there is no 'condition' in options \(EINVAL\)\. Is it conditions\?/);
  });

  it('keeps a program from the devices of the real machine, when it forgets to say which host it is on', async () => {
    const { message } = await failureOf({}, () => connect({ host: 'server', port: 7174 }));
    assert.match(message, /on none of its hosts \(ENODEV\)\. Call it in host\.run/);
    await assert.rejects(
      simulate(() => void openDevice()),
      { errno: 'ENODEV' },
    );
  });

  it('keeps the packets of the first run that fails', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'verbena-sim-'));
    const path = join(folder, 'run.pcapng');
    try {
      await withSetting('VERBENA_PCAP', path, async () => {
        const { message } = await failureOf({}, async (sim) => {
          await connected(sim);
          assert.fail('seen');
        });
        const { size } = statSync(path);
        await simulate(() => undefined);
        assert.deepEqual([statSync(path).size, message.includes(path)], [size, true]);
      });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('ends when its function does, and says so to whoever goes on', async () => {
    const ended = await simulate((sim) => sim);
    await assert.rejects(ended.until(ended.sleep(5)), { errno: 'ECANCELED', message: /has ended/ });
  });

  it('writes all packets where the environment says', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'verbena-sim-'));
    const path = join(folder, 'run.pcapng');
    try {
      const { message } = await withSetting('VERBENA_PCAP', path, () => failureOf({}, () => assert.fail('seen')));
      assert.deepEqual([existsSync(path), message.includes(`All packets are in ${path}.`)], [true, true]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('leaves nothing behind that a program would have had to close', async () => {
    let settled = false;
    const { sim, context } = await simulate(async (sim) => {
      const { server, atServer } = await connected(sim);
      const settle = (): void => void (settled = true);
      atServer.recvComp().then(settle, settle);
      return { sim, context: server.context };
    });
    await new Promise((resolve) => setImmediate(resolve));
    // What still runs gets no errors, which nobody would expect any more, but time does not go on.
    context.allocPd();
    assert.deepEqual([sim.step(), settled], [false, false]);
  });
});
