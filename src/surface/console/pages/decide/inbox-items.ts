import { disputesApi } from '../../../../commerce/disputes/index.ts'
import { type Html, type HtmlContent, html } from '../../../../web/html.ts'
import { ruleName } from '../../../console-pages/index.ts'
import type { PageRequest } from '../../page.ts'
import { recordAddress, renderRecordLink, renderSpender } from '../../parts/links.ts'
import {
  countOf,
  humanize,
  noneText,
  renderEuros,
  renderText,
  renderTime,
  valueText,
} from '../../parts/text.ts'
import { approvalCount, expiresFirst, renderApprovalSteps } from './approval-steps.ts'
import {
  type ChangeRequestItem,
  renderChangeRequestForm,
  renderChangeRequestProposer,
  renderDifference,
  renderDifferences,
} from './change-requests.ts'
import {
  type IntentCheck,
  messageText,
  renderLimitsLine,
  renderRemainingLimits,
  renderReviewRules,
  renderUnusableCard,
} from './checks.ts'
import {
  REFRESH_AFTER_DECISION,
  renderCardRequestForm,
  renderIntentDecisionForm,
  renderPayeeForm,
  renderReceiptForm,
} from './decision-forms.ts'
import { renderProposalConsequences, renderProposalForm, renderProposer } from './proposals.ts'
import type {
  CardRequestItem,
  CredentialItem,
  DisputeItem,
  IntentItem,
  MissingReceiptItem,
  ProposalItem,
  TransferItem,
  WaitingDecisions,
} from './waiting.ts'

/** The kinds of the inbox, in the order of its filters. */
export const inboxKinds = {
  payments: 'Payments',
  cards: 'Card requests',
  changes: 'Changes',
  payees: 'Payees',
  confirmations: 'Confirmations',
  proposals: 'Proposals',
  disputes: 'Disputes',
  receipts: 'Missing receipts',
} as const

export type InboxKind = keyof typeof inboxKinds

export interface InboxItem {
  readonly id: string
  readonly kind: InboxKind
  readonly createdAt: string
  /** The deadline. Null: it waits as long as it takes. */
  readonly due: string | null
  /** What happens at the deadline. */
  readonly atDeadline: string
  readonly title: Html
  readonly requester: HtmlContent
  /** The reason in one line. */
  readonly why: HtmlContent
  /** What it is for, in the words of who asks. */
  readonly purpose: string | null
  /** What a person weighs, in a few lines. */
  readonly facts: () => HtmlContent
  /** What few need, behind a press. */
  readonly details?: () => HtmlContent
  readonly decide: Html
}

/** The next deadline comes first. What has no deadline comes last, the oldest first. */
export const byDeadline = (one: InboxItem, other: InboxItem): number =>
  timeOf(one.due) - timeOf(other.due) || timeOf(one.createdAt) - timeOf(other.createdAt)

const NEVER = Number.MAX_SAFE_INTEGER

const timeOf = (at: string | null): number => (at === null ? NEVER : Date.parse(at))

export type ChecksNow = ReadonlyMap<string, readonly IntentCheck[]>

export const inboxItemsOf = (
  { intents, cardRequests, transfers, proposals, disputes, credentials, changeRequests }: WaitingDecisions,
  request: PageRequest,
  checksNow: ChecksNow = new Map(),
): InboxItem[] =>
  [
    ...intents.map(intent => intentItem(intent, checksNow.get(intent.id), request)),
    ...cardRequests.map(asked => cardRequestItem(asked, request)),
    ...transfers.map(transfer => payeeItem(transfer, request)),
    ...proposals.map(proposal => proposalItem(proposal, request)),
    ...disputes.map(dispute => disputeItem(dispute, request)),
    ...credentials.map(credential => credentialItem(credential, request)),
    ...changeRequests.map(change => changeRequestItem(change, request)),
  ].sort(byDeadline)

function intentItem(
  intent: IntentItem,
  now: readonly IntentCheck[] | undefined,
  request: PageRequest,
): InboxItem {
  const { id, agentId, amountEuros, merchant, purpose, decision, runId, createdAt, approval } = intent
  return {
    id,
    kind: 'payments',
    createdAt,
    ...deadlineOf(intent),
    title: renderRecordLink(request, id, html`${renderEuros(amountEuros)} to ${renderText(merchant, 80)}`),
    requester: html`${renderRecordLink(request, agentId)}${runId !== null && html`, in run ${renderRecordLink(request, runId)}`}`,
    why: approval === null ? reviewReason(intent) : approvalCount(approval),
    purpose,
    facts: () =>
      html`${renderApprovalSteps(intent, request)}${renderReviewRules(intent, request)}${now && renderUnusableCard(now)}`,
    details: () =>
      html`${renderLimitsLine(now ?? decision.checks)}${renderRemainingLimits(decision, request, now)}`,
    decide: renderIntentDecisionForm(intent, request, { now }),
  }
}

