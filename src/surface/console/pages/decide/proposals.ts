import { type Html, html } from '../../../../web/html.ts'
import { proposalsApi } from '../../../proposals/index.ts'
import type { AnswerOf, PageRequest } from '../../page.ts'
import { operationForm } from '../../parts/form.ts'
import { recordLink } from '../../parts/links.ts'
import { section } from '../../parts/section.ts'
import { box, table } from '../../parts/table.ts'
import { none, text, time } from '../../parts/text.ts'
import { DECIDED } from './decision-forms.ts'

export type Proposal = AnswerOf<typeof proposalsApi.get>

export const proposals = section({
  kind: 'Proposal',
  lead: 'Changes that assistants and agents propose. Apply each within 15 minutes.',
  list: proposalsApi.list,
  get: proposalsApi.get,
  name: ({ summary }) => summary,
  columns: ['status', { 'Requested by': proposerOf }, 'expiresAt', 'createdAt'],
  labels: { recordId: 'Record', resultId: 'Result', operation: 'Operation' },
  shows: {
    'Requested by': proposerOf,
    decidedAt: ({ decidedAt, decidedBy }) =>
      decidedAt !== null && html`${time(decidedAt)} by ${text(decidedBy?.name ?? decidedBy?.type, 60)}`,
  },
  hidden: [
    'agentId',
    'proposedBy',
    'summary',
    'reason',
    'refusal',
    'changes',
    'effect',
    'input',
    'decidedBy',
  ],
  events: ['canvas.proposal_*'],
  empty: 'No proposals yet. Assistants connected with your key create them.',
  note: (proposal, request) => {
    const { reason, refusal, status } = proposal
    return html`${reason !== null && html`<p class="why">${text(reason, 1_000)}</p>`}
${refusal !== null && html`<p class="lead">The last attempt to apply it was refused: ${text(refusal.message, 400)}</p>`}
${consequences(proposal, request)}
${status === 'open' && decideProposal(proposal, request)}`
  },
  boxes: ({ input }) => box('Input', html`<pre>${jsonOf(input)}</pre>`),
})

function proposerOf({ agentId, proposedBy }: Proposal, request: PageRequest): Html {
  if (agentId !== null) return recordLink(request, agentId)
  return proposedBy.name === null ? recordLink(request, proposedBy.id) : text(proposedBy.name, 60)
}

export function waitingProposal(proposal: Proposal, request: PageRequest): Html {
  const { id, summary, reason, createdAt, expiresAt } = proposal
  return html`<article class="ask" data-key="${id}">
<h3>${recordLink(request, id, text(summary))}, requested by ${proposerOf(proposal, request)}</h3>
${reason !== null && html`<p class="why">${text(reason, 400)}</p>`}
${consequences(proposal, request)}
<p class="times">Requested ${time(createdAt)}, expires ${time(expiresAt)}</p>
${decideProposal(proposal, request, DECIDED)}
</article>`
}

function consequences({ changes, effect }: Proposal, request: PageRequest): Html {
  const differences = table(request, 'Changes', changes, {
    Field: ({ member }) => html`<code>${member}</code>`,
    Now: ({ from }) => text(from, 400),
    After: ({ to }) => (to === null ? none : html`<strong>${text(to, 400)}</strong>`),
  })
  return html`${changes.length > 0 && differences}${effect !== null && html`<p>${text(effect.sentence, 400)}</p>`}`
}

function decideProposal(proposal: Proposal, request: PageRequest, done?: string): Html {
  const { id, operation, input } = proposal
  const signature = request.ports.tools.signatureOf(operation)
  const apply = operationForm(request, proposalsApi.apply, {
    params: { id },
    submit: signature?.always ? 'Apply with passkey' : 'Apply',
    tone: 'main',
    success: 'Applied.',
    ...(done && { done }),
    ...(signature && { signs: { signature, members: input } }),
  })
  const dismiss = operationForm(request, proposalsApi.dismiss, {
    params: { id },
    submit: 'Dismiss',
    tone: 'against',
    success: 'Dismissed.',
    ...(done && { done }),
  })
  return html`<div class="decide">${apply}${dismiss}</div>`
}

/** As JSON with invisible characters escaped, since those could change the direction of the text. */
const jsonOf = (input: Proposal['input']): string =>
  JSON.stringify(input, null, 2).replace(/\p{Cf}/gu, sign => `\\u{${sign.codePointAt(0)?.toString(16)}}`)
