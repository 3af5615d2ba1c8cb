// Writes docs/porting.md from the table of C names, the fragments of course notes and the preface beside them.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const setup = fileURLToPath(new URL('setup.mjs', import.meta.url));
const { status } = spawnSync(process.execPath, [setup], { stdio: 'inherit' });
if (status !== 0) process.exit(status ?? 1);

const { DOCUMENT, portingDocument } = await import(new URL('../dist/test/porting/document.js', import.meta.url).href);
const { loadFace } = await import(new URL('../dist/test/porting/face.js', import.meta.url).href);
writeFileSync(DOCUMENT, portingDocument(loadFace(), loadFace('rsocket')));
