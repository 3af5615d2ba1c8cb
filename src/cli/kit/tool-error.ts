const OFF: ReadonlySet<string> = new Set(['', 'off', 'no', 'false', '0']);

/** Whether failures are to show where they came from: VERBENA_DEBUG. */
export function isDebugging(): boolean {
  return !OFF.has((process.env['VERBENA_DEBUG'] ?? '').toLowerCase());
}

// Without the library, so that what needs only this starts at once.

/** A failure that is fully told by its sentence. */
export class ToolError extends Error {
  override readonly name = 'ToolError';

  constructor(
    message: string,
    /** 1 to 255. */
    readonly exitCode = 1,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** The code of a failed system call, such as 'ECONNREFUSED'; undefined for everything else. */
export function systemCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

const FILE_PROBLEMS: Readonly<Record<string, string | undefined>> = {
  EACCES: 'permission denied',
  EFBIG: 'it would be larger than this system allows',
  EISDIR: 'it is a folder',
  ENOSPC: 'the disk is full',
  ENOTDIR: 'part of its path is not a folder',
  EROFS: 'the file system is read-only',
};

/** Which file, and why not; a failure that is not the system's comes back as it is. `done` is 'read' or 'written'. */
export function fileFailure(file: string, done: 'read' | 'written', error: unknown, exitCode = 1): Error {
  const code = systemCode(error);
  if (code === undefined) return error instanceof Error ? error : new Error(String(error));
  const missing = done === 'read' ? 'no such file' : 'its folder does not exist';
  const why = code === 'ENOENT' ? missing : (FILE_PROBLEMS[code] ?? code);
  return new ToolError(`${file}: cannot be ${done}: ${why}`, exitCode, { cause: error });
}
