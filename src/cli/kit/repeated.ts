const FACTOR = 10;
/** Texts that are remembered; later ones are passed on as they are. */
const MAX_TEXTS = 100;

/**
 * A way to tell many things of which most are equal: each text is passed on the first time, and then with its count at
 * the 10th, 100th, 1,000th, ... time.
 */
export function repeatedly(tell: (text: string) => void): (text: string) => void {
  const counts = new Map<string, { count: number; next: number }>();
  return (text) => {
    const known = counts.get(text);
    if (known === undefined) {
      if (counts.size < MAX_TEXTS) counts.set(text, { count: 1, next: FACTOR });
      tell(text);
      return;
    }
    known.count += 1;
    if (known.count < known.next) return;
    known.next *= FACTOR;
    tell(`${text} (${known.count.toLocaleString('en')} times so far)`);
  };
}
