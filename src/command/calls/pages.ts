import type { CommandContext } from '../context.ts'
import { usageError } from '../io.ts'
import { isListPage } from '../output/print.ts'
import type { ServiceCallInput } from './caller.ts'

/** Pages have the largest size of the contract, unless a size is given. */
export async function* readPages<T>(
  key: string,
  input: ServiceCallInput,
  { result }: Pick<CommandContext, 'result'>,
): AsyncGenerator<readonly T[]> {
  let query: ServiceCallInput['query'] = { limit: 100, ...input.query }
  for (;;) {
    const page: unknown = await result(key, { ...input, query })
    if (!isListPage(page)) throw usageError(`${key} has no pages. Omit --all.`)
    yield page.data as readonly T[]
    if (!page.hasMore) return
    query = { ...query, cursor: page.nextCursor }
  }
}
