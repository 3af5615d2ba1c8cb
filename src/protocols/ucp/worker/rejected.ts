/** What a call gives that has failed before it began anything. */
// eslint-disable-next-line @typescript-eslint/require-await -- what it throws is what the promise rejects with
export async function rejected(error: unknown): Promise<never> {
  throw error;
}
