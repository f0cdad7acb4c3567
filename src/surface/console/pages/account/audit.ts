import { auditApi } from '../../../../compliance/audit/index.ts'
import { RefusedError } from '../../../../kernel/contract/problem.ts'
import { type Html, html } from '../../../../web/html.ts'
import type { ConsolePage, PageRequest } from '../../page.ts'
import { filteredListLink, renderActorLink, renderRequestLink, unbrokenText } from '../../parts/history.ts'
import { copyableText } from '../../parts/links.ts'
import { renderBackLink } from '../../parts/record-page.ts'
import { consoleSection } from '../../parts/section.ts'
import { renderStatus, renderText, renderTime } from '../../parts/text.ts'
import { deliveriesSection } from './deliveries.ts'
import { eventsSection } from './events.ts'

export const auditSection = consoleSection({
  kind: 'Entry',
  title: 'Audit log',
  lead: 'Every change: who, what, when and from where. Entries are sealed in a tamper-evident log.',
  list: auditApi.list,
  columns: [
    'at',
    {
      Event: ({ action, event, outcome }) =>
        html`${unbrokenText(event)}<br><code>${action}</code>${outcome !== 'done' && html` ${renderStatus(outcome)}`}`,
      Record: 'resourceId',
      Actor: (entry, request) =>
        html`${renderActorLink(entry, request)}${entry.address !== null && html`<br>from ${renderText(entry.address)}`}`,
    },
    'requestId',
  ],
  filters: ['q', 'actor', 'action', 'resource', 'requestId', 'agentId', 'outcome', 'from', 'to'],
  labels: {
    q: 'Text',
    actor: 'Actor: key, agent, console, or an ID',
    action: 'Operation, such as agents.*',
    resource: 'Record ID',
    outcome: 'Outcome: done, or an error code',
  },
  shows: { requestId: ({ requestId }, request) => renderRequestLink(request, requestId) },
  ignored: ['verify'],
  above: async request => (request.may(auditApi.verify) ? await trail(request) : false),
  events: [],
  empty: 'No entries yet.',
  call: 'agentpay audit list',
})

export const eventCausePage: ConsolePage = async request => {
  const { id, to } = request
  const asked = { query: { requestId: id }, limit: 100, empty: 'None.' }
  const caused = await Promise.all([
    auditSection.related({ ...asked, title: 'Changes' }, request),
    eventsSection.related({ ...asked, title: 'Events' }, request),
    deliveriesSection.related({ ...asked, title: 'Deliveries' }, request),
  ])
  return {
    title: `Request ${id}`,
    content: html`${renderBackLink(request, 'audit', 'Audit log')}
<h1>${renderText(id, 200)}</h1>
<p class="record">${copyableText(id)} <a href="${filteredListLink({ to }, 'audit', { requestId: id })}">View in audit log</a> ${copyableText(`agentpay audit list --request-id ${id}`)}</p>
${caused}`,
  }
}

/** Shows the newest checkpoint. The proof reads every entry, so it is made only on demand. */
async function trail(request: PageRequest): Promise<Html> {
  const { query, part } = request
  const sealed = await sealedSoFar(request)
  const result = await part({
    id: 'trail',
    events: [],
    make: () => (query.verify === undefined ? html`` : verificationInWords(request)),
  })
  return html`${sealed}<form method="get" data-part="trail"><input type="hidden" name="verify" value="now"><button type="submit" class="main">Verify audit log</button></form>
${result}`
}

const count = (number: number): string => number.toLocaleString('en')

async function sealedSoFar({ ask }: PageRequest): Promise<Html> {
  const [checkpoint] = (await ask(auditApi.checkpoints, { query: { limit: 1 } })).data
  if (!checkpoint) return html`<p>No entries are sealed yet. New entries are sealed within two seconds.</p>`
  const { size, createdAt } = checkpoint
  return html`<p>${count(size)} ${size === 1 ? 'entry is' : 'entries are'} sealed, the newest ${renderTime(createdAt)}.</p>`
}

async function verificationInWords({ ask }: PageRequest): Promise<Html> {
  try {
    const { ok, size, checkpoints, problem, unsealed } = await ask(auditApi.verify)
    const { entries } = unsealed
    const tail = entries === 0 ? '' : ` ${count(entries)} more will be sealed within two seconds.`
    if (ok)
      return html`<p class="proof good" role="status"><strong>The audit log is intact.</strong> ${count(size)} entries match their seals, the tree, and ${count(checkpoints)} signed checkpoints.${tail}</p>`
    return html`<div class="proof bad" role="alert"><p><strong>The audit log was changed.</strong> The first wrong position is ${String(problem?.position ?? 0)}: ${problem?.message ?? ''} Keep your checkpoints and notify the operator.</p></div>`
  } catch (error) {
    if (error instanceof RefusedError) return html`<p class="refusal" role="alert">${error.message}</p>`
    throw error
  }
}
