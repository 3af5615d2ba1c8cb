/** Who gives entries their place in a partition's memory. Positions and lengths are multiples of 8. */
export interface Space {
  /** @returns the position of so many bytes; -1 when there is no room */
  reserve(byteLength: number): number;
  /** What lies there has gone. */
  release(position: number): void;
  /** Whether what has `before` bytes there can be replaced in its place by what has `after`. */
  fits(position: number, before: number, after: number): boolean;
}
