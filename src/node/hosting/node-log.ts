import { appendFileSync, closeSync, openSync } from 'node:fs';
import { hostname } from 'node:os';
import { resolve } from 'node:path';

const ignore = (): void => undefined;

/** To a stream of the process, until nobody reads it any more. That is no reason for a program to end, as an error of the stream would have it do. */
function onStream(stream: NodeJS.WriteStream): (line: string) => void {
  let isWell = true;
  const written = (error?: Error | null): void => {
    if (!isWell || error === undefined || error === null) return;
    isWell = false;
    // Is told of after this.
    stream.once('error', ignore);
  };
  return (line) => {
    if (isWell) stream.write(`${line}\n`, written);
  };
}

/** As `Runtime.openLog`. */
export function openLog(where: string): (line: string) => void {
  if (where === 'stdout' || where === 'stderr') return onStream(process[where]);
  const named = where.replaceAll('%p', String(process.pid)).replaceAll('%h', hostname());
  // The program may go to another folder.
  const path = resolve(named);
  closeSync(openSync(path, 'a'));
  // Opened anew for each line: nobody would close it, and whoever turns logs over may move it away.
  return (line) => appendFileSync(path, `${line}\n`);
}