/** A step of approvals can end before the intent does. */
function deadlineOf({
  approval,
  expiresAt,
}: Pick<IntentItem, 'approval' | 'expiresAt'>): Pick<InboxItem, 'due' | 'atDeadline'> {
  if (approval === null || expiresFirst({ approval, expiresAt }))
    return { due: expiresAt, atDeadline: 'expires' }
  const { then } = approval.steps[approval.step - 1] ?? { then: 'deny' }
  return { due: approval.endsAt, atDeadline: then === 'deny' ? 'is denied' : 'goes to the next step' }
}

function reviewReason({ decision: { checks } }: IntentItem): HtmlContent {
  const asking = checks.filter(({ outcome }) => outcome === 'review')
  const duplicate = asking.find(({ rule }) => rule === 'possibleDuplicate')
  const check = duplicate ?? asking[0]
  return (
    check &&
    html`<span${duplicate && html` class="alike"`}>${ruleName(check.rule, 'en')}: ${renderText(messageText(check.message), 160)}</span>`
  )
}

const cardRequestTitles = { new_card: 'New card', limit_change: 'Limit change' } as const

function cardRequestItem(asked: CardRequestItem, request: PageRequest): InboxItem {
  const { id, agentId, type, cardId, displayName, limits, reason, createdAt } = asked
  return {
    id,
    kind: 'cards',
    createdAt,
    ...deadlineOf(asked),
    title: renderRecordLink(request, id, cardRequestTitles[type]),
    requester: renderRecordLink(request, agentId),
    why: renderText(reason, 160),
    purpose: reason,
    facts: () =>
      html`${renderApprovalSteps(asked, request)}${factsLine([
        ['Card', cardId === null ? noneText : renderRecordLink(request, cardId)],
        ['Name', renderText(displayName, 80)],
        ['Per payment', renderEuros(limits.maxTransactionEuros)],
        ['Per day', renderEuros(limits.dailyLimitEuros)],
        ['Per month', renderEuros(limits.monthlyLimitEuros)],
      ])}`,
    decide: renderCardRequestForm(asked, request),
  }
}

function changeRequestItem(change: ChangeRequestItem, request: PageRequest): InboxItem {
  const { id, changes, approval, createdAt, expiresAt } = change
  const [first] = changes
  const title = first && changes.length === 1 ? renderDifference(first) : html`${changes.length} changes`
  return {
    id,
    kind: 'changes',
    createdAt,
    due: expiresAt,
    atDeadline: 'expires',
    title: renderRecordLink(request, id, title),
    requester: renderChangeRequestProposer(change, request),
    why: approvalCount(approval),
    purpose: null,
    facts: () =>
      html`${changes.length > 1 && renderDifferences(change)}${renderApprovalSteps(change, request)}`,
    decide: renderChangeRequestForm(change, request, REFRESH_AFTER_DECISION),
  }
}

/** A transfer whose payee has another name at the bank. */
function payeeItem(transfer: TransferItem, request: PageRequest): InboxItem {
  const { id, amountEuros, beneficiaryId, payeeCheck, reference, agentId, createdAt, status } = transfer
  const suggested = payeeCheck?.suggestedName ?? null
  const finding = html`Payee check: <strong>${humanize(payeeCheck?.result ?? '')}</strong>${suggested !== null && html`; the bank suggests <strong>${renderText(suggested, 140)}</strong>`}.`
  return {
    id,
    kind: 'payees',
    createdAt,
    due: null,
    atDeadline: '',
    title: html`${renderRecordLink(request, id, html`${renderEuros(amountEuros)} by SEPA`)} to ${renderRecordLink(request, beneficiaryId)}`,
    requester: renderSpender(request, agentId),
    why: finding,
    purpose: reference,
    facts: () =>
      html`<p class="why">${finding} ${
        status === 'verifying'
          ? 'Without a decision it is cancelled after seven days.'
          : 'The bank has the order: release or cancel it there as well.'
      }</p>`,
    decide: renderPayeeForm(transfer, request),
  }
}

function proposalItem(proposal: ProposalItem, request: PageRequest): InboxItem {
  const { id, summary, reason, createdAt, expiresAt } = proposal
  return {
    id,
    kind: 'proposals',
    createdAt,
    due: expiresAt,
    atDeadline: 'expires',
    title: renderRecordLink(request, id, renderText(summary)),
    requester: renderProposer(proposal, request),
    why: renderText(reason ?? proposal.effect?.sentence, 160),
    purpose: reason,
    facts: () => renderProposalConsequences(proposal, request),
    decide: renderProposalForm(proposal, request),
  }
}

