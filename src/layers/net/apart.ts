/** Calls what is a program's from within progress of an adapter: what the program throws is its own uncaught exception, and the adapter goes on. */
export function apart(action: () => void): void {
  try {
    action();
  } catch (error) {
    process.nextTick(() => {
      throw error;
    });
  }
}
