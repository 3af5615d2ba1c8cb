/** What can be measured, by Accelio's names without their `xio_`. */
export interface XioTest {
  readonly name: 'read_lat' | 'read_bw' | 'write_lat' | 'write_bw';
  /** Who sends the bytes: a server that answers with them, or a client that asks with them. */
  readonly direction: 'read' | 'write';
  /** Requests under way at a time in each thread, where nothing else is said: as in Accelio's tools. */
  readonly depth: number;
  readonly title: string;
}

export const XIO_TESTS: readonly XioTest[] = [
  { name: 'read_lat', direction: 'read', depth: 1, title: 'responses with the bytes, one after the other' },
  { name: 'read_bw', direction: 'read', depth: 50, title: 'the same, many at a time' },
  { name: 'write_lat', direction: 'write', depth: 1, title: 'requests with the bytes, one after the other' },
  { name: 'write_bw', direction: 'write', depth: 50, title: 'the same, many at a time' },
];

/** Both may be given as Accelio names them: `xio_read_lat`. */
export function testOf(name: string): XioTest | undefined {
  return XIO_TESTS.find((test) => test.name === name.replace(/^xio_/, ''));
}