function disputeItem(dispute: DisputeItem, request: PageRequest): InboxItem {
  const { id, agentId, merchant, amountEuros, reason, description, evidenceIds, evidenceDueAt, createdAt } =
    dispute
  const answer = request.may(disputesApi.submit) && recordAddress(id)
  const pieces = countOf(evidenceIds.length, 'piece of evidence', 'pieces of evidence')
  return {
    id,
    kind: 'disputes',
    createdAt,
    due: evidenceDueAt,
    atDeadline: evidenceIds.length > 0 ? 'is submitted' : 'lapses without evidence',
    title: renderRecordLink(
      request,
      id,
      html`Dispute of ${renderEuros(amountEuros)} to ${renderText(merchant, 80)}`,
    ),
    requester: renderSpender(request, agentId),
    why: html`${valueText(reason)}, ${pieces}`,
    purpose: description,
    facts: () =>
      factsLine([
        ['Reason', valueText(reason)],
        ['Evidence', evidenceIds.length === 0 ? noneText : pieces],
      ]),
    decide: html`<div class="decide">${answer && html`<a class="button main" href="${request.to(answer)}">Add evidence</a>`}</div>`,
  }
}

/** A machine payment that the issuer of the card wants a person to confirm. */
function credentialItem(credential: CredentialItem, request: PageRequest): InboxItem {
  const { id, agentId, merchant, amountEuros, nextAction, status, createdAt, dueAt } = credential
  const why = 'The card’s issuer wants a person to confirm this payment.'
  return {
    id,
    kind: 'confirmations',
    createdAt,
    due: dueAt,
    atDeadline: status === 'minted' ? 'is cancelled' : 'counts as not paid',
    title: renderRecordLink(request, id, html`${renderEuros(amountEuros)} to ${renderText(merchant, 80)}`),
    requester: renderSpender(request, agentId),
    why,
    purpose: null,
    facts: () =>
      html`<p class="why">${why}${status === 'minted' && ' Then the agent repeats its request.'}</p>`,
    decide: html`<div class="decide">${nextAction && html`<a class="button main" href="${nextAction.url}">Confirm the payment</a>`}</div>`,
  }
}

export function missingReceiptItem(missing: MissingReceiptItem, request: PageRequest): InboxItem {
  const { id, agentId, merchant, amountEuros, createdAt, type } = missing
  return {
    id,
    kind: 'receipts',
    createdAt,
    due: null,
    atDeadline: '',
    title: renderRecordLink(request, id, html`${renderEuros(amountEuros)} to ${renderText(merchant, 80)}`),
    requester: renderSpender(request, agentId),
    why: 'No receipt',
    purpose: null,
    facts: () =>
      html`<p class="why">${type === 'mpp' ? 'The merchant signed a receipt of the payment, but there is no invoice yet.' : 'No receipt yet.'}</p>`,
    decide: renderReceiptForm(missing, request),
  }
}

export const renderDeadline = ({ due, atDeadline }: Pick<InboxItem, 'due' | 'atDeadline'>): HtmlContent =>
  due !== null && html`${atDeadline} ${renderTime(due, 'in a sentence')}`

export const renderInboxItem = (item: InboxItem): Html => {
  const { id, kind, title, requester, purpose, facts, details, decide, createdAt, due } = item
  return html`<article class="ask" data-item data-key="${id}" tabindex="-1" aria-labelledby="${id}-title">
<p class="kind">${kindNames[kind]} · ${requester} · ${kind === 'receipts' ? 'paid' : 'requested'} ${renderTime(createdAt, 'in a sentence')}${due !== null && html`, ${renderDeadline(item)}`}</p>
<h2 id="${id}-title">${title}${purpose !== null && html` <span class="purpose">${renderText(purpose, 400)}</span>`}</h2>
<div class="facts">${facts()}</div>
${details && html`<details class="more"><summary>Limits</summary>${details()}</details>`}
${decide}
</article>`
}

const factsLine = (entries: readonly (readonly [name: string, value: HtmlContent])[]): Html =>
  html`<ul class="left">${entries.map(([name, value]) => value !== noneText && html`<li>${name} <strong>${value}</strong></li>`)}</ul>`

const kindNames: Readonly<Record<InboxKind, string>> = {
  payments: 'Payment',
  cards: 'Card request',
  changes: 'Change',
  payees: 'Payee to confirm',
  confirmations: 'Payment to confirm',
  proposals: 'Proposal',
  disputes: 'Dispute',
  receipts: 'Missing receipt',
}
