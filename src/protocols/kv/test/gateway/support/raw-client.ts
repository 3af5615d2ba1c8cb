import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { written } from './play.js';

/** An answer as it stands on the wire, made readable: its mark, and what follows. */
export type Answer = string | readonly Answer[];

const LISTS = '*%~';
const BULKS = '$=';

/** A client of Redis' protocol that shows each answer as it came. */
export class RawClient implements AsyncDisposable {
  #text = '';
  #at = 0;

  private constructor(private readonly socket: Socket) {
    socket.setEncoding('latin1').on('data', (text: string) => (this.#text += text));
  }

  static async connect(port: number): Promise<RawClient> {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    return new RawClient(socket.setNoDelay(true));
  }

  async ask(...words: readonly string[]): Promise<Answer> {
    this.socket.write(written(...words));
    return this.#answer();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.socket.destroy();
    await once(this.socket, 'close');
  }

  async #answer(): Promise<Answer> {
    const line = await this.#line();
    const mark = line[0];
    const count = Number(line.slice(1));
    if (BULKS.includes(mark)) return count < 0 ? line : mark + (await this.#take(count + 2)).slice(0, -2);
    if (!LISTS.includes(mark) || count < 0) return line;
    const answers: Answer[] = [mark];
    for (let i = 0; i < (mark === '%' ? 2 : 1) * count; i += 1) answers.push(await this.#answer());
    return answers;
  }

  async #line(): Promise<string> {
    let end = this.#text.indexOf('\r\n', this.#at);
    for (; end < 0; end = this.#text.indexOf('\r\n', this.#at)) await once(this.socket, 'data');
    return (await this.#take(end + 2 - this.#at)).slice(0, -2);
  }

  async #take(length: number): Promise<string> {
    while (this.#text.length < this.#at + length) await once(this.socket, 'data');
    const taken = this.#text.slice(this.#at, this.#at + length);
    this.#at += length;
    if (this.#at === this.#text.length) {
      this.#text = '';
      this.#at = 0;
    }
    return taken;
  }
}
