const MOST_CHARACTERS = 200;
/** What would begin another line, move the cursor, or turn the direction of what follows. */
const HIDDEN = /[\p{C}\p{Zl}\p{Zp}]/gu;

/** What a stranger has written, as a part of a line for people. */
export function visible(text: string): string {
  return text.slice(0, MOST_CHARACTERS).replace(HIDDEN, '?');
}
