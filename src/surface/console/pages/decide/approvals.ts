import { cardRequestsApi } from '../../../../cards/card-requests/index.ts'
import { transfersApi } from '../../../../commerce/transfers/index.ts'
import { type AuditDecisionAction, auditApi } from '../../../../compliance/audit/index.ts'
import { intentSimulationApi, intentsApi } from '../../../../control/intents/index.ts'
import { peopleApi } from '../../../../identity/people/index.ts'
import { RefusedError } from '../../../../kernel/contract/problem.ts'
import { beneficiariesApi } from '../../../../money/beneficiaries/index.ts'
import { type Html, html } from '../../../../web/html.ts'
import { proposalsApi } from '../../../proposals/index.ts'
import type { ConsolePage, ListItemOf, PageRequest } from '../../page.ts'
import { copyableText, renderRecordLink } from '../../parts/links.ts'
import { readRecordNames } from '../../parts/names.ts'
import { renderBox, renderTable } from '../../parts/table.ts'
import { humanize, renderEuros, renderStatus, renderText } from '../../parts/text.ts'
import type { IntentCheck } from './checks.ts'
import { renderWaitingCardRequest, renderWaitingIntent, renderWaitingPayee } from './decision-forms.ts'
import { renderWaitingProposal } from './proposals.ts'
import {
  countWaitingDecisions,
  type IntentItem,
  readWaitingDecisions,
  waitingDecisionEvents,
} from './waiting.ts'

export const approvalsPage: ConsolePage = async request => {
  const [waiting, past] = await Promise.all([
    request.part({ id: 'waiting', events: waitingDecisionEvents, make: () => waitingSections(request) }),
    request.part({
      id: 'decided',
      events: ['intent.approved', 'intent.denied', 'card_limit_request.updated', 'payment.updated'],
      make: () => decided(request),
    }),
  ])
  return {
    title: 'Inbox',
    content: html`<h1>Inbox</h1>
<p class="lead">Payments that need your approval. Approving uses your passkey.</p>
${waiting}
<h2 id="past">Decided</h2>
${past}`,
  }
}

async function waitingSections(request: PageRequest): Promise<Html> {
  const [waiting] = await Promise.all([readWaitingDecisions(request), readRecordNames(request, 'agents')])
  const { intents, cardRequests, transfers, proposals, hasMore } = waiting
  if (countWaitingDecisions(waiting) === 0) return emptyState
  const [payees, now] = await Promise.all([
    transfers.length > 0 ? payeeNames(request) : new Map<string, string>(),
    checksNow(intents, request),
  ])
  return html`${mayDecide(request) ? '' : html`<p class="lead">Your role can view these requests. An approver or an owner decides them.</p>`}
${[...byAgent(intents)].map(([agentId, some]) => intentsOf(agentId, some, now, request))}
${cardRequests.length > 0 && renderBox('Cards', ...cardRequests.map(one => renderWaitingCardRequest(one, request)))}
${transfers.length > 0 && renderBox('Payees to confirm', ...transfers.map(one => renderWaitingPayee(one, payees, request)))}
${proposals.length > 0 && renderBox('Proposals', ...proposals.map(one => renderWaitingProposal(one, request)))}
${hasMore && html`<p>There are more. They appear as you decide these.</p>`}`
}

/** Names of the newest beneficiaries. Older ones are shown by id. */
async function payeeNames({ ask }: PageRequest): Promise<ReadonlyMap<string, string>> {
  const { data } = await ask(beneficiariesApi.list, { query: { limit: 100 } })
  return new Map(data.map(({ id, name }) => [id, name]))
}

const mayDecide = ({ may }: PageRequest): boolean =>
  may(intentsApi.approve) ||
  may(cardRequestsApi.approve) ||
  may(transfersApi.confirmPayee) ||
  may(proposalsApi.apply)

const emptyState = html`<div class="empty"><p>Nothing to approve. Intents appear here when an agent’s policy requires approval.</p><p>${copyableText(
  'agentpay intents create --agent-id agent_… --merchant Bookshop --amount-euros 25 --purpose "A paper on caching"',
)}</p></div>`

const byAgent = (intents: readonly IntentItem[]): Map<string, IntentItem[]> =>
  Map.groupBy(intents, ({ agentId }) => agentId)

