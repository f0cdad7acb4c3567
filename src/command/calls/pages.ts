import type { Context } from '../context.ts'
import { usageError } from '../io.ts'
import { isPage } from '../output/print.ts'
import type { Input } from './caller.ts'

/** Pages have the largest size of the contract, unless a size is given. */
export async function* pagesOf<T>(
  key: string,
  input: Input,
  { result }: Pick<Context, 'result'>,
): AsyncGenerator<readonly T[]> {
  let query: Input['query'] = { limit: 100, ...input.query }
  for (;;) {
    const page: unknown = await result(key, { ...input, query })
    if (!isPage(page)) throw usageError(`${key} has no pages. Omit --all.`)
    yield page.data as readonly T[]
    if (!page.hasMore) return
    query = { ...query, cursor: page.nextCursor }
  }
}
