import { fileFailure, systemCode } from '../../kit/errors.js';
import { EXIT_FAILED } from './failure.js';

const STRICT = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The text that bytes stand for; undefined when they stand for none. */
export function textOf(bytes: Uint8Array): string | undefined {
  try {
    return STRICT.decode(bytes);
  } catch {
    return undefined;
  }
}

/** Bytes as a member of JSON: the text, or, where they are none, base64 under another name. */
export function bytesFact(name: string, bytes: Uint8Array): Readonly<Record<string, string>> {
  const text = textOf(bytes);
  return text === undefined ? { [`${name}Base64`]: Buffer.from(bytes).toString('base64') } : { [name]: text };
}

/** What would begin another line, or move the cursor; and the character that says so. */
const CONTROLS = /[\p{Cc}\\]/gu;
const CONTROLS_AND_FOREIGN = /[\p{Cc}\\\u0080-\u00ff]/gu;

/** A key on a line of its own: what is no text, and what would begin another line, is written as `\xNN`. */
export function lineText(bytes: Uint8Array): string {
  const text = textOf(bytes);
  if (text !== undefined) return text.replace(CONTROLS, escaped);
  return Buffer.from(bytes).toString('latin1').replace(CONTROLS_AND_FOREIGN, escaped);
}

function escaped(character: string): string {
  return [...Buffer.from(character, character > '\u007f' ? 'latin1' : 'utf8')]
    .map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`)
    .join('');
}

/** All that comes on standard input. */
export async function standardInput(): Promise<Uint8Array> {
  const pieces: Buffer[] = [];
  for await (const piece of process.stdin as AsyncIterable<Buffer>) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** Resolves when it has left the process: what ends by `process.exit` must not cut off what a pipe has no room for. */
export function printed(bytes: Uint8Array | string): Promise<void> {
  return new Promise((resolve) =>
    process.stdout.write(bytes, (error) => {
      endUnlessPrinted(error);
      resolve();
    }),
  );
}

/** What becomes of a write to standard output: one that has failed ends the process. A reader that left early is no failure. */
export function endUnlessPrinted(error: Error | null | undefined): void {
  if (!error || systemCode(error) === 'EPIPE') return;
  process.stderr.write(`${fileFailure('standard output', 'written', error).message}\n`);
  process.exit(EXIT_FAILED);
}
