import { writeSync } from 'node:fs';

/** Writes to the program's own standard error: Node's stream would make it non-blocking. */
export function print(line: string): void {
  try {
    writeSync(2, `${line}\n`);
  } catch {
    // There is nobody who could be told, or nobody reads.
  }
}

/** Tells the user something. */
export function say(text: string): void {
  print(`verbena run: ${text}`);
}
