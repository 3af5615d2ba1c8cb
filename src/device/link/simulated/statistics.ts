/** What became of the packets of a simulated network. */
export class NetworkStatistics {
  /** Packets and frames that hosts put on the wire; one that goes to many counts once for each of them. */
  sent = 0;
  /** Packets put into a host's inbox; duplicates count again. */
  delivered = 0;
  /** Lost by chance. */
  lost = 0;
  duplicated = 0;
  reordered = 0;
  corrupted = 0;
  /** Dropped because the queue before a slow link, or the receiver's buffer, was full. */
  queueDropped = 0;
  inboxDropped = 0;
  /** Marked because the queue was long. */
  marked = 0;
  /** Dropped by a partition. */
  partitioned = 0;
  /** Dropped because they were larger than the MTU. */
  tooBig = 0;
  /** Sent to an address, or a group, of no host, or not wanted where it came. */
  unroutable = 0;
  /** Dropped, doubled, delayed or replaced by the script. */
  scripted = 0;

  snapshot(): Record<string, number> {
    return Object.fromEntries(Object.entries(this));
  }
}
