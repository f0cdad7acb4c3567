import type { ResponseFile } from '../../kernel/contract/file.ts'
import { cachedAssetFile, uncompressedAssetFile } from '../../web/page-assets.ts'
import { renderDocsMarkdown } from '../docs-text.ts'
import { parseOpenapiFile } from '../openapi/write.ts'
import { type DocsAddresses, renderDocs } from './docs.ts'
import { refusalAddress } from './refusals.ts'

export { fillDocsTemplate } from './search-page.ts'

/** Hundreds of small pages, which fit into a few packets without compression, and what is not sent as it is. */
const isSmall = (address: string): boolean =>
  address.startsWith(refusalAddress('')) || /^\/docs\/api\/.+\.md$/.test(address) || !address.startsWith('/')

/** Runs in a thread. Renders the reference from the OpenAPI document, and returns each file by its path, compressed. */
export async function docsFiles(text: string, addresses: DocsAddresses): Promise<Map<string, ResponseFile>> {
  const document = parseOpenapiFile(text)
  const pages = renderDocs(document, addresses)
  const files = [...pages, ...renderDocsMarkdown(document)]
  const cached = files.map(
    async ([address, { type, content, isImmutable }]) =>
      [
        address,
        typeof content === 'string' && !isSmall(address)
          ? await cachedAssetFile(type, content, isImmutable)
          : uncompressedAssetFile(type, content, isImmutable),
      ] as const,
  )
  return new Map(await Promise.all(cached))
}
