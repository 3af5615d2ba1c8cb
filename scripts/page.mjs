// Prints a page that is generated from tables in `test`: `node scripts/page.mjs porting > docs/porting.md`.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const load = (file) => import(new URL(`../dist/test/${file}.js`, import.meta.url).href);

const PAGES = {
  porting: async () => {
    const { portingDocument } = await load('porting/document');
    const { loadFace } = await load('porting/face');
    return portingDocument(loadFace(), loadFace('rsocket'));
  },
  conformance: async () => {
    const { conformanceDocument } = await load('conformance/document');
    return conformanceDocument();
  },
};

const name = process.argv.at(2) ?? '';
if (process.argv.length !== 3 || !Object.hasOwn(PAGES, name)) {
  console.error(`Usage: node scripts/page.mjs ${Object.keys(PAGES).join('|')}`);
  process.exit(2);
}
// The page alone goes to standard output.
const setup = fileURLToPath(new URL('setup.mjs', import.meta.url));
const { status } = spawnSync(process.execPath, [setup], { stdio: ['inherit', 2, 2] });
if (status !== 0) process.exit(status ?? 1);
process.stdout.write(await PAGES[name]());
