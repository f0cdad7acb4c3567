export interface Page<T> {
  readonly data: T[]
  readonly hasMore: boolean
  readonly nextCursor: string | null
}

/** A list: `await` gives its first page, `for await` the records of all pages. */
export class Pages<T> implements PromiseLike<Page<T>>, AsyncIterable<T> {
  readonly #load: (cursor: string | undefined) => Promise<Page<T>>

  constructor(load: (cursor: string | undefined) => Promise<Page<T>>) {
    this.#load = load
  }

  then<A = Page<T>, B = never>(
    onPage?: ((page: Page<T>) => A | PromiseLike<A>) | null,
    onError?: ((error: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#load(undefined).then(onPage, onError)
  }

  async *pages(): AsyncGenerator<Page<T>, void> {
    let page = await this.#load(undefined)
    yield page
    while (page.nextCursor !== null) {
      page = await this.#load(page.nextCursor)
      yield page
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void> {
    for await (const { data } of this.pages()) yield* data
  }
}
