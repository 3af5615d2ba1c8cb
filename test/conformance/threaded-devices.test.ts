import { test } from 'node:test';
import type { Kind } from './programs/jobs.js';
import { conformance, ON_A_MACHINE } from './provider.js';
import { useThreads } from './threads.js';

const THREADS = 5;
const COUNT = 100;

const KINDS: readonly Kind[] = ['AHs', 'CQs', 'extended CQs', 'PDs', 'MRs', 'MWs', 'QPs', 'SRQs'];

conformance(
  'five threads at the same time',
  (provider) => {
    const tellAll = useThreads(provider, THREADS);

    for (const kind of KINDS) {
      test(`make and end ${kind} one by one`, async () => {
        await tellAll({ name: 'one by one', kind, count: COUNT });
      });

      test(`make many ${kind}, have them all at once, and end them`, async () => {
        await tellAll({ name: 'all at once', kind, count: COUNT });
      });
    }

    test('make connections that do READs one by one, and end them, over and over', async () => {
      await tellAll({ name: 'lifecycles', rounds: 8, reads: 16 });
    });

    test('destroy the targets of READs under way, while READs beside them go on', async () => {
      await tellAll({ name: 'destroyed targets', rounds: 20, reads: 100 });
    });
  },
  ON_A_MACHINE,
);
