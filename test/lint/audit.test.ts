import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

interface Result {
  readonly problems: readonly string[];
  readonly facts: readonly string[];
}

// A script has no types; what it exports stands in its comments.
const { auditLock, readAdvisories } = (await import(new URL('../../../scripts/audit.mjs', import.meta.url).href)) as {
  auditLock: (lock: unknown, npmrc: string) => Result;
  readAdvisories: (text: string) => Result;
};

const SETTINGS = 'ignore-scripts=true\n';
const SOUND = { license: 'MIT', integrity: 'sha512-abc' };

function problemsWith(changes: Record<string, unknown>, settings = SETTINGS): readonly string[] {
  return auditLock({ packages: { '': {}, 'node_modules/a': { ...SOUND, ...changes } } }, settings).problems;
}

describe('the audit of dependencies', () => {
  test('lets a package pass that may be used, has a hash and runs nothing at its installation', () => {
    assert.deepEqual(problemsWith({}), []);
  });

  test('asks nothing of members of the workspace, whose dependencies have entries of their own', () => {
    const packages = { '': {}, bench: { devDependencies: {} }, 'node_modules/verbena-bench': { link: true } };
    assert.deepEqual(auditLock({ packages }, SETTINGS).problems, []);
  });

  for (const [what, changes, problem] of [
    ['a licence that does not go with ours', { license: 'GPL-3.0' }, /a has the licence GPL-3\.0/],
    ['no licence', { license: undefined }, /a has the licence none/],
    ['a licence for tools alone', { license: 'Python-2.0' }, /a has the licence Python-2\.0/],
    ['no hash', { integrity: undefined }, /a has no hash/],
    ['an install script', { hasInstallScript: true }, /a has an install script/],
  ] as const)
    test(`refuses a package with ${what}`, () => {
      assert.match(problemsWith(changes).join(), problem);
    });

  test('refuses settings that let install scripts run', () => {
    assert.match(problemsWith({}, '').join(), /lets install scripts run/);
  });

  test('fails on a known vulnerability, and names it', () => {
    const vulnerabilities = { b: { name: 'b', severity: 'high', range: '<2', via: [{ title: 'writes anywhere' }] } };
    const answer = { metadata: { vulnerabilities: { total: 1 } }, vulnerabilities };
    assert.deepEqual(readAdvisories(JSON.stringify(answer)).problems, ['b <2 is vulnerable (high): writes anywhere']);
  });

  test('finds nothing where nothing is known', () => {
    const answer = { metadata: { vulnerabilities: { total: 0 } }, vulnerabilities: {} };
    assert.deepEqual(readAdvisories(JSON.stringify(answer)), {
      problems: [],
      facts: ['known vulnerabilities of what runs: none'],
    });
  });

  for (const [what, text] of [
    ['no answer', ''],
    ['a refusal', '{"message":"405 Method Not Allowed","error":{"summary":""}}'],
  ] as const)
    test(`says that it could not ask when there is ${what}, and does not fail`, () => {
      const { problems, facts } = readAdvisories(text);
      assert.deepEqual(problems, []);
      assert.match(facts.join(), /NOT CHECKED, the registry did not answer \(.+\)/);
    });
});
