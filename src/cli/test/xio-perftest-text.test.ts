import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Command } from 'commander';
import { type Figures, figuresOf } from '../xio/perftest/figures.js';
import { requestOf, withXioFlags, type XioPerfFlags } from '../xio/perftest/flags.js';
import { emptyHistogram } from '../kit/load.js';
import { questionOf, wantedBytes } from '../xio/perftest/server.js';
import { fileText, headText, rowText } from '../xio/perftest/table.js';

const FIGURES: Figures = {
  bytes: 1 << 20,
  threads: 2,
  requests: 500,
  perSecond: 1000.4,
  latencyUs: { mean: 50.5, low: 10, p50: 50, p99: 90, peak: 1234.5 },
};
const FLAGS: XioPerfFlags = { p: 2061, n: 1, r: 'rdma', w: 0, seconds: 1, warmUp: 0 };

describe("xio_perftest's table", () => {
  it("has Accelio's columns, one below the other", () => {
    const [head, row] = [headText(), rowText(FIGURES)];
    assert.match(head, /^#bytes +#threads +#TPS +BW average\[MBps\] +Latency average\[usecs\] +low +peak\n$/);
    assert.match(row, /^1048576 +2 +1000 +1000\.40 +50\.50 +10\.00 +1234\.50\n$/);
    for (const [title, cell] of [
      ['#threads', '2 '],
      ['#TPS', '1000 '],
      ['peak', '1234.50'],
    ])
      assert.equal(row.indexOf(cell, head.indexOf(title)), head.indexOf(title));
  });

  it('writes megabits into the file', () => {
    assert.equal(fileText([FIGURES]), 'size, threads, tps, bw[Mbps], lat[usec]\n1048576, 2, 1000, 8391.96, 50.50\n');
  });
});

describe("xio_perftest's figures", () => {
  it('are the sum of what threads have counted, each in its own time', () => {
    const [first, second] = [emptyHistogram(), emptyHistogram()];
    for (const ns of [1000, 3000]) first.record(ns);
    second.record(8000);
    const { requests, perSecond, latencyUs } = figuresOf(1, [
      { requests: 2, seconds: 0.5, histogram: first },
      { requests: 1, seconds: 1, histogram: second },
    ]);
    assert.deepEqual([requests, perSecond], [3, 5]);
    assert.deepEqual([latencyUs.low, latencyUs.mean, Math.round(latencyUs.peak)], [1, 4, 8]);
  });

  it('are 0 where nothing was measured', () => {
    const { perSecond, latencyUs } = figuresOf(1, [{ requests: 0, seconds: 0, histogram: emptyHistogram() }]);
    assert.deepEqual([perSecond, latencyUs.mean], [0, 0]);
  });
});

describe("xio_perftest's arguments", () => {
  it('are a test, a server, or both in either order', () => {
    for (const [words, server, test] of [
      [['write_lat', 'host'], 'host', 'write_lat'],
      [['host', 'write_lat'], 'host', 'write_lat'],
      [['host'], 'host', 'read_lat'],
      [['read_bw'], undefined, 'read_bw'],
    ] as const) {
      const request = requestOf(words, FLAGS);
      assert.deepEqual([request.server, request.test.name], [server, test]);
    }
    assert.throws(() => requestOf(['host', 'other'], FLAGS), /There is no test 'host'/);
  });

  it('take sizes with a K or an M', () => {
    const { s } = withXioFlags(new Command()).parse(['-s', '64,4k,1M'], { from: 'user' }).opts<XioPerfFlags>();
    assert.deepEqual(s, [64, 4096, 1 << 20]);
  });
});

describe("xio_perftest's questions", () => {
  it('say what they want', () => {
    assert.equal(wantedBytes(questionOf('read', 70_000), 0), 70_000);
    assert.equal(wantedBytes(questionOf('write', 70_000), 70_000), 0);
  });

  it('are refused where they make no sense', () => {
    assert.equal(wantedBytes(questionOf('read', 1), 1), undefined);
    assert.equal(wantedBytes(questionOf('write', 2), 1), undefined);
    assert.equal(wantedBytes(questionOf('read', 2 ** 32 - 1), 0), undefined);
    assert.equal(wantedBytes(Uint8Array.of(3, 0, 0, 0, 1), 0), undefined);
    assert.equal(wantedBytes(Uint8Array.of(1), 0), undefined);
  });
});

describe("xio_perftest's words", () => {
  it('are a test, a server, or both', () => {
    const said = (...words: readonly string[]) => {
      const { test, server, depth } = requestOf(words, FLAGS);
      return [test.name, server, depth];
    };
    assert.deepEqual(said(), ['read_lat', undefined, 1]);
    assert.deepEqual(said('read_bw'), ['read_bw', undefined, 50]);
    assert.deepEqual(said('xio_read_bw', 'there'), ['read_bw', 'there', 50]);
    assert.deepEqual(said('there'), ['read_lat', 'there', 1]);
  });

  it('measure sizes that double from 1 byte on, where none are said', () => {
    const { sizes } = requestOf([], FLAGS);
    assert.deepEqual([sizes[0], sizes[1], sizes.at(-1), sizes.length], [1, 2, 1 << 20, 21]);
  });
});
