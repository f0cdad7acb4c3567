import { protectApi } from '../../../../commerce/mpp/index.ts'
import { operationForm } from '../../parts/form.ts'
import { recordLink } from '../../parts/links.ts'
import { listPage } from '../../parts/list.ts'
import { choicesOf } from '../../parts/names.ts'
import { status, text, time } from '../../parts/text.ts'

export const protectRulesPage = listPage({
  title: 'Whom machine payments may go to',
  lead: 'A deny rule wins over allow rules. Where an agent has allow rules, of its own or for every agent, nothing else is paid.',
  section: 'protect-rules',
  operation: protectApi.rules,
  filters: ['type', 'agentId'],
  events: ['mpp.protect_rule.*'],
  empty: {
    words: 'No rule yet: every address may be paid that intent and policy allow.',
    command: 'agentpay mpp protect --type deny --merchant "*.example.com"',
  },
  above: async request =>
    operationForm(
      protectApi.protect,
      {
        members: ['type', 'merchant', 'agentId', 'reason'],
        labels: {
          merchant: 'Host (shop.example.com, *.example.com) or origin',
          agentId: 'For this agent only',
        },
        choices: { agentId: await choicesOf('agents', request) },
        submit: 'New rule',
        fold: true,
      },
      request,
    ),
  names: ['agents'],
  columns: [
    { name: 'Rule', of: ({ type }) => status(type) },
    { name: 'Merchant', of: ({ merchant }) => text(merchant, 120) },
    { name: 'Agent', of: ({ agentId }, request) => (agentId ? recordLink(request, agentId) : 'Every agent') },
    { name: 'Why', of: ({ reason }) => text(reason) },
    { name: 'Since', of: ({ createdAt }) => time(createdAt) },
    {
      name: 'Delete',
      of: ({ id, merchant }, request) =>
        operationForm(
          protectApi.unprotect,
          {
            params: { id },
            submit: 'Delete',
            tone: 'against',
            confirm: `Delete the rule on ${merchant}?`,
            done: 'part:list',
          },
          request,
        ),
    },
  ],
})
