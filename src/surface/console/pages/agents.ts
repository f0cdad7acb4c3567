import { agentsApi } from '../../../control/agents/index.ts'
import type { AgentUsage } from '../../../control/policies/index.ts'
import { policiesApi, usageApi } from '../../../control/policies/index.ts'
import { walletsApi } from '../../../money/wallets/index.ts'
import { type Html, html } from '../../../web/html.ts'
import type { Page, PageRequest } from '../page.ts'
import { type Choices, operationForm } from '../parts/form.ts'
import { recordLink } from '../parts/links.ts'
import { listPage } from '../parts/list.ts'
import { backTo, recordHead } from '../parts/record.ts'
import { box, facts } from '../parts/table.ts'
import { euros, status, text, time, usage } from '../parts/text.ts'
import { budgetsOf } from './agent-budgets.ts'

const changes = ['agent.*', 'wallet.*', 'intent.*', 'transaction.*', 'policy.*']

type Period = AgentUsage['day']

const used = ({ limitEuros, heldEuros, spentEuros }: Period): Html =>
  html`${usage(spentEuros + heldEuros, limitEuros)}`

export const agentsPage = listPage({
  title: 'Agents',
  lead: 'The programs that pay for you, each with a wallet and a policy of its own.',
  section: 'agents',
  operation: usageApi.usage,
  filters: ['status'],
  events: changes,
  empty: { words: 'No agent yet.', command: 'agentpay agents create --name "Research assistant"' },
  above: async request =>
    operationForm(
      agentsApi.create,
      {
        members: ['name', 'description', 'policyId'],
        choices: { policyId: await templates(request) },
        submit: 'New agent',
        done: 'go:console/agents/{id}',
        fold: true,
      },
      request,
    ),
  columns: [
    { name: 'Agent', of: ({ id, name }, request) => recordLink(request, id, text(name, 60)) },
    { name: 'State', of: agent => status(agent.status) },
    { name: 'Today', of: ({ day }) => used(day), isFigure: true },
    { name: 'This month', of: ({ month }) => used(month), isFigure: true },
    {
      name: 'Wallet',
      of: ({ walletId, availableEuros }, request) => recordLink(request, walletId, euros(availableEuros)),
      isFigure: true,
    },
    { name: 'Last payment', of: ({ lastSpendAt }) => time(lastSpendAt) },
  ],
})

/** The templates and presets that an agent can be given. */
async function templates({ ask }: PageRequest): Promise<Choices> {
  const [own, presets] = await Promise.all([
    ask(policiesApi.list, { query: { kind: 'template', limit: 100 } }),
    ask(policiesApi.presets, { query: { limit: 100 } }),
  ])
  return [
    ...own.data.map(({ id, name }) => [id, name] as const),
    ...presets.data.map(({ id, name }) => [id, `${name} (preset)`] as const),
  ]
}

export const agentPage: Page = async request => {
  const { ask, id, part } = request
  const params = { id }
  const [agent, balance] = await Promise.all([
    ask(agentsApi.get, { params }),
    ask(agentsApi.balance, { params }),
  ])
  const isOpen = ['active', 'frozen'].includes(agent.status)
  return {
    title: agent.name,
    content: html`${backTo(request, 'agents', 'Agents')}
${await part({
  id: 'agent',
  events: changes,
  about: id,
  make: async () => html`${recordHead({ name: text(agent.name, 80), kind: 'Agent', state: agent.status, operation: agentsApi.get, command: 'agents get' }, request)}
${agent.frozenReason !== null && html`<p class="lead">Frozen: ${text(agent.frozenReason)}</p>`}
<div class="boxes">
${box(
  'Money',
  facts([
    ['Available', euros(balance.availableEuros)],
    ['Held', euros(balance.heldEuros)],
    ['Wallet', recordLink(request, agent.walletId)],
    ['Payments', html`<a href="${request.to(`console/transactions?agentId=${id}`)}">all of this agent</a>`],
    ['Intents', html`<a href="${request.to(`console/intents?agentId=${id}`)}">all of this agent</a>`],
    [
      'Insight',
      html`<a href="${request.to(`console/costs?agentId=${id}`)}">costs</a>, <a href="${request.to(`console/forecast?agentId=${id}`)}">forecast</a>`,
    ],
  ]),
)}
${box(
  'What it is',
  facts([
    ['Description', text(agent.description, 600)],
    ['Your id', text(agent.externalId)],
    [
      'Policy',
      agent.policyId ? recordLink(request, agent.policyId) : html`none: every intent waits for a person`,
    ],
    ...Object.entries(agent.metadata).map(([name, value]) => [text(name), text(value)] as const),
    ['Since', time(agent.createdAt)],
  ]),
)}
</div>
${await budgetsOf(agent, request)}`,
})}
${isOpen && (await actionsOf(agent, request))}`,
  }
}

interface Shown {
  readonly id: string
  readonly name: string
  readonly status: string
  readonly description: string | null
  readonly externalId: string | null
}

async function actionsOf(agent: Shown, request: PageRequest): Promise<Html> {
  const { ask } = request
  const params = { id: agent.id }
  const wallets = request.may(agentsApi.fund)
    ? (await ask(walletsApi.list, { query: { limit: 100 } })).data
    : []
  const from = wallets.map(({ id, name, availableEuros }) => [id, `${name} · € ${availableEuros}`] as const)
  const choices = { fromWalletId: from, policyId: await templates(request) }
  return html`<div class="actions">
${operationForm(agentsApi.fund, { params, members: ['amountEuros', 'fromWalletId'], choices, submit: 'Fund', fold: true }, request)}
${operationForm(policiesApi.assign, { params: { agentId: agent.id }, members: ['policyId'], choices, submit: 'Give another policy', fold: true }, request)}
${operationForm(agentsApi.update, { params, members: ['name', 'description', 'externalId'], values: { ...agent }, submit: 'Change', fold: true }, request)}
${
  agent.status === 'frozen'
    ? operationForm(agentsApi.unfreeze, { params, submit: 'Unfreeze' }, request)
    : operationForm(
        agentsApi.freeze,
        {
          params,
          members: ['reason'],
          submit: 'Freeze',
          tone: 'against',
          confirm: `Freeze ${agent.name}? It spends nothing until it is unfrozen.`,
          fold: true,
        },
        request,
      )
}
${operationForm(agentsApi.delete, { params, submit: 'Delete', tone: 'against', confirm: `Delete ${agent.name}? Its money goes to your wallet, its cards are closed, its tokens end.`, done: 'go:console/agents', fold: true }, request)}
</div>`
}
