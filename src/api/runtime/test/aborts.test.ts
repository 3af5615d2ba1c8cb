import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { describe, it } from 'node:test';
import { whenAborted } from '../index.js';

const listenersOf = (signal: AbortSignal): number => getEventListeners(signal, 'abort').length;

describe('a signal for which many wait', () => {
  it('has one listener, and none when nobody waits any more', () => {
    const { signal } = new AbortController();
    const stops = Array.from({ length: 20 }, () => whenAborted(signal, () => undefined));
    assert.equal(listenersOf(signal), 1);
    for (const stop of stops) stop();
    assert.equal(listenersOf(signal), 0);
    whenAborted(signal, () => undefined);
    assert.equal(listenersOf(signal), 1);
  });

  it('tells each once, in the order in which they came', () => {
    const controller = new AbortController();
    const told: number[] = [];
    for (const n of [1, 2, 3]) whenAborted(controller.signal, () => told.push(n));
    controller.abort();
    controller.abort();
    assert.deepEqual(told, [1, 2, 3]);
  });

  it('tells nobody who has been taken back, be it by one who was told before', () => {
    const controller = new AbortController();
    const told: string[] = [];
    const stops: (() => void)[] = [];
    whenAborted(controller.signal, () => stops.forEach((stop) => stop()));
    stops.push(whenAborted(controller.signal, () => told.push('late')));
    whenAborted(controller.signal, () => told.push('taken back'))();
    controller.abort();
    assert.deepEqual(told, []);
  });

  it('knows two who do the same apart', () => {
    const controller = new AbortController();
    let times = 0;
    const action = (): void => void (times += 1);
    const stop = whenAborted(controller.signal, action);
    whenAborted(controller.signal, action);
    stop();
    stop();
    controller.abort();
    assert.equal(times, 1);
  });

  it('tells nobody who comes when it is aborted', () => {
    const signal = AbortSignal.abort();
    whenAborted(signal, () => assert.fail('told'))();
    assert.equal(listenersOf(signal), 0);
  });

  it('tells the others where one throws', async () => {
    const controller = new AbortController();
    const thrown = new Promise<unknown>((resolve) => {
      const before = process.listeners('uncaughtException');
      process.removeAllListeners('uncaughtException');
      process.once('uncaughtException', (error) => {
        for (const listener of before) process.on('uncaughtException', listener);
        resolve(error);
      });
    });
    let isTold = false;
    const reason = new Error('thrown by one of them');
    whenAborted(controller.signal, () => {
      throw reason;
    });
    whenAborted(controller.signal, () => (isTold = true));
    controller.abort();
    assert.equal(isTold, true);
    assert.equal(await thrown, reason);
  });
});
