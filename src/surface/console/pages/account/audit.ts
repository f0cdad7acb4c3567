import { auditApi } from '../../../../compliance/audit/index.ts'
import { Refused } from '../../../../kernel/contract/problem.ts'
import { type Html, html } from '../../../../web/html.ts'
import type { Page, PageRequest } from '../../page.ts'
import { actorLink, filtered, requestLink, unbroken } from '../../parts/history.ts'
import { copyable } from '../../parts/links.ts'
import { backTo } from '../../parts/record-page.ts'
import { section } from '../../parts/section.ts'
import { status, text, time } from '../../parts/text.ts'
import { deliveries } from './deliveries.ts'
import { events } from './events.ts'

export const audit = section({
  kind: 'Entry',
  title: 'Audit log',
  lead: 'Every change: who, what, when and from where. Entries are sealed in a tamper-evident log.',
  list: auditApi.list,
  columns: [
    'at',
    {
      Event: ({ action, event, outcome }) =>
        html`${unbroken(event)}<br><code>${action}</code>${outcome !== 'done' && html` ${status(outcome)}`}`,
      Record: 'resourceId',
      Actor: (entry, request) =>
        html`${actorLink(entry, request)}${entry.address !== null && html`<br>from ${text(entry.address)}`}`,
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
  shows: { requestId: ({ requestId }, request) => requestLink(request, requestId) },
  ignored: ['verify'],
  above: async request => (request.may(auditApi.verify) ? await trail(request) : false),
  events: [],
  empty: 'No entries yet.',
  call: 'agentpay audit list',
})

export const causePage: Page = async request => {
  const { id, to } = request
  const asked = { query: { requestId: id }, limit: 100, empty: 'None.' }
  const caused = await Promise.all([
    audit.related({ ...asked, title: 'Changes' }, request),
    events.related({ ...asked, title: 'Events' }, request),
    deliveries.related({ ...asked, title: 'Deliveries' }, request),
  ])
  return {
    title: `Request ${id}`,
    content: html`${backTo(request, 'audit', 'Audit log')}
<p class="kind">Request</p><h1>${text(id, 200)}</h1>
<p class="record">${copyable(id)} <a href="${filtered({ to }, 'audit', { requestId: id })}">View in audit log</a> ${copyable(`agentpay audit list --request-id ${id}`)}</p>
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
  return html`${sealed}<form method="get" data-part="trail"><input type="hidden" name="verify" value="now"><button type="submit" class="main">Verify trail</button></form>
${result}`
}

const count = (number: number): string => number.toLocaleString('en')

async function sealedSoFar({ ask }: PageRequest): Promise<Html> {
  const [checkpoint] = (await ask(auditApi.checkpoints, { query: { limit: 1 } })).data
  if (!checkpoint) return html`<p>No entries are sealed yet. New entries are sealed within two seconds.</p>`
  const { size, createdAt } = checkpoint
  return html`<p>${count(size)} ${size === 1 ? 'entry is' : 'entries are'} sealed, the newest ${time(createdAt)}.</p>`
}

async function verificationInWords({ ask }: PageRequest): Promise<Html> {
  try {
    const { ok, size, checkpoints, problem, unsealed } = await ask(auditApi.verify)
    const { entries } = unsealed
    const tail = entries === 0 ? '' : ` ${count(entries)} more will be sealed within two seconds.`
    if (ok)
      return html`<p class="proof good" role="status"><strong>The trail is intact.</strong> ${count(size)} entries match their seals, the tree, and ${count(checkpoints)} signed checkpoints.${tail}</p>`
    return html`<div class="proof bad" role="alert"><p><strong>The trail was changed.</strong> The first wrong position is ${String(problem?.position ?? 0)}: ${problem?.message ?? ''} Keep your checkpoints and notify the operator.</p></div>`
  } catch (error) {
    if (error instanceof Refused) return html`<p class="refusal" role="alert">${error.message}</p>`
    throw error
  }
}
