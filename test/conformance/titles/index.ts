import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { MACHINE_PROVIDERS } from '../provider.js';

/** The titles of every test of the suite, found by loading its files in a process where `node:test` only remembers. */
function collect(): readonly (readonly string[])[] {
  const program = fileURLToPath(new URL('./collect.js', import.meta.url));
  const env = { ...process.env, VERBENA_TEST_PROVIDERS: MACHINE_PROVIDERS.join(',') };
  const settings = { encoding: 'utf8', maxBuffer: 2 ** 26, env } as const;
  const output = execFileSync(process.execPath, ['--no-warnings', program], settings);
  return JSON.parse(output) as readonly (readonly string[])[]; // what collect.ts prints
}

/** Tests that every provider has, as mappings name them: `<file stem>: <describe title> › <test name>`. */
export function suiteTests(): ReadonlySet<string> {
  const byProvider = new Map(MACHINE_PROVIDERS.map((name) => [name, new Set<string>()]));
  for (const [stem, provider, ...path] of collect()) byProvider.get(provider)?.add(`${stem}: ${path.join(' › ')}`);
  const [first, ...others] = byProvider.values();
  return new Set([...first].filter((name) => others.every((tests) => tests.has(name))));
}
