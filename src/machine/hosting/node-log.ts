import { appendFileSync, closeSync, openSync } from 'node:fs';
import { hostname } from 'node:os';
import { resolve } from 'node:path';

/** As `Runtime.openLog`. */
export function openLog(where: string): (line: string) => void {
  if (where === 'stdout' || where === 'stderr') return (line) => void process[where].write(`${line}\n`);
  const named = where.replaceAll('%p', String(process.pid)).replaceAll('%h', hostname());
  // The program may go to another folder.
  const path = resolve(named);
  closeSync(openSync(path, 'a'));
  // Opened anew for each line: nobody would close it, and whoever turns logs over may move it away.
  return (line) => appendFileSync(path, `${line}\n`);
}
