import { area } from '../../kernel/contract/area.ts'
import { implement } from '../../kernel/contract/operation.ts'
import { merchantsApi } from './api.ts'
import { resolveDescriptor } from './descriptors.ts'
import { categories, mccGroup, mccGroups } from './mcc.ts'
import { suggestions } from './suggestions.ts'

/** All codes, in their order. */
export const mccCodes: readonly string[] = categories.map(({ code }) => code)

/** The categories as the API shows them. */
const categoryRecords = categories.map(category => ({
  ...category,
  id: category.code,
  groups: mccGroups.filter(({ codes }) => codes.includes(category.code)).map(({ name }) => name),
}))

const merchants = implement(merchantsApi, {
  resolve: ({ query }) => resolveDescriptor(query.q),

  mcc({ query: { group, q = '' } }, { pageOf }) {
    const members = group === undefined ? undefined : mccGroup(group)
    const text = q.trim().toLowerCase()
    return pageOf(
      categoryRecords.filter(
        ({ code, description }) =>
          (members?.includes(code) ?? true) &&
          (code.startsWith(text) || description.toLowerCase().includes(text)),
      ),
    )
  },

  category: ({ params }, { refuse }) =>
    categoryRecords.find(({ code }) => code === params.code) ?? refuse('mcc_not_found'),

  groups: (_, { pageOf }) =>
    pageOf(mccGroups.map(group => ({ ...group, codes: [...group.codes], id: group.name }))),

  suggestions,
})

export const merchantsArea = area(
  'Merchants',
  'Who is paid: categories, the names behind statements, and suggestions for allowlists.',
  merchants,
)
