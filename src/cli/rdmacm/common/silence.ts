/** Silence after which the user is told what it may mean. */
export const SILENCE_MS = 5000;

/** Waits, and after a while of silence tells the user, on standard error, what it may mean. */
export async function toldIfSilent<T>(
  wait: Promise<T>,
  meaning: string,
  { ms = SILENCE_MS, tell = (text: string): unknown => process.stderr.write(text) } = {},
): Promise<T> {
  const timer = setTimeout(() => void tell(`Nothing has come from the peer for ${ms / 1000} s; ${meaning}.\n`), ms);
  try {
    return await wait;
  } finally {
    clearTimeout(timer);
  }
}

export const MAY_NOT_ANSWER =
  'it is asked again for a minute or so. Check that an RDMA device has that address, and that no firewall stops UDP port 4791';
export const MAY_BE_GONE = 'if it is gone, end this side by Ctrl-C';
