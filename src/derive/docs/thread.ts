import { parseOpenapiFile } from '../openapi/write.ts'
import { type DocsAddresses, type RenderedDocs, renderDocs } from './docs.ts'

export { searchDocs } from './search-page.ts'

/** Runs in a thread. Renders the reference and its search from the OpenAPI document, each file by its path. */
export const docsFiles = (text: string, addresses: DocsAddresses): RenderedDocs =>
  renderDocs(parseOpenapiFile(text), addresses)
