import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { inBrowser, ROOT } from './support/bundle.js';
import { Chromium, type Page, withoutChromium } from './support/chromium.js';
import { PageServer } from './support/server.js';

const PATIENCE_MS = 300_000;
const [, html = ''] = /^```html\n([^]*?)^```$/m.exec(readFileSync(`${ROOT}docs/guide/browser.md`, 'utf8')) ?? [];

/** What the page shows, once it shows something or has failed. */
async function shownIn(page: Page): Promise<string> {
  const shown = `new Promise((resolve) =>
    setTimeout(() => resolve(document.querySelector('#packets')?.textContent ?? ''), 20))`;
  let text = '';
  while (text === '' && page.problems.length === 0) text = String(await page.evaluate(shown));
  return text;
}

describe('the page of docs/guide/browser.md', () => {
  it('names the files that bundlers find', () => {
    const [, map = ''] = /<script type="importmap">([^]*?)<\/script>/.exec(html) ?? [];
    const expected = ['verbena', 'verbena/sim'].map((name) => [name, `/node_modules/verbena/${inBrowser(name) ?? ''}`]);
    assert.deepEqual(JSON.parse(map), { imports: Object.fromEntries(expected) as unknown });
  });

  it('runs in Chromium as it stands', { skip: withoutChromium, timeout: PATIENCE_MS }, async () => {
    await using server = await PageServer.start({ '/': html });
    await using chromium = new Chromium();
    const page = await chromium.open(server.url('/'));
    const lines = (await shownIn(page)).split('\n');
    const sent = lines.filter((line) => line.startsWith('RC_SEND_ONLY'));
    assert.deepEqual([page.problems, sent.length, sent[0]], [[], 2, sent[1]]);
    // The page has nothing that most pages lack.
    assert.equal(await page.evaluate('typeof SharedArrayBuffer'), 'undefined');
  });
});
