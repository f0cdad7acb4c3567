import { area } from '../../kernel/area.ts'
import { implement } from '../../kernel/operation.ts'
import { pagesApi } from './api.ts'

const pages = implement(pagesApi, {
  openapi: (_, { ports }) => ({ type: 'application/json; charset=utf-8', content: ports.openapi() }),
  docs: (_, { ports }) => ports.docs(),
  docsAsset: ({ params }, { ports, refuse }) => ports.docsAsset(params.asset) ?? refuse('asset_not_found'),
})

export const pagesArea = area(
  'Documentation',
  'This interface described: for programs and for people.',
  pages,
)
