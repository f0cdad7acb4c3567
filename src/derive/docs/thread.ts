import { renderDocsMarkdown } from '../docs-text.ts'
import { parseOpenapiFile } from '../openapi/write.ts'
import { type DocsAddresses, type DocsFile, renderDocs } from './docs.ts'

export { fillDocsTemplate } from './search-page.ts'

/** Runs in a thread. Renders the reference from the OpenAPI document, and returns each file by its path. */
export function docsFiles(text: string, addresses: DocsAddresses): Map<string, DocsFile> {
  const document = parseOpenapiFile(text)
  return new Map([...renderDocs(document, addresses), ...renderDocsMarkdown(document)])
}
