import { runsApi } from '../../../../control/runs/index.ts'
import { type Html, html } from '../../../../web/html.ts'
import type { AnswerOf, ItemOf, PageRequest } from '../../page.ts'
import { actorLink, filtered, requestLink, unbroken } from '../../parts/history.ts'
import { section } from '../../parts/section.ts'
import { box, type ColumnList, table } from '../../parts/table.ts'
import { euros, usage, words } from '../../parts/text.ts'

type Run = AnswerOf<typeof runsApi.get>

const isOpen = ({ status }: Run): boolean => status === 'running'

/** The rest of the budget; zero if the budget was lowered below the used amount. */
const left = ({
  heldEuros,
  spentEuros,
  budgetEuros,
}: Pick<Run, 'heldEuros' | 'spentEuros' | 'budgetEuros'>) =>
  budgetEuros === null
    ? html`<span class="none">no budget</span>`
    : euros(Math.max(0, Math.round((budgetEuros - heldEuros - spentEuros) * 100) / 100))

export const runs = section({
  kind: 'Run',
  lead: 'Units of an agent’s work, each with its spending and budget.',
  list: runsApi.list,
  get: runsApi.get,
  columns: ['agentId', 'status', 'spentEuros', { Left: { figure: left } }, 'createdAt'],
  labels: { spentEuros: 'Used', externalId: 'External ID', budgetEuros: 'Budget' },
  shows: {
    spentEuros: ({ heldEuros, spentEuros, budgetEuros }) => usage(heldEuros + spentEuros, budgetEuros),
    Left: left,
    Intents: ({ id }, request) =>
      html`<a href="${filtered(request, 'intents', { runId: id })}">View intents</a>`,
  },
  events: ['run.*', 'intent.*', 'transaction.*'],
  create: {
    operation: runsApi.create,
    members: ['agentId', 'name', 'budgetEuros', 'externalId'],
    done: 'reload',
  },
  actions: [
    { operation: runsApi.update, when: isOpen, members: ['name', 'budgetEuros'] },
    { operation: runsApi.complete, when: isOpen, members: ['comment'] },
    { operation: runsApi.fail, when: isOpen, members: ['reason'], submit: 'Mark as failed', tone: 'against' },
  ],
  hasTimeline: true,
  below: timelineOf,
})

const stepColumns: ColumnList<ItemOf<typeof runsApi.timeline>> = [
  'at',
  { Event: ({ event }) => unbroken(words(event)), Record: 'resourceId' },
  'amountEuros',
  'reason',
  {
    Actor: actorLink,
    Request: ({ requestId }, request) => requestLink(request, requestId),
  },
]

async function timelineOf({ id }: Run, request: PageRequest): Promise<Html> {
  const { data, hasMore } = await request.ask(runsApi.timeline, { params: { id }, query: { limit: 100 } })
  return box(
    'Timeline',
    data.length > 0
      ? table(request, 'Timeline, oldest first', data, stepColumns)
      : html`<p>No events yet.</p>`,
    hasMore &&
      html`<p><a href="${request.to(`runs/${encodeURIComponent(id)}/timeline`)}">Showing the first 100. View all as JSON</a></p>`,
  )
}
