import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface, type Interface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { endWithTest } from '../../../../test/support/children.js';

const PROGRAM = fileURLToPath(new URL('./receiver-program.js', import.meta.url));

export interface Seen {
  readonly length: number;
  readonly source: string;
  readonly destination: string;
  readonly hopLimit: number;
  readonly trafficClass: number;
  readonly flowLabel: number;
  /** As the ICRC proves it, or -1 when that is wrong. */
  readonly ipId: number;
}

export class ReceiverProcess {
  readonly #process: ChildProcess;
  readonly #lines: AsyncIterator<string>;
  readonly #reader: Interface;

  private constructor(command: string, args: readonly string[]) {
    this.#process = endWithTest(spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] }));
    const { stdout } = this.#process;
    if (stdout === null) throw new Error('no output');
    this.#reader = createInterface(stdout);
    this.#lines = this.#reader[Symbol.asyncIterator]();
  }

  /** Starts one here. @returns when it is ready */
  static async start(address: string, count: number, groups: readonly string[]): Promise<ReceiverProcess> {
    const started = new ReceiverProcess(process.execPath, [PROGRAM, address, String(count), ...groups]);
    await started.#expect('ready');
    return started;
  }

  /**
   * Starts one in a new network namespace.
   *
   * @param equip given the process's number, moves interfaces there
   * @param setUp a shell command run there before
   */
  static async startElsewhere(
    equip: (pid: number) => void,
    setUp: string,
    address: string,
    count: number,
    groups: readonly string[],
  ): Promise<ReceiverProcess> {
    const script = `set -e; echo there; read line; ${setUp}; exec "$0" "$@"`;
    const program = [process.execPath, PROGRAM, address, String(count), ...groups];
    const started = new ReceiverProcess('unshare', ['--net', 'sh', '-c', script, ...program]);
    await started.#expect('there');
    equip(started.#process.pid ?? 0);
    started.#process.stdin?.write('go\n');
    await started.#expect('ready');
    return started;
  }

  /** The packets, once all have come and the process has ended. */
  async packets(): Promise<Seen[]> {
    const lines: string[] = [];
    for (let next = await this.#lines.next(); next.done !== true; next = await this.#lines.next())
      lines.push(next.value);
    // Lines of the program above.
    return lines.map((line) => JSON.parse(line) as Seen);
  }

  async #expect(line: string): Promise<void> {
    const next = await this.#lines.next();
    if (next.done === true || next.value !== line)
      throw new Error(`'${line}' was to come, not '${String(next.value)}'`);
  }
}
