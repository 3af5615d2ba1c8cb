import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { portable } from '../index.js';

const round = (): Promise<void> => new Promise((resolve) => portable.nextRound(resolve));

describe('what every runtime has', () => {
  it('goes through rounds in their order, those included that are asked for in one', async () => {
    const gone: string[] = [];
    portable.nextRound(() => {
      gone.push('first');
      portable.nextRound(() => gone.push('asked for in the first'));
    });
    portable.nextRound(() => gone.push('second'));
    await round();
    await round();
    assert.deepEqual(gone, ['first', 'second', 'asked for in the first']);
  });

  it('lets all that is awaited have its turn between two rounds', async () => {
    const gone: string[] = [];
    portable.nextRound(() => {
      gone.push('round');
      void Promise.resolve()
        .then(() => gone.push('awaited'))
        .then(() => gone.push('awaited after that'));
    });
    portable.nextRound(() => gone.push('next round'));
    await round();
    assert.deepEqual(gone, ['round', 'awaited', 'awaited after that', 'next round']);
  });

  it('gives way before the next round', async () => {
    const gone: string[] = [];
    portable.nextRound(() => gone.push('round'));
    portable.afterMicrotasks(() => gone.push('gave way'));
    gone.push('goes on');
    await round();
    assert.deepEqual(gone, ['goes on', 'gave way', 'round']);
  });

  it('lets the rest of the event loop have its turn, however many rounds follow each other', async () => {
    const time = { isOver: false };
    setTimeout(() => (time.isOver = true), 1);
    // Would go on for ever if rounds came before all else.
    while (!time.isOver) await round();
    assert.ok(time.isOver);
  });

  it('goes on with the next round when one throws', () => {
    const { stdout, status } = inProcess(`
      process.on('uncaughtException', (error) => console.log(error.message));
      portable.nextRound(() => { throw new Error('thrown'); });
      portable.nextRound(() => console.log('next'));`);
    assert.deepEqual([stdout, status], ['thrown\nnext\n', 0]);
  });

  it('keeps no program running once its rounds are over', () => {
    const { stdout, status } = inProcess(`
      portable.keepAlive();
      portable.nextRound(() => portable.nextRound(() => console.log('over')));`);
    assert.deepEqual([stdout, status], ['over\n', 0]);
  });

  it('calls a timer back, and not one that was taken back', async () => {
    const gone: string[] = [];
    const takeBack = portable.timer(1, () => gone.push('taken back'));
    takeBack();
    await new Promise<void>((resolve) => {
      portable.timer(2, () => {
        gone.push('timer');
        resolve();
      });
    });
    assert.deepEqual(gone, ['timer']);
  });
});

describe('an ambient value where nobody follows what is awaited', () => {
  it('is there as long as the function runs', () => {
    const ambient = portable.ambient<string>();
    const seen = ambient.run('outer', () => [ambient.get(), ambient.run('inner', () => ambient.get()), ambient.get()]);
    assert.deepEqual([seen, ambient.get()], [['outer', 'inner', 'outer'], undefined]);
  });

  it('ends with a function that throws', () => {
    const ambient = portable.ambient<string>();
    assert.throws(() =>
      ambient.run('value', () => {
        throw new Error('thrown');
      }),
    );
    assert.equal(ambient.get(), undefined);
  });

  it('is gone after what the function awaits, rather than that of whoever runs then', async () => {
    const ambient = portable.ambient<string>();
    const running = ambient.run('one', async () => {
      const before = ambient.get();
      await Promise.resolve();
      return [before, ambient.get()];
    });
    const other = ambient.run('other', () => running);
    assert.deepEqual(await other, ['one', undefined]);
  });

  it('goes with a function that was bound to it', () => {
    const ambient = portable.ambient<string>();
    const bound = ambient.run('value', () => ambient.bind((suffix: string) => `${ambient.get() ?? ''}${suffix}`));
    assert.deepEqual([ambient.run('other', () => bound('!')), ambient.get()], ['value!', undefined]);
  });
});

/** Runs a program that has `portable`, until it ends by itself. */
function inProcess(program: string): { readonly stdout: string; readonly status: number | null } {
  const index = new URL('../index.js', import.meta.url).href;
  const source = `import { portable } from ${JSON.stringify(index)};${program}`;
  const { stdout, status } = spawnSync(process.execPath, ['--input-type=module', '--eval', source], {
    encoding: 'utf8',
    // One that does not end would show as a status of null.
    timeout: 60_000,
  });
  return { stdout, status };
}
