import { cardRequestsApi } from '../../../../cards/card-requests/index.ts'
import { transfersApi } from '../../../../commerce/transfers/index.ts'
import { type AuditDecisionAction, auditApi } from '../../../../compliance/audit/index.ts'
import { intentsApi } from '../../../../control/intents/index.ts'
import { Refusal, RefusedError } from '../../../../kernel/contract/problem.ts'
import { type Html, html } from '../../../../web/html.ts'
import { proposalsApi } from '../../../proposals/index.ts'
import { pageScriptTag } from '../../browser/browser.ts'
import type { ConsolePage, PageRequest } from '../../page.ts'
import { renderActorLink } from '../../parts/history.ts'
import { copyableText, renderRecordLink } from '../../parts/links.ts'
import { readIntentNames, readNamesInRows } from '../../parts/names.ts'
import { renderTable } from '../../parts/table.ts'
import { countOf, renderEuros, renderStatus, sumEuros } from '../../parts/text.ts'
import { whyNotAsked } from './approval-steps.ts'
import { approvalBlockers } from './checks.ts'
import {
  byDeadline,
  type ChecksNow,
  type InboxItem,
  type InboxKind,
  inboxItemsOf,
  inboxKinds,
  missingReceiptItem,
  renderInboxItem,
} from './inbox-items.ts'
import {
  type IntentItem,
  MOST_WAITING,
  readChecksOfIntent,
  readMissingReceipts,
  readNamesOfWaiting,
  readWaitingDecisions,
  waitingDecisionEvents,
} from './waiting.ts'

export const inboxPage: ConsolePage = async request => {
  const kind = inboxKindOf(request)
  const [waiting, past] = await Promise.all([
    request.part({
      id: 'waiting',
      events: [...waitingDecisionEvents, 'receipt.*', 'transaction.completed'],
      make: () => queue(kind, request),
    }),
    request.part({
      id: 'decided',
      events: ['intent.approved', 'intent.denied', 'card_limit_request.updated', 'payment.updated'],
      make: () => decided(request),
    }),
  ])
  return {
    title: 'Inbox',
    content: html`<div class="head"><h1>Inbox</h1><div class="actions">${inboxKeys(request)}</div></div>
${waiting}
<h2 id="past">Decided</h2>
${past}`,
  }
}

/** The keys of a list of items. Without scripts the button stays hidden. */
export const inboxKeys = (request: PageRequest): Html =>
  html`${pageScriptTag(request, 'inbox')}<button type="button" class="small keys" data-keys hidden>Keyboard <kbd>?</kbd></button>`

function inboxKindOf({ query }: PageRequest): InboxKind | undefined {
  const { kind } = query
  if (kind === undefined || kind === '') return undefined
  if (Object.hasOwn(inboxKinds, kind)) return kind as InboxKind
  throw new RefusedError(
    new Refusal(400, 'invalid_filter', `kind: must be one of ${Object.keys(inboxKinds).join(', ')}.`),
  )
}

/** Receipts that the inbox lists beside decisions. The filter shows all. */
const SHOWN_RECEIPTS = 5

async function queue(kind: InboxKind | undefined, request: PageRequest): Promise<Html> {
  const [waiting, receipts] = await Promise.all([readWaitingDecisions(request), readMissingReceipts(request)])
  const [checksNow] = await Promise.all([
    readChecksNow(waiting.intents, request),
    readNamesOfWaiting(waiting, request),
    readNamesInRows(receipts.data, request),
  ])
  const items = inboxItemsOf(waiting, request, checksNow)
  const missing = receipts.data.map(one => missingReceiptItem(one, request)).sort(byDeadline)
  const all = [...items, ...missing]
  const shown = kind ? all.filter(item => item.kind === kind) : items
  const beside = kind ? [] : missing.slice(0, SHOWN_RECEIPTS)
  const left = kind ? 0 : missing.length - beside.length
  return html`${all.length > 0 && filters(all, kind, request)}
${items.length > 0 && !mayDecide(request) && html`<p class="lead">Your role can view these requests. An approver or an owner decides them.</p>`}
${
  shown.length === 0
    ? beside.length === 0 && emptyState(all.length > 0, request)
    : html`${renderApproveAll(shown, waiting.intents, checksNow, request)}
<div class="queue">${shown.map(renderInboxItem)}</div>`
}
${beside.length > 0 && html`<h2>${inboxKinds.receipts}</h2><div class="queue">${beside.map(renderInboxItem)}</div>`}
${left > 0 && html`<p><a href="?kind=receipts">${receipts.hasMore ? 'More than ' : ''}${countOf(left, 'more missing receipt')}</a></p>`}
${waiting.hasMore && html`<p>More requests wait, possibly with earlier deadlines: the newest ${MOST_WAITING} of each kind are listed. The others appear as you decide these.</p>`}`
}

