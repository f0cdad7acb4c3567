import { runsApi } from '../../../../control/runs/index.ts'
import { type Html, html } from '../../../../web/html.ts'
import type { ListItemOf, OperationAnswer, PageRequest } from '../../page.ts'
import { filteredListLink, renderActorLink, renderRequestLink, unbrokenText } from '../../parts/history.ts'
import { consoleSection } from '../../parts/section.ts'
import { renderBox, renderTable, type TableColumnList } from '../../parts/table.ts'
import { humanize, renderEuros, renderUsage, sumEuros } from '../../parts/text.ts'

type Run = OperationAnswer<typeof runsApi.get>

const isOpen = ({ status }: Run): boolean => status === 'running'

/** The rest of the budget; zero if the budget was lowered below the used amount. */
const left = ({
  heldEuros,
  spentEuros,
  budgetEuros,
}: Pick<Run, 'heldEuros' | 'spentEuros' | 'budgetEuros'>) =>
  budgetEuros === null
    ? html`<span class="none">no budget</span>`
    : renderEuros(Math.max(0, sumEuros([budgetEuros, -heldEuros, -spentEuros])))

export const runsSection = consoleSection({
  kind: 'Run',
  lead: 'Units of an agent’s work, each with its spending and budget.',
  list: runsApi.list,
  get: runsApi.get,
  columns: ['agentId', 'status', 'spentEuros', { Left: { figure: left } }, 'createdAt'],
  labels: { spentEuros: 'Used', externalId: 'External ID', budgetEuros: 'Budget' },
  shows: {
    spentEuros: ({ heldEuros, spentEuros, budgetEuros }) => renderUsage(heldEuros + spentEuros, budgetEuros),
    Left: left,
    Intents: ({ id }, request) =>
      html`<a href="${filteredListLink(request, 'intents', { runId: id })}">View intents</a>`,
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

const stepColumns: TableColumnList<ListItemOf<typeof runsApi.timeline>> = [
  'at',
  { Event: ({ event }) => unbrokenText(humanize(event)), Record: 'resourceId' },
  'amountEuros',
  'reason',
  {
    Actor: renderActorLink,
    Request: ({ requestId }, request) => renderRequestLink(request, requestId),
  },
]

async function timelineOf({ id }: Run, request: PageRequest): Promise<Html> {
  const { data, hasMore } = await request.ask(runsApi.timeline, { params: { id }, query: { limit: 100 } })
  return renderBox(
    'Timeline',
    data.length > 0
      ? renderTable(request, 'Timeline, oldest first', data, stepColumns)
      : html`<p>No events yet.</p>`,
    hasMore &&
      html`<p><a href="${request.to(`runs/${encodeURIComponent(id)}/timeline`)}">Showing the first 100. View all as JSON</a></p>`,
  )
}
