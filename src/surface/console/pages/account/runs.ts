import { runsApi } from '../../../../control/runs/index.ts'
import { type Html, html } from '../../../../web/html.ts'
import type { AnswerOf, ItemOf, PageRequest } from '../../page.ts'
import { operationForm } from '../../parts/form.ts'
import { recordLink } from '../../parts/links.ts'
import { listPage } from '../../parts/list.ts'
import { choicesOf } from '../../parts/names.ts'
import { recordPage } from '../../parts/record-page.ts'
import { box, type Columns, facts, table } from '../../parts/table.ts'
import { euros, text, time, usage, words } from '../../parts/text.ts'
import { doer, filtered, membersOf, requestLink, whole } from './shared.ts'

type Run = AnswerOf<typeof runsApi.get>
type Step = ItemOf<typeof runsApi.timeline>

const used = ({ heldEuros, spentEuros, budgetEuros }: Run): Html => usage(heldEuros + spentEuros, budgetEuros)

/** What the run may still spend: less than nothing where its budget was made smaller afterwards. */
const left = ({ heldEuros, spentEuros, budgetEuros }: Run): Html =>
  budgetEuros === null
    ? html`<span class="none">no limit of its own</span>`
    : euros(Math.max(0, Math.round((budgetEuros - heldEuros - spentEuros) * 100) / 100))

export const runsPage = listPage({
  title: 'Runs',
  lead: 'Pieces of the agents’ work, with what each has spent of its budget.',
  operation: runsApi.list,
  filters: ['status', 'agentId', 'externalId', 'from', 'to'],
  labels: { externalId: 'Your own id' },
  events: ['run.*', 'intent.*', 'transaction.*'],
  names: ['agents'],
  empty: {
    words: 'No run yet.',
    command: 'agentpay runs create --agent-id agent_… --name "Literature review"',
  },
  above: async request =>
    request.may(runsApi.create) &&
    operationForm(request, runsApi.create, {
      members: ['agentId', 'name', 'budgetEuros', 'externalId'],
      labels: { agentId: 'Agent', externalId: 'Your own id' },
      choices: { agentId: await choicesOf('agents', request) },
      submit: 'New run',
      fold: true,
    }),
  columns: {
    Run: ({ id, name }, request) => recordLink(request, id, text(name)),
    Agent: 'agentId',
    State: 'status',
    Used: used,
    Left: { figure: left },
    Begun: 'createdAt',
  },
})

export const runPage = recordPage({
  kind: 'Run',
  operation: runsApi.get,
  events: ['run.*', 'intent.*', 'transaction.*'],
  about: ({ agentId }) => [agentId],
  body: runContent,
})

async function runContent(run: Run, request: PageRequest): Promise<Html> {
  const { id } = run
  const steps = await request.ask(runsApi.timeline, { params: { id }, query: { limit: 100 } })
  return html`${run.status === 'running' && changes(run, request)}
<div class="boxes">${box(
    'What may still be spent',
    facts([
      ['Left', left(run)],
      ['Used', used(run)],
      ['Held', euros(run.heldEuros)],
      ['Spent', euros(run.spentEuros)],
      ['Agent', recordLink(request, run.agentId)],
      ['Delegation', recordLink(request, run.delegationId)],
      ['Intents', html`<a href="${filtered(request, 'intents', { runId: id })}">Show them</a>`],
    ]),
  )}
${box(
  'Run',
  facts([
    ['Your own id', text(run.externalId)],
    ['Begun', time(run.createdAt)],
    ['Ended', time(run.endedAt)],
    ['Comment', text(run.comment)],
    ['Reason', text(run.reason)],
  ]),
  membersOf(run.metadata, request),
)}</div>
${box(
  'Timeline',
  steps.data.length > 0
    ? table(request, 'Timeline, oldest first', steps.data, stepColumns)
    : html`<p>Nothing yet.</p>`,
  steps.hasMore &&
    html`<p><a href="${request.to(`runs/${encodeURIComponent(id)}/timeline`)}">The first hundred are shown: all as JSON</a></p>`,
)}`
}

const stepColumns: Columns<Step> = {
  When: 'at',
  What: ({ event }) => whole(words(event)),
  Of: 'resourceId',
  Amount: 'amountEuros',
  Why: 'reason',
  By: doer,
  Request: ({ requestId }, request) => requestLink(request, requestId),
}

function changes({ id, name, budgetEuros }: Run, request: PageRequest): Html {
  const params = { id }
  return html`<div class="actions">
${operationForm(request, runsApi.update, { params, members: ['name', 'budgetEuros'], values: { name, budgetEuros }, submit: 'Change', fold: true })}
${operationForm(request, runsApi.complete, { params, members: ['comment'], submit: 'Complete', fold: true })}
${operationForm(request, runsApi.fail, { params, members: ['reason'], submit: 'Stop as failed', tone: 'against', fold: true })}
</div>`
}
