import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Page } from '../../../../test/support/page.js';

/** Asks the exporter once, while a NIC runs in its process, and ends it. */
const ASK = `
import { once } from 'node:events';
import { openDevice } from 'verbena';
using device = openDevice();
await once(server, 'listening');
const { port } = server.address();
const response = await fetch(\`http://127.0.0.1:\${port}/metrics\`);
process.stdout.write(await response.text());
server.close();
`;

test('the exporter of docs/guide/metrics.md serves each metric in one group, and has right types', () => {
  const page = new Page('docs/guide/metrics.md');
  const { stdout, stderr } = page.run(0, ASK, { ...process.env, PORT: '0' });
  assert.equal(stderr, '');
  const lines = stdout.trimEnd().split('\n');
  for (const line of lines) assert.match(line, /^verbena_\w+\{address="[\d.:a-f]+",pid="\d+"(,kind="\w+")?\} \d+$/);
  const names = lines.map((line) => line.split('{', 1)[0]);
  const groups = names.filter((name, i) => name !== names[i - 1]);
  assert.deepEqual(groups, [...new Set(groups)]);
  assert.ok(groups.includes('verbena_sent_pkts_total') && groups.includes('verbena_objects'));
  assert.deepEqual(page.typeProblems(), []);
});
