import { area } from '../../kernel/contract/area.ts'
import { implement } from '../../kernel/contract/operation.ts'
import { Refused } from '../../kernel/contract/problem.ts'
import { consoleViewApi } from './api.ts'
import { assetFile } from './assets.ts'
import { homePage } from './pages/decide/home.ts'
import { begun, csvOf } from './parts/csv.ts'
import { sections } from './sections.ts'
import { codeOf, missingPage, show } from './show.ts'

const consoleView = implement(consoleViewApi, {
  home: ({ query }, context) => show(homePage, { path: 'console', query }, context),

  section: ({ params: { section: name }, query }, context) => {
    const { list = missingPage, title = '' } = sections[name] ?? {}
    return show(list, { path: `console/${name}`, section: { name, title }, query }, context)
  },

  record: ({ params: { section: name, id }, query }, context) => {
    const { record = missingPage, title = '' } = sections[name] ?? {}
    return show(record, { path: `console/${name}/${id}`, section: { name, title }, id, query }, context)
  },

  async table({ params, query }, { ask, refuse }) {
    const operation = sections[params.section]?.table
    if (!operation) return refuse('page_not_found')
    try {
      const content = await begun(csvOf(ask, operation, query))
      return { type: 'text/csv; charset=utf-8', name: `${params.section}.csv`, content }
    } catch (error) {
      if (error instanceof Refused) return refuse(codeOf(error.refusal), error.message)
      throw error
    }
  },

  async asset({ params }, { refuse }) {
    return (await assetFile(params.asset)) ?? refuse('asset_not_found')
  },
})

export const consoleViewArea = area(
  'The console',
  'Where owners and approvers look and decide, in the browser.',
  consoleView,
)
