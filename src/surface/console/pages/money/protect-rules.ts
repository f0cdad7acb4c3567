import { protectApi } from '../../../../commerce/mpp/index.ts'
import { recordLink } from '../../parts/links.ts'
import { section } from '../../parts/section.ts'
import { status } from '../../parts/text.ts'

export const protectRules = section({
  kind: 'Rule',
  title: 'Allowed machine payees',
  lead: 'A deny rule wins over allow rules. Where an agent has allow rules, of its own or for every agent, nothing else is paid.',
  list: protectApi.rules,
  name: ({ merchant }) => merchant,
  columns: ['type', 'agentId', 'reason', 'createdAt'],
  shows: {
    type: ({ type }) => status(type),
    agentId: ({ agentId }, request) => (agentId ? recordLink(request, agentId) : 'Every agent'),
  },
  events: ['mpp.protect_rule.*'],
  empty: 'No rules yet: every address may be paid that intent and policy allow.',
  call: 'agentpay mpp protect --type deny --merchant "*.example.com"',
  create: {
    operation: protectApi.protect,
    labels: { merchant: 'Host (shop.example.com, *.example.com) or origin', agentId: 'For this agent only' },
  },
  actions: [
    {
      operation: protectApi.unprotect,
      forRecord: ({ merchant }) => ({ confirm: `Delete the rule on ${merchant}?`, done: 'part:list' }),
    },
  ],
})
