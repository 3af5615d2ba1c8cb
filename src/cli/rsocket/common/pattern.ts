import { ToolError } from '../../kit/errors.js';

const BYTE_VALUES = 256;

/** What `-T verify` sends and looks for: bytes that count up through the whole run, in each direction by itself. */
export class Pattern {
  #sent = 0;
  #checked = 0;

  fill(bytes: Uint8Array): void {
    let next = this.#sent;
    for (let i = 0; i < bytes.length; i += 1) bytes[i] = next++;
    this.#sent = next % BYTE_VALUES;
  }

  /** @throws ToolError at the first byte that is wrong */
  verify(bytes: Uint8Array): void {
    let next = this.#checked;
    for (const byte of bytes) {
      if (byte !== next % BYTE_VALUES)
        throw new ToolError(
          `data verification failed byte ${next}: it is ${byte}, not ${next % BYTE_VALUES}. Do both sides have -T v?`,
        );
      next += 1;
    }
    this.#checked = next;
  }
}
