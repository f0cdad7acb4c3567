import { cardRequestsApi } from '../../../../cards/card-requests/index.ts'
import { receiptsApi } from '../../../../commerce/receipts/index.ts'
import { transfersApi } from '../../../../commerce/transfers/index.ts'
import { intentsApi } from '../../../../control/intents/index.ts'
import { type Html, html } from '../../../../web/html.ts'
import type { PageRequest } from '../../page.ts'
import { renderOperationForm } from '../../parts/form.ts'
import { NOT_ASKED, RECORDED, renderNotAsked, whyNotAsked } from './approval-steps.ts'
import { approvalBlockers, type IntentCheck, renderApprovalBlockers } from './checks.ts'
import type { CardRequestItem, IntentItem, MissingReceiptItem, TransferItem } from './waiting.ts'

export const REFRESH_AFTER_DECISION = 'part:waiting,decided'

/**
 * Approving needs a passkey, and denying needs a reason. The page for phones shows the same intent with its
 * present limits.
 */
export function renderIntentDecisionForm(
  intent: Pick<IntentItem, 'id' | 'agentId' | 'approval'>,
  request: PageRequest,
  {
    now = [],
    done = REFRESH_AFTER_DECISION,
  }: { now?: readonly IntentCheck[] | undefined; done?: string } = {},
): Html {
  const params = { id: intent.id }
  const mayApprove = request.may(intentsApi.approve)
  const blockers = mayApprove ? approvalBlockers(now) : []
  const notAsked = mayApprove ? whyNotAsked(intent, request) : undefined
  const approve = renderOperationForm(request, intentsApi.approve, {
    params,
    submit: 'Approve with passkey',
    tone: 'main',
    done,
    success: 'Approved. Your signature is stored as proof.',
    successByStatus: { created: RECORDED },
  })
  const deny = renderOperationForm(request, intentsApi.deny, {
    params,
    members: ['reason'],
    submit: 'Deny',
    tone: 'against',
    done,
    success: 'Denied.',
    inDialog: true,
  })
  const asDeputy =
    notAsked === NOT_ASKED &&
    html` Are you a deputy? <a href="${request.to(`approve/${intent.id}`)}">Approve there</a>`
  return blockers.length > 0
    ? html`${renderApprovalBlockers(blockers, intent, request)}<div class="decide">${deny}</div>`
    : html`<div class="decide">${notAsked === undefined ? approve : html`<p class="unasked">${notAsked}${asDeputy}</p>`}${deny}</div>`
}

const limitLabels = {
  'limits.maxTransactionEuros': 'Limit per payment',
  'limits.dailyLimitEuros': 'Daily limit',
  'limits.monthlyLimitEuros': 'Monthly limit',
}

export function renderCardRequestForm(
  asked: CardRequestItem,
  request: PageRequest,
  done = REFRESH_AFTER_DECISION,
): Html {
  const params = { id: asked.id }
  // The next people approve the limits of the first.
  const limits = Object.entries(asked.approvedLimits ?? asked.limits)
  const notAsked = request.may(cardRequestsApi.approve) ? whyNotAsked(asked, request) : undefined
  const approveAs = (submit: string) =>
    renderOperationForm(request, cardRequestsApi.approve, {
      params,
      members: [...Object.keys(limitLabels), 'comment'],
      values: Object.fromEntries(limits.map(([name, limit]) => [`limits.${name}`, limit])),
      labels: limitLabels,
      submit,
      tone: 'main',
      done,
      success: 'Approved.',
      successByStatus: { pending: RECORDED },
      inDialog: true,
    })
  const deny = renderOperationForm(request, cardRequestsApi.deny, {
    params,
    members: ['reason'],
    submit: 'Deny',
    tone: 'against',
    done,
    success: 'Denied.',
    inDialog: true,
  })
  return html`<div class="decide">${notAsked === undefined ? approveAs('Approve') : renderNotAsked(notAsked, approveAs)}${deny}</div>`
}

export function renderPayeeForm({ id, status }: TransferItem, request: PageRequest): Html {
  const params = { id }
  const confirm = renderOperationForm(request, transfersApi.confirmPayee, {
    params,
    members: ['comment'],
    submit: 'Pay anyway',
    tone: 'main',
    done: REFRESH_AFTER_DECISION,
    success: 'Confirmed. The payment continues.',
    inDialog: true,
  })
  const cancel = renderOperationForm(request, transfersApi.cancel, {
    params,
    members: ['comment'],
    submit: 'Cancel payment',
    tone: 'against',
    done: REFRESH_AFTER_DECISION,
    success: 'Cancelled. The money is available again.',
    inDialog: true,
  })
  return html`<div class="decide">${confirm}${status === 'verifying' && cancel}</div>`
}

export const renderReceiptForm = (
  { id }: Pick<MissingReceiptItem, 'id'>,
  request: PageRequest,
  done = REFRESH_AFTER_DECISION,
): Html =>
  html`<div class="decide">${renderOperationForm(request, receiptsApi.create, {
    given: { transactionId: id },
    variant: id,
    members: ['file'],
    labels: { file: 'PDF or picture' },
    submit: 'Add receipt',
    done,
    success: 'Added.',
    inDialog: true,
  })}</div>`
