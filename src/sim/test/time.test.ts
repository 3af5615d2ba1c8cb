import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as realTime } from 'node:timers/promises';
import { Sim, simulate, StalledError } from '../../entry/sim.js';
import { connected, failureOf, send } from './support.js';

async function stalled(promise: Promise<unknown>): Promise<StalledError> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof StalledError) return error;
    throw error;
  }
  throw new Error('it did not stall');
}

describe('virtual time', () => {
  it('passes while programs sleep, and no further', () =>
    simulate(async (sim) => {
      await Promise.all([sim.sleep(70), sim.sleep(1_000_000)]);
      assert.equal(sim.nowUs, 1_000_000);
    }));

  it('stands still while something outside is waited for', () =>
    simulate(async (sim) => {
      const { atClient } = await connected(sim);
      const sending = send(atClient);
      const startUs = sim.nowUs;
      await sim.outside(realTime(5));
      assert.equal(sim.nowUs, startUs);
      await sending;
    }));

  it('can be stepped through, and run', () => {
    using sim = new Sim();
    const times: number[] = [];
    for (const timeUs of [30, 10, 20]) sim.at(timeUs, () => times.push(sim.nowUs));
    const stepped = [sim.step(), [...times]];
    sim.run(25);
    const run = [sim.nowUs, [...times]];
    sim.run();
    assert.deepEqual([stepped, run, times, sim.step()], [[true, [10]], [25, [10, 20]], [10, 20, 30], false]);
  });

  it('runs until a condition holds', async () => {
    using sim = new Sim();
    let rounds = 0;
    const again = (): void => {
      rounds += 1;
      sim.at(sim.nowUs + 10, again);
    };
    again();
    assert.deepEqual([await sim.until(() => rounds >= 5 && rounds), sim.nowUs], [5, 40]);
  });

  it('ends with what a condition throws, at whatever moment', async () => {
    using sim = new Sim();
    sim.at(10, () => undefined);
    const late = sim.until(() => {
      if (sim.nowUs >= 10) throw new Error('no longer so');
      return false;
    });
    await assert.rejects(late, /no longer so/);
  });

  it('runs until a queue that is polled shows something, however long that takes', () =>
    simulate(async (sim) => {
      const cq = sim.host('a').context.createCq({ cqe: 4 });
      for (let us = 0; us < 5000; us += 1) sim.at(us, () => undefined);
      await sim.until(() => cq.poll(1).length > 0 || sim.nowUs >= 4900);
      assert.ok(sim.nowUs >= 4900);
    }));

  it('has an end where somebody says so', async () => {
    using sim = new Sim();
    const { message } = await stalled(sim.until(() => false, { withinUs: 500 }));
    assert.match(message, /^not within 500 µs at 500 µs/);
  });
});

describe('a simulation in which nothing is left to happen', () => {
  it('says what everybody is waiting for', async () => {
    const error = await failureOf({ patienceMs: 5 }, async (sim) => {
      const { server, atServer } = await connected(sim, 2);
      server.listen({ port: 7175 });
      sim.host('idle');
      await atServer.recvComp();
    });
    assert.ok(error instanceof StalledError);
    assert.match(error.message, /^nothing is left to happen at \d+ µs/);
    assert.match(error.waiting, /^ {2}server \(10\.0\.0\.1\):\n {4}somebody awaits/);
    assert.match(error.waiting, /somebody awaits completions\n {4}listens at port 7174\n {4}listens at port 7175\n/);
    assert.match(
      error.waiting,
      /QP 0x\w{6} \(RC, RTS, to QP 0x\w{6}\): 0 send requests not complete, 2 receive requests waiting\n/,
    );
    assert.match(error.waiting, /idle \(10\.0\.0\.3\): nothing/);
  });

  it('says where it was waited, and what to do about waits for something else', async () => {
    const error = await failureOf({ patienceMs: 5 }, async (sim) => {
      await connected(sim);
      await new Promise(() => undefined);
    });
    assert.match(
      error.message,
      /\nOr is it something outside of the simulation, .* sim\.outside\(promise\) waits for such\.\n/,
    );
    assert.match(error.stack ?? '', /^StalledError: nothing is left[^]*\n {4}at .*time\.test\./);
    assert.deepEqual(Object.keys(error), ['name']);
  });

  it('says who has crashed', async () => {
    const error = await failureOf({ patienceMs: 5 }, async (sim) => {
      const host = sim.host('a');
      const running = host.run(() => sim.sleep(10));
      host.crash();
      await running;
    });
    assert.match(error.message, /a \(10\.0\.0\.1\) is down/);
  });
});

describe('an action that throws', () => {
  const actions: readonly (readonly [string, (sim: Sim) => void])[] = [
    ['at a time', (sim) => sim.at(5, () => assert.fail('thrown within'))],
    ['in a match', (sim) => void sim.drop({ where: () => assert.fail('thrown within'), optional: true })],
    ['at a packet', (sim) => void sim.when({ cm: 'REQ' }, () => assert.fail('thrown within'))],
  ];
  for (const [when, prepare] of actions)
    it(`${when} fails the simulation`, async () => {
      const error = await failureOf({}, async (sim) => {
        prepare(sim);
        await connected(sim);
        await sim.sleep(100);
      });
      assert.match(error.message, /^thrown within/);
    });

  it('fails what runs without promises as well', () => {
    using sim = new Sim();
    sim.at(5, () => assert.fail('thrown within'));
    assert.throws(() => sim.run(), /thrown within/);
  });
});
