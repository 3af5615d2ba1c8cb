/** Prints a warning of the library. A capture that is not complete does not change the tool's exit code. */
export function warn(text: string): void {
  process.stderr.write(`Warning: ${text}\n`);
}
