import { cardRequestsApi } from '../../../../cards/card-requests/index.ts'
import { transfersApi } from '../../../../commerce/transfers/index.ts'
import { intentsApi } from '../../../../control/intents/index.ts'
import { type Html, html } from '../../../../web/html.ts'
import type { PageRequest } from '../../page.ts'
import { renderOperationForm } from '../../parts/form.ts'
import { renderRecordLink } from '../../parts/links.ts'
import { renderFacts } from '../../parts/table.ts'
import { humanize, noneText, renderEuros, renderText, renderTime } from '../../parts/text.ts'
import { type IntentCheck, renderFailingChecks, renderRemainingLimits, renderReviewRules } from './checks.ts'
import type { CardRequestItem, IntentItem, TransferItem } from './waiting.ts'

export function renderWaitingIntent(
  intent: IntentItem,
  now: readonly IntentCheck[] | undefined,
  request: PageRequest,
): Html {
  const { id, amountEuros, merchant, purpose, decision, runId } = intent
  return html`<article class="ask" data-key="${id}">
<h3>${renderEuros(amountEuros)} to ${renderRecordLink(request, id, renderText(merchant, 80))}</h3>
<p class="why">${renderText(purpose, 400)}</p>
${renderReviewRules(intent, request)}${now && renderFailingChecks(now)}
<p class="times">Requested ${renderTime(intent.createdAt)}, expires ${renderTime(intent.expiresAt)}${runId !== null && html`, in run ${renderRecordLink(request, runId)}`}</p>
<details class="more"><summary>${now ? 'Remaining limits, at request and now' : 'Remaining limits at request'}</summary>${renderRemainingLimits(decision, request, now)}</details>
${renderIntentDecisionForm(intent, request)}
</article>`
}

export const REFRESH_AFTER_DECISION = 'part:waiting,decided'

/**
 * Approving needs a passkey, and denying needs a reason. The page for phones shows the same intent with its
 * present limits.
 */
export function renderIntentDecisionForm(
  { id }: Pick<IntentItem, 'id'>,
  request: PageRequest,
  done = REFRESH_AFTER_DECISION,
): Html {
  const params = { id }
  const approve = renderOperationForm(request, intentsApi.approve, {
    params,
    submit: 'Approve with passkey',
    tone: 'main',
    done,
    success: 'Approved. Your signature is stored as proof.',
  })
  const deny = renderOperationForm(request, intentsApi.deny, {
    params,
    members: ['reason'],
    submit: 'Deny',
    tone: 'against',
    done,
    success: 'Denied.',
    fold: true,
  })
  return html`<div class="decide">${approve}${deny}<a class="apart" href="${request.to(`approve/${id}`)}">Open approval page</a></div>`
}

type Limits = CardRequestItem['limits']

const kinds = { new_card: 'New card', limit_change: 'Limit change' } as const

export function renderWaitingCardRequest(asked: CardRequestItem, request: PageRequest): Html {
  const { id, agentId, type, cardId, displayName, limits, reason, createdAt, expiresAt } = asked
  return html`<article class="ask" data-key="${id}">
<h3>${renderRecordLink(request, id, kinds[type])} for ${renderRecordLink(request, agentId)}</h3>
<p class="why">${renderText(reason, 400)}</p>
${renderFacts([
  ...(cardId === null ? [] : [['Card', renderRecordLink(request, cardId)] as const]),
  ...(displayName === null ? [] : [['Name', renderText(displayName, 80)] as const]),
  ...limitFacts(limits),
])}
<p class="times">Requested ${renderTime(createdAt)}, expires ${renderTime(expiresAt)}</p>
${renderCardRequestForm(asked, request)}
</article>`
}

const limitFacts = (limits: Limits): readonly (readonly [string, Html])[] => [
  ['Per payment', limitOf(limits.maxTransactionEuros)],
  ['Per day', limitOf(limits.dailyLimitEuros)],
  ['Per month', limitOf(limits.monthlyLimitEuros)],
]

const limitOf = (limit: number | null): Html => (limit === null ? noneText : renderEuros(limit))

const limitLabels = {
  'limits.maxTransactionEuros': 'Limit per payment',
  'limits.dailyLimitEuros': 'Daily limit',
  'limits.monthlyLimitEuros': 'Monthly limit',
}

export function renderCardRequestForm(
  { id, limits }: CardRequestItem,
  request: PageRequest,
  done = REFRESH_AFTER_DECISION,
): Html {
  const params = { id }
  const approve = renderOperationForm(request, cardRequestsApi.approve, {
    params,
    members: [...Object.keys(limitLabels), 'comment'],
    values: Object.fromEntries(Object.entries(limits).map(([name, limit]) => [`limits.${name}`, limit])),
    labels: limitLabels,
    submit: 'Approve',
    tone: 'main',
    done,
    success: 'Approved.',
    fold: true,
  })
  const deny = renderOperationForm(request, cardRequestsApi.deny, {
    params,
    members: ['reason'],
    submit: 'Deny',
    tone: 'against',
    done,
    success: 'Denied.',
    fold: true,
  })
  return html`<div class="decide">${approve}${deny}</div>`
}

/** A transfer whose payee has another name at the bank. */
export function renderWaitingPayee(
  transfer: TransferItem,
  names: ReadonlyMap<string, string>,
  request: PageRequest,
): Html {
  const { id, amountEuros, beneficiaryId, payeeCheck, reference, agentId, createdAt, status } = transfer
  const otherwise =
    status === 'verifying'
      ? 'Without a decision it is cancelled after seven days.'
      : 'The bank has the order: release or cancel it there as well.'
  const name = names.get(beneficiaryId ?? '')
  const suggested = payeeCheck?.suggestedName ?? null
  return html`<article class="ask" data-key="${id}">
<h3>${renderRecordLink(request, id, html`${renderEuros(amountEuros)} by SEPA`)} to ${renderRecordLink(request, beneficiaryId, name === undefined ? undefined : renderText(name, 80))}</h3>
<p class="why">Payee check: <strong>${humanize(payeeCheck?.result ?? '')}</strong>${suggested !== null && html`; the bank suggests <strong>${renderText(suggested, 140)}</strong>`}.</p>
${renderFacts([
  ...(agentId === null ? [] : [['Agent', renderRecordLink(request, agentId)] as const]),
  ['Reference', renderText(reference, 140)],
])}
<p class="times">Requested ${renderTime(createdAt)}. ${otherwise}</p>
${answerPayee(transfer, request)}
</article>`
}

function answerPayee({ id, status }: TransferItem, request: PageRequest): Html {
  const params = { id }
  const confirm = renderOperationForm(request, transfersApi.confirmPayee, {
    params,
    members: ['comment'],
    submit: 'Pay anyway',
    tone: 'main',
    done: REFRESH_AFTER_DECISION,
    success: 'Confirmed. The payment continues.',
    fold: true,
  })
  const cancel = renderOperationForm(request, transfersApi.cancel, {
    params,
    members: ['comment'],
    submit: 'Cancel payment',
    tone: 'against',
    done: REFRESH_AFTER_DECISION,
    success: 'Cancelled. The money is available again.',
    fold: true,
  })
  return html`<div class="decide">${confirm}${status === 'verifying' && cancel}</div>`
}
