import { auditApi } from '../../../../compliance/audit/index.ts'
import { eventsApi } from '../../../../delivery/events/index.ts'
import { deliveriesApi, webhooksApi } from '../../../../delivery/webhooks/index.ts'
import { Refused } from '../../../../kernel/contract/problem.ts'
import { type Html, html } from '../../../../web/html.ts'
import type { ItemOf, Page, PageRequest } from '../../page.ts'
import { copyable, recordLink } from '../../parts/links.ts'
import { listPage } from '../../parts/list.ts'
import { backTo } from '../../parts/record-page.ts'
import { box, type Columns, table } from '../../parts/table.ts'
import { status, text, time } from '../../parts/text.ts'
import { briefColumns, nameWebhooks } from './deliveries.ts'
import { doer, filtered, namedIn, requestLink, whole } from './shared.ts'

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
export const causePage: Page = async request => {
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

/** The newest checkpoint, and the proof of the trail where the address asks for it, as it reads every entry. */
async function trail(request: PageRequest): Promise<Html> {
  const { query, part } = request
  const sealed = await sealedSoFar(request)
  const result = await part({
    id: 'trail',
    events: [],
    make: () => (query.verify === undefined ? html`` : verificationInWords(request)),
  })
  return html`${sealed}<form method="get" data-part="trail"><input type="hidden" name="verify" value="now"><button type="submit" class="main">Verify the trail</button></form>
${result}`
}

const count = (number: number): string => number.toLocaleString('en')

async function sealedSoFar({ ask }: PageRequest): Promise<Html> {
  const [checkpoint] = (await ask(auditApi.checkpoints, { query: { limit: 1 } })).data
  if (!checkpoint) return html`<p>Nothing is sealed yet: that takes two seconds.</p>`
  const { size, createdAt } = checkpoint
  return html`<p>${count(size)} ${size === 1 ? 'entry is' : 'entries are'} sealed, the newest ${time(createdAt)}.</p>`
}

async function verificationInWords({ ask }: PageRequest): Promise<Html> {
  try {
    const { ok, size, checkpoints, problem, unsealed } = await ask(auditApi.verify)
    const { entries } = unsealed
    const tail = entries === 0 ? '' : ` ${count(entries)} more will be sealed within two seconds.`
    if (ok)
      return html`<p class="proof good" role="status"><strong>The trail is as it was sealed.</strong> ${count(size)} entries were compared with their seals, the tree over them, and ${count(checkpoints)} signed checkpoints.${tail}</p>`
    return html`<div class="proof bad" role="alert"><p><strong>The trail was changed.</strong> The first wrong position is ${String(problem?.position ?? 0)}: ${problem?.message ?? ''} Keep your checkpoints, and tell the operator.</p></div>`
  } catch (error) {
    if (error instanceof Refused) return html`<p class="refusal" role="alert">${error.message}</p>`
    throw error
  }
}
