/** A connection on which programs await messages, whatever carries them. */
export interface Talker {
  /** Resolves when the way has taken it: RDMA says when the peer has it. */
  send(message: Uint8Array): Promise<unknown>;
  /** Awaits a message. @returns its length */
  receive(): Promise<number>;
}

export interface Messenger {
  /** Has `onTalker` told of every connection that comes. @returns the port */
  serve(address: string, onTalker: (talker: Talker) => void): Promise<number>;
  /** @param from the client's own address, for those that have one */
  connect(address: string, port: number, from: string): Promise<Talker>;
}

/** What was received and nobody has awaited yet, and those who await what was not. */
export class Inbox {
  readonly #lengths: number[] = [];
  readonly #waiting: ((length: number) => void)[] = [];

  came(length: number): void {
    const first = this.#waiting.shift();
    if (first === undefined) this.#lengths.push(length);
    else first(length);
  }

  next(): Promise<number> {
    const length = this.#lengths.shift();
    return length === undefined ? new Promise((resolve) => this.#waiting.push(resolve)) : Promise.resolve(length);
  }
}
