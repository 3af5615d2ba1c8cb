const OFF: ReadonlySet<string> = new Set(['', 'off', 'no', 'false', '0']);

/** Whether failures are to show where they came from: VERBENA_DEBUG. */
export function isDebugging(): boolean {
  return !OFF.has((process.env['VERBENA_DEBUG'] ?? '').toLowerCase());
}
