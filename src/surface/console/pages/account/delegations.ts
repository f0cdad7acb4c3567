import { delegationsApi } from '../../../../control/delegations/index.ts'
import { type Html, html } from '../../../../web/html.ts'
import { consoleSection } from '../../parts/section.ts'
import { renderUsage, sumEuros } from '../../parts/text.ts'

export const delegationsSection = consoleSection({
  kind: 'Delegation',
  lead: 'Parts of an agent’s budget that other programs use by a code.',
  list: delegationsApi.list,
  get: delegationsApi.get,
  name: ({ label }) => label ?? '',
  columns: ['agentId', 'status', 'spentEuros', 'remainingEuros', 'expiresAt'],
  labels: {
    spentEuros: 'Used',
    remainingEuros: 'Left',
    maxAmountEuros: 'Budget',
    merchant: 'Merchant',
    parentDelegationId: 'Parent',
    hint: 'Code ends with',
  },
  shows: {
    spentEuros: ({ heldEuros, spentEuros, maxAmountEuros }) =>
      renderUsage(sumEuros([heldEuros, spentEuros]), maxAmountEuros),
    hint: ({ hint }) => html`<code>${hint}</code>`,
  },
  hidden: ['label'],
  events: ['delegation.*', 'intent.*', 'transaction.*'],
  create: {
    operation: delegationsApi.create,
    members: ['agentId', 'maxAmountEuros', 'expiresInMinutes', 'merchant', 'label'],
    labels: { expiresInMinutes: 'Expires after (minutes)' },
    done: 'reload',
  },
  actions: [
    {
      operation: delegationsApi.revoke,
      when: ({ status }) => status !== 'revoked' && status !== 'expired',
      members: [],
      tone: 'against',
      confirm:
        'Revoke this delegation and all below it? Their tokens stop working, and their open intents are cancelled.',
      inRow: true,
    },
  ],
  below: ({ id }, request): Promise<Html> =>
    delegationsSection.related(
      { title: 'Child delegations', query: { parentDelegationId: id }, limit: 50 },
      request,
    ),
})