function intentsOf(
  agentId: string,
  intents: readonly IntentItem[],
  now: ChecksNow,
  request: PageRequest,
): Html {
  const sum = intents.reduce((cents, { amountEuros }) => cents + Math.round(amountEuros * 100), 0) / 100
  const section = `of-${agentId}`
  const several = intents.length > 1
  return html`<section class="box" id="${section}">
<h2>${renderRecordLink(request, agentId)}${several && html` <small>${intents.length} waiting, ${renderEuros(sum)} in total</small>`}</h2>
${several && request.may(intentsApi.approve) && html`<p><button type="button" data-each="#${section} form[data-challenge]">Approve all ${intents.length}, one by one</button></p>`}
${intents.map(intent => renderWaitingIntent(intent, now.get(intent.id), request))}
</section>`
}

type ChecksNow = ReadonlyMap<string, readonly IntentCheck[]>

/** Bounds the evaluations of a page: each is a full decision, and people decide the newest intents first. */
const MOST = 10

async function checksNow(intents: readonly IntentItem[], request: PageRequest): Promise<ChecksNow> {
  const asked = await Promise.all(
    intents.slice(0, MOST).map(async intent => [intent.id, await checksOf(intent, request)] as const),
  )
  return new Map(asked.flatMap(([id, checks]) => (checks ? [[id, checks]] : [])))
}

async function checksOf(
  intent: IntentItem,
  { ask }: PageRequest,
): Promise<readonly IntentCheck[] | undefined> {
  const { agentId, amountEuros, beneficiaryId, walletId, requestId, mcc, country, runId, cardId } = intent
  const hasRecord = [beneficiaryId, walletId, requestId].some(id => id !== null)
  const payee = hasRecord ? { beneficiaryId, walletId, requestId } : { merchant: intent.merchant }
  const body = { agentId, amountEuros, ...payee, mcc, country, runId, cardId }
  try {
    const { checks } = await ask(intentSimulationApi.simulate, { body })
    return checks.filter(({ rule }) => rule !== 'possibleDuplicate')
  } catch (error) {
    // The agent or card may be deleted. Then only the stored decision is known.
    if (error instanceof RefusedError) return undefined
    throw error
  }
}

type Entry = ListItemOf<typeof auditApi.list>

const decisions: Readonly<Record<AuditDecisionAction, string>> = {
  'intents.approve': 'approved',
  'intents.deny': 'denied',
  'cardRequests.approve': 'approved',
  'cardRequests.deny': 'denied',
  'transfers.confirmPayee': 'confirmed',
}

const SHOWN = 12

async function decided(request: PageRequest): Promise<Html> {
  const { ask } = request
  const [{ data: newest }, intents, people] = await Promise.all([
    ask(auditApi.list, { query: { kind: 'decision', limit: SHOWN } }),
    ask(intentsApi.list, { query: { limit: 100 } }),
    ask(peopleApi.list, { query: { limit: 100 } }),
  ])
  const names = new Map(people.data.map(({ id, name }) => [id, name]))
  const payees = new Map(intents.data.map(intent => [intent.id, intent]))
  if (newest.length === 0) return html`<p class="empty">No decisions yet.</p>`
  return renderTable(request, 'Decisions', newest, {
    Date: 'at',
    Status: ({ action }) => renderStatus(decisions[action as AuditDecisionAction]),
    Request: ({ resourceId }) => renderRecordLink(request, resourceId, payeeOf(payees.get(resourceId))),
    'Decided by': entry => nameOf(entry, names, request),
  })
}

const payeeOf = (intent: IntentItem | undefined): Html | undefined =>
  intent && html`${renderEuros(intent.amountEuros)} to ${renderText(intent.merchant, 60)}`

function nameOf(
  { personId, actorType, actorId }: Entry,
  names: ReadonlyMap<string, string>,
  request: PageRequest,
): Html {
  const id = personId ?? actorId
  const name = id === null ? undefined : names.get(id)
  if (name !== undefined) return renderRecordLink(request, id, renderText(name, 60))
  return html`<span>${humanize(actorType)} ${renderRecordLink(request, id)}</span>`
}
