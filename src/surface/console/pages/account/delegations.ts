import { delegationsApi } from '../../../../control/delegations/index.ts'
import { type Html, html } from '../../../../web/html.ts'
import type { AnswerOf, PageRequest } from '../../page.ts'
import { operationForm } from '../../parts/form.ts'
import { recordLink } from '../../parts/links.ts'
import { listPage } from '../../parts/list.ts'
import { choicesOf } from '../../parts/names.ts'
import { recordPage } from '../../parts/record-page.ts'
import { box, type Columns, facts, table } from '../../parts/table.ts'
import { euros, text, time, usage } from '../../parts/text.ts'
import { history } from './shared.ts'

type Delegation = AnswerOf<typeof delegationsApi.get>

const used = ({ heldEuros, spentEuros, maxAmountEuros }: Delegation): Html =>
  usage(heldEuros + spentEuros, maxAmountEuros)

const revoke = ({ id, status: state }: Delegation, request: PageRequest): Html | false =>
  state !== 'revoked' &&
  state !== 'expired' &&
  operationForm(request, delegationsApi.revoke, {
    params: { id },
    submit: 'Revoke',
    tone: 'against',
    confirm: 'Revoke it and all below it? Their tokens stop working, and their open intents are cancelled.',
  })

const columns: Columns<Delegation> = {
  Delegation: ({ id, label }, request) => recordLink(request, id, label ? text(label) : undefined),
  Agent: 'agentId',
  State: 'status',
  Used: used,
  Left: 'remainingEuros',
  Until: 'expiresAt',
  Action: revoke,
}

export const delegationsPage = listPage({
  title: 'Delegations',
  lead: 'Parts of what agents may spend, given on by a code, and what each may still spend.',
  operation: delegationsApi.list,
  filters: ['status', 'agentId', 'parentDelegationId'],
  labels: { parentDelegationId: 'Below the delegation' },
  events: ['delegation.*', 'intent.*', 'transaction.*'],
  names: ['agents'],
  empty: {
    words: 'No delegation yet.',
    command: 'agentpay delegations create --agent-id agent_… --max-amount-euros 20 --expires-in-minutes 60',
  },
  above: async request =>
    request.may(delegationsApi.create) &&
    operationForm(request, delegationsApi.create, {
      members: ['agentId', 'maxAmountEuros', 'expiresInMinutes', 'merchant', 'label'],
      labels: { agentId: 'Agent', maxAmountEuros: 'At most', expiresInMinutes: 'Minutes until it ends' },
      choices: { agentId: await choicesOf('agents', request) },
      submit: 'New delegation',
      secrets: ['code'],
      fold: true,
    }),
  columns,
})

export const delegationPage = recordPage({
  kind: 'Delegation',
  operation: delegationsApi.get,
  events: ['delegation.*', 'intent.*', 'transaction.*'],
  about: ({ agentId }) => [agentId],
  name: ({ label }) => (label ? text(label) : 'Delegation'),
  title: ({ label }) => label ?? 'Delegation',
  body: delegationContent,
})

async function delegationContent(delegation: Delegation, request: PageRequest): Promise<Html> {
  const { id, merchant, parentDelegationId } = delegation
  const below = await request.ask(delegationsApi.list, { query: { parentDelegationId: id, limit: 50 } })
  return html`<div class="actions">${revoke(delegation, request)}</div>
${box(
  'What may still be spent',
  facts([
    ['Left', euros(delegation.remainingEuros)],
    ['Used', used(delegation)],
    ['Held', euros(delegation.heldEuros)],
    ['Spent', euros(delegation.spentEuros)],
    ['Only at', merchant ? text(merchant) : 'any merchant'],
    ['Agent', recordLink(request, delegation.agentId)],
    ['Below', recordLink(request, parentDelegationId)],
    ['Code ends with', html`<code>${delegation.hint}</code>`],
    ['Code redeemed', time(delegation.redeemedAt)],
    ['Until', time(delegation.expiresAt)],
  ]),
)}
${below.data.length > 0 && box('Delegations below it', table(request, 'Delegations below it', below.data, columns))}
${await history(id, request)}`
}
