import { type Clock, type LinkOptions, XioError } from '../index.js';
import type { ByteStream, StreamFollower } from './byte-stream.js';
import { TcpLink } from './tcp-link.js';
import { HELLO, isLikeHello } from './wire.js';

/** What comes of a greeting: one of these, once. */
export interface GreetingResult {
  onLink(link: TcpLink): void;
  onFailure(failure: XioError): void;
}

/** Both ends of a connection say hello. */
export class Greeting implements StreamFollower {
  readonly #hello = new Uint8Array(HELLO.bytes);
  #helloBytes = 0;
  #isOver = false;

  constructor(
    private readonly stream: ByteStream,
    private readonly options: LinkOptions,
    private readonly clock: Clock,
    private readonly result: GreetingResult,
  ) {
    stream.follow(this);
    stream.setReading(true);
    stream.write(HELLO.encode(options));
  }

  /** Gives it up; nothing comes of it. Idempotent. */
  abandon(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.stream.abort();
  }

  /** @internal */
  onBytes(bytes: Uint8Array): void {
    if (this.#isOver) return;
    const taken = Math.min(bytes.length, HELLO.bytes - this.#helloBytes);
    this.#hello.set(bytes.subarray(0, taken), this.#helloBytes);
    this.#helloBytes += taken;
    if (!isLikeHello(this.#hello.subarray(0, this.#helloBytes))) {
      this.#fail(new XioError('XIO_E_INVALID_VERSION', 'the peer speaks another protocol'));
      return;
    }
    if (this.#helloBytes < HELLO.bytes) return;
    const hello = HELLO.decode(this.#hello);
    if (typeof hello === 'string') {
      this.#fail(new XioError('XIO_E_INVALID_VERSION', 'the peer speaks another version of the protocol'));
      return;
    }
    this.#isOver = true;
    const early = bytes.subarray(taken);
    this.result.onLink(new TcpLink(this.stream, this.options, hello.maxBodyBytes, this.clock, early));
  }

  /** @internal */
  onSent(): void {
    // Nobody waits for that.
  }

  /** @internal */
  onEnd(): void {
    this.#fail(new XioError('XIO_E_CONNECT_ERROR', 'the peer ended the connection at once'));
  }

  /** @internal */
  onClose(error: Error | undefined): void {
    const text = error === undefined ? 'the connection ended at once' : error.message;
    this.#fail(new XioError('XIO_E_CONNECT_ERROR', text, { cause: error }));
  }

  #fail(failure: XioError): void {
    if (this.#isOver) return;
    this.#isOver = true;
    // Gently: the peer is to read which version is spoken here.
    this.stream.close();
    this.result.onFailure(failure);
  }
}
