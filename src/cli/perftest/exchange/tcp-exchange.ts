import { type Socket } from 'node:net';
import { type Keys, decodeKeyText, encodeKeyText } from './keys.js';
import { type Exchange, PeerLeft } from './exchange.js';

/** More than any peer has to say before it is answered. */
const MAX_UNREAD_BYTES = 1 << 16;
/** With -D each side ends by its own clock, and one that began later still writes to the other. */
const FAREWELL_MS = 5000;

/** TCP between the two sides (protocol/tools.md 7.3). The C tools expect each message whole in one read, so each is one write. */
export class TcpExchange implements Exchange {
  peerVersion = 0;
  readonly #socket: Socket;
  readonly #leads: boolean;
  readonly #tool: string;
  #unread = Buffer.alloc(0);
  #left = false;
  #wake: (() => void) | undefined;

  /** @param leads whether this side speaks first: the client does */
  constructor(socket: Socket, leads: boolean, tool: string) {
    this.#socket = socket;
    this.#leads = leads;
    this.#tool = tool;
    this.#left = socket.destroyed;
    socket.on('data', (bytes: Buffer) => this.#take(bytes));
    for (const event of ['end', 'close', 'error'] as const) socket.on(event, () => this.#leave());
  }

  async swap(own: Uint8Array, what: string): Promise<Buffer> {
    if (this.#leads) this.#socket.write(own);
    const answer = await this.#read(own.length, what);
    if (!this.#leads) this.#socket.write(own);
    return answer;
  }

  async swapKeys(own: Keys): Promise<Keys> {
    return decodeKeyText(await this.swap(encodeKeyText(own), 'keys'), this.#tool);
  }

  get peerWaits(): boolean {
    return this.#unread.length > 0;
  }

  get hasPeerLeft(): boolean {
    return this.#left && this.#unread.length === 0;
  }

  async close(): Promise<void> {
    this.#socket.end();
    const timer = setTimeout(() => this.#leave(), FAREWELL_MS);
    while (!this.#left) await this.#news();
    clearTimeout(timer);
    this.#socket.destroy();
  }

  async #read(length: number, what: string): Promise<Buffer> {
    while (this.#unread.length < length) {
      if (this.#left) {
        const read = `Couldn't read ${what} (${this.#unread.length} of ${length} bytes came)`;
        throw new PeerLeft(`${read}; the peer closed the connection, and may have printed why.`);
      }
      await this.#news();
    }
    const bytes = this.#unread.subarray(0, length);
    this.#unread = this.#unread.subarray(length);
    return bytes;
  }

  #take(bytes: Buffer): void {
    this.#unread = Buffer.concat([this.#unread, bytes]);
    if (this.#unread.length > MAX_UNREAD_BYTES) this.#socket.destroy();
    this.#wake?.();
  }

  #leave(): void {
    this.#left = true;
    this.#wake?.();
  }

  async #news(): Promise<void> {
    await new Promise<void>((resolve) => (this.#wake = resolve));
  }
}
