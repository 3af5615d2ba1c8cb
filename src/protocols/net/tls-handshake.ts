/** The first bytes of a TLS connection, either way: a record of type handshake, of major version 3. */
const HANDSHAKE = 22;
const MAJOR_VERSION = 3;

/**
 * Whether a chunk begins a TLS connection. `node:tls` writes to a socket that is not of `node:net` past the stream, whose end it does not
 * know of.
 */
export function isTlsHandshake(chunk: unknown): boolean {
  return chunk instanceof Uint8Array && chunk[0] === HANDSHAKE && chunk[1] === MAJOR_VERSION;
}
