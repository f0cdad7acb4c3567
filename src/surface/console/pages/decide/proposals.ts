import { isHeldOperation } from '../../../../identity/approvals/index.ts'
import { type Html, html } from '../../../../web/html.ts'
import { proposalsApi } from '../../../proposals/index.ts'
import type { OperationAnswer, PageRequest } from '../../page.ts'
import { renderOperationForm } from '../../parts/form.ts'
import { renderRecordLink } from '../../parts/links.ts'
import { consoleSection } from '../../parts/section.ts'
import { renderBox, renderTable } from '../../parts/table.ts'
import { noneText, renderText, renderTime } from '../../parts/text.ts'
import { REFRESH_AFTER_DECISION } from './decision-forms.ts'

type ProposalDetail = OperationAnswer<typeof proposalsApi.get>

export const proposalsSection = consoleSection({
  kind: 'Proposal',
  lead: 'Changes that assistants and agents propose. Apply each within 15 minutes.',
  list: proposalsApi.list,
  get: proposalsApi.get,
  name: ({ summary }) => summary,
  columns: ['status', { 'Requested by': renderProposer }, 'expiresAt', 'createdAt'],
  labels: { recordId: 'Record', resultId: 'Result', operation: 'Operation' },
  shows: {
    'Requested by': renderProposer,
    decidedAt: ({ decidedAt, decidedBy }) =>
      decidedAt !== null &&
      html`${renderTime(decidedAt)} by ${renderText(decidedBy?.name ?? decidedBy?.type, 60)}`,
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
    return html`${reason !== null && html`<p class="why">${renderText(reason, 1_000)}</p>`}
${refusal !== null && html`<p class="lead">The last attempt to apply it was refused: ${renderText(refusal.message, 400)}</p>`}
${renderProposalConsequences(proposal, request)}
${status === 'open' && renderProposalForm(proposal, request, 'reload')}`
  },
  boxes: ({ input }) => renderBox('Input', html`<pre>${jsonOf(input)}</pre>`),
})

export function renderProposer({ agentId, proposedBy }: ProposalDetail, request: PageRequest): Html {
  if (agentId !== null) return renderRecordLink(request, agentId)
  return proposedBy.name === null ? renderRecordLink(request, proposedBy.id) : renderText(proposedBy.name, 60)
}

export function renderProposalConsequences({ changes, effect }: ProposalDetail, request: PageRequest): Html {
  const differences = renderTable(request, 'Changes', changes, {
    Field: ({ member }) => html`<code>${member}</code>`,
    Now: ({ from }) => renderText(from, 400),
    After: ({ to }) => (to === null ? noneText : html`<strong>${renderText(to, 400)}</strong>`),
  })
  return html`${changes.length > 0 && differences}${effect !== null && html`<p>${renderText(effect.sentence, 400)}</p>`}`
}

export function renderProposalForm(
  proposal: ProposalDetail,
  request: PageRequest,
  done = REFRESH_AFTER_DECISION,
): Html {
  const { id, operation, input } = proposal
  const signature = request.service.tools.signatureOf(operation)
  const apply = renderOperationForm(request, proposalsApi.apply, {
    params: { id },
    submit: signature?.always ? 'Apply with passkey' : 'Apply',
    tone: 'main',
    success: isHeldOperation(operation)
      ? 'Applied. If several people decide about it, it waits in the inbox.'
      : 'Applied.',
    done,
    ...(signature && { signs: { signature, members: input } }),
  })
  const dismiss = renderOperationForm(request, proposalsApi.dismiss, {
    params: { id },
    submit: 'Dismiss',
    tone: 'against',
    success: 'Dismissed.',
    done,
  })
  return html`<div class="decide">${apply}${dismiss}</div>`
}

/** As JSON with invisible characters escaped, since those could change the direction of the text. */
const jsonOf = (input: ProposalDetail['input']): string =>
  JSON.stringify(input, null, 2).replace(/\p{Cf}/gu, sign => `\\u{${sign.codePointAt(0)?.toString(16)}}`)
