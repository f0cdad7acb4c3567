import type { File } from '../../kernel/contract/file.ts'
import { cachedFile } from '../../web/static-file.ts'
import { renderDocs } from './docs.ts'

/** What a thread makes of the OpenAPI document: the reference by addresses, compressed, as it is served. */
export async function docsFiles(text: string, baseUrl: string | undefined): Promise<Map<string, File>> {
  const files = renderDocs(JSON.parse(text), baseUrl === undefined ? {} : { baseUrl })
  const cached = [...files].map(
    async ([address, { type, content, isImmutable }]) =>
      [address, await cachedFile(type, content, isImmutable)] as const,
  )
  return new Map(await Promise.all(cached))
}
