import { area } from '../../kernel/contract/area.ts'
import type { ResponseFile } from '../../kernel/contract/file.ts'
import { bindHandlers } from '../../kernel/contract/operation.ts'
import type { Ports } from '../../kernel/contract/ports.ts'
import { type AnswerWithHeaders, withHeaders } from '../../kernel/contract/problem.ts'
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

const pages = bindHandlers(pagesApi, {
  openapi: (_, { ports }) => ports.openapi(),
  llms: (_, { ports }) => ports.docs('/llms.txt') as Promise<ResponseFile>,
  llmsFull: (_, { ports }) => ports.docs('/llms-full.txt') as Promise<ResponseFile>,
  docs: async (_, { ports, headers }) => (await pageAt('/docs', ports, headers)) as Page,
  docsSection: async ({ params }, { ports, headers, refuse }) =>
    (await pageAt(`/docs/${params.section}`, ports, headers)) ?? refuse('section_not_found'),
  docsGuide: async ({ params }, { ports, headers, refuse }) =>
    (await pageAt(`/docs/guides/${params.guide}`, ports, headers)) ?? refuse('guide_not_found'),
  docsRefusal: async ({ params }, { ports, refuse }) =>
    (await ports.docs(`/docs/errors/${params.code}`)) ?? refuse('code_not_found'),
  docsAsset: async ({ params }, { ports, refuse }) =>
    (await ports.docs(`/docs/assets/${params.asset}`)) ?? refuse('asset_not_found'),
})

export const pagesArea = area(
  'Documentation',
  'The documentation of this API, for programs and for people.',
  pages,
)
