import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PeerProbes } from '../index.js';

/** An end and its clock, of which each pass of time runs what is due. */
function end(mostMs?: number) {
  let nowMs = 0;
  let due: { readonly atMs: number; readonly action: () => void }[] = [];
  const probedAtMs: number[] = [];
  const prober = { awaitsPeer: true, heard: 0, probe: () => void probedAtMs.push(nowMs) };
  const clock = {
    chore: (delayMs: number, action: () => void) => {
      const entry = { atMs: nowMs + delayMs, action };
      due.push(entry);
      return () => void (due = due.filter((other) => other !== entry));
    },
  };
  const pass = (ms: number): void => {
    for (const until = nowMs + ms; nowMs < until; nowMs += 1)
      for (const entry of due.filter(({ atMs }) => atMs <= nowMs)) {
        due = due.filter((other) => other !== entry);
        entry.action();
      }
  };
  const probes = new PeerProbes(clock, prober, mostMs);
  return { probes, prober, probedAtMs, pass, scheduled: () => due.length };
}

describe('an end that waits for its peer', () => {
  it('probes after 0.5 s, 1 s more, and then every 2 s', () => {
    const { probes, probedAtMs, pass } = end();
    probes.start();
    pass(8000);
    assert.deepEqual(probedAtMs, [500, 1500, 3500, 5500, 7500]);
  });

  it('probes ever more seldom, where it is to', () => {
    const { probes, probedAtMs, pass } = end(15_000);
    probes.start();
    pass(50_000);
    assert.deepEqual(probedAtMs, [500, 1500, 3500, 7500, 15_500, 30_500, 45_500]);
  });

  it('probes no peer that it hears of, and one that falls silent as soon as the first time', () => {
    const { probes, prober, probedAtMs, pass } = end();
    probes.start();
    for (let i = 0; i < 100; i += 1) {
      prober.heard += 1;
      pass(100);
    }
    assert.deepEqual(probedAtMs, []);
    pass(1100);
    assert.equal(probedAtMs.length, 1);
  });

  it('stops when it waits no longer, and starts again with its next wait', () => {
    const { probes, prober, probedAtMs, pass, scheduled } = end();
    probes.start();
    pass(100);
    prober.awaitsPeer = false;
    pass(1000);
    assert.deepEqual([probedAtMs, scheduled()], [[], 0]);
    prober.awaitsPeer = true;
    probes.start();
    probes.start();
    pass(600);
    assert.equal(probedAtMs.length, 1);
    assert.equal(scheduled(), 1);
  });

  it('probes nothing once it has ended', () => {
    const { probes, probedAtMs, pass, scheduled } = end();
    probes.start();
    probes.end();
    probes.start();
    pass(5000);
    assert.deepEqual([probedAtMs, scheduled()], [[], 0]);
  });
});
