import { Callbacks, runtime } from '../../../api/runtime/index.js';
import { invalid, VerbsError } from '../../../api/verbs/index.js';
import { isLogged, type LogLevel } from '../config/values.js';

/** Takes a line of the log, which comes without an end. */
export type LogWriter = (line: string) => void;

/** What a worker's log says, and where. */
export interface LogSettings {
  readonly logLevel: LogLevel;
  /** `stdout`, `stderr`, or a path. */
  readonly logFile: string;
  /** Whether endpoints say by which protocols messages go. */
  readonly protoInfo: boolean;
  /** Takes the lines in place of the file. */
  readonly log: LogWriter | undefined;
}

/** A name or an error with an end of line in it would begin a line that looks like one of the log. */
const CONTROL = /\p{Cc}/gu;

function escaped(character: string): string {
  return `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`;
}

/** µs since 1970: what lines of several processes can be put in order by, as far as one clock is theirs. */
export function wallUs(): number {
  return (performance.timeOrigin + performance.now()) * 1000;
}

/** What a worker says to people. Nothing waits for it, and nothing that goes wrong with it has any effect but that it ends. */
export class Log {
  /** Whether there is any use in {@link info}. */
  readonly isInfo: boolean;
  /** Whether there is any use in {@link debug}. */
  readonly isDebug: boolean;
  readonly isProtoInfo: boolean;
  #write: LogWriter | undefined;

  /**
   * @param who for people
   * @param nowUs the time
   * @throws VerbsError EINVAL for a file that cannot be written
   */
  constructor(
    call: string,
    settings: LogSettings,
    private readonly who: string,
    private readonly nowUs: () => number,
  ) {
    const { logLevel, protoInfo } = settings;
    this.isInfo = isLogged(logLevel, 'info');
    this.isDebug = isLogged(logLevel, 'debug');
    this.isProtoInfo = protoInfo;
    // A file of which nothing comes is not made.
    if (this.isInfo || protoInfo) this.#write = writerOf(call, settings);
  }

  info(text: string): void {
    if (this.isInfo) this.#line('INFO ', text);
  }

  debug(text: string): void {
    if (this.isDebug) this.#line('DEBUG', text);
  }

  /** By which protocol something goes, whatever the level. */
  protoInfo(text: string): void {
    if (this.isProtoInfo) this.#line('PROTO', text);
  }

  #line(level: string, text: string): void {
    const time = (this.nowUs() / 1e6).toFixed(6);
    try {
      this.#write?.(`[${time}] [${this.who}] UCX  ${level} ${text}`.replace(CONTROL, escaped));
    } catch (error) {
      this.#write = undefined;
      runtime().warn(`verbena/ucp: the log ends here: ${String(error)}`);
    }
  }
}

function writerOf(call: string, { logFile, log }: LogSettings): LogWriter {
  if (log !== undefined) return inTurn(log);
  try {
    return runtime().openLog(logFile);
  } catch (error) {
    throw new VerbsError(call, invalid(`LOG_FILE is '${logFile}'`, `It cannot be written (${String(error)})`));
  }
}

/** Calls a function of a program's when nobody is in the midst of something: it may close what the line is about. */
function inTurn(log: LogWriter): LogWriter {
  let isWell = true;
  const callbacks = new Callbacks();
  return (line) =>
    queueMicrotask(() => {
      try {
        if (isWell) callbacks.run(() => log(line));
      } catch (error) {
        isWell = false;
        runtime().warn(`verbena/ucp: the log ends here: ${String(error)}`);
      }
    });
}
