import { area } from '../../kernel/contract/area.ts'
import type { File } from '../../kernel/contract/file.ts'
import { implement } from '../../kernel/contract/operation.ts'
import { pagesApi } from './api.ts'

const pages = implement(pagesApi, {
  openapi: (_, { ports }) => ports.openapi(),
  docs: (_, { ports }) => ports.docs('/docs') as Promise<File>,
  docsSection: async ({ params }, { ports, refuse }) =>
    (await ports.docs(`/docs/${params.section}`)) ?? refuse('section_not_found'),
  docsGuide: async ({ params }, { ports, refuse }) =>
    (await ports.docs(`/docs/guides/${params.guide}`)) ?? refuse('guide_not_found'),
  docsRefusal: async ({ params }, { ports, refuse }) =>
    (await ports.docs(`/docs/errors/${params.code}`)) ?? refuse('code_not_found'),
  docsAsset: async ({ params }, { ports, refuse }) =>
    (await ports.docs(`/docs/assets/${params.asset}`)) ?? refuse('asset_not_found'),
})

export const pagesArea = area(
  'Documentation',
  'This interface described: for programs and for people.',
  pages,
)
