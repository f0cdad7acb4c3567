import type { File } from '../../kernel/contract/file.ts'
import { cachedFile } from '../../web/static-file.ts'
import { renderDocs } from './docs.ts'

/** Runs in a thread: renders the reference from the OpenAPI document, each file by its path, compressed. */
export async function docsFiles(text: string, baseUrl: string | undefined): Promise<Map<string, File>> {
  const files = renderDocs(JSON.parse(text), baseUrl === undefined ? {} : { baseUrl })
  const cached = [...files].map(
    async ([address, { type, content, isImmutable }]) =>
      [address, await cachedFile(type, content, isImmutable)] as const,
  )
  return new Map(await Promise.all(cached))
}
