// What a server knows of a key, or of itself.
import { KvCluster, type KvExplanation } from '../../../entry/kv.js';
import { countText, timeText } from '../common/units.js';
import type { CallSpec } from './call.js';

/** JSON has no Infinity. */
const ttlFact = (ttlMs: number): object => ({ ttlMs: ttlMs === Infinity ? null : ttlMs });

export const ttl: CallSpec = {
  name: 'ttl',
  description: 'Print how many seconds an entry has to live, or `never` where it does not end.',
  prepare: (command) => command.argument('<key>', 'a text of 1 to 250 bytes'),
  make:
    ([key]) =>
    async (client) => {
      const ttlMs = await client.ttl(key);
      if (ttlMs === undefined) return { isDone: false, facts: { key, found: false } };
      const output = ttlMs === Infinity ? 'never\n' : `${ttlMs / 1000}\n`;
      return { isDone: true, output, facts: { key, found: true, ...ttlFact(ttlMs) } };
    },
};

const WHY = {
  memory: 'it was among the oldest, and its memory was needed',
  bucket: 'it was the oldest in its bucket of the index, which was full',
} as const;

/** What has become of a key, in a sentence without the key. */
export function explanationText(explanation: KvExplanation): string {
  switch (explanation.is) {
    case 'present': {
      const { ttlMs, version } = explanation;
      const life = ttlMs === Infinity ? 'does not end' : `ends in ${timeText(ttlMs)}`;
      return `is there (version ${version}), and ${life}`;
    }
    case 'never':
      return explanation.isCertain
        ? 'was never set since the server began'
        : 'was never set, or has gone so long ago that the server remembers others in its place';
    case 'expired':
      return `expired ${timeText(explanation.agoMs)} ago`;
    case 'deleted':
      return `was deleted ${timeText(explanation.agoMs)} ago`;
    case 'evicted':
      return `was evicted ${timeText(explanation.agoMs)} ago: ${WHY[explanation.why]}`;
  }
}

function factsOf(explanation: KvExplanation): object {
  if (explanation.is !== 'present') return explanation;
  return { ...explanation, version: String(explanation.version), ...ttlFact(explanation.ttlMs) };
}

export const explain: CallSpec = {
  name: 'explain',
  description:
    'Say whether there is such an entry, or why not: it was never set, expired, deleted or evicted, and when.',
  prepare: (command) => command.argument('<key>', 'a text of 1 to 250 bytes'),
  make:
    ([key]) =>
    async (client) => {
      const explanation = await client.explain(key);
      // Of several servers, that which has the key.
      const server = client instanceof KvCluster ? client.homeOf(key).name : undefined;
      return {
        isDone: explanation.is === 'present',
        output: `${key}${server === undefined ? '' : ` (${server})`}: ${explanationText(explanation)}\n`,
        facts: { key, server, ...factsOf(explanation) },
      };
    },
};

/** Numbers by their names, `store.hits`, below the words before their points. */
export function tableText(numbers: ReadonlyMap<string, bigint>): string {
  const width = Math.max(0, ...[...numbers.keys()].map((name) => name.length));
  const figures = [...numbers.values()].map((value) => countText(Number(value)));
  const figureWidth = Math.max(0, ...figures.map((figure) => figure.length));
  return [...numbers.keys()]
    .map((name, at) => `${name.padEnd(width)}  ${figures[at].padStart(figureWidth)}\n`)
    .join('');
}

export const stats: CallSpec = {
  name: 'stats',
  description:
    'Print what the server has counted since it began, for all its clients together; of several servers, the sums.',
  prepare: (command) => command,
  make: () => async (client) => {
    const numbers = await client.serverStatistics();
    const facts = Object.fromEntries([...numbers].map(([name, value]) => [name, Number(value)]));
    return { isDone: true, output: tableText(numbers), facts };
  },
};
