import { area } from '../../kernel/contract/area.ts'
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
  { docsTemplate }: Pick<Ports, 'docsTemplate'>,
  { accept = '' }: Readonly<Record<string, string | undefined>>,
  within?: string,
): Promise<ResponseFile | Refusal> {
  if (!accept.includes('text/html')) return refusal
  const words = String(name)
    .slice(0, 100)
    .split(/[^\p{L}\p{N}]+/u)
  const content = await docsTemplate('missing', words.join(' ').trim(), within)
  return { type: HTML, content, refusal }
}

const HTML = 'text/html; charset=utf-8'

const pages = bindHandlers(pagesApi, {
  openapi: (_, { ports }) => ports.openapi(),
  llms: (_, { ports }) => ports.docs('/llms.txt') as Promise<ResponseFile>,
  llmsFull: (_, { ports }) => ports.docs('/llms-full.txt') as Promise<ResponseFile>,
  docs: async (_, { ports, headers }) => (await pageAt('/docs', ports, headers)) as Page,
  docsSection: async ({ params: { section }, query: { q } }, { ports, headers, refuse }) => {
    if (section === 'search') return { type: HTML, content: await ports.docsTemplate('search', q) }
    const page = await pageAt(`/docs/${section}`, ports, headers)
    return page ?? missing(refuse('section_not_found'), section, ports, headers)
  },
  docsOperation: async ({ params: { operation } }, { ports, headers, refuse }) =>
    (await pageAt(`/docs/api/${operation}`, ports, headers)) ??
    missing(refuse('operation_not_found'), operation, ports, headers, '/docs/api/'),
  docsGuide: async ({ params: { guide } }, { ports, headers, refuse }) =>
    (await pageAt(`/docs/guides/${guide}`, ports, headers)) ??
    missing(refuse('guide_not_found'), guide, ports, headers, '/docs/guides/'),
  docsRefusal: async ({ params: { code } }, { ports, headers, refuse }) =>
    (await pageAt(`/docs/errors/${code}`, ports, headers)) ??
    missing(refuse('code_not_found'), code, ports, headers, '/docs/errors/'),
  docsAsset: async ({ params }, { ports, refuse }) =>
    (await ports.docs(`/docs/assets/${params.asset}`)) ?? refuse('asset_not_found'),
})

export const pagesArea = area(
  'Documentation',
  'The documentation of this API, for programs and for people.',
  pages,
)
