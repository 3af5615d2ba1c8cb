import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import * as messages from '../../../entry/messages.js';

const read = (path: string): string =>
  readFileSync(fileURLToPath(new URL(`../../../../../${path}`, import.meta.url)), 'utf8');
const guide = read('docs/messages.md');

describe('the guide to messages', () => {
  for (const name of ['service.ts', 'service.test.ts'])
    it(`shows the very code of ${name}`, () => {
      const [shown] = new RegExp(`^// ${name.replaceAll('.', '\\.')}\n[^]*?(?=^\`\`\`$)`, 'm').exec(guide) ?? [''];
      assert.equal(shown, `// ${name}\n${read(`src/protocols/messages/test/guide/${name}`)}`);
    });

  it('names all that the package has, and all that a connection can do', () => {
    const classes = [messages.MessageConnection, messages.MessageListener, messages.SharedMemory];
    const methods = classes.flatMap(({ prototype }) => Object.getOwnPropertyNames(prototype));
    const unnamed = ['constructor', 'abandon', 'leave'];
    const missing = [...methods, ...Object.keys(messages)].filter(
      (name) => !new RegExp(`\\b${name}\\b`).test(guide) && !unnamed.includes(name),
    );
    assert.deepEqual(missing, []);
  });
});
