import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import * as messages from '../../../entry/messages.js';
import { Page } from '../../../../test/support/page.js';

const read = (path: string): string =>
  readFileSync(fileURLToPath(new URL(`../../../../../${path}`, import.meta.url)), 'utf8');
const guide = read('docs/guide/messages.md');

describe('the guide to messages', () => {
  it('has a first program that runs as it stands', () => {
    assert.deepEqual(new Page('docs/guide/messages.md').run(0), { stdout: 'hello\n', stderr: '' });
  });

  it('shows the very code of service.ts', () => {
    const [shown] = /^\/\/ service\.ts\n[^]*?(?=^```$)/m.exec(guide) ?? [''];
    assert.equal(shown, `// service.ts\n${read('src/protocols/messages/test/guide/service.ts')}`);
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
