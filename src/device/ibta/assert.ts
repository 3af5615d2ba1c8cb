/**
 * Says what the device relies on, and stops it when that does not hold, rather than go on with broken state. For mistakes of
 * ours: what a program may get wrong is refused, and what a peer sends is counted and dropped.
 *
 * It stands with the vocabulary since every room of the device leans on that.
 */
export function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Error(`verbena: internal error: ${message}`);
}
