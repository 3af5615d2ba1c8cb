/** A program: prints the titles of the suite's tests as JSON, `[file stem, outermost title, ..., test name]` each. */
import { readdirSync } from 'node:fs';
import { register } from 'node:module';
import { recorded } from './recorder.js';

register('./hooks.js', import.meta.url);

const ENDING = '.test.js';
/** The tests of the mapping itself, which would start this program again. */
const MAPPING = 'mapping';

const titles: (readonly string[])[] = [];
const suite = new URL('..', import.meta.url);
for (const name of readdirSync(suite).sort()) {
  if (!name.endsWith(ENDING)) continue;
  const stem = name.slice(0, -ENDING.length);
  if (stem === MAPPING) continue;
  await import(new URL(name, suite).href);
  for (const path of recorded.splice(0)) titles.push([stem, ...path]);
}
process.stdout.write(JSON.stringify(titles));
