/** The programs that README shows, which are what a new user tries first. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './installation.js';

export const PROGRAMS: readonly string[] = [
  ...readFileSync(join(ROOT, 'README.md'), 'utf8').matchAll(/^```ts\n(.*?)^```$/gms),
].map(([, source]) => source);