function filters(all: readonly InboxItem[], chosen: InboxKind | undefined, { to }: PageRequest): Html {
  const counts = Object.groupBy(all, ({ kind }) => kind)
  const present = Object.entries(inboxKinds).filter(
    ([kind]) => kind === chosen || counts[kind as InboxKind] !== undefined,
  )
  const line = (address: string, name: string, count: number, isChosen: boolean): Html =>
    html`<li><a href="${to(`console/inbox${address}`)}"${isChosen && html` aria-current="true"`}>${name} <span class="count">${count}</span></a></li>`
  return html`<nav class="tabs within" aria-label="Kinds"><ul>
${line('', 'Decisions', all.length - (counts.receipts?.length ?? 0), chosen === undefined)}
${present.map(([kind, name]) => line(`?kind=${kind}`, name, counts[kind as InboxKind]?.length ?? 0, kind === chosen))}
</ul></nav>`
}

/** Approves the shown payments one after the other. Each has its own statement and signature. */
function renderApproveAll(
  shown: readonly InboxItem[],
  intents: readonly IntentItem[],
  checksNow: ChecksNow,
  request: PageRequest,
): Html {
  const ids = new Set(shown.map(({ id }) => id))
  const payments = intents.filter(({ id }) => ids.has(id))
  const possible = payments.filter(
    intent =>
      approvalBlockers(checksNow.get(intent.id) ?? []).length === 0 &&
      whyNotAsked(intent, request) === undefined,
  )
  if (payments.length < 2) return html``
  const sum = sumEuros(payments.map(({ amountEuros }) => amountEuros))
  const approves =
    possible.length > MOST_TOGETHER ? `Approve the next ${MOST_TOGETHER}` : `Approve all ${possible.length}`
  return html`<p class="together"><span>${payments.length} payments wait, ${renderEuros(sum)} in total.</span>
${request.may(intentsApi.approve) && possible.length > 1 && html`<button type="button" data-each="${EACH}">${approves}</button>`}</p>`
}

/** The bound of `scripts/inbox.js`. */
const MOST_TOGETHER = 20

const EACH = `#waiting form[data-operation="POST ${intentsApi.approve.path}"]`

const mayDecide = ({ may }: PageRequest): boolean =>
  may(intentsApi.approve) ||
  may(cardRequestsApi.approve) ||
  may(transfersApi.confirmPayee) ||
  may(proposalsApi.apply)

const emptyState = (isFiltered: boolean, { to }: PageRequest): Html =>
  isFiltered
    ? html`<p class="empty">Nothing of this kind waits. <a href="${to('console/inbox')}">Show all</a></p>`
    : html`<div class="empty"><p>Nothing waits for you. A payment appears here when an agent’s policy requires approval.</p><p>${copyableText(
        'agentpay intents create --agent-id agent_… --merchant Bookshop --amount-euros 25 --purpose "A paper on caching"',
      )}</p></div>`

/** Bounds the evaluations of a page: each is a full decision. The first intents of the queue get them. */
const MOST = 10

async function readChecksNow(intents: readonly IntentItem[], request: PageRequest): Promise<ChecksNow> {
  const first = intents
    .toSorted((one, other) => Date.parse(one.expiresAt) - Date.parse(other.expiresAt))
    .slice(0, MOST)
  const asked = await Promise.all(
    first.map(async intent => [intent.id, await readChecksOfIntent(intent, request)] as const),
  )
  return new Map(asked.flatMap(([id, checks]) => (checks ? [[id, checks]] : [])))
}

const decisions: Readonly<Record<AuditDecisionAction, string>> = {
  'intents.approve': 'approved',
  'intents.deny': 'denied',
  'cardRequests.approve': 'approved',
  'cardRequests.deny': 'denied',
  'transfers.confirmPayee': 'confirmed',
}

const SHOWN = 12

async function decided(request: PageRequest): Promise<Html> {
  const { data: newest } = await request.ask(auditApi.list, { query: { kind: 'decision', limit: SHOWN } })
  await Promise.all([readNamesInRows(newest, request), readIntentNames(newest, request)])
  if (newest.length === 0) return html`<p class="empty">No decisions yet.</p>`
  return renderTable(request, 'Decisions', newest, {
    Date: 'at',
    Status: ({ action }) => renderStatus(decisions[action as AuditDecisionAction]),
    Request: ({ resourceId }) => renderRecordLink(request, resourceId),
    'Decided by': entry =>
      entry.personId === null ? renderActorLink(entry, request) : renderRecordLink(request, entry.personId),
  })
}
