import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Microtask } from '../index.js';

const microtasks = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('an action in a microtask', () => {
  it('is done once for all who have asked by then, and not before they have returned', async () => {
    let times = 0;
    const task = new Microtask(() => {
      times += 1;
    });
    task.queue();
    task.queue();
    assert.equal(times, 0);
    await microtasks();
    assert.equal(times, 1);
  });

  it('is done again when it asks for that itself, or somebody does later', async () => {
    let times = 0;
    const task = new Microtask(() => {
      times += 1;
      if (times === 1) task.queue();
    });
    task.queue();
    await microtasks();
    assert.equal(times, 2);
    task.queue();
    await microtasks();
    assert.equal(times, 3);
  });

  it('that throws is an exception that nobody has caught, and can be asked for again', async () => {
    const uncaught: unknown[] = [];
    const listeners = process.listeners('uncaughtException');
    process.removeAllListeners('uncaughtException');
    process.on('uncaughtException', (error, origin) => uncaught.push(error, origin));
    const failure = new Error('thrown');
    let times = 0;
    const task = new Microtask(() => {
      times += 1;
      throw failure;
    });
    task.queue();
    await microtasks();
    task.queue();
    await microtasks();
    process.removeAllListeners('uncaughtException');
    for (const listener of listeners) process.on('uncaughtException', listener);
    assert.equal(times, 2);
    assert.deepEqual(uncaught, [failure, 'uncaughtException', failure, 'uncaughtException']);
  });
});
