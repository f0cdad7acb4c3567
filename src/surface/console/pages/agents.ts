import { agentTokensApi } from '../../../control/agent-tokens/index.ts'
import { agentsApi } from '../../../control/agents/index.ts'
import type { AgentUsage } from '../../../control/policies/index.ts'
import { policiesApi, usageApi } from '../../../control/policies/index.ts'
import { walletsApi } from '../../../money/wallets/index.ts'
import { type Html, html } from '../../../web/html.ts'
import type { AnswerOf, Page, PageRequest } from '../page.ts'
import { type Choices, operationForm } from '../parts/form.ts'
import { recordLink } from '../parts/links.ts'
import { listPage } from '../parts/list.ts'
import { backTo, recordHead } from '../parts/record-page.ts'
import { box, facts } from '../parts/table.ts'
import { euros, plainEuros, text, time, usage } from '../parts/text.ts'
import { budgetsOf, type Effective, effectivePolicy } from './agent-budgets.ts'

const changes = ['agent.*', 'wallet.*', 'intent.*', 'transaction.*', 'policy.*']

type Period = AgentUsage['day']
type Agent = AnswerOf<typeof agentsApi.get>

const used = ({ limitEuros, heldEuros, spentEuros, remainingEuros }: Period): Html =>
  html`${usage(spentEuros + heldEuros, limitEuros)}<br><small>${euros(heldEuros)} held${remainingEuros !== null && html`, ${euros(remainingEuros)} left`}</small>`

export const agentsPage = listPage({
  title: 'Agents',
  lead: 'The programs that pay for you, each with a wallet and a policy of its own.',
  operation: usageApi.usage,
  filters: ['status'],
  events: changes,
  empty: { words: 'No agent yet.', command: 'agentpay agents create --name "Research assistant"' },
  above: async request =>
    operationForm(request, agentsApi.create, {
      members: ['name', 'description', 'policyId'],
      choices: { policyId: await templates(request) },
      submit: 'New agent',
      done: 'go:console/agents/{id}',
      fold: true,
    }),
  columns: {
    Agent: ({ id, name }, request) => recordLink(request, id, text(name, 60)),
    State: 'status',
    Today: { figure: ({ day }) => used(day) },
    'This month': { figure: ({ month }) => used(month) },
    Wallet: {
      figure: ({ walletId, availableEuros }, request) => recordLink(request, walletId, euros(availableEuros)),
    },
    'Last held or paid': 'lastSpendAt',
  },
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
  const agent = await ask(agentsApi.get, { params: { id } })
  const isOpen = ['active', 'frozen'].includes(agent.status)
  const [shown, actions] = await Promise.all([
    part({ id: 'agent', events: changes, about: id, make: () => contentOf(agent, request) }),
    isOpen && actionsOf(agent, request),
  ])
  return {
    title: agent.name,
    content: html`${backTo(request, 'agents', 'Agents')}
${shown}
${actions}`,
  }
}

async function contentOf(agent: Agent, request: PageRequest): Promise<Html> {
  const { ask, to } = request
  const { id, name, status: state, frozenReason } = agent
  const effective = effectivePolicy(id, request)
  const [balance, policy, budgets] = await Promise.all([
    ask(agentsApi.balance, { params: { id } }),
    effective,
    budgetsOf({ id, effective }, request),
  ])
  return html`${recordHead({ name: text(name, 80), kind: 'Agent', state, operation: agentsApi.get, command: 'agents get' }, request)}
${frozenReason !== null && html`<p class="lead">Frozen: ${text(frozenReason)}</p>`}
<div class="boxes">
${box(
  'Money',
  facts([
    ['Available', euros(balance.availableEuros)],
    ['Held', euros(balance.heldEuros)],
    ['Wallet', recordLink(request, agent.walletId)],
    ['Payments', html`<a href="${to(`console/transactions?agentId=${id}`)}">all of this agent</a>`],
    ['Tokens', html`<a href="${to(`console/tokens?agentId=${id}`)}">all of this agent</a>`],
    ['Intents', html`<a href="${to(`console/intents?agentId=${id}`)}">all of this agent</a>`],
    [
      'Insight',
      html`<a href="${to(`console/costs?agentId=${id}`)}">costs</a>, <a href="${to(`console/forecast?agentId=${id}`)}">forecast</a>`,
    ],
  ]),
)}
${box(
  'What it is',
  facts([
    ['Description', text(agent.description, 600)],
    ['Your id', text(agent.externalId)],
    ['Policy', policy ? originOf(policy, request) : 'none: every intent waits for a person'],
    ...Object.entries(agent.metadata).map(([member, value]) => [text(member), text(value)] as const),
    ['Since', time(agent.createdAt)],
  ]),
)}
</div>
${budgets}`
}

/** The policy by its name, and the template that it came from. */
const originOf = ({ id, name, templateId }: Effective, request: PageRequest): Html =>
  html`${recordLink(request, id, text(name, 60))}${templateId !== null && html`, from ${recordLink(request, templateId, 'its template')}`}`

/** What is asked for of a token; its scopes are those that tokens have by themselves. */
const tokenLabels = {
  label: 'Name: where the agent runs',
  maxAmountEuros: 'At most, in euros; empty for no limit',
  expiresInDays: 'Ends after, in days; empty for never',
}

async function actionsOf(agent: Agent, request: PageRequest): Promise<Html> {
  const { ask, may } = request
  const params = { id: agent.id }
  const [wallets, policyId] = await Promise.all([
    may(agentsApi.fund) ? ask(walletsApi.list, { query: { limit: 100 } }) : { data: [] },
    templates(request),
  ])
  const from = wallets.data.map(
    ({ id, name, availableEuros }) => [id, `${name} · ${plainEuros(availableEuros)}`] as const,
  )
  const choices = { fromWalletId: from, policyId }
  return html`<div class="actions">
${operationForm(request, agentsApi.fund, { params, members: ['amountEuros', 'fromWalletId'], choices, submit: 'Fund', fold: true })}
${operationForm(request, policiesApi.assign, { params: { agentId: agent.id }, members: ['policyId'], choices, submit: 'Give another policy', fold: true })}
${operationForm(request, agentTokensApi.create, { params, members: Object.keys(tokenLabels), labels: tokenLabels, values: { expiresInDays: 90 }, submit: 'New token', secrets: ['token'], fold: true })}
${operationForm(request, agentsApi.update, { params, members: ['name', 'description', 'externalId'], values: { ...agent }, submit: 'Change', fold: true })}
${
  agent.status === 'frozen'
    ? operationForm(request, agentsApi.unfreeze, { params, submit: 'Unfreeze' })
    : operationForm(request, agentsApi.freeze, {
        params,
        members: ['reason'],
        submit: 'Freeze',
        tone: 'against',
        confirm: `Freeze ${agent.name}? It spends nothing until it is unfrozen.`,
        fold: true,
      })
}
${operationForm(request, agentsApi.delete, { params, submit: 'Delete', tone: 'against', confirm: `Delete ${agent.name}? Its money goes to your wallet, its cards are closed, its tokens end.`, done: 'go:console/agents', fold: true })}
</div>`
}
