import { protectApi } from '../../../../commerce/mpp/index.ts'
import { operationForm } from '../../parts/form.ts'
import { recordLink } from '../../parts/links.ts'
import { listPage } from '../../parts/list.ts'
import { choicesOf } from '../../parts/names.ts'
import { status, text } from '../../parts/text.ts'

export const protectRulesPage = listPage({
  title: 'Whom machine payments may go to',
  lead: 'A deny rule wins over allow rules. Where an agent has allow rules, of its own or for every agent, nothing else is paid.',
  operation: protectApi.rules,
  filters: ['type', 'agentId'],
  events: ['mpp.protect_rule.*'],
  empty: {
    words: 'No rule yet: every address may be paid that intent and policy allow.',
    command: 'agentpay mpp protect --type deny --merchant "*.example.com"',
  },
  above: async request =>
    operationForm(request, protectApi.protect, {
      members: ['type', 'merchant', 'agentId', 'reason'],
      labels: {
        merchant: 'Host (shop.example.com, *.example.com) or origin',
        agentId: 'For this agent only',
      },
      choices: { agentId: await choicesOf('agents', request) },
      submit: 'New rule',
      fold: true,
    }),
  names: ['agents'],
  columns: {
    Rule: ({ type }) => status(type),
    Merchant: ({ merchant }) => text(merchant, 120),
    Agent: ({ agentId }, request) => (agentId ? recordLink(request, agentId) : 'Every agent'),
    Why: 'reason',
    Since: 'createdAt',
    Delete: ({ id, merchant }, request) =>
      operationForm(request, protectApi.unprotect, {
        params: { id },
        submit: 'Delete',
        tone: 'against',
        confirm: `Delete the rule on ${merchant}?`,
        done: 'part:list',
      }),
  },
})
