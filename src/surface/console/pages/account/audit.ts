import { auditApi } from '../../../../compliance/audit/index.ts'
import { eventsApi } from '../../../../delivery/events/index.ts'
import { deliveriesApi, webhooksApi } from '../../../../delivery/webhooks/index.ts'
import { type Html, html } from '../../../../web/html.ts'
import type { Page, PageRequest } from '../../page.ts'
import { copyable, recordLink } from '../../parts/links.ts'
import { listPage } from '../../parts/list.ts'
import { backTo } from '../../parts/record.ts'
import { box, table } from '../../parts/table.ts'
import { status, text, time } from '../../parts/text.ts'
import { briefColumns } from './deliveries.ts'
import { doer, filtered, namedIn, requestLink, whole } from './shared.ts'
import { trail } from './trail.ts'
import { nameWebhooks } from './webhook-names.ts'

const columns = [
  { name: 'When', of: ({ at }: Entry) => time(at) },
  {
    name: 'What',
    of: ({ action, event, outcome }: Entry) =>
      html`${whole(event)}<br><code>${action}</code>${outcome !== 'done' && html` ${status(outcome)}`}`,
  },
  { name: 'Of', of: ({ resourceId }: Entry, request: PageRequest) => recordLink(request, resourceId) },
  {
    name: 'By',
    of: (entry: Entry, request: PageRequest) =>
      html`${doer(entry, request)}${entry.address !== null && html`<br>from ${text(entry.address)}`}`,
  },
  { name: 'Request', of: ({ requestId }: Entry, request: PageRequest) => requestLink(request, requestId) },
]

interface Entry {
  readonly at: string
  readonly action: string
  readonly event: string
  readonly resourceId: string
  readonly outcome: string
  readonly actorType: string
  readonly actorId: string | null
  readonly personId: string | null
  readonly address: string | null
  readonly requestId: string
}

export const auditPage = listPage({
  title: 'Audit',
  lead: 'Who changed what, when, and from where: one entry a change, sealed in a tree that proves itself.',
  section: 'audit',
  operation: auditApi.list,
  filters: ['q', 'actor', 'action', 'resource', 'requestId', 'agentId', 'outcome', 'from', 'to'],
  labels: {
    q: 'Text in any of it',
    actor: 'By: key, agent, console, or an id',
    action: 'Operation, such as agents.*',
    resource: 'Id of a record',
    requestId: 'Request id',
    agentId: 'Agent',
    outcome: 'Outcome: done, or a refusal',
  },
  ignored: ['verify'],
  above: async request => (request.may(auditApi.verify) ? await trail(request) : false),
  events: [],
  empty: { words: 'Nothing has been changed yet.', command: 'agentpay audit list' },
  columns,
})

/** What one request has caused: its changes, its events, and to whom they were told. */
export const requestPage: Page = async request => {
  const { ask, id, may } = request
  const query = { requestId: id, limit: 100 } as const
  const [audit, events, deliveries] = await Promise.all([
    ask(auditApi.list, { query }),
    ask(eventsApi.list, { query }),
    may(deliveriesApi.allDeliveries) ? ask(deliveriesApi.allDeliveries, { query }) : undefined,
    may(webhooksApi.list) ? nameWebhooks(request) : undefined,
  ])
  return {
    title: `Request ${id}`,
    content: html`${backTo(request, 'audit', 'Audit')}
<p class="kind">Request</p><h1>${text(id, 200)}</h1>
<p class="record">${copyable(id)} <a href="${filtered({ to: request.to }, 'audit', { requestId: id })}">In the audit trail</a> ${copyable(`agentpay audit list --request-id ${id}`)}</p>
${inBox('What it has changed', audit.data.length > 0 && table(columns, audit.data, request, 'What it has changed'))}
${inBox('What was announced', events.data.length > 0 && table(eventColumns, events.data, request, 'Events of the request'))}
${inBox('To whom it was told', deliveries && deliveries.data.length > 0 && table(briefColumns, deliveries.data, request, 'Deliveries of the request'))}
${audit.hasMore && html`<p>The newest hundred are shown.</p>`}`,
  }
}

const inBox = (title: string, content: Html | false | undefined): Html =>
  box(title, content || html`<p>Nothing.</p>`)

interface Told {
  readonly id: string
  readonly event: string
  readonly createdAt: string
  readonly data: Readonly<Record<string, unknown>>
}

const eventColumns = [
  { name: 'Event', of: ({ id, event }: Told, request: PageRequest) => recordLink(request, id, whole(event)) },
  { name: 'About', of: ({ data }: Told, request: PageRequest) => namedIn(data, request) },
  { name: 'When', of: ({ createdAt }: Told) => time(createdAt) },
]
