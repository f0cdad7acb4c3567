import { approvalApi, inquiryApi, intentsApi } from '../../../../control/intents/index.ts'
import { Refused } from '../../../../kernel/contract/problem.ts'
import { type Html, html } from '../../../../web/html.ts'
import type { AnswerOf, ItemOf, PageRequest } from '../../page.ts'
import { operationForm } from '../../parts/form.ts'
import { copyable, recordLink, runLink } from '../../parts/links.ts'
import { listPage } from '../../parts/list.ts'
import { recordPage } from '../../parts/record-page.ts'
import { box, facts, table } from '../../parts/table.ts'
import { euros, none, status, text, time, words } from '../../parts/text.ts'
import { evidenceOf } from '../money/evidence.ts'
import { askingRules, limitsLeft, rulesTable } from './checks.ts'
import { decideIntent, known } from './decision-forms.ts'

type Intent = AnswerOf<typeof intentsApi.get>

export const intentsPage = listPage({
  title: 'Intents',
  lead: 'What agents want to spend, before they spend it.',
  operation: intentsApi.list,
  filters: ['status', 'agentId', 'merchant', 'runId', 'clientIntentId', 'from', 'to'],
  labels: { merchant: 'Merchant, in full', runId: 'Run', clientIntentId: 'Your own id' },
  names: ['agents'],
  events: ['intent.*'],
  empty: {
    words: 'No agent has declared an intent yet.',
    command:
      'agentpay intents create --agent-id agent_… --merchant Bookshop --amount-euros 25 --purpose "A paper on caching"',
  },
  columns: {
    To: ({ id, merchant }, request) => recordLink(request, id, text(merchant, 60)),
    Amount: 'amountEuros',
    State: 'status',
    Agent: 'agentId',
    'What for': 'purpose',
    'Decided by': ({ decidedBy }) => decider(decidedBy),
    Asked: 'createdAt',
  },
})

function decider(decidedBy: Intent['decidedBy']): Html {
  if (!decidedBy) return none
  const { type, name } = decidedBy
  return name === null ? html`${words(type)}` : text(name, 60)
}

export const intentPage = recordPage({
  kind: 'Intent',
  operation: intentsApi.get,
  events: ['intent.*', 'transaction.*', 'payment.updated', 'transfer.*', 'verification.mismatch'],
  name: ({ amountEuros, merchant }) => html`${euros(amountEuros)} to ${text(merchant, 80)}`,
  title: ({ merchant }) => `Intent: ${merchant}`,
  body: shown,
})

async function shown(intent: Intent, request: PageRequest): Promise<Html> {
  const { ask, may, id } = request
  const params = { id }
  const [explanation, timeline, proof, evidence] = await Promise.all([
    ask(inquiryApi.explanation, { params }),
    ask(intentsApi.timeline, { params, query: { limit: 100 } }),
    proofOf(request),
    evidenceOf(id, request),
  ])
  const isOpen = intent.status === 'created' || intent.status === 'approved'
  const cancel =
    isOpen &&
    may(intentsApi.cancel) &&
    operationForm(request, intentsApi.cancel, {
      params,
      members: ['comment'],
      submit: 'Cancel',
      tone: 'against',
      success: 'Cancelled.',
      fold: true,
    })
  return html`<p class="why">${text(intent.purpose, 1_000)}</p>
<div class="actions">${intent.status === 'created' && decideIntent(intent, request, 'reload')}${cancel}</div>
<div class="boxes">
${about(intent, request)}
${payment(intent, request)}
</div>
${box(
  'Why',
  html`<p class="lead">${text(explanation.summary, 500)}</p>`,
  askingRules(intent, request),
  explanation.policy !== null &&
    html`<p>By policy ${recordLink(request, explanation.policy.policyId)}, version ${explanation.policy.version}. ${explanation.note ?? ''}</p>`,
  html`<details class="more"><summary>Every rule</summary>${rulesTable(explanation.rules, request)}</details>
<details class="more"><summary>What every limit left</summary>${limitsLeft(intent.decision, request)}</details>`,
)}
${proof}
${evidence}
${box('Timeline', timelineOf(timeline.data, request))}`
}

function about(intent: Intent, request: PageRequest): Html {
  const { decidedBy, decidedAt, comment, possibleDuplicateOf } = intent
  const { riskScore } = intent.decision
  return box(
    'The intent',
    facts([
      ['Agent', recordLink(request, intent.agentId)],
      ...known('Run', intent.runId, () => recordLink(request, intent.runId)),
      ...known('Delegation', intent.delegationId, () => recordLink(request, intent.delegationId)),
      ...known('Card', intent.cardId, () => recordLink(request, intent.cardId)),
      ['Asked', time(intent.createdAt)],
      ['Waits until', time(intent.expiresAt)],
      ...known('Decided', decidedAt, () => html`${time(decidedAt)} by ${decider(decidedBy)}`),
      ...known('Said', comment, () => text(comment, 500)),
      ...known('Like another', possibleDuplicateOf, () => recordLink(request, possibleDuplicateOf)),
      ...known('Risk', riskScore, () => html`${riskScore ?? 0} of 100`),
      ['Process', runLink(request, intent.workflowId)],
    ]),
  )
}

function payment(intent: Intent, request: PageRequest): Html {
  const { payment: paid, transactionId, beneficiaryId, walletId, requestId } = intent
  const payee = beneficiaryId ?? walletId ?? requestId
  return box(
    'Payment',
    facts([
      ['To', payee === null ? text(intent.merchant, 80) : recordLink(request, payee)],
      ['State', paid ? status(paid.status) : html`<span class="none">not paid</span>`],
      ...(paid ? [['By', recordLink(request, paid.id)] as const] : []),
      ...(paid?.reason ? [['Because', text(paid.reason.message, 300)] as const] : []),
      ...known('Transaction', transactionId, () => recordLink(request, transactionId)),
    ]),
  )
}

/** The proof of an approval by passkey; nothing where no person has signed. */
async function proofOf({ ask, id, to }: PageRequest): Promise<Html> {
  try {
    const { approvedAt, keptUntil } = await ask(approvalApi.approval, { params: { id } })
    return box(
      'Proof of the approval',
      html`<p>A person signed it with a passkey, ${time(approvedAt)}. It can be checked without this service, and is kept until ${keptUntil}.</p>
<p><a href="${to(`intents/${encodeURIComponent(id)}/approval`)}">The proof</a> ${copyable(`agentpay intents approval ${id}`)}</p>`,
    )
  } catch (error) {
    if (error instanceof Refused && error.refusal.status === 404) return html``
    throw error
  }
}

type Entry = ItemOf<typeof intentsApi.timeline>

export const timelineOf = (entries: readonly Entry[], request: PageRequest): Html =>
  table(request, 'Timeline', entries, {
    When: 'at',
    What: ({ event }) => words(event.replace('.', ' ')),
    About: ({ resourceId }) => recordLink(request, resourceId),
    Said: ({ reason }) => text(reason, 200),
    By: ({ personId, actorId, actorType }) =>
      html`<span>${words(actorType)} ${recordLink(request, personId ?? actorId)}</span>`,
    Request: ({ requestId }) =>
      html`<a href="${request.to(`console/causes/${encodeURIComponent(requestId)}`)}">what it caused</a>`,
  })
