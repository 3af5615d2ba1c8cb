import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { ROOT, run } from './tool.js';

/** The table of docs/tools/README.md: the exit code for a command line that a tool does not take. */
function usageCodes(): Map<string, number> {
  const page = readFileSync(`${ROOT}docs/tools/README.md`, 'utf8');
  const rows = page.match(/^\| `[^|]*\| \d+ \|$/gm) ?? [];
  return new Map(
    rows.flatMap((row) => {
      const code = Number(/ (\d+) \|$/.exec(row)?.[1]);
      return [...row.matchAll(/`(\w+)`/g)].map((name): [string, number] => [name[1], code]);
    }),
  );
}

async function toolNames(): Promise<string[]> {
  const { stdout } = await run(['--help']);
  const commands = stdout.slice(stdout.indexOf('Main:'), stdout.indexOf('Environment:'));
  return [...commands.matchAll(/^ {2}(\w+)/gm)].map(([, name]) => name).filter((name) => name !== 'help');
}

describe('the table of exit codes', () => {
  test('has every tool', async () => {
    const names = await toolNames();
    assert.ok(names.length > 30);
    const codes = usageCodes();
    assert.deepEqual(
      names.filter((name) => !codes.has(name)),
      [],
    );
  });

  test('is true', async () => {
    const wrong: string[] = [];
    for (const [name, code] of usageCodes()) {
      // Of a lab the words belong to the lab.
      const ended = await run(name === 'lab' ? [name] : [name, '--no-such-option']);
      if (ended.code !== code) wrong.push(`${name}: ${ended.code} and not ${code}`);
    }
    assert.deepEqual(wrong, []);
  });
});

for (const words of [['dump'], ['explain'], ['dump', '--json', '-v', 'x'], ['kv', 'no-such'], ['run', '--no-such']])
  test(`${words.join(' ')} exits with 2`, async () => {
    assert.equal((await run(words)).code, 2);
  });

test('help and the version exit with 0', async () => {
  for (const words of [
    ['dump', '--help'],
    ['rping', '--help'],
    ['ibv_devinfo', '-h'],
    ['rdma', '-V'],
  ])
    assert.equal((await run(words)).code, 0, words.join(' '));
});
