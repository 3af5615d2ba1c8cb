/**
 * Closing at the end of the process. A thread inside a native call cannot be terminated, and a process that ends waits
 * for it, so it must be asked. The hook runs after a normal end, `process.exit` and an uncaught error alike; in a
 * worker, when that ends.
 */
const open = new Set<() => void>();

/**
 * What was opened last is closed first: a client takes leave while its NIC's thread is there. One that fails keeps no other from
 * being closed: the process would wait for its thread for ever.
 */
function closeAll(): void {
  const failures: unknown[] = [];
  for (const close of [...open].reverse()) {
    try {
      close();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}

/** Has `close` called when the process ends, unless the function returned was called before. */
export function closeAtExit(close: () => void): () => void {
  if (open.size === 0) process.on('exit', closeAll);
  open.add(close);
  return () => {
    open.delete(close);
    if (open.size === 0) process.off('exit', closeAll);
  };
}
