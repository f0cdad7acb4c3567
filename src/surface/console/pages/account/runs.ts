import type { z } from 'zod'
import { runsApi } from '../../../../control/runs/index.ts'
import { type Html, html } from '../../../../web/html.ts'
import type { PageRequest } from '../../page.ts'
import { operationForm } from '../../parts/form.ts'
import { recordLink } from '../../parts/links.ts'
import { listPage } from '../../parts/list.ts'
import { choicesOf } from '../../parts/names.ts'
import { recordPage } from '../../parts/record-page.ts'
import { box, type Column, facts, table } from '../../parts/table.ts'
import { euros, none, status, text, time, usage, words } from '../../parts/text.ts'
import { doer, filtered, membersOf, requestLink } from './shared.ts'

type Run = z.input<(typeof runsApi.get)['returns'][1]>
type Step = z.input<(typeof runsApi.timeline)['returns'][1]>['data'][number]

const used = ({ heldEuros, spentEuros, budgetEuros }: Run): Html => usage(heldEuros + spentEuros, budgetEuros)

/** What the run may still spend: less than nothing where its budget was made smaller afterwards. */
const left = ({ heldEuros, spentEuros, budgetEuros }: Run): Html =>
  budgetEuros === null
    ? html`<span class="none">no limit of its own</span>`
    : euros(Math.max(0, Math.round((budgetEuros - heldEuros - spentEuros) * 100) / 100))

export const runsPage = listPage({
  title: 'Runs',
  lead: 'Pieces of the agents’ work, with what each has spent of its budget.',
  section: 'runs',
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
    operationForm(
      runsApi.create,
      {
        members: ['agentId', 'name', 'budgetEuros', 'externalId'],
        labels: { agentId: 'Agent', externalId: 'Your own id' },
        choices: { agentId: await choicesOf('agents', request) },
        submit: 'New run',
        fold: true,
      },
      request,
    ),
  columns: [
    { name: 'Run', of: ({ id, name }, request) => recordLink(request, id, text(name)) },
    { name: 'Agent', of: ({ agentId }, request) => recordLink(request, agentId) },
    { name: 'State', of: run => status(run.status) },
    { name: 'Used', of: used },
    { name: 'Left', of: left, isFigure: true },
    { name: 'Begun', of: ({ createdAt }) => time(createdAt) },
  ],
})

export const runPage = recordPage({
  section: 'runs',
  list: 'Runs',
  kind: 'Run',
  operation: runsApi.get,
  command: 'runs get',
  events: ['run.*', 'intent.*', 'transaction.*'],
  about: ({ agentId }) => [agentId],
  name: ({ name }) => text(name),
  title: ({ name }) => name,
  state: run => run.status,
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
    ? table(stepColumns, steps.data, request, 'Timeline, oldest first')
    : html`<p>Nothing yet.</p>`,
  steps.hasMore &&
    html`<p><a href="${request.to(`runs/${encodeURIComponent(id)}/timeline`)}">The first hundred are shown: all as JSON</a></p>`,
)}`
}

const stepColumns: readonly Column<Step>[] = [
  { name: 'When', of: ({ at }) => time(at) },
  { name: 'What', of: ({ event }) => words(event) },
  { name: 'Of', of: ({ resourceId }, request) => recordLink(request, resourceId) },
  {
    name: 'Amount',
    of: ({ amountEuros }) => (amountEuros === null ? none : euros(amountEuros)),
    isFigure: true,
  },
  { name: 'Why', of: ({ reason }) => text(reason) },
  { name: 'By', of: doer },
  { name: 'Request', of: ({ requestId }, request) => requestLink(request, requestId) },
]

function changes({ id, name, budgetEuros }: Run, request: PageRequest): Html {
  const params = { id }
  return html`<div class="actions">
${operationForm(runsApi.update, { params, members: ['name', 'budgetEuros'], values: { name, budgetEuros }, submit: 'Change', fold: true }, request)}
${operationForm(runsApi.complete, { params, members: ['comment'], submit: 'Complete', fold: true }, request)}
${operationForm(runsApi.fail, { params, members: ['reason'], submit: 'Stop as failed', tone: 'against', fold: true }, request)}
</div>`
}
