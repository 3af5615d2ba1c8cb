// Writes docs/conformance.md from the inventory of foreign test cases, the mapping of them to ours, and the preface
// beside them.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const setup = fileURLToPath(new URL('setup.mjs', import.meta.url));
const { status } = spawnSync(process.execPath, [setup], { stdio: 'inherit' });
if (status !== 0) process.exit(status ?? 1);

const { conformanceDocument, DOCUMENT } = await import(
  new URL('../dist/test/conformance/document.js', import.meta.url).href
);
writeFileSync(DOCUMENT, await conformanceDocument());
