import { agentsApi } from '../../../control/agents/index.ts'
import { html } from '../../../web/html.ts'
import type { Page } from '../page.ts'
import { operationForm } from '../parts/form.ts'
import { recordLink } from '../parts/links.ts'
import { listPage } from '../parts/list.ts'
import { backTo, recordHead } from '../parts/record.ts'
import { box, facts } from '../parts/table.ts'
import { euros, status, text, time } from '../parts/text.ts'

export const agentsPage = listPage({
  title: 'Agents',
  lead: 'The programs that pay for you, each with a wallet and a policy of its own.',
  section: 'agents',
  operation: agentsApi.list,
  filters: ['status', 'externalId'],
  events: ['agent.created', 'agent.updated', 'agent.frozen', 'agent.unfrozen', 'agent.deleted'],
  empty: { words: 'No agent yet.', command: 'agentpay agents create --name "Research assistant"' },
  above: request =>
    operationForm(
      agentsApi.create,
      { members: ['name', 'description', 'policyId'], submit: 'New agent', fold: true },
      request,
    ),
  columns: [
    { name: 'Agent', of: ({ id, name }, request) => recordLink(request, id, text(name)) },
    { name: 'State', of: agent => status(agent.status) },
    { name: 'Policy', of: ({ policyId }, request) => recordLink(request, policyId) },
    { name: 'Since', of: ({ createdAt }) => time(createdAt) },
  ],
})

export const agentPage: Page = async request => {
  const { ask, id } = request
  const params = { id }
  const [agent, balance] = await Promise.all([
    ask(agentsApi.get, { params }),
    ask(agentsApi.balance, { params }),
  ])
  return {
    title: agent.name,
    content: html`${backTo(request, 'agents', 'Agents')}
${recordHead({ name: text(agent.name), kind: 'Agent', state: agent.status, operation: agentsApi.get, command: 'agents get' }, request)}
${box(
  'Money',
  facts([
    ['Available', euros(balance.availableEuros)],
    ['Held', euros(balance.heldEuros)],
    ['Wallet', recordLink(request, agent.walletId)],
  ]),
  operationForm(
    agentsApi.fund,
    { params, members: ['amountEuros', 'fromWalletId'], submit: 'Fund', fold: true },
    request,
  ),
)}
${operationForm(agentsApi.freeze, { params, members: ['reason'], submit: 'Freeze', tone: 'against', confirm: `Freeze ${agent.name}? It spends nothing until it is unfrozen.`, fold: true }, request)}`,
  }
}
