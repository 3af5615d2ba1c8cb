import type { Socket } from 'node:net';
import { ToolError } from '../../kit/errors.js';
import { toldIfSilent } from '../../rdmacm/common/silence.js';

const OTHER_TOOL = "if UCX's own ucx_perftest listens there, end this side by Ctrl-C: it is no peer of this one";

/** What a server says first, where it is one of these. */
export function heardFirst(control: Control): Promise<Said> {
  return toldIfSilent(control.hear(), OTHER_TOOL);
}

/** @throws ToolError where the other side has not said it */
export function textOf(said: Said, name: string): string {
  const value = said[name];
  if (typeof value !== 'string') throw new ToolError(`The other side has not said its ${name}.`);
  return value;
}

/** What one side tells the other: the fields of a JSON object. */
export type Said = Readonly<Record<string, unknown>>;

/** No side has so much to say. */
const MAX_LINE = 1 << 16;

/** TCP between the two sides, beside what is measured: lines of JSON. */
export class Control {
  readonly #lines: string[] = [];
  #part = '';
  #hasLeft = false;
  #wake: (() => void) | undefined;
  /** Rejects when the other side leaves. */
  readonly left: Promise<never>;

  constructor(
    private readonly socket: Socket,
    private readonly other: 'client' | 'server',
  ) {
    this.left = new Promise((_, reject) => {
      const leave = (): void => {
        this.#hasLeft = true;
        this.#wake?.();
        reject(this.#gone());
      };
      for (const event of ['end', 'close', 'error'] as const) socket.on(event, leave);
    });
    // Who does not wait for it need not know.
    this.left.catch(() => undefined);
    socket.setEncoding('utf8').on('data', (text: string) => this.#take(text));
  }

  say(said: object): void {
    this.socket.write(`${JSON.stringify(said)}\n`);
  }

  /** What the other side says next. @throws ToolError when it leaves, or talks nonsense */
  async hear(): Promise<Said> {
    for (;;) {
      const line = this.#lines.shift();
      if (line !== undefined) return this.#parsed(line);
      if (this.#hasLeft) throw this.#gone();
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  /** Waits until both sides are here. */
  async meet(): Promise<void> {
    this.say({ here: true });
    if ((await this.hear())['here'] !== true) throw this.#nonsense();
  }

  close(): void {
    this.socket.end();
    this.socket.unref();
  }

  #take(text: string): void {
    const lines = (this.#part + text).split('\n');
    this.#part = lines.pop() ?? '';
    this.#lines.push(...lines);
    if (this.#part.length > MAX_LINE || this.#lines.length > MAX_LINE) this.socket.destroy();
    this.#wake?.();
  }

  #parsed(line: string): Said {
    try {
      const said: unknown = JSON.parse(line);
      // Any object's fields can be looked at.
      if (typeof said === 'object' && said !== null) return said as Said;
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
    }
    throw this.#nonsense();
  }

  #nonsense(): ToolError {
    return new ToolError(
      `The ${this.other} does not speak as verbena's ucx_perftest does; UCX's own is no peer of it.`,
    );
  }

  #gone(): ToolError {
    return new ToolError(`The ${this.other} has left, and may have printed why.`);
  }
}
