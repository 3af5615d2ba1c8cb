import { once } from 'node:events';
import { loopback } from '../../../../test/support/loopback.js';
import { type Ended, run, Tool } from '../tool.js';

/** A line of `kv serve --json`. */
export interface ServeLine {
  readonly event: string;
  readonly address?: { readonly host: string; readonly port: number };
  readonly redisPort?: number;
  readonly server?: Readonly<Record<string, number>>;
  readonly store?: Readonly<Record<string, number>>;
  readonly log?: Readonly<Record<string, number>>;
}

/** A server that gets no processor for some seconds has not gone. */
export const PATIENT = ['--connect-timeout', '1h'];

/** `bin/verbena kv serve` in a process of its own. */
export class Serving implements AsyncDisposable {
  readonly tool: Tool;
  readonly host: string;

  private constructor(tool: Tool, host: string) {
    this.tool = tool;
    this.host = host;
  }

  /** @param n the nth address of this test file is the server's */
  static async start(n: number, ...options: readonly string[]): Promise<Serving> {
    const host = loopback(n);
    const tool = new Tool(['kv', 'serve', '--addr', host, '--json', ...options]);
    await tool.printed('"listening"');
    return new Serving(tool, host);
  }

  /** Waits until it has printed that. */
  async printed(pattern: RegExp): Promise<void> {
    for (let text = ''; !pattern.test(text);) {
      const [more] = (await once(this.tool.child.stdout, 'data')) as [string];
      text += more;
    }
  }

  get reach(): readonly string[] {
    return ['--server', this.host, ...PATIENT];
  }

  kv(...args: readonly string[]): Promise<Ended> {
    return run(['kv', ...args, ...this.reach]);
  }

  /** The same, with that on standard input. */
  kvFed(input: string, ...args: readonly string[]): Promise<Ended> {
    const feed = ['sh', '-c', 'printf %s "$0" | "$@"', input];
    return run(['kv', ...args, ...this.reach], {}, feed);
  }

  /** Ctrl-C. */
  async interrupt(): Promise<Ended & { readonly lines: readonly ServeLine[] }> {
    this.tool.child.kill('SIGINT');
    const ended = await this.tool.ended;
    const lines = ended.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as ServeLine);
    return { ...ended, lines };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.tool.child.kill('SIGKILL');
    await this.tool.ended;
  }
}
