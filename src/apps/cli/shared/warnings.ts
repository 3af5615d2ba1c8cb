/** Whether a warning of the library says that a capture is not complete. */
export function endedCapture(text: string): boolean {
  return text.includes('Recording ends here') || text.includes('is not complete');
}

/** Tells a warning of the library. A capture that the user asked for and that is not complete makes the tool fail. */
export function warn(text: string): void {
  process.stderr.write(`Warning: ${text}\n`);
  if (endedCapture(text)) process.exitCode = 1;
}
