import { delegationsApi } from '../../../../control/delegations/index.ts'
import { type Html, html } from '../../../../web/html.ts'
import { section } from '../../parts/section.ts'
import { usage } from '../../parts/text.ts'

export const delegations = section({
  kind: 'Delegation',
  lead: 'Parts of an agent’s budget, passed on by a code, and what is left of each.',
  list: delegationsApi.list,
  get: delegationsApi.get,
  name: ({ label }) => label ?? '',
  columns: ['agentId', 'status', 'spentEuros', 'remainingEuros', 'expiresAt'],
  labels: {
    spentEuros: 'Used',
    remainingEuros: 'Left',
    maxAmountEuros: 'At most',
    merchant: 'Only at',
    parentDelegationId: 'Below',
    hint: 'Code ends with',
  },
  shows: {
    spentEuros: ({ heldEuros, spentEuros, maxAmountEuros }) => usage(heldEuros + spentEuros, maxAmountEuros),
    hint: ({ hint }) => html`<code>${hint}</code>`,
  },
  hidden: ['label'],
  events: ['delegation.*', 'intent.*', 'transaction.*'],
  create: {
    operation: delegationsApi.create,
    members: ['agentId', 'maxAmountEuros', 'expiresInMinutes', 'merchant', 'label'],
    labels: { expiresInMinutes: 'Minutes until it ends' },
    done: 'reload',
  },
  actions: [
    {
      operation: delegationsApi.revoke,
      when: ({ status }) => status !== 'revoked' && status !== 'expired',
      members: [],
      tone: 'against',
      confirm: 'Revoke it and all below it? Their tokens stop working, and their open intents are cancelled.',
      inRow: true,
    },
  ],
  below: ({ id }, request): Promise<Html> =>
    delegations.related(
      { title: 'Delegations below it', query: { parentDelegationId: id }, limit: 50 },
      request,
    ),
})
