import { cardRequestsApi } from '../../../../cards/card-requests/index.ts'
import { transfersApi } from '../../../../commerce/transfers/index.ts'
import { intentsApi } from '../../../../control/intents/index.ts'
import { type Html, html } from '../../../../web/html.ts'
import type { PageRequest } from '../../page.ts'
import { operationForm } from '../../parts/form.ts'
import { recordLink } from '../../parts/links.ts'
import { facts } from '../../parts/table.ts'
import { euros, none, text, time, words } from '../../parts/text.ts'
import { type Check, failingNow, limitsLeft, reviewRules } from './checks.ts'
import type { CardRequest, Intent, Transfer } from './waiting.ts'

export function waitingIntent(intent: Intent, now: readonly Check[] | undefined, request: PageRequest): Html {
  const { id, amountEuros, merchant, purpose, decision, runId } = intent
  return html`<article class="ask" data-key="${id}">
<h3>${euros(amountEuros)} to ${recordLink(request, id, text(merchant, 80))}</h3>
<p class="why">${text(purpose, 400)}</p>
${reviewRules(intent, request)}${now && failingNow(now)}
<p class="times">Requested ${time(intent.createdAt)}, expires ${time(intent.expiresAt)}${runId !== null && html`, in run ${recordLink(request, runId)}`}</p>
<details class="more"><summary>${now ? 'Remaining limits, at request and now' : 'Remaining limits at request'}</summary>${limitsLeft(decision, request, now)}</details>
${decideIntent(intent, request)}
</article>`
}

export const DECIDED = 'part:waiting,decided'

/**
 * Approving needs a passkey, and denying needs a reason. The page for phones shows the same intent with its
 * present limits.
 */
export function decideIntent({ id }: Pick<Intent, 'id'>, request: PageRequest, done = DECIDED): Html {
  const params = { id }
  const approve = operationForm(request, intentsApi.approve, {
    params,
    submit: 'Approve with passkey',
    tone: 'main',
    done,
    success: 'Approved. Your signature is stored as proof.',
  })
  const deny = operationForm(request, intentsApi.deny, {
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

type Limits = CardRequest['limits']

const kinds = { new_card: 'New card', limit_change: 'Limit change' } as const

export function waitingCardRequest(asked: CardRequest, request: PageRequest): Html {
  const { id, agentId, type, cardId, displayName, limits, reason, createdAt, expiresAt } = asked
  return html`<article class="ask" data-key="${id}">
<h3>${recordLink(request, id, kinds[type])} for ${recordLink(request, agentId)}</h3>
<p class="why">${text(reason, 400)}</p>
${facts([
  ...(cardId === null ? [] : [['Card', recordLink(request, cardId)] as const]),
  ...(displayName === null ? [] : [['Name', text(displayName, 80)] as const]),
  ...limitFacts(limits),
])}
<p class="times">Requested ${time(createdAt)}, expires ${time(expiresAt)}</p>
${answerCardRequest(asked, request)}
</article>`
}

const limitFacts = (limits: Limits): readonly (readonly [string, Html])[] => [
  ['Per payment', limitOf(limits.maxTransactionEuros)],
  ['Per day', limitOf(limits.dailyLimitEuros)],
  ['Per month', limitOf(limits.monthlyLimitEuros)],
]

const limitOf = (limit: number | null): Html => (limit === null ? none : euros(limit))

const limitLabels = {
  'limits.maxTransactionEuros': 'Limit per payment',
  'limits.dailyLimitEuros': 'Daily limit',
  'limits.monthlyLimitEuros': 'Monthly limit',
}

export function answerCardRequest({ id, limits }: CardRequest, request: PageRequest, done = DECIDED): Html {
  const params = { id }
  const approve = operationForm(request, cardRequestsApi.approve, {
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
  const deny = operationForm(request, cardRequestsApi.deny, {
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
export function waitingPayee(
  transfer: Transfer,
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
<h3>${recordLink(request, id, html`${euros(amountEuros)} by SEPA`)} to ${recordLink(request, beneficiaryId, name === undefined ? undefined : text(name, 80))}</h3>
<p class="why">Payee check: <strong>${words(payeeCheck?.result ?? '')}</strong>${suggested !== null && html`; the bank suggests <strong>${text(suggested, 140)}</strong>`}.</p>
${facts([
  ...(agentId === null ? [] : [['Agent', recordLink(request, agentId)] as const]),
  ['Reference', text(reference, 140)],
])}
<p class="times">Requested ${time(createdAt)}. ${otherwise}</p>
${answerPayee(transfer, request)}
</article>`
}

function answerPayee({ id, status }: Transfer, request: PageRequest): Html {
  const params = { id }
  const confirm = operationForm(request, transfersApi.confirmPayee, {
    params,
    members: ['comment'],
    submit: 'Pay anyway',
    tone: 'main',
    done: DECIDED,
    success: 'Confirmed. The payment continues.',
    fold: true,
  })
  const cancel = operationForm(request, transfersApi.cancel, {
    params,
    members: ['comment'],
    submit: 'Cancel payment',
    tone: 'against',
    done: DECIDED,
    success: 'Cancelled. The money is available again.',
    fold: true,
  })
  return html`<div class="decide">${confirm}${status === 'verifying' && cancel}</div>`
}
