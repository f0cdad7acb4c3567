import { area } from '../../kernel/contract/area.ts'
import type { Context } from '../../kernel/contract/context.ts'
import type { ResponseFile } from '../../kernel/contract/file.ts'
import { bindHandlers } from '../../kernel/contract/operation.ts'
import type { Ports } from '../../kernel/contract/ports.ts'
import { type AnswerWithHeaders, type Refusal, withHeaders } from '../../kernel/contract/problem.ts'
import { pagesApi } from './api.ts'

type Page = AnswerWithHeaders<ResponseFile>

/** Programs that accept Markdown get it, also if they accept HTML equally. Browsers never ask for Markdown. */
function wantsMarkdown(accept = ''): boolean {
  const [markdown = -1, html = -1] = ['text/markdown', 'text/html'].map(type => accept.indexOf(type))
  return markdown >= 0 && (html < 0 || markdown < html)
}

async function pageAt(
  address: string,
  { docs }: Pick<Ports, 'docs'>,
  { accept }: Readonly<Record<string, string | undefined>>,
): Promise<Page | undefined> {
  const text = address === '/docs' ? '/docs/overview.md' : `${address}.md`
  const page = (wantsMarkdown(accept) && (await docs(text))) || (await docs(address))
  return page && withHeaders(page, { Vary: 'Accept' })
}

/** Browsers get a page that helps, programs the refusal. */
async function missing(
  refusal: Refusal,
  name: string | undefined,
  { ports: { searchDocs }, headers: { accept = '' }, address }: Context,
  within?: string,
): Promise<ResponseFile | Refusal> {
  if (!accept.includes('text/html')) return refusal
  const words = String(name)
    .slice(0, 100)
    .split(/[^\p{L}\p{N}]+/u)
    .join(' ')
    .trim()
  const content = await searchDocs({ template: 'missing', words, ...(within && { within }) }, address)
  return { type: HTML, content, refusal }
}

const HTML = 'text/html; charset=utf-8'

const pages = bindHandlers(pagesApi, {
  openapi: (_, { ports }) => ports.openapi(),
  llms: (_, { ports }) => ports.docs('/llms.txt') as Promise<ResponseFile>,
  llmsFull: (_, { ports }) => ports.docs('/llms-full.txt') as Promise<ResponseFile>,
  docs: async (_, { ports, headers }) => (await pageAt('/docs', ports, headers)) as Page,
  docsSection: async ({ params: { section }, query: { q } }, context) => {
    const { ports, headers, address, refuse } = context
    if (section === 'search')
      return { type: HTML, content: await ports.searchDocs({ template: 'search', words: q }, address) }
    const page = await pageAt(`/docs/${section}`, ports, headers)
    return page ?? missing(refuse('section_not_found'), section, context)
  },
  docsOperation: async ({ params: { operation } }, context) =>
    (await pageAt(`/docs/api/${operation}`, context.ports, context.headers)) ??
    missing(context.refuse('operation_not_found'), operation, context, '/docs/api/'),
  docsGuide: async ({ params: { guide } }, context) =>
    (await pageAt(`/docs/guides/${guide}`, context.ports, context.headers)) ??
    missing(context.refuse('guide_not_found'), guide, context, '/docs/guides/'),
  docsRefusal: async ({ params: { code } }, context) =>
    (await pageAt(`/docs/errors/${code}`, context.ports, context.headers)) ??
    missing(context.refuse('code_not_found'), code, context, '/docs/errors/'),
  docsAsset: async ({ params }, { ports, refuse }) =>
    (await ports.docs(`/docs/assets/${params.asset}`)) ?? refuse('asset_not_found'),
})

export const pagesArea = area(
  'Documentation',
  'The documentation of this API, for programs and for people.',
  pages,
)
