import { auditApi } from '../../../../compliance/audit/index.ts'
import { eventsApi } from '../../../../delivery/events/index.ts'
import { deliveriesApi, webhooksApi } from '../../../../delivery/webhooks/index.ts'
import { type Html, html } from '../../../../web/html.ts'
import type { ItemOf, Page } from '../../page.ts'
import { copyable, recordLink } from '../../parts/links.ts'
import { listPage } from '../../parts/list.ts'
import { backTo } from '../../parts/record.ts'
import { box, type Columns, table } from '../../parts/table.ts'
import { status, text } from '../../parts/text.ts'
import { briefColumns } from './deliveries.ts'
import { doer, filtered, namedIn, requestLink, whole } from './shared.ts'
import { trail } from './trail.ts'
import { nameWebhooks } from './webhook-names.ts'

type Entry = ItemOf<typeof auditApi.list>
type Told = ItemOf<typeof eventsApi.list>

const columns: Columns<Entry> = {
  When: 'at',
  What: ({ action, event, outcome }) =>
    html`${whole(event)}<br><code>${action}</code>${outcome !== 'done' && html` ${status(outcome)}`}`,
  Of: 'resourceId',
  By: (entry, request) =>
    html`${doer(entry, request)}${entry.address !== null && html`<br>from ${text(entry.address)}`}`,
  Request: ({ requestId }, request) => requestLink(request, requestId),
}

export const auditPage = listPage({
  title: 'Audit',
  lead: 'Who changed what, when, and from where: one entry a change, sealed in a tree that proves itself.',
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
${inBox('What it has changed', audit.data.length > 0 && table(request, 'What it has changed', audit.data, columns))}
${inBox('What was announced', events.data.length > 0 && table(request, 'Events of the request', events.data, eventColumns))}
${inBox('To whom it was told', deliveries && deliveries.data.length > 0 && table(request, 'Deliveries of the request', deliveries.data, briefColumns))}
${audit.hasMore && html`<p>The newest hundred are shown.</p>`}`,
  }
}

const inBox = (title: string, content: Html | false | undefined): Html =>
  box(title, content || html`<p>Nothing.</p>`)

const eventColumns: Columns<Told> = {
  Event: ({ id, event }, request) => recordLink(request, id, whole(event)),
  About: ({ data }, request) => namedIn(data, request),
  When: 'createdAt',
}
