/** Does things for all of a list, so many at a time; results come in the order of the list. */
export async function forAll<T, R>(list: readonly T[], jobs: number, action: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < list.length) {
      const index = next;
      next += 1;
      results[index] = await action(list[index]);
    }
  };
  await Promise.all(Array.from({ length: jobs }, work));
  return results;
}
