/** Reads page after page, each while the one before it is worked on, so that the database and the service work at once. */
export async function* readAhead<T>(
  begins: Iterable<number>,
  read: (begin: number) => Promise<T>,
): AsyncGenerator<T> {
  let page: Promise<T> | undefined
  for (const begin of begins) {
    const next = read(begin)
    // Whoever stops before this page does not hear why it could not be read.
    next.catch(() => undefined)
    if (page) yield await page
    page = next
  }
  if (page) yield await page
}

/** Where the pages begin that go from one position to another. */
export const pagesFrom = (first: number, end: number, page: number): number[] =>
  Array.from({ length: Math.ceil(Math.max(end - first, 0) / page) }, (_, n) => first + n * page)
