import { area } from '../../kernel/contract/area.ts'
import type { File } from '../../kernel/contract/file.ts'
import { implement } from '../../kernel/contract/operation.ts'
import { withHeaders } from '../../kernel/contract/problem.ts'
import { pagesApi } from './api.ts'

const VARIES = { Vary: 'Accept' }

/** The address of a page in the form that is asked for: programs name Markdown before HTML, browsers never name it. */
function inLanguage(address: string, accept = '', asMarkdown = `${address}.md`): string {
  const [markdown = -1, html = -1] = ['text/markdown', 'text/html'].map(type => accept.indexOf(type))
  const isMarkdown = markdown >= 0 && (html < 0 || markdown < html)
  return isMarkdown && !address.endsWith('.md') ? asMarkdown : address
}

const pages = implement(pagesApi, {
  openapi: (_, { ports }) => ports.openapi(),
  llms: (_, { ports }) => ports.docs('/llms.txt') as Promise<File>,
  llmsFull: (_, { ports }) => ports.docs('/llms-full.txt') as Promise<File>,
  docs: async (_, { ports, headers }) =>
    withHeaders((await ports.docs(inLanguage('/docs', headers.accept, '/docs/overview.md'))) as File, VARIES),
  async docsSection({ params }, { ports, headers, refuse }) {
    const page = await ports.docs(inLanguage(`/docs/${params.section}`, headers.accept))
    return page ? withHeaders(page, VARIES) : refuse('section_not_found')
  },
  docsAsset: async ({ params }, { ports, refuse }) =>
    (await ports.docs(`/docs/assets/${params.asset}`)) ?? refuse('asset_not_found'),
})

export const pagesArea = area(
  'Documentation',
  'This interface described: for programs and for people.',
  pages,
)
